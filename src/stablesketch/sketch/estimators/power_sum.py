"""The law of the power estimator of one-sided entries: ξ = F_hat/F, which is the same for every stream.

An entry is F^{1/p} X with X positive p-stable, so with λ < 0, Y = X^{λp} = e^{λZ} (law/one_sided.py) and S = Σ Y_j over
the r entries

    (mean of entry^{λp})^{1/λ} = F (S/r)^{-θ},      θ = -1/λ,      and so      F_hat = F ξ,      ξ = (S/r)^{-θ} / c,

with c = E (S/r)^{-θ}, so that E ξ = 1 at every size. The moments E Y = Γ(1-λ)/Γ(1-λp) give the λ of least variance in
the limit of many entries. c is finite for two entries or more and has a closed form at p = 1/2 alone (λ = -2, Y = 2N²);
elsewhere it is computed from

    Γ(1+θ) E S^{-θ} = E (E/S)^θ = ∫ e^{θτ} d(1 - φ(e^τ)^r),      φ(s) = E e^{-sY} = P(E > sY) = E P(Z > (τ - ln E)/|λ|),

with E exponential and τ = ln s: sums of positive terms on lattices, on which the trapezoid rule is exact to rounding,
because all functions are analytic within |Im τ| < π/2. Compared with the closed form at p = 1/2 and with simulation, it
is correct to 1e-10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np

from ...errors import ArgumentError
from ...law.one_sided import one_sided_law
from ...law.quadrature import gauss_log_exponential
from ...numbers.arrays import Array
from ...numbers.elementary import exp_sums, log
from ...numbers.search import last_whole, valley
from .power_lattice import cyclic_power, log_below, truncated_power

LEAST_SIZE = 5
"""With fewer entries the tail of ξ is so heavy that the noise must be many times that of the exact value."""

_STEP = 1.0 / 8.0
_LOWEST_TAU, _LOWEST_LOG = -66.0, -80.0
# The lattice ends where the upper tail of Z is e^-40, or here; beyond, everything varies slowly.
_HIGHEST_TAU = 1_000.0
_FARTHEST = 40.0
# Above this many entries ln ξ is normal to three digits of its quantiles.
_LARGEST_SIZE = 1 << 16


def one_sided_log_moment(exponent: float, p: float) -> float:
    """ln E X^{λp} = ln Γ(1-λ) - ln Γ(1-λp), for λ = exponent < 1."""
    return math.lgamma(1.0 - exponent) - math.lgamma(1.0 - exponent * p)


def one_sided_variance(exponent: float, p: float) -> float:
    """The relative variance, times r in the limit, of (mean of entry^{λp})^{1/λ}: (E Y²/(E Y)² - 1)/λ²."""
    return math.expm1(one_sided_log_moment(2.0 * exponent, p) - 2.0 * one_sided_log_moment(exponent, p)) / exponent**2


@lru_cache(maxsize=64)
def best_one_sided_power(p: float) -> float:
    """The λ < 0 with the least `one_sided_variance`, by golden section, rounded to four digits so that it is the same
    on all machines. The valley is flat, so the cost of the rounding is immeasurably small."""
    least = valley(lambda size: one_sided_variance(-size, p), 0.5, 4.0 / (1.0 - p), 80)
    return -float(f"{least:.3e}")


@dataclass(frozen=True)
class _Transform:
    """ln φ(e^τ) and -dφ/dτ at nodes τ, with weights to integrate over them."""

    tau: Array
    weight: Array
    log_phi: Array
    rate: Array


@lru_cache(maxsize=16)
def _transform(p: float) -> _Transform:
    law, size = one_sided_law(p), -best_one_sided_power(p)
    first, last = round(_LOWEST_TAU / _STEP), math.ceil(min(_FARTHEST * size, _HIGHEST_TAU) / _STEP)
    logs: Array = _STEP * np.arange(round(_LOWEST_LOG / _STEP), round(4.5 / _STEP), dtype=np.float64)
    weights = _STEP * np.exp(logs - np.exp(logs))
    # z = (τ - ln E)/|λ| lies on the same lattice, divided by |λ|.
    lattice: Array = _STEP * np.arange(
        first - round(4.5 / _STEP) + 1, last - round(_LOWEST_LOG / _STEP) + 1, dtype=np.float64
    )
    values = law.values(lattice / size)
    phi = np.convolve(np.exp(values.sf), weights, mode="valid")
    rate = np.convolve(np.exp(values.density), weights, mode="valid") / size
    tau: Array = _STEP * np.arange(first, last + 1, dtype=np.float64)
    parts = [(tau, np.full(tau.shape, _STEP), phi, rate)]
    parts[0][1][-1] *= 0.5
    nodes, shares = np.polynomial.legendre.leggauss(24)
    waiting, mass = gauss_log_exponential(24)
    left = float(tau[-1])
    while left < _FARTHEST * size:
        right = min(2.0 * left, _FARTHEST * size)
        some = left + (right - left) * (0.5 * nodes + 0.5)
        values = law.values((some[:, np.newaxis] - waiting) / size)
        parts.append(
            (some, 0.5 * (right - left) * shares, np.exp(values.sf) @ mass, np.exp(values.density) @ mass / size)
        )
        left = right
    tau, weight, phi, rate = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _Transform(tau, weight, np.log(phi), rate)


class PowerSum:
    """ξ for one p and size: `log_constant` makes it unbiased, `log_quantile` gives confidence limits."""

    def __init__(self, p: float, size: int) -> None:
        self.p, self.size = p, size
        self.power = best_one_sided_power(p)
        self.theta = -1.0 / self.power

    @cached_property
    def log_constant(self) -> float:
        """ln c, c = E (S/r)^{-θ}. A single entry has no mean; then it is the logarithm of the median, so that F_hat is
        too large as often as too small."""
        if self.size == 1:
            return float(one_sided_law(self.p).quantile(log_sf=np.array(math.log(0.5))))
        known = _transform(self.p)
        size = float(self.size)
        logs = self.theta * known.tau + (size - 1.0) * known.log_phi + math.log(size)
        top = float(np.max(logs))
        total = float(np.sum(known.weight * known.rate * np.exp(logs - top)))
        return top + math.log(total) - math.lgamma(1.0 + self.theta) + self.theta * math.log(size)

    def log_estimates(self, z: Array) -> Array:
        """ln F_hat from p ln(entry), the entries of one estimate along the last axis; -∞ where an entry is 0.

        An entry of 0 gives an estimate of exactly 0, which is the limit, and keeps F_hat(s y) = s^p F_hat(y) for s = 0.
        """
        # λ < 0: the smallest entry is the largest term
        top, total = exp_sums(self.power * z)
        with np.errstate(invalid="ignore"):
            logs = (top + log(total / z.shape[-1])) / self.power - self.log_constant
        return np.where(np.isposinf(top), -np.inf, logs)

    def log_quantile(self, probability: float) -> float:
        """ln x with P(ξ <= x) = probability."""
        return float(self.log_quantiles(np.array([probability]))[0])

    def log_quantiles(self, probability: Array) -> Array:
        """Like `log_quantile`, for many probabilities at once."""
        if self.size == 1:
            return one_sided_law(self.p).quantile(log_cdf=np.log(probability)) - self.log_constant
        # ξ falls with S, and P(S <= s) = 1 - probability
        if self.size > _LARGEST_SIZE:
            scores = np.array([NormalDist().inv_cdf(1.0 - each) for each in probability.tolist()])
            log_sums = math.log(self.size * self.mean) + self.spread * scores
        else:
            tables = (self._lower_sums, self._all_sums)
            lower, every = (np.interp(1.0 - probability, below, sums) for sums, below in tables)
            log_sums = np.log(np.where(probability > 0.5, lower, every))
        out: Array = -self.theta * (log_sums - math.log(self.size)) - self.log_constant
        return out

    @cached_property
    def relative_variance(self) -> float:
        """Var ξ at this size (E ξ is 1); infinite for one or two entries, because P(ξ > x) falls like x^-r.

        With τ = ln(E/S), whose law has the weights used for the constant, e^{θτ} is the product of E^θ and S^{-θ}.
        These are independent, so 1 + relative variance is a product too. The variance of e^{θτ} is computed around the
        middle of τ, so that differences lose little if θ is small.
        """
        if self.size <= 2:
            return math.inf
        known = _transform(self.p)
        logs = (self.size - 1.0) * known.log_phi + np.log(known.rate * known.weight)
        weights = np.exp(logs - np.max(logs))
        weights /= weights.sum()
        # Where weights are negligible e^{2θτ} is large; they are multiplied as logarithms.
        logs = np.log(np.maximum(weights, 1e-300))
        x = self.theta * (known.tau - float(weights @ known.tau))
        near = np.abs(x) < 1.0
        rise = np.expm1(np.where(near, x, 0.0))
        first = np.where(near, weights * rise, np.exp(logs + np.where(near, 0.0, x)) - weights)
        second = np.where(
            near, weights * rise**2, (np.exp(0.5 * logs + np.where(near, 0.0, x)) - np.exp(0.5 * logs)) ** 2
        )
        mean = float(first.sum())
        both = (float(second.sum()) - mean**2) / (1.0 + mean) ** 2
        waiting = math.expm1(math.lgamma(1.0 + 2.0 * self.theta) - 2.0 * math.lgamma(1.0 + self.theta))
        return (both - waiting) / (1.0 + waiting)

    @property
    def transform(self) -> tuple[Array, Array]:
        """Points τ and ln φ(e^τ) there, φ(s) = E e^{-sY}."""
        known = _transform(self.p)
        return known.tau, known.log_phi

    @property
    def transform_slope(self) -> Array:
        """-d ln φ(e^τ)/dτ at the same points: the S for which e^{σs} φ(σ)^r is least at σ = e^τ is r/σ times this."""
        known = _transform(self.p)
        return np.asarray(known.rate * np.exp(-known.log_phi))

    @cached_property
    def mean(self) -> float:
        """E Y."""
        return math.exp(one_sided_log_moment(self.power, self.p))

    @property
    def spread(self) -> float:
        """The relative deviation of S."""
        return math.sqrt(one_sided_variance(self.power, self.p) / self.size) * -self.power

    @cached_property
    def _all_sums(self) -> tuple[Array, Array]:
        """S on a lattice, and P(S <= s) there."""
        cells = 1 << (16 if self.size <= 256 else 18 if self.size <= 2_048 else 20)
        widest = self.mean * (1.0 + self.spread * math.sqrt(self.size))
        return self._sums(self.size * self.mean * (1.0 + 12.0 * self.spread) + 80.0 * widest, cells, cyclic_power)

    @cached_property
    def _lower_sums(self) -> tuple[Array, Array]:
        """Like `_all_sums`, but only up to slightly above the median of S, so it is much finer for few entries."""
        sums, below = self._all_sums
        if self.size > 64:
            return sums, below
        return self._sums(1.2 * float(np.interp(0.6, below, sums)), len(sums), truncated_power)

    def _sums(self, highest: float, cells: int, power: Callable[[Array, int, int], Array]) -> tuple[Array, Array]:
        """Rounds Y down to cells, then moves each sum up by the average amount that rounding took from its terms."""
        cell, below = highest / cells, log_below(self.p, self.power)
        count = min(cells, math.ceil(150.0 * self.mean / cell))
        at_edge = np.exp(below(np.log(cell * np.arange(1, count + 1))))
        middle = np.exp(below(np.log(cell * (np.arange(count) + 0.5))))
        # ∫ (y - k cell) dF over cell k, by Simpson's rule; F is C y^θ in the first.
        inside = cell * (at_edge[:-1] + 4.0 * middle[1:] + at_edge[1:]) / 6.0
        lost = cell * float(at_edge.sum()) - float(inside.sum()) - at_edge[0] * cell / (1.0 + self.theta)
        sums = np.cumsum(power(np.diff(at_edge, prepend=0.0), self.size, cells))
        place = cell * (np.arange(cells) + 0.5) + self.size * lost / float(at_edge[-1])
        return place, np.maximum.accumulate(np.clip(sums, 0.0, 1.0))


power_sum = lru_cache(maxsize=256)(PowerSum)
"""The law of one p and size, one instance for all."""


def size_for(p: float, error: float) -> int:
    """The fewest entries, at least five, with a relative deviation of ξ of at most `error`."""
    if not 0.0 < error < math.inf:
        raise ArgumentError("error", error, "must be positive", "Pass 0.05, for example")

    def enough(size: int) -> bool:
        return power_sum(p, size).relative_variance <= error**2

    low, high = LEAST_SIZE - 1, LEAST_SIZE
    while not enough(high):
        low, high = high, max(high + 1, math.ceil(high * power_sum(p, high).relative_variance / error**2))
    return last_whole(lambda size: not enough(size), low, high) + 1
