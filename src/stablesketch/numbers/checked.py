"""What counts as a number: those of Python and numpy, but not a bool."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError


def is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def checked_real(name: str, value: object) -> float:
    """The number as a float."""
    if not is_real(value):
        raise ArgumentTypeError(name, value, "must be a real number", "Pass a float")
    return float(value)


def checked_whole(name: str, value: object, least: int, way_out: str) -> int:
    """The number as an int; it must be at least `least`."""
    if not is_whole(value):
        raise ArgumentTypeError(name, value, "must be an integer", way_out)
    if value < least:
        raise ArgumentError(name, value, f"must be at least {least}", way_out)
    return int(value)
