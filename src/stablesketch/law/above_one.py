"""The symmetric stable law of index 1 < p <= 2: E e^{itX} = exp(-|t|^p), the normal law of variance 2 at p = 2.

By Chambers, Mallows and Stuck ln|X| = S(θ) + (ln W)/c with c = p/(p-1), θ uniform on (0, π/2), W exponential, and

    c S(θ) = c ln sin(pθ) - (1/(p-1)) ln cos θ - ln cos((p-1)θ),

which rises from -∞ to ∞ (at p = 2, to 2 ln 2). With w = exp(c (y - S(θ))) and averages over θ

    P(|X| > e^y) = E e^{-w},      P(|X| <= e^y) = E(1 - e^{-w}),      h(y) = c E(w e^{-w}),

h the density of y = ln|X|. All terms are positive, so both tails keep their digits. With θ = (π/2)/(1 + e^{-t}) the
trapezoid rule converges exponentially: w turns like e^{-ct}, so the strip is π/(2c) wide. For p below 1.15 that takes
too many points, and the average over W is taken instead, by Gauss's rule as in log_magnitude.py:

    P(|X| > e^y) = (2/π) E η(y - (ln W)/c),      η = π/2 - θ(s), θ(s) the inverse of S.

Unlike for p <= 1, the density h is not log-concave for 1 < p < 2, so nothing that relies on log-concavity may use this
law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError
from ..numbers.arrays import Array
from ..numbers.checked import is_real
from .log_magnitude import LogValues, by_parts, known_tail
from .quadrature import gauss_log_exponential
from .zolotarev import angle, angle_rate, log_scale_rate, solve_log_scale

_GAUSS_BELOW = 1.15
_GAUSS_NODES = 32
_LOWEST, _HIGHEST = -9.0, 45.0
_NEWTON_STEPS = 60


@dataclass(frozen=True)
class AboveOneLaw:
    """The law of ln|X| for one p with 1 < p <= 2: densities, tails and quantiles in logarithms.

    Both tails are correct to a relative 1e-11 (1e-12 from p = 1.15 on) down to e^-700.
    """

    p: float

    def __post_init__(self) -> None:
        if not is_real(self.p):
            raise ArgumentTypeError("p", self.p, "must be a number", "Pass 1.5, for example")
        if not 1.0 < self.p <= 2.0:
            raise ArgumentError("p", self.p, "must be above 1 and at most 2", "Use StableLaw for p up to 1")
        object.__setattr__(self, "p", float(self.p))

    def values(self, y: Array) -> LogValues:
        """ln h, ln P(|X| <= e^y) and ln P(|X| > e^y) at y, an array of any shape."""
        at = np.asarray(y, dtype=np.float64)
        # At p = 2 there is no power tail: all is the integral, which underflows beyond y = 4.
        above = at > (_HIGHEST / self.p if self.p < 2.0 else 4.0)
        below = at < _LOWEST
        inside = ~below & ~above & ~np.isnan(at)
        block = 1 << 12 if self.p < _GAUSS_BELOW else 1 << 9
        parts = (below, self._below), (inside, self._inside), (above, self._above)
        return LogValues(*by_parts(at, 3, block, *parts))

    def _below(self, y: Array) -> LogValues:
        """The first two terms of the power series of the density, f(0) = Γ(1 + 1/p)/π; the next is below 1e-16."""
        p = self.p
        log_flat = math.log(2.0 / math.pi) + math.lgamma(1.0 + 1.0 / p) + y
        bend = 0.5 * math.exp(math.lgamma(3.0 / p) - math.lgamma(1.0 / p)) * np.exp(2.0 * y)
        log_cdf = log_flat + np.log1p(-bend / 3.0)
        return LogValues(log_flat + np.log1p(-bend), log_cdf, np.log1p(-np.exp(log_cdf)))

    def _above(self, y: Array) -> LogValues:
        """The first two terms of the series in x^-p, which is below e^-45 here; normal tails are taken as 0."""
        p = self.p
        if p == 2.0:
            nothing = np.full(y.shape, -np.inf)
            return LogValues(nothing, np.zeros(y.shape), nothing)
        z = np.exp(-p * y)
        log_first = math.log(2.0 / math.pi) + math.lgamma(p) + math.log(math.sin(0.5 * math.pi * (2.0 - p)))
        # The second over the first: -Γ(2p)/2 sin(πp) / (Γ(p) sin(πp/2)) = -Γ(2p)/Γ(p) cos(πp/2).
        second = -math.exp(math.lgamma(2.0 * p) - math.lgamma(p)) * math.cos(0.5 * math.pi * p)
        log_sf = log_first - p * y + np.log1p(second * z)
        log_h = log_first + math.log(p) - p * y + np.log1p(2.0 * second * z)
        return LogValues(log_h, np.log1p(-np.exp(log_sf)), log_sf)

    def _inside(self, y: Array) -> LogValues:
        if self.p < _GAUSS_BELOW:
            return self._gauss(y)
        c = self.p / (self.p - 1.0)
        exponents, weights, before, beyond = self._nodes
        # Exponents fall from left to right. Left of the first node w is above 400; beyond the last, below e^-40.
        first = int(np.searchsorted(-exponents, c * float(y.min()) - 6.0))
        last = int(np.searchsorted(-exponents, c * float(y.max()) + 40.0))
        some = weights[first:last]
        with np.errstate(under="ignore"):
            w = np.exp(c * y[:, np.newaxis] + exponents[first:last])
            falling = np.exp(-w)
            sf = falling @ some + beyond[last]
            cdf = -np.expm1(-w) @ some + before[first]
            density = c * ((w * falling) @ some)
        with np.errstate(divide="ignore"):
            return LogValues(np.log(density), np.log(cdf), np.log(sf))

    def _gauss(self, y: Array) -> LogValues:
        u, weights = gauss_log_exponential(_GAUSS_NODES)
        t = solve_log_scale(y[:, np.newaxis] + (1.0 - self.p) / self.p * u, self.p)
        weights = (2.0 / math.pi) * weights
        density = (angle_rate(t) / log_scale_rate(t, self.p)) @ weights
        return LogValues(np.log(density), np.log(angle(t) @ weights), np.log(angle(-t) @ weights))

    @cached_property
    def _nodes(self) -> tuple[Array, Array, Array, Array]:
        """-c S at the points of the trapezoid rule, their weights, and the sums of these before and from each point."""
        p = self.p
        step = 0.27 * (p - 1.0) / p
        t = np.arange(_LOWEST - 38.0, (_HIGHEST if p < 2.0 else 0.0) + 42.0, step)
        e = np.exp(-np.abs(t))
        large, small = 0.5 * math.pi / (1.0 + e), 0.5 * math.pi * e / (1.0 + e)
        theta, eta = np.where(t < 0.0, small, large), np.where(t < 0.0, large, small)
        rest = 0.5 * math.pi * (2.0 - p)
        sine = np.sin(np.where(p * theta < 0.5 * math.pi, p * theta, rest + p * eta))
        exponents = (
            np.log(np.sin(eta)) / (p - 1.0) + np.log(np.sin(rest + (p - 1.0) * eta)) - p / (p - 1.0) * np.log(sine)
        )
        weights = step * e / (1.0 + e) ** 2
        before = np.concatenate([[0.0], np.cumsum(weights)])
        return exponents, weights, before, np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])

    def quantile(self, *, log_cdf: Array | None = None, log_sf: Array | None = None) -> Array:
        """The y with ln P(|X| <= e^y) = log_cdf, or with ln P(|X| > e^y) = log_sf; give the one known exactly."""
        lower, target = known_tail(log_cdf, log_sf)
        grid, known = self._guesses
        y = np.interp(target, known.cdf, grid) if lower else np.interp(-target, -known.sf, grid)
        flat = math.log(2.0 / math.pi) + math.lgamma(1.0 + 1.0 / self.p)
        if lower:
            y = np.where(target < known.cdf[0], target - flat, y)
        elif self.p < 2.0:
            y = np.where(target < known.sf[-1], grid[-1] + (known.sf[-1] - target) / self.p, y)
        for _ in range(_NEWTON_STEPS):
            values = self.values(y)
            tail = values.cdf if lower else values.sf
            step = (tail - target) / np.exp(values.density - tail) * (1.0 if lower else -1.0)
            y = y - np.clip(step, -0.5, 0.5)
            if np.max(np.abs(step), initial=0.0) < 1e-10:
                break
        return y

    @cached_property
    def _guesses(self) -> tuple[Array, LogValues]:
        grid = np.concatenate(
            [np.arange(_LOWEST, 3.5, 0.05), np.arange(3.5, _HIGHEST / self.p if self.p < 2.0 else 3.55, 0.5)]
        )
        return grid, self.values(grid)

    @cached_property
    def best_level(self) -> float:
        """The level u = P(|X| <= x) whose quantile is most informative about the scale: it minimises u (1-u)/h²."""
        known = self.values(np.arange(-1.0, 1.5, 1.0 / 1024.0))
        return float(np.exp(known.cdf[np.argmin(known.cdf + known.sf - 2.0 * known.density)]))


above_one_law = lru_cache(maxsize=64)(AboveOneLaw)
"""The law of p, one instance for all."""
