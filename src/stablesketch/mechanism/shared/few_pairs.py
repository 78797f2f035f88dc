"""The limits of a release whose stream may have no pairs at all, where its noisy total is released with it.

Looking at the total costs nothing: it is part of the release and of its price. If it cannot be distinguished from 0,
there may be no pairs. Without pairs there are no shares, and therefore no Hill number and no entropy that an interval
could contain: what is computed may even be a single point. All that is known then is what the number of keys allows,
which is at most the total. The limits are at least that wide.
"""

from __future__ import annotations

import math

from ...statistic import Known, Statistic
from ...statistic.published import NoisyTotal, Point

Points = tuple[Point, ...]


def widened(
    statistic: Statistic, low: float, high: float, points: Points, total: NoisyTotal, confidence: float
) -> tuple[float, float, Points]:
    """(low, high, points) with limits that hold if the stream has few pairs or none."""
    reach = -math.log1p(-confidence) * total.scale
    known = Known(most_pairs=max(total.value, 0.0) + reach)
    if not points:
        return *_limits(statistic, known, low, high), points
    points = tuple(_point(each, known, point) for each, point in zip(statistic.points, points, strict=True))
    return points[0].low, points[0].high, points


def _point(statistic: Statistic, known: Known, point: Point) -> Point:
    own = _limits(statistic, known, point.low, point.high)
    if point.band_low is None or point.band_high is None:
        return Point(point.order, point.value, *own)
    return Point(point.order, point.value, *own, *_limits(statistic, known, point.band_low, point.band_high))


def _limits(statistic: Statistic, known: Known, low: float, high: float) -> tuple[float, float]:
    """Both limits, widened to every value the statistic can have given what is known. Counts keep theirs, from 0 up."""
    if not statistic.of_shares:
        return low, high
    least, most = statistic.range(known)
    return min(low, least), max(high, most)
