"""`Measured`: what a mechanism has found, ready to be published or to be computed with.

All of it is a public function of what was released, so computing with it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ..statistic import Array, Derived, Known, Statistic

__all__ = ["Measured", "belief", "computed", "in_order", "moment_of", "uniform_offset"]

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

    def at(self, confidence: float) -> Measured:
        """The same with limits of another confidence, by the quantiles."""
        low, high = self.quantiles(np.array([0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)])).tolist()
        return Measured(self.value, low, high, self.quantiles)


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

    From one measurement the limits are those of the measurement, put through the function, which is monotone. Several
    are independent: `belief`.
    """
    if len(found) == 1:
        ((part, measured),) = found.items()
        at = np.array([measured.value, measured.low, measured.high])
        value, *ends = statistic.of({part: at}, pairs).tolist()
        low, high = min(ends), max(ends)
    else:
        whole = belief(
            lambda at: statistic.of(dict(zip(found, at, strict=True)), pairs), tuple(found.values()), confidence
        )
        value, low, high = whole.value, whole.low, whole.high
    return in_order(value, low, high, *statistic.range(known))


def belief(function: Callable[[tuple[Array, ...]], Array], parts: Sequence[Measured], confidence: float) -> Measured:
    """A function of independent measurements, with what is to be believed of it.

    It is taken over a grid of all beliefs, with normal weights; limits are quantiles of what comes out.
    """
    value = float(function(tuple(np.array(each.value) for each in parts)))
    score = np.linspace(-_REACH, _REACH, _NODES)
    weight = np.exp(-0.5 * score**2)
    normal = NormalDist()
    probability = np.array([normal.cdf(each) for each in score])
    shapes = np.eye(len(parts), dtype=np.intp) * (_NODES - 1) + 1
    at = tuple(each.quantiles(probability).reshape(shape) for each, shape in zip(parts, shapes, strict=True))
    values = np.broadcast_to(function(at), (_NODES,) * len(parts)).ravel()
    weights = np.ones(1)
    for _ in parts:
        weights = np.multiply.outer(weights, weight).ravel()
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    below = (below - 0.5 * weights[order]) / below[-1]
    sorted_values = values[order]

    def quantiles(probability: Array) -> Array:
        return np.asarray(np.interp(probability, below, sorted_values), dtype=np.float64)

    low, high = quantiles(np.array([0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)])).tolist()
    return Measured(value, low, high, quantiles)


def moment_of(norm: Measured, p: float, spread: float, noise: float) -> Measured:
    """norm^p. If X = norm ξ + noise with E ξ = 1, Var ξ = spread and noise of this variance, then (X² - noise)/(1 +
    spread) is unbiased for F_2.
    """

    def power(at: Array) -> Array:
        return np.maximum(at, 0.0) ** p

    value = (math.pow(max(norm.value, 0.0), p) - noise) / (1.0 + spread)
    low, high = power(np.array([norm.low, norm.high])).tolist()
    return Measured(value, low, high, lambda at: power(norm.quantiles(at)))


def uniform_offset(raw: bytes) -> float:
    """53 bits as a uniform number in [0, 1), which a double holds exactly."""
    return math.ldexp(int.from_bytes(raw[:8], "little") >> 11, -53)
