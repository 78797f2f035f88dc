"""A released profile falls with the order, as every profile does, and has a band that holds for all orders at once.

D_q never increases with q. The measurements at each order have their own errors and may increase. Values that do are
averaged with their neighbours, in logarithms, and narrow limits get more weight (the nearest falling curve, by pooling
adjacent violators). This uses released numbers only and costs no privacy. The limits of each order stay as they are,
but are widened if necessary to contain its value.

**The band.** If the limits of m orders have the confidence 1 - (1 - γ)/m each, they contain all m truths at once with
probability γ or more: each fails with probability at most (1 - γ)/m, and these add up. If all hold, D_q is at most the
least upper limit of the orders up to q, and at least the greatest lower limit of the orders from q on. So the band can
be made to fall too, without holding less often. Between two listed orders, D_q lies between the upper limit of the
lower order and the lower limit of the higher one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ...statistic.published import Point

Limits = tuple[float, float, float]  # value, low, high
_MOST_LOG = 709.0  # the logarithm of the largest float
_LEAST_WIDTH = 1e-6  # of limits, in logarithms: with noise they are never narrower


def each_confidence(confidence: float, orders: int) -> float:
    """The confidence of each order's limits with which all of them hold at once with `confidence`."""
    return 1.0 - (1.0 - confidence) / orders


def profile_points(orders: Sequence[float], alone: Sequence[Limits], together: Sequence[Limits]) -> tuple[Point, ...]:
    """The points, from the limits of each order alone and from those at `each_confidence`."""
    values = falling([value for value, _, _ in alone], [_weight(low, high) for _, low, high in alone])
    highest = list(itertools.accumulate((high for _, _, high in together), min))
    lowest = list(itertools.accumulate((low for _, low, _ in reversed(together)), max))[::-1]
    return tuple(
        Point(order, value, min(low, value), max(high, value), min(band_low, value), max(band_high, value))
        for order, value, (_, low, high), band_low, band_high in zip(
            orders, values, alone, lowest, highest, strict=True
        )
    )


def falling(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The nearest falling sequence, by weighted least squares of logarithms; all values must be positive.

    >>> [round(value, 6) for value in falling([8.0, 2.0, 4.0, 1.0], [1.0, 1.0, 1.0, 1.0])]
    [8.0, 2.828427, 2.828427, 1.0]
    """
    blocks: list[tuple[float, float, list[float]]] = []  # (mean logarithm, weight, values)
    for value, own in zip(values, weights, strict=True):
        mean, weight, held = math.log(value), own, [value]
        while blocks and blocks[-1][0] < mean:
            before, heavy, older = blocks.pop()
            mean = (before * heavy + mean * weight) / (heavy + weight) if math.isfinite(mean) else before
            weight, held = heavy + weight, older + held
        blocks.append((mean, weight, held))
    # A value that was not pooled stays the same to the last bit.
    return [value if len(held) == 1 else math.exp(min(mean, _MOST_LOG)) for mean, _, held in blocks for value in held]


def _weight(low: float, high: float) -> float:
    """Roughly one over the variance of the logarithm.

    If both limits are equal, noise carried both beyond the end of the range, and they were moved back to it. Nothing is
    known about such an order, and it must not influence others.
    """
    width = math.log(high) - math.log(low) if 0.0 < low <= high < math.inf else _MOST_LOG
    return 1.0 / (width if width > _LEAST_WIDTH else _MOST_LOG) ** 2
