"""A scale-equivariant estimate plus Laplace noise: how much noise (ε, δ) needs, by a certified upper bound.

The estimate of a one-sided sketch is F ξ, and ξ has one law for all streams (sketch/estimators/power_sum.py). If
neighbours have |F - F'| <= Δ, then F ξ + Laplace(b) has, for every pair of neighbours and every ε > 0,

    δ(ε) <= E f(Δ ξ/b),      f(s) = (1 - e^{(ε - s)/2})_+,

proved in docs/math-noisy-estimate.md, which also states the assumptions. Noise on a grid, errors of computation and the
largest of several ξ increase the shift s, as `Precision` and `copies` say. Here noise is b in units of Δ.

E f is computed so that it can only come out too large. ξ falls with S = Σ Y_j, a sum of r positive variables. Y is
rounded *down* to a lattice, so S comes out smaller and f larger; its distribution function is first raised by more than
its error. Only sums below the point where f becomes 0 matter, and they depend on the Y below it alone. The convolution
is done on the tilted masses m_k e^{-σk}, at the σ of Chernoff's bound for the end of the window, so that what rounding
can do in it is a tiny part of that bound, and is added. For more entries than that takes time for, Chernoff's bound

    P(S <= s) <= e^{σs} φ(σ)^r      (for every σ > 0),

serves by itself; the noise is then 1 to 3% too large.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..errors import ArgumentError
from ..numbers.arrays import Array
from ..numbers.search import least_above
from ..sketch.estimators.power_lattice import log_below, truncated_power
from ..sketch.estimators.power_sum import PowerSum, one_sided_variance, power_sum

# Logarithms of probabilities are raised by this: the error of the table of ln P(Y <= y) is below 1e-9, of ln φ 1e-11.
RAISED = 2e-9
# ξ is raised by this: the error of its constant is below 1e-9.
RAISED_XI = 1.0 + 4e-9
# The error of a Fourier transform of 2^20 numbers is below this part of their norm.
_ROUNDING = 1e-14
_LARGEST_LATTICE_SIZE = 1_024
_LARGEST_LOG_SUM = 600.0  # above it, all Y would be in the first cell, or cells too small for a float
_WITHIN = 2e-3  # relative accuracy of `noise`, which always errs upwards
_LOOSE = 1e3  # Chernoff's bound may be too large by this factor


@dataclass(frozen=True)
class Precision:
    """The cost of finite precision, as in the last section of docs/math-noisy-estimate.md.

    The computed estimate is F_hat (1 + ζ), |ζ| <= `error`, cut at `cap` (in units of Δ), and then too small by up to
    `short` (in units of Δ). All of this holds except with probability `failure`. It is rounded to a grid of step `grid`
    (in units of b) before discrete Laplace noise on that grid is added. If one person can move several outputs, each
    with its own sketch, noise and grid, each of the `outputs` costs as much.
    """

    error: float = 0.0
    failure: float = 0.0
    cap: float = 0.0
    grid: float = 0.0
    short: float = 0.0
    outputs: int = 1

    def shift(self, noise: float) -> float:
        """What is added to ξ/noise."""
        rounding = 2.0 * self.error * self.cap / (1.0 - self.error) + self.short
        return self.outputs * (rounding / noise + 2.0 * self.grid)

    @property
    def failures(self) -> float:
        """What is added to δ: 2π for each output."""
        return 2.0 * self.outputs * self.failure


EXACT = Precision()


def tail_of_largest(tail: Array, copies: int) -> Array:
    """P(the largest of `copies` independent ξ >= x), from that of one: 1 - (1 - tail)^copies."""
    with np.errstate(divide="ignore"):
        several: Array = -np.expm1(copies * np.log1p(-np.minimum(tail, 1.0)))
    return several


def log_transform(law: PowerSum) -> tuple[Array, Array]:
    """τ = ln σ, and a bound of r ln φ(σ)."""
    tau, log_phi = law.transform
    return tau, law.size * np.minimum(log_phi + RAISED, 0.0)


def chernoff_bounds(law: PowerSum, log_sums: Array, below: float) -> Array:
    """The least over many σ of e^{σs} φ(σ)^r, at most 1, for increasing ln s: all of them bound P(S <= s).

    Only σ from 1/s to r/s can be best, smaller ones in the middle of the law: those from e^-below/s on are tried.
    """
    tau, powers = log_transform(law)
    near = slice(*np.searchsorted(tau, [-log_sums[-1] - below, -log_sums[0] + math.log(law.size) + 5.0]))
    best = np.empty_like(log_sums)
    with np.errstate(over="ignore"):
        for start in range(0, len(log_sums), 100):
            some = slice(start, start + 100)
            best[some] = np.min(np.exp(log_sums[some, np.newaxis] + tau[near]) + powers[near], axis=1)
    return np.exp(np.minimum(best, 0.0))


def check_asked(epsilon: float, delta: float, precision: Precision) -> None:
    """Refuses an (ε, δ) that no noise can reach."""
    if not precision.failures < delta < 1.0:
        raise ArgumentError("delta", delta, "must be between twice the failure probability and 1", "Raise it")
    if not 2.0 * precision.outputs * precision.grid < epsilon < math.inf:
        raise ArgumentError("epsilon", epsilon, "must be above twice the step of the grid", "Raise it")


def enough_noise(enough: Callable[[float], bool], epsilon: float, delta: float, within: float) -> float:
    """The least noise that is enough, from above; an error about δ if none is."""
    found = least_above(enough, 1.0 / epsilon, within, most=1e200)
    if found is None:
        raise ArgumentError(
            "delta", delta, "must be larger", "Raise it, or use more entries", because="no noise is enough"
        )
    return found


class NoisyXi(ABC):
    """The largest of `copies` independent ξ of one p and size, and the noise that it needs: what `NoisyEstimate` and
    `NoisyNorm` have in common.
    """

    needs_two_for: ClassVar[str]
    """What an estimate from one entry would lack."""

    def __init__(self, p: float, size: int, copies: int = 1) -> None:
        if size < 2:
            raise ArgumentError(
                "size", size, f"must be at least 2 for the estimate to have a {self.needs_two_for}",
                "Use two entries or more",
            )  # fmt: skip
        if copies < 1:
            raise ArgumentError("copies", copies, "must be at least 1", "Pass the number of estimates released")
        self.p, self.size, self.copies = p, size, copies

    def delta(self, epsilon: float, noise: float, precision: Precision = EXACT) -> float:
        """An upper bound of δ(ε) with Laplace noise of this scale; 1 if the shift alone reaches ε."""
        if precision.shift(noise) >= epsilon:
            return 1.0
        return self._expected(*self._above(epsilon, noise, precision), epsilon, noise, precision)

    def _expected(self, xi: Array, tail: Array, epsilon: float, noise: float, precision: Precision) -> float:
        """E f of the largest ξ, plus 2π: xi decreases along the array, and tail, which bounds P(one ξ >= xi),
        increases.

        Between two of these points P(ξ >= x) is taken at the lower one: the mass of a step has the greater ξ.
        """
        masses = np.diff(tail_of_largest(tail, self.copies), prepend=0.0)
        with np.errstate(over="ignore"):  # for a large ε
            f = np.maximum(-np.expm1(0.5 * (epsilon - xi * (RAISED_XI / noise) - precision.shift(noise))), 0.0)
        return min(float(masses @ f) * (1.0 + 1e-12) + precision.failures, 1.0)

    @abstractmethod
    def noise(self, epsilon: float, delta: float, precision: Precision = EXACT) -> float:
        """The least noise whose `delta` is at most this, found from above."""

    @abstractmethod
    def _above(self, epsilon: float, noise: float, precision: Precision) -> tuple[Array, Array]:
        """Points ξ decreasing from ∞ to where f is 0, or further, with increasing upper bounds of P(one ξ >= the next
        point)."""


class NoisyEstimate(NoisyXi):
    """ξ of one-sided entries: one for one estimate, two for a pair that moves between two buckets or groups, up to c
    for c pairs of a person, or 2c if they are replaced."""

    needs_two_for = "mean"

    def __init__(self, p: float, size: int, copies: int = 1) -> None:
        super().__init__(p, size, copies)
        self._law = power_sum(p, size)

    def _above(self, epsilon: float, noise: float, precision: Precision) -> tuple[Array, Array]:
        least = self._least_xi(epsilon, noise, precision)
        return self._whole if least < self._low_xi else self.survival(least)

    @cached_property
    def _low_xi(self) -> float:
        """A point below nearly all ξ: four deviations below the middle."""
        return math.exp(-4.0 * math.sqrt(one_sided_variance(self._law.power, self.p) / self.size))

    @cached_property
    def _whole(self) -> tuple[Array, Array]:
        """For an f that is positive at all ξ except the lowest, for which a lattice would be too coarse. All ξ below
        `_low_xi` count as if they were there; this is safe because f increases."""
        xi, tail = self.survival(self._low_xi)
        return np.append(xi, self._low_xi), np.append(tail, 1.0)

    def survival(self, least: float) -> tuple[Array, Array]:
        """Points ξ decreasing from ∞ to `least`, and an increasing upper bound of P(one ξ >= the next point)."""
        return self._lattice(least) if self.size <= _LARGEST_LATTICE_SIZE else self._chernoff(least)

    def noise(self, epsilon: float, delta: float, precision: Precision = EXACT) -> float:
        """The least noise whose `delta` is at most this, found from above to 0.2%."""
        check_asked(epsilon, delta, precision)
        high = self._by_chernoff(epsilon, delta, precision)
        if self.size > _LARGEST_LATTICE_SIZE:
            return high
        # One lattice serves all noise above the least it was made for.
        looser = _LOOSE
        while True:
            low = self._by_chernoff(epsilon, delta * looser, precision) if delta * looser < 0.1 else 0.5 * high
            if precision.shift(low) >= epsilon:
                return high
            xi, tail = self._lattice(self._least_xi(epsilon, low, precision))
            if self._expected(xi, tail, epsilon, low, precision) > delta:
                break
            high, looser = low, looser * _LOOSE
        while high > low * (1.0 + _WITHIN):
            middle = math.sqrt(low) * math.sqrt(high)  # low * high may exceed the range of floats
            if self._expected(xi, tail, epsilon, middle, precision) > delta:
                low = middle
            else:
                high = middle
        return high

    def _by_chernoff(self, epsilon: float, delta: float, precision: Precision) -> float:
        """Noise that is enough by Chernoff's bound, found to 0.2% from above."""

        def enough(noise: float) -> bool:
            if precision.shift(noise) >= epsilon:
                return False
            xi, tail = self._chernoff(self._least_xi(epsilon, noise, precision))
            return self._expected(xi, tail, epsilon, noise, precision) <= delta

        return enough_noise(enough, epsilon, delta, _WITHIN)

    def _least_xi(self, epsilon: float, noise: float, precision: Precision) -> float:
        """The ξ below which f is 0; the shift is below ε."""
        return (epsilon - precision.shift(noise)) * noise

    def _xi(self, log_sum: Array) -> Array:
        law = self._law
        with np.errstate(over="ignore"):
            out: Array = np.exp(-law.theta * (log_sum - math.log(self.size)) - law.log_constant)
        return out

    def _log_sum(self, xi: float) -> float:
        """ln of the S at which ξ is this."""
        law = self._law
        return math.log(self.size) - (math.log(xi) + law.log_constant) / law.theta

    def _chernoff(self, least: float) -> tuple[Array, Array]:
        """Points ξ from ∞ down to `least`, and bounds of P(ξ >= x): for each the best of many σ, all of them valid."""
        # From e^12 times the least ξ down, in steps that shrink towards it.
        log_sums = self._log_sum(least) - 12.0 / self._law.theta * np.linspace(1.0, 0.0, 500) ** 2
        tail = np.maximum.accumulate(chernoff_bounds(self._law, log_sums, 5.0))
        # The mass between two points has the greater ξ; the mass beyond the first has an infinite one.
        return np.concatenate([[np.inf], self._xi(log_sums[:-1])]), tail

    def _lattice(self, least: float) -> tuple[Array, Array]:
        """Like `_chernoff`, by convolution: ξ at S = 0, d, 2d, ... until it is `least`."""
        if abs(self._log_sum(least)) > _LARGEST_LOG_SUM:
            return self._chernoff(least)
        size, end = self.size, math.exp(self._log_sum(least))
        cells = 1 << (16 if size <= 256 else 18)
        cell = end / cells
        steps = np.arange(cells, dtype=np.float64)
        log_edges = np.log(cell) + np.log1p(steps)
        below = np.exp(np.minimum(log_below(self.p, self._law.power)(log_edges) + RAISED, 0.0))
        masses = np.diff(np.maximum.accumulate(below), prepend=0.0)
        # The σ of Chernoff's bound at the end; any σ is valid.
        tau, powers = log_transform(self._law)
        with np.errstate(over="ignore"):
            tilt = math.exp(tau[np.argmin(end * np.exp(tau) + powers)]) * cell
        tilted = masses * np.exp(-tilt * steps)
        total = float(tilted.sum())
        tilted /= total
        # Each squaring doubles the error of a cell and adds a new one of at most the squared norm: 2r of them in all.
        error = 2.0 * size * _ROUNDING * float(tilted @ tilted)
        sums = np.maximum(truncated_power(tilted, size, cells), 0.0) + error
        with np.errstate(over="ignore"):  # a bound that overflows counts as 1
            tail = np.cumsum(sums * np.exp(tilt * steps + size * math.log(total)))
        with np.errstate(divide="ignore"):
            return self._xi(np.log(cell * steps)), tail
