"""Limits for F from one number, T = F ξ + b L: an estimate with Laplace noise.

ξ >= 0 has the same law for every stream and L is a Laplace variable of scale 1, so that

    g(F) = P(F ξ + b L <= T) = E Λ((T - F ξ)/b),      Λ(v) = P(L <= v),

falls as F rises from 0. If F is the truth, g(F) is uniform on (0, 1) as T varies: the F with g(F) = 1 - π is the
quantile of F at π, in the fiducial sense, and two of them are exact confidence limits. Where even g(0) = Λ(T/b) is less
than 1 - π, T is lower than any F explains at that level, and the quantile is 0.

ξ is known by its quantile function. Between quantiles that lie close together it is taken to be uniform; then the mean
of Λ over each piece is (A(v) - A(w))/(v - w) at its ends v = (T - F x)/b, A' = Λ: A(v) = e^v/2 for v <= 0 and
v + e^{-v}/2 above. So g is smooth however small the noise is beside F. (native/noisy_law.hpp computes and inverts it.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ..._native import noisy_below, noisy_solved
from ...errors import ArgumentError
from ...numbers.arrays import Array
from .norm import norm_law
from .power_sum import power_sum, size_for
from .registry import checked_confidence

# Quantiles of ξ: this many pieces, equally wide in the logit of probability, to this distance from 0 and 1.
_PIECES = 300
_LEAST = 1e-9
# More probabilities than this are read from a table of this many points.
_FEW, _GRID = 8, 100
_SPREAD = np.sinh(np.linspace(-3.0, 3.0, _GRID)) / math.sinh(3.0)
# Relative variances that differ by less share a law; below the second, a law is treated as log-normal.
_ALIKE, _NEARLY_NORMAL = 0.01, 1e-3


class NoisyLaw:
    """F ξ + b L for one law of ξ, given by its `log_quantiles`: ln x with P(ξ <= x) = probability."""

    def __init__(self, log_quantiles: Callable[[Array], Array]) -> None:
        reach = math.log(_LEAST) - math.log1p(-_LEAST)
        logits = np.linspace(reach, -reach, _PIECES + 1)
        below = 1.0 / (1.0 + np.exp(-logits))
        self._ends = np.exp(log_quantiles(below))
        # The mass beyond either end is spread over all pieces.
        masses = np.diff(below)
        self._masses = masses / masses.sum()

    def below(self, released: float, noise: float, value: Array) -> Array:
        """P(F ξ + b L <= T) at each F."""
        return noisy_below(self._ends, self._masses, released, noise, value)

    def quantiles(self, released: float, noise: float, probability: Array) -> Array:
        """F at each probability; it increases with the probability, from 0."""
        released, noise = _checked(released, noise)
        wanted = np.asarray(probability, dtype=np.float64).ravel()
        out = np.zeros(wanted.shape)
        inside = np.flatnonzero(_laplace_below(np.array(released / noise)) > 1.0 - wanted)
        if inside.size:
            out[inside] = self._solved(released, noise, 1.0 - wanted[inside])
        return out.reshape(np.shape(probability))

    def limits(self, released: float, noise: float, confidence: float) -> tuple[float, float]:
        """Two-sided limits: each fails with probability (1 - confidence)/2."""
        beyond = 0.5 * (1.0 - checked_confidence(confidence))
        low, high = self.quantiles(released, noise, np.array([beyond, 1.0 - beyond])).tolist()
        return low, high

    def _solved(self, released: float, noise: float, target: Array) -> Array:
        """The F with g(F) = target; for many targets, to 1e-3 of a deviation by a table of the logit of g."""
        given, least, most = (self._ends, self._masses, released, noise), float(target.min()), float(target.max())
        around = self._around(released, noise, least, most)
        if target.size <= _FEW:
            return noisy_solved(*given, target, *around)
        first, last = noisy_solved(*given, np.array([most, least]), *around).tolist()
        place = np.linspace(first, last, _GRID)
        level = -logit(self.below(released, noise, place))
        # Again, at points that are evenly spread in probability and denser in the middle.
        place = np.unique(np.interp(_SPREAD * np.abs(level).max(), level, place))
        level = np.maximum.accumulate(-logit(self.below(released, noise, place)))
        return np.asarray(np.interp(-logit(target), level, place), dtype=np.float64)

    def _around(self, released: float, noise: float, least: float, most: float) -> tuple[float, float]:
        """Two F between which g passes all targets, which are from `least` to `most`.

        If no F ξ is above T - k b, g is at least Λ(k) = 1 - e^-k/2; if none is below T + k b, it is at most e^-k/2.
        """
        nearest = max(min(least, 1.0 - most), 1e-300)
        reach = noise * (1.0 - math.log(nearest))
        low = max(released - reach, 0.0) / float(self._ends[-1])
        return low, max(low, self._beyond(released, noise, least, released + reach))

    def _beyond(self, released: float, noise: float, least: float, reached: float) -> float:
        """An F at which g is below `least`, or the largest number. It is, if no F ξ is below `reached`."""
        surely = max(reached, 0.0) / float(self._ends[0]) if self._ends[0] > 0.0 else math.inf
        high = (max(released, 0.0) + noise) / float(self._ends[_PIECES // 2])
        if surely <= 2.0 * high:
            return surely
        while high < 1e300 and self.below(released, noise, np.array([high]))[0] > least:
            high *= 4.0
        return high


def logit(probability: Array) -> Array:
    """ln(g/(1 - g)), finite even if rounding makes g 0 or 1."""
    inside = np.minimum(np.maximum(probability, 1e-300), 1.0 - 1e-16)
    out: Array = np.log(inside) - np.log1p(-inside)
    return out


def _laplace_below(v: Array) -> Array:
    """Λ(v)."""
    half = 0.5 * np.exp(-np.abs(v))
    return np.where(v < 0.0, half, 1.0 - half)


def _checked(released: float, noise: float) -> tuple[float, float]:
    if not math.isfinite(released):
        raise ArgumentError("released", released, "must be a finite number", "Pass the released value")
    if not 0.0 < noise < math.inf:
        raise ArgumentError("noise", noise, "must be positive", "Pass the scale of the plan")
    return float(released), float(noise)


@lru_cache(maxsize=64)
def noisy_power_law(p: float, size: int) -> NoisyLaw:
    """The law of one p and size of one-sided entries, built once."""
    return NoisyLaw(power_sum(p, size).log_quantiles)


def noisy_sum_law(p: float, variance: float) -> NoisyLaw:
    """The law of a sum of estimates F_b ξ_b over its mean F, whose relative variance is known.

    It is the `noisy_power_law` for the number of entries that have that variance: exact if one F_b is all of F, and
    with the right skewness if all are equal, because the skewness of a sum of k is 1/sqrt(k) of that of one. The
    variance is rounded to 1%, so that one law serves many sums.
    """
    steps = round(math.log(variance) / math.log1p(_ALIKE))
    return _sum_law(p, math.exp(steps * math.log1p(_ALIKE)))


@lru_cache(maxsize=512)
def _sum_law(p: float, variance: float) -> NoisyLaw:
    if variance > _NEARLY_NORMAL:
        return noisy_power_law(p, size_for(p, math.sqrt(variance)))
    # With this many entries the skewness hardly matters, and that of a log-normal law is close to that of ξ.
    spread = math.sqrt(math.log1p(variance))
    return NoisyLaw(lambda probability: spread * _normal_scores(*probability.tolist()) - 0.5 * spread**2)


@lru_cache(maxsize=1)
def _normal_scores(*probability: float) -> Array:
    """The normal scores of these probabilities, which are the same for every law."""
    return np.array(list(map(NormalDist().inv_cdf, probability)))


@lru_cache(maxsize=64)
def noisy_norm_law(p: float, size: int) -> NoisyLaw:
    """Like `noisy_power_law`, for the norm of an order above 1, from symmetric entries."""
    return NoisyLaw(np.vectorize(norm_law(p, size).log_quantile, otypes=[np.float64]))
