"""The positive stable law: X > 0 with E e^{-sX} = exp(-s^p), 0 < p < 1, which one-sided sketches are made of.

An entry of such a sketch is F_p^{1/p} X, so p ln(entry) = ln F_p + Z with Z = p ln X: a location family in ln F_p. By
Kanter (1975), with U uniform on (0, π), W exponential and q = 1 - p,

    Z = q (ln a(U) - ln W),      ln a(u) = (p/q) ln(sin pu / sin u) + ln(sin qu / sin u).

ln a rises from ln a(0) = (p/q) ln p + ln q to ∞. Conditioning on U, with w = a(u) e^{-z/q},

    P(Z <= z) = (1/π) ∫_0^π e^{-w} du,      h(z) = (1/(qπ)) ∫_0^π w e^{-w} du.

The integrands are even at 0 and vanish with all derivatives at π, so the trapezoid rule converges exponentially;
all terms are positive. This is used on the left. On the right, where w jumps within a short distance of π, the Laplace
transform (1 - exp(-s^p))/s is inverted along its cut: with ζ = e^{-z} = x^{-p} and B = ζ v^p,

    P(Z > z) = (1/π) ∫_0^∞ e^{-v + B cos πq} sin(B sin πq) dv/v,
    h(z)     = (1/π) ∫_0^∞ e^{-v + B cos πq} B sin(B sin πq + πq) dv/v,

by the double exponential rule. (h is -d/dz of the first line; once more gives its slope.) As p goes to 1,
Z/q - ln q goes to -R, R the law of skewed.py that entropy is made of: in ω = z/q - ln q the laws of all p look alike.
The lower tail falls like exp(-a(0) e^{-z/q}), the upper one like e^{-z}/Γ(q).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, ArgumentTypeError
from ..numbers.arrays import Array
from ..numbers.checked import is_real
from .log_magnitude import LogValues, by_parts, known_tail

LEAST_P, GREATEST_P = 0.05, 0.999

_ANGLES = 512
_CUT_STEP = 1.0 / 16.0
_BLOCK = 1 << 11
# Where the least w times p exceeds this, the integrand is narrow and gets its own grid of angles.
_NARROW = 400.0
_NARROW_ANGLES = 64
_NEWTON_STEPS = 60
# Below this logarithm of a lower tail ln P = -a(0) e^{-z/q} to twelve digits.
_DEEPEST = -1e13


def log_a(u: Array, p: float) -> Array:
    """ln a(u) for 0 <= u < π, to rounding also for p near 1.

    sin pu / sin u = 1 - (2 sin²(qu/2) + sin(qu) cot u), and the bracket is small with q.
    """
    q = 1.0 - p
    positive = np.where(u > 0.0, u, 1.0)
    sine = np.sin(q * positive)
    less = np.where(u > 0.0, 2.0 * np.sin(0.5 * q * positive) ** 2 + sine / np.tan(positive), q)
    out: Array = p / q * np.log1p(-less) + np.log(np.where(u > 0.0, sine / np.sin(positive), q))
    return out


# ζ(2k), for the k where sixty terms of its series do not give all digits.
_ZETA = {k: math.pi ** (2 * k) / d for k, d in {1: 6.0, 2: 90.0, 3: 945.0, 4: 9450.0}.items()}


def log_a_rise(u: Array, p: float) -> Array:
    """ln a(u) - ln a(0), to rounding also where it is small.

    -ln(sin x/x) = Σ ζ(2k) (x/π)^{2k}/k, so the rise is Σ ζ(2k) (1 - p^{2k+1} - q^{2k+1})/(qk) (u/π)^{2k}, which begins
    with p u²/2. Twelve terms are exact to rounding for u <= 1/2.
    """
    q = 1.0 - p
    square = (np.minimum(u, 0.5) / math.pi) ** 2
    near = np.zeros_like(square)
    for k in range(12, 0, -1):
        zeta = _ZETA[k] if k in _ZETA else sum(n ** (-2.0 * k) for n in range(60, 0, -1))
        share = -math.expm1((2 * k + 1) * math.log1p(-q)) - q ** (2 * k + 1)
        near = (near + zeta * share / (q * k)) * square
    return np.where(u <= 0.5, near, log_a(u, p) - log_a(np.zeros(1), p))


@dataclass(frozen=True)
class OneSidedLaw:
    """The law of Z = p ln X for one p from 0.05 to 0.999: densities, tails and quantiles in logarithms.

    Both tails are correct to a relative 1e-12 wherever their logarithm is above -10^6.
    """

    p: float

    def __post_init__(self) -> None:
        if not is_real(self.p):
            raise ArgumentTypeError("p", self.p, "must be a number", "Pass 0.5, for example")
        if not LEAST_P <= self.p <= GREATEST_P:
            raise ArgumentError("p", self.p, "must be between 0.05 and 0.999", "Use the symmetric law for p = 1")
        object.__setattr__(self, "p", float(self.p))

    @property
    def q(self) -> float:
        return 1.0 - self.p

    @cached_property
    def log_least(self) -> float:
        """ln a(0): the least value of ln a."""
        return float(log_a(np.zeros(1), self.p)[0])

    def at(self, omega: Array) -> Array:
        """z for ω = z/q - ln q."""
        return self.q * (np.asarray(omega) + math.log(self.q))

    @property
    def _switch(self) -> float:
        """The z where the second formula takes over."""
        return float(self.at(np.array(1.0 if self.p > 0.5 else -1.0)))

    def values(self, z: Array) -> LogValues:
        """ln h, ln P(Z <= z) and ln P(Z > z) at z, an array of any shape."""
        density, tail, _, above = self._evaluate(z)
        with np.errstate(divide="ignore"):
            other = np.log1p(-np.exp(tail))
        return LogValues(density, np.where(above, other, tail), np.where(above, tail, other))

    def slope(self, z: Array) -> Array:
        """(ln h)'(z): it falls like e^{-z/q} on the left and goes to -1 on the right."""
        return self._evaluate(z)[2]

    def _evaluate(self, z: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """ln h, the logarithm of the lower tail or, where the last array says so, of the upper one; and (ln h)'."""
        at = np.asarray(z, dtype=np.float64)
        above = at >= self._switch
        narrow = at < -self.q * (math.log(_NARROW / self.p) - self.log_least)
        left = (at < self._switch) & ~narrow
        parts = (above, self._right), (narrow, self._far_left), (left, self._left)
        density, tail, slope = by_parts(at, 3, _BLOCK, *parts)
        return density, tail, slope, above

    @cached_property
    def _rise_at_angles(self) -> Array:
        """ln a - ln a(0) at kπ/n, k = 0, 1, ..., n - 1; at π it is ∞ and the integrands are 0."""
        return log_a_rise(math.pi * np.arange(_ANGLES) / _ANGLES, self.p)

    def _left(self, z: Array) -> tuple[Array, Array, Array]:
        least = np.exp(self.log_least - z / self.q)
        return self._over_angles(least, self._rise_at_angles[np.newaxis], np.full(z.shape, math.pi / _ANGLES))

    def _far_left(self, z: Array) -> tuple[Array, Array, Array]:
        # Where w_0 is above e^300, ln P is taken as -∞.
        logs = self.log_least - z / self.q
        least = np.exp(np.minimum(logs, 300.0))
        # ln a is convex with (ln a)''(0) = p, so w - w_0 >= w_0 p u²/2: at the end of the grid it is 45.
        step = np.sqrt(90.0 / (self.p * least)) / _NARROW_ANGLES
        rise = log_a_rise(step[:, np.newaxis] * np.arange(_NARROW_ANGLES), self.p)
        density, below, slope = self._over_angles(least, rise, step)
        far = logs > 300.0
        return np.where(far, -np.inf, density), np.where(far, -np.inf, below), np.where(far, np.inf, slope)

    def _over_angles(self, least: Array, rise: Array, step: Array) -> tuple[Array, Array, Array]:
        """Sums over u = 0, step, ...; the least w of a row is factored out, so that nothing underflows on the left."""
        with np.errstate(over="ignore"):
            more = least[:, np.newaxis] * np.expm1(rise)
        falling = np.exp(-more)
        falling[:, 0] *= 0.5
        w = np.where(falling > 0.0, least[:, np.newaxis] + more, 0.0)
        below, first = falling.sum(axis=1), (w * falling).sum(axis=1)
        slope = ((w * w * falling).sum(axis=1) / first - 1.0) / self.q
        weight = np.log(step / math.pi)
        return np.log(first / self.q) + weight - least, np.log(below) + weight - least, slope

    @cached_property
    def _cut_nodes(self) -> tuple[Array, Array]:
        tau = _CUT_STEP * np.arange(-16 * 9, 16 * 6)
        v = np.exp(tau - np.exp(-tau))
        kept = (v > 1e-300) & (v < 120.0)
        return v[kept], _CUT_STEP * (1.0 + np.exp(-tau[kept]))

    def _right(self, z: Array) -> tuple[Array, Array, Array]:
        p, q = self.p, self.q
        nodes, weight = self._cut_nodes
        column = z[:, np.newaxis]
        # For p > 1/2 the factor e^{B cos πq} rises, and e^{-v} with it is about exp(-v (1 - ζ q^q)).
        rate = 1.0 if p <= 0.5 else -np.expm1(q * math.log(q) - column)
        v = nodes / rate
        log_v = np.log(v)
        # ζ is factored out of all three integrals, so that they stay correct where it underflows.
        power = np.exp(p * log_v)
        b = power * np.exp(-column)
        sine = math.sin(math.pi * q)
        # -v + B cos πq, without a difference of numbers that are nearly equal when q is small.
        falling = weight * np.exp(v * np.expm1(-column - q * log_v) - 2.0 * b * math.sin(0.5 * math.pi * q) ** 2)
        turned = b * sine
        above = (falling * power * sine * np.sinc(turned / math.pi)).sum(axis=1)
        first = (falling * power * np.sin(turned + math.pi * q)).sum(axis=1)
        second = (falling * power * b * np.sin(turned + 2.0 * math.pi * q)).sum(axis=1)
        return np.log(first / math.pi) - z, np.log(above / math.pi) - z, -1.0 - second / first

    def quantile(self, *, log_cdf: Array | None = None, log_sf: Array | None = None) -> Array:
        """The z with ln P(Z <= z) = log_cdf, or with ln P(Z > z) = log_sf; give the one that is known exactly."""
        lower, target = known_tail(log_cdf, log_sf)
        # Each is computed from the smaller of the two tails, which is the one that carries the digits.
        with np.errstate(divide="ignore"):
            other = np.log(-np.expm1(target))
        low = np.where(lower, target, other)
        high = np.where(lower, other, target)
        out = np.where(
            low <= high, self._lower_quantile(np.minimum(low, -0.3)), self._upper_quantile(np.minimum(high, -0.3))
        )
        return np.where(low == -np.inf, -np.inf, np.where(high == -np.inf, np.inf, out))

    def _lower_quantile(self, log_cdf: Array) -> Array:
        """Newton on ln(-ln P), which is nearly straight: ln P ~ -a(0) e^{-z/q}."""
        straight = -self.q * (np.log(-np.maximum(log_cdf, -1e300)) - self.log_least)
        finite = np.maximum(log_cdf, _DEEPEST)
        z = np.maximum(straight, -self.q * (math.log(-_DEEPEST) - self.log_least))
        for _ in range(_NEWTON_STEPS):
            values = self.values(z)
            slope = np.exp(values.density - values.cdf)
            step = values.cdf / slope * np.log(values.cdf / finite)
            z = z - np.clip(step, -2.0 * self.q, 2.0 * self.q)
            if np.max(np.abs(step), initial=0.0) < 1e-9 * self.q:
                break
        return np.where(log_cdf < _DEEPEST, straight, z)

    def _upper_quantile(self, log_sf: Array) -> Array:
        """Newton on ln P from a table of it; beyond its end ln P = -z - ln Γ(q)."""
        grid, known = self._upper_guesses
        finite = np.maximum(log_sf, -1e300)
        z = np.where(finite < known[-1], -finite - math.lgamma(self.q), np.interp(-finite, -known, grid))
        for _ in range(_NEWTON_STEPS):
            values = self.values(z)
            step = (values.sf - finite) / np.exp(values.density - values.sf)
            z = z + step
            if np.max(np.abs(step) / (self.q + np.abs(z)), initial=0.0) < 1e-9:
                break
        return z

    @cached_property
    def _upper_guesses(self) -> tuple[Array, Array]:
        omega = np.concatenate([np.arange(-3.0, 2.0, 0.05), np.geomspace(2.0, 40.0 / self.q, 300)])
        grid = self.at(omega)
        return grid, self.values(grid).sf

    @cached_property
    def fisher_information(self) -> float:
        """∫ (h'/h)² h dz, the information of one entry about ln F_p: 2 at p = 1/2, about 1/(2.9 q²) as p goes to 1.

        By Gauss's rule with 24 points in panels that double in width towards the right, where the law is a power.
        """
        ends = [*np.arange(-7.0, 1.0), *(2.0**k for k in range(64) if 2.0**k < 100.0 / self.q)]
        nodes, weights = np.polynomial.legendre.leggauss(24)
        left, width = np.array(ends[:-1])[:, np.newaxis], np.diff(ends)[:, np.newaxis]
        z = self.at(left + width * (0.5 * nodes + 0.5))
        density, _, slope, _ = self._evaluate(z)
        kept = density > -700.0
        information = np.where(kept, slope, 0.0) ** 2 * np.exp(np.where(kept, density, -np.inf))
        return float(np.sum(0.5 * self.q * width * weights * information))


one_sided_law = lru_cache(maxsize=64)(OneSidedLaw)
"""The law of p, one instance for all."""
