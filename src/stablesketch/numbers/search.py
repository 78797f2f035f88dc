"""Bisection for the least number that is enough, erring on the side that is enough; and where a function is least."""

from __future__ import annotations

import math
from collections.abc import Callable


def least_between(enough: Callable[[float], bool], low: float, high: float, within: float) -> float:
    """The least number that is enough, to a relative accuracy of `within`. `high` and the result are enough."""
    while high - low > within * high:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break  # low and high are adjacent floats, as happens near 0
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def least_above(
    enough: Callable[[float], bool], first: float, within: float, most: float = math.inf
) -> float | None:  # fmt: skip
    """Like `least_between`, from 0 on: doubles `first` until it is enough; None if that is beyond `most`."""
    low, high = 0.0, first
    while not enough(high):
        low, high = high, 2.0 * high
        if high > most:
            return None
    return least_between(enough, low, high, within)


def last_whole(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last integer for which `holds` is true: it is for `low`, and for no integer from `high` on."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def valley(function: Callable[[float], float], low: float, high: float, steps: int) -> float:
    """Where a function with one valley is least, by golden section."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    for _ in range(steps):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if function(left) < function(right) else (left, high)
    return 0.5 * (low + high)
