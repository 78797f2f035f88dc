"""Released numbers that say nothing useful: which they are, from the numbers alone, so that saying it costs nothing.

A listed group without data has a release too. Its statistics of shares are wherever the noise has put them: mostly
between limits that are very far apart, sometimes at the lowest possible value with limits close to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..bounding.groups import Name
from ..statistic import Statistic
from ..statistic.published import Point, Release
from ..text.visible import visible

if TYPE_CHECKING:
    from .outcome import GroupRelease

FAR_APART = math.log(10.0)
"""The distance between limits, as logarithms of effective numbers, beyond which a value says nothing."""

_NAMED = 5  # groups, in a sentence

PointTest = Callable[[Statistic, Point | Release], bool]


def little_known(statistic: Statistic, releases: Sequence[tuple[Name, Release]]) -> str:
    """Which of the releases say nothing useful, and why; empty if all do. A single release has an empty name."""
    said = []
    which, several = _which(statistic, releases, _far_apart)
    if which:
        said.append(
            f"Nothing useful is known about {which}. {'Their' if several else 'Its'} limits allow effective numbers "
            "that differ by more than a factor of 10, and the value between them is where the noise has put it. There "
            "is too little data for this much noise, or none."
        )
    which, several = _which(statistic, releases, _at_the_end)
    if which:
        said.append(
            f"{which[:1].upper()}{which[1:]} {'are' if several else 'is'} as low as possible: either nearly everything "
            "has one key, or there is hardly any data. The noise hides which."
        )
    return " ".join(said)


def known_groups(statistic: Statistic | None, groups: Sequence[GroupRelease]) -> Sequence[GroupRelease]:
    """The groups about which something is known; all of them, if nothing is known about any."""
    if statistic is None:
        return groups
    return [one for one in groups if not _orders(statistic, one.release, _far_apart)] or groups


def _far_apart(own: Statistic, at: Point | Release) -> bool:
    low, high = own.log_effective(at.low), own.log_effective(at.high)
    return low is not None and high is not None and abs(high - low) > FAR_APART


def _at_the_end(own: Statistic, at: Point | Release) -> bool:
    return own.log_effective(at.value) == 0.0 and not _far_apart(own, at)


def _orders(statistic: Statistic, release: Release, judge: PointTest) -> list[float]:
    """The orders of a release that are judged so."""
    points: Sequence[Point | Release] = release.points or (release,)
    return [own.p for own, at in zip(statistic.points, points, strict=True) if judge(own, at)]


def _which(statistic: Statistic, releases: Sequence[tuple[Name, Release]], judge: PointTest) -> tuple[str, bool]:
    """Which values are judged so, in words, empty if none is; and whether they are several."""
    found = [(name, orders) for name, release in releases if (orders := _orders(statistic, release, judge))]
    if not found:
        return "", False
    named = [visible(", ".join(name)) + _at(orders, len(statistic.points)) for name, orders in found[:_NAMED]]
    others = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    of = " of " if found[0][0] else ""
    several = len(found) > 1
    return f"the value{'s' * several}{of}{', '.join(named)}{others}", several


def _at(orders: Sequence[float], every: int) -> str:
    """The orders of a profile, unless all are meant."""
    return f" at order {' and '.join(f'{order:g}' for order in orders)}" if len(orders) < every else ""
