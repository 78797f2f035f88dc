"""`Measured`: what a mechanism has found, ready to be published or to be computed with.

All of it is a public function of what was released, so computing with it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ..statistic import Array, Derived, Known, Statistic

__all__ = ["Measured", "computed", "in_order", "uniform_offset"]

_NODES = 241
_REACH = 6.5  # deviations


@dataclass(frozen=True)
class Measured:
    """An estimate with its limits, and `quantiles`: where the truth is believed to be, at given probabilities.

    The belief is fiducial: estimate and truth differ by a pivot, whose law does not depend on the truth, so that the
    quantiles of the pivot, taken off the estimate, hold the truth as often as they say.
    """

    value: float
    low: float
    high: float
    quantiles: Callable[[Array], Array]

    def within(self, least: float, most: float) -> Measured:
        """The same within what is known without looking, and the value between its limits: all three in one range."""
        return Measured(*in_order(self.value, self.low, self.high, least, most), self.quantiles)


def in_order(value: float, low: float, high: float, least: float, most: float) -> tuple[float, float, float]:
    """(value, low, high) with least <= low <= value <= high <= most: each moved to where it can be, no further.

    Limits lose nothing by that. A value loses its unbiasedness where the end of the range is near.
    """
    low = min(max(low, least), most)
    high = max(min(high, most), low)
    return min(max(value, low), high), low, high


def computed(
    statistic: Derived, found: Mapping[Statistic, Measured], known: Known, pairs: int, confidence: float
) -> tuple[float, float, float]:
    """(value, low, high) of a statistic at what was measured, within the range it can have where so much is known.

    From one measurement the limits are those of the measurement, put through the function, which is monotone. Two are
    independent: the function is taken over a grid of both beliefs, with normal weights, and the limits are quantiles.
    """
    if len(found) == 1:
        ((part, measured),) = found.items()
        at = np.array([measured.value, measured.low, measured.high])
        value, *ends = statistic.of({part: at}, pairs).tolist()
        low, high = min(ends), max(ends)
    else:
        value = float(statistic.of({part: np.array(each.value) for part, each in found.items()}, pairs))
        low, high = _limits(statistic, found, pairs, confidence)
    return in_order(value, low, high, *statistic.range(known))


def _limits(
    statistic: Derived, found: Mapping[Statistic, Measured], pairs: int, confidence: float
) -> tuple[float, float]:
    score = np.linspace(-_REACH, _REACH, _NODES)
    weight = np.exp(-0.5 * score**2)
    normal = NormalDist()
    probability = np.array([normal.cdf(each) for each in score])
    shapes = np.eye(len(found), dtype=np.intp) * (_NODES - 1) + 1
    at = {
        part: each.quantiles(probability).reshape(shape)
        for (part, each), shape in zip(found.items(), shapes, strict=True)
    }
    values = np.broadcast_to(statistic.of(at, pairs), (_NODES,) * len(found)).ravel()
    weights = np.ones(1)
    for _ in found:
        weights = np.multiply.outer(weights, weight).ravel()
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    below = (below - 0.5 * weights[order]) / below[-1]
    ends = np.interp([0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)], below, values[order])
    return float(ends[0]), float(ends[1])


def uniform_offset(raw: bytes) -> float:
    """53 bits as a uniform number in [0, 1), which a double holds exactly."""
    return math.ldexp(int.from_bytes(raw[:8], "little") >> 11, -53)
