"""Where something begins to be enough, found by halving and always from the side where it is."""

from __future__ import annotations

import math
from collections.abc import Callable


def least_between(enough: Callable[[float], bool], low: float, high: float, within: float) -> float:
    """The least number that is enough, to a part `within` of itself: `high` is enough, and so is what is returned."""
    while high - low > within * high:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break  # neighbouring floats, as there are few of near 0
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def least_above(
    enough: Callable[[float], bool], first: float, within: float, most: float = math.inf
) -> float | None:  # fmt: skip
    """As `least_between`, from 0 on, `first` being doubled until it is enough; None if that is beyond `most`."""
    low, high = 0.0, first
    while not enough(high):
        low, high = high, 2.0 * high
        if high > most:
            return None
    return least_between(enough, low, high, within)


def last_whole(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last integer for which it holds: it does for `low`, and for no integer from `high` on."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
