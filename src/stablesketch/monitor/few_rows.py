"""Windows that may have no rows: which they are, judged by their releases, and what is then known about their values.

If a statistic is computed from a noisy total, the total is part of the release and is paid for with it. Looking at it
costs nothing, and reveals nothing that was not released. A window has few rows if its total cannot be distinguished
from 0. Other statistics (keys, moments) have their smallest value without rows: a window has few rows if its interval
reaches that value, so few rows and few keys look the same.

**Values of few rows.** Without rows there are no shares, and therefore no Hill number and no entropy that an interval
could contain: the released interval may even be a single point. All that is known then is what the number of keys
allows, which is at most the total. The interval of a window with few rows is at least that wide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..plan import Plan
from ..statistic import Statistic
from ..statistic.known import Known
from ..statistic.published import Point, Release

_SCALES = math.log(500)  # of Laplace noise: one in a thousand windows without rows is not recognised


def has_few_rows(plans: Sequence[Plan], releases: Sequence[Release]) -> bool:
    """Whether a window may have no rows, judged by its first release with a total, or else by its first release."""
    for release in releases:
        if release.total is not None:
            return release.total.value < 1.0 + _SCALES * release.total.scale
    return releases[0].low <= plans[0].statistic.range()[0]


def of_few_rows(plan: Plan, release: Release) -> Release:
    """The release with limits that hold whatever rows a window with few rows has."""
    if release.total is None:
        return release
    reach = -math.log1p(-release.confidence) * release.total.scale
    known = Known(most_pairs=max(release.total.value, 0.0) + reach)
    statistics = plan.statistic.points
    if not release.points:
        low, high = _limits(statistics[0], known, release.low, release.high)
        return replace(release, low=low, high=high)
    points = tuple(_point(each, known, point) for each, point in zip(statistics, release.points, strict=True))
    return replace(release, low=points[0].low, high=points[0].high, points=points)


def _point(statistic: Statistic, known: Known, point: Point) -> Point:
    low, high = _limits(statistic, known, point.low, point.high)
    if point.band_low is None or point.band_high is None:
        return replace(point, low=low, high=high)
    band_low, band_high = _limits(statistic, known, point.band_low, point.band_high)
    return replace(point, low=low, high=high, band_low=band_low, band_high=band_high)


def _limits(statistic: Statistic, known: Known, low: float, high: float) -> tuple[float, float]:
    """Both limits, widened to every value the statistic can have given what is known. Counts keep theirs, from 0 up."""
    if not statistic.of_shares:
        return low, high
    least, most = statistic.range(known)
    return min(low, least), max(high, most)
