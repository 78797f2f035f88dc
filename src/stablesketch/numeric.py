"""What counts as a number where one is asked for: Python's and numpy's; a truth value is none."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from .errors import ArgumentTypeError


def is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def checked_real(name: str, value: object) -> float:
    """The number as a float."""
    if not is_real(value):
        raise ArgumentTypeError(name, value, "must be a real number", "Pass a float")
    return float(value)
