"""The norm ‖f‖_p = F_p^{1/p} from symmetric entries of order 1 < p <= 2, and the law of its estimate.

An entry is ‖f‖_p X, so every T with T(s a) = s T(a), s >= 0, is T = ‖f‖_p ξ, and the law of ξ does not depend on the
stream. Both estimators below are of this kind, have no clamp and no branch, give 0 for an empty sketch, and are
unbiased for the norm at every size:

    p = 2:      T = (Σ a_j²/(2r))^{1/2} / κ,   ξ = χ_r/(κ √r),   κ = (2/r)^{1/2} Γ((r+1)/2)/Γ(r/2)
    1 < p < 2:  T = |a|_(k) / κ,               ξ = |X|_(k)/κ,    κ = E|X|_(k)

|a|_(k) is the k-th smallest magnitude, with k/(r+1) near the level where the quantile is most informative about the
scale, from the median at p → 1 to 0.86 at p → 2. Why not a power mean: entries have polynomial tails, so (mean
|a|^q)^{1/q} with the q of least variance has them too, which would need more noise. With a q small enough for light
tails, including the geometric mean, its variance is larger than that of the order statistic. It is also steep at
entries near 0, where errors of computation are large relative to the entry; an order statistic moves by no more than
the entries do.

The density of ln ξ is known (a χ law; a Beta law through the distribution function of |X|). Tails and moments are its
integrals by Gauss's rule over panels that are narrow compared with its deviation, from where one tail is e^-100 to
where the other is. They are correct to 1e-10 (tests/sketch/estimators/test_norm.py has closed forms by other code).
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ArgumentError
from ...law.above_one import above_one_law
from ...numbers.arrays import Array
from ...text.wording import arg
from .registry import Estimate, checked_confidence

METHOD = "norm"

_LOG_END = -100.0
_NODES = 6
_FIRST_WIDTH = 1.0 / 32.0  # of the deviation of ln ξ
_GROWTH = 0.005
_FEWEST_ABOVE = 8
_STIRLING_FROM = 128
_LARGEST_SIZE = 1 << 31


class NormLaw:
    """ξ for one p and size: `log_constant` makes it unbiased; its tails, its quantiles and its variance."""

    def __init__(self, p: float, size: int) -> None:
        if not 1.0 < p <= 2.0:
            raise ArgumentError("p", p, "must be above 1 and at most 2", f"Pass {arg('p', 2)}, for example")
        if size < 1:
            raise ArgumentError("size", size, "must be at least 1", "Pass 200, for example")
        self.p, self.size = float(p), int(size)

    @cached_property
    def order(self) -> int:
        """k, counted from 1. At least eight entries, or half of them, are no smaller: with m of them P(ξ > x) falls
        like x^{-pm}, and with few entries that tail alone would decide the noise."""
        wanted = round(above_one_law(self.p).best_level * (self.size + 1))
        return max(min(wanted, self.size + 1 - min(_FEWEST_ABOVE, (self.size + 1) // 2 + 1)), 1)

    @cached_property
    def log_constant(self) -> float:
        """ln κ."""
        r, p = self.size, self.p
        if p == 2.0:
            if r < _STIRLING_FROM:
                return 0.5 * math.log(2.0 / r) + math.lgamma(0.5 * (r + 1)) - math.lgamma(0.5 * r)
            return (-0.25 + (1.0 / 24.0 - 0.05 / r**2) / r**2) / r  # Stirling's series: nothing cancels
        if r == 1:
            return math.log(2.0 / math.pi) + math.lgamma(1.0 - 1.0 / p)
        _, y, mass, _ = self._panels
        return math.log(float(np.sum(mass * np.exp(y))))

    def estimates(self, entries: ArrayLike) -> Array:
        """The norm from a_j, the entries of one sketch along the last axis; 0 where they are all 0."""
        values = np.asarray(entries, dtype=np.float64)
        constant = math.exp(self.log_constant)
        if self.p < 2.0:
            kth: Array = np.partition(np.abs(values), self.order - 1, axis=-1)[..., self.order - 1] / constant
            return kth
        # Entries stay below 2^250, so that squares are floats.
        out: Array = np.sqrt(np.sum(values * values, axis=-1) / (2.0 * self.size)) / constant
        return out

    def _log_density(self, y: Array) -> Array:
        """ln of the density of y = ln ξ + ln κ."""
        r = self.size
        if self.p == 2.0:
            log_z = math.log(0.5 * r) + 2.0 * y
            return math.log(2.0) + 0.5 * r * log_z - np.exp(log_z) - math.lgamma(0.5 * r)
        k, values = self.order, above_one_law(self.p).values(y)
        log_ways = math.lgamma(r + 1) - math.lgamma(k) - math.lgamma(r - k + 1)
        return log_ways + (k - 1) * values.cdf + (r - k) * values.sf + values.density

    def _ends(self) -> tuple[float, float, float, float]:
        """y where each tail is e^-100 or less, a centre between, and the deviation of y."""
        r = self.size
        if self.p == 2.0:
            # P(χ² <= ru) and P(χ² >= ru) are at most exp((r/2)(1 - u + ln u)) below and above 1.
            def end(sign: float) -> float:
                near, far = 0.0, sign
                while 0.5 * r * (far - math.expm1(far)) > _LOG_END:
                    far *= 2.0
                for _ in range(60):
                    middle = 0.5 * (near + far)
                    near, far = (middle, far) if 0.5 * r * (middle - math.expm1(middle)) > _LOG_END else (near, middle)
                return 0.5 * far

            return end(-1.0), 0.0, end(1.0), math.sqrt(0.5 / r)
        law, k = above_one_law(self.p), self.order
        level = k / (r + 1.0)
        centre = float(law.quantile(log_cdf=np.array(math.log(level))))
        deviation = math.sqrt(level * (1.0 - level) / r) / math.exp(float(law.values(np.array(centre)).density))
        # P(k of r are below y) <= C(r, k) P(|X| <= e^y)^k, and likewise above.
        above = r - k + 1
        lower = (_LOG_END - log_choose(r, k)) / k
        upper = (_LOG_END - log_choose(r, above)) / above
        return (
            float(law.quantile(log_cdf=np.array(lower))),
            centre,
            float(law.quantile(log_sf=np.array(upper))),
            deviation,
        )

    @cached_property
    def _panels(self) -> tuple[Array, Array, Array, Array]:
        """Edges of the panels; the nodes in them and their masses, as rows; ln of the density at the nodes."""
        low, centre, high, deviation = self._ends()
        left = centre - _widening(centre - low, deviation)[::-1]
        edges = np.concatenate([left, centre + _widening(high - centre, deviation)[1:]])
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        width = np.diff(edges)[:, np.newaxis]
        y = edges[:-1, np.newaxis] + width * (0.5 * nodes + 0.5)
        log_density = self._log_density(y)
        return edges, y, 0.5 * width * weights * np.exp(log_density), log_density

    @cached_property
    def tails(self) -> tuple[Array, Array, Array]:
        """ln ξ from low to high, P(ξ <= e^v) and P(ξ > e^v) there; beyond either end there is at most e^-100."""
        edges, _, mass, _ = self._panels
        each = mass.sum(axis=1)
        end = math.exp(_LOG_END)
        below = np.concatenate([[end], end + np.cumsum(each)])
        above = np.concatenate([(end + np.cumsum(each[::-1]))[::-1], [end]])
        return edges - self.log_constant, below, above

    def log_quantile(self, probability: float) -> float:
        """ln x with P(ξ <= x) = probability."""
        if probability > 0.5:
            return self.log_quantile_above(1.0 - probability)
        v, below, _ = self.tails
        return float(np.interp(math.log(probability), np.log(below), v))

    def log_quantile_above(self, probability: float) -> float:
        """ln x with P(ξ > x) = probability, for small ones."""
        v, _, above = self.tails
        return float(np.interp(-math.log(probability), -np.log(above), v))

    def gap(self, largest: float) -> float:
        """r E(V - U) for 1 < p < 2: of r - 1 magnitudes |X|, U and V are the (k-1)-th and the k-th smallest, cut at
        `largest`. It is the mean of 1/h(Q), Q the k-th smallest of r and h the density of |X|.

        P(U < x < V) = C(r-1, k-1) H(x)^(k-1) (1 - H(x))^(r-k), and r h times that is the density of Q.
        """
        _, y, mass, _ = self._panels
        kept = y < math.log(largest)
        return float(np.sum(mass[kept] * np.exp(y[kept] - above_one_law(self.p).values(y[kept]).density)))

    @cached_property
    def relative_variance(self) -> float:
        """Var ξ, the relative variance of the estimated norm; the error of F_p = norm^p is p times that. ∞ without a
        mean."""
        if self.p == 2.0:
            return math.expm1(-2.0 * self.log_constant)
        if self.p * (self.size - self.order + 1) <= 2.0:
            return math.inf
        _, y, mass, _ = self._panels
        return float(np.sum(mass * np.expm1(y - self.log_constant) ** 2))


def _widening(length: float, deviation: float) -> Array:
    """0, ..., length in steps that start at a small part of the deviation and grow by half a percent each."""
    first = _FIRST_WIDTH * deviation
    count = max(math.ceil(math.log1p(_GROWTH * length / first) / math.log1p(_GROWTH)), 8)
    steps = (1.0 + _GROWTH) ** np.arange(count + 1) - 1.0
    out: Array = steps * (length / steps[-1])
    return out


def log_choose(n: int, k: int) -> float:
    """ln of n over k."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


