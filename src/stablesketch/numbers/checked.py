"""What counts as a number: those of Python and numpy, but not a bool. Nothing else is converted to one."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError

_NOT_NUMBERS = bool | np.timedelta64  # though Python and numpy derive them from integers


def is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, _NOT_NUMBERS)


def is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int | np.integer) and not isinstance(value, _NOT_NUMBERS)


def checked_real(name: str, value: object, way_out: str = "Pass a float", *, must: str = "must be a number") -> float:
    """The number as a float."""
    if not is_real(value):
        raise ArgumentTypeError(name, value, must, way_out)
    try:
        return float(value)
    except OverflowError:  # an int of 400 digits
        raise ArgumentError(name, value, "must be a number that a float can hold", way_out) from None


def checked_share(name: str, value: object, way_out: str) -> float:
    """The number as a float; it must be above 0 and below 1."""
    share = checked_real(name, value, way_out, must="must be a number between 0 and 1")
    if not 0.0 < share < 1.0:
        raise ArgumentError(name, value, "must be between 0 and 1", way_out)
    return share


def checked_whole(
    name: str, value: object, way_out: str, *, least: int | None = None, most: int | None = None, must: str = ""
) -> int:
    """The number as an int, within these limits. `must` replaces the usual words about type and limits."""
    if not is_whole(value):
        must = must or "must be an integer"
        raise ArgumentTypeError(name, value, must, way_out)
    if (least is not None and value < least) or (most is not None and value > most):
        must = must or (f"must be at least {least}" if most is None else f"must be between {least} and {most:,}")
        raise ArgumentError(name, value, must, way_out)
    return int(value)