norm_law = lru_cache(maxsize=256)(NormLaw)
"""The law of one p and size, one instance for all."""


def norms(entries: ArrayLike, p: float) -> Array:
    """The norm for sketches stacked along the leading axes, the entries of one along the last; 0 for an empty one."""
    values = np.asarray(entries, dtype=np.float64)
    return norm_law(p, values.shape[-1]).estimates(values)


def estimate(entries: ArrayLike, p: float, method: str, confidence: float) -> Estimate:
    """F_p = norm^p from the entries of one sketch; the limits are those of the norm."""
    if method not in ("best", METHOD):
        raise ArgumentError("method", method, f'must be "{METHOD}" for orders above 1', "Leave it out")
    values = np.asarray(entries, dtype=np.float64)
    law, beyond = norm_law(p, values.shape[-1]), 0.5 * (1.0 - checked_confidence(confidence))
    norm = float(law.estimates(values))
    if norm == 0.0:
        return Estimate(0.0, 0.0, 0.0, float(confidence), METHOD)
    low, high = math.exp(-law.log_quantile(1.0 - beyond)), math.exp(-law.log_quantile(beyond))
    return Estimate(norm**p, (norm * low) ** p, (norm * high) ** p, float(confidence), METHOD)


def size_for(p: float, error: float) -> int:
    """The fewest entries with which F_p, of order 1 < p <= 2, has at most this relative standard error, which is p
    times that of the norm."""
    if not 0.0 < error < math.inf:
        raise ArgumentError("error", error, "must be positive", "Pass 0.05 for 5%")

    def needed(size: int) -> float:
        """The size, if variances fell as one over it."""
        return size * p * p * norm_law(p, size).relative_variance / error**2

    size = 5
    for _ in range(60):
        wanted = needed(size)
        if wanted > _LARGEST_SIZE:
            raise ArgumentError(
                "error", error, "must be larger",
                "Allow a larger error",
                because="this one needs more entries than a sketch can have",
            )  # fmt: skip
        if wanted <= size and (size == 2 or needed(size - 1) > size - 1):
            return size
        # k moves in whole steps, so variances do not fall quite evenly: the rest goes one at a time.
        step = math.ceil(wanted) - size
        size = max(2, size + step if abs(step) > 3 else size + (1 if wanted > size else -1))
    return size
