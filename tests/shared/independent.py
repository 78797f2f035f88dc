"""The privacy of r stable entries, computed in another way: no lattice, no table, nothing from the library.

Density and tail of the stable law come from Fourier inversion on a turned path; the curve comes from inverting the
Laplace transform of the loss. With L the loss of one entry and M(z) = E_P[e^{zL}],

    δ(ε) = E_P[(1 - e^{ε-T})_+] = (1/π) ∫_0^∞ Re[ M(z)^r e^{-zε} / (z (1+z)) ] ds,    z = θ + is,  any θ > 0,

because 1/(z (1+z)) is the two-sided Laplace transform of (1 - e^{-x})_+. Nothing is bounded here: the integrals
converge geometrically and are taken far enough, and the caller compares with a tolerance of 1e-6 or so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]

# The path is turned by an eighth of a circle: t = u e^{iπ/4}. Both exp(itx) and exp(-t^p) decay along it.
TURN = np.exp(0.25j * math.pi)
STEP = 0.125


def log_density_and_score(p: float, y: Array) -> tuple[Array, Array]:
    """ln h and (ln h)' for h the density of ln|X|, by f(x) = (1/π) Re ∫ exp(itx - t^p) dt with t on the turned path.

    h(y) = 2 x f(x) and h'/h = 1 + x f'/f at x = e^y. For x >= 1 the integral of exp(itx) alone, which is 0 in the real
    part of both, is taken off, because what is left decays as the result does.
    """
    logs, scores = np.empty_like(y), np.empty_like(y)
    for block in np.array_split(np.arange(len(y)), max(1, len(y) // 64)):
        at = y[block][:, None]
        # In v = ln(u x): from where u^p no longer matters, or the factor u^2 has died out, to where e^{-ux} has.
        first = -80.0 - 40.0 / p if at.max() > 0.0 else -80.0
        v = np.arange(first, 5.0, STEP)
        u_x = np.exp(v) * TURN
        power = np.exp(p * (v - at)) * np.exp(0.25j * math.pi * p)
        wave = np.exp(1j * u_x)
        decay = np.where(at < 0.0, np.exp(-power), np.expm1(-power))
        density = (STEP / math.pi) * np.real((wave * u_x * decay).sum(axis=1))
        slope = (STEP / math.pi) * np.real((1j * wave * u_x**2 * decay).sum(axis=1))
        logs[block] = np.log(2.0 * density)
        scores[block] = 1.0 + slope / density
    return logs, scores


def upper_tail(p: float, y: Array) -> Array:
    """P(ln|X| > y) = (2/π) Im ∫ exp(itx) (1 - exp(-t^p)) dt/t on the turned path."""
    out = np.empty_like(y)
    for k, at in enumerate(y):
        v = np.arange(min(-40.0 / p + p * at, 0.0) - 40.0 / p, 5.0, STEP)
        power = np.exp(p * (v - at)) * np.exp(0.25j * math.pi * p)
        out[k] = (2.0 * STEP / math.pi) * np.imag(np.exp(1j * np.exp(v) * TURN) * -np.expm1(-power)).sum()
    return out


class Pair:
    """(D_{p,1}, D_{p,ρ}): the loss of one entry at the points of a fine uniform grid of y."""

    def __init__(self, p: float, rho: float) -> None:
        self.p, self.shift = p, math.log1p(rho - 1.0) / p
        step = 0.1 if p < 0.5 else 0.05
        y = np.arange(-34.0 - 2.6 / p, 34.0 / p + self.shift, step)
        log_h, _ = _law(p, y)
        if self.shift < 1e-3:
            # The midpoint rule: its error is τ³/24 times the third derivative of ln h.
            self.loss = self.shift * _law(p, y - 0.5 * self.shift)[1]
        else:
            self.loss = log_h - _law(p, y - self.shift)[0]
        self.weight = step * np.exp(log_h)
        # The trapezoid rule misses what lies beyond both ends, about e^{-34}.
        self.weight /= self.weight.sum()

    def directed(self, wide_first: bool) -> tuple[Array, Array]:
        if not wide_first:
            return self.weight, self.loss
        weight = self.weight * np.exp(-self.loss)
        return weight / weight.sum(), -self.loss

    def delta(self, epsilon: float, size: int, *, wide_first: bool) -> float:
        """δ(ε) of `size` >= 8 entries."""
        weight, loss = self.directed(wide_first)
        if epsilon >= size * loss.max():
            return 0.0
        # Any θ > 0 will do; one deviation from the pole at z = 0 keeps the integrand smooth.
        untilted = math.sqrt(size * (weight @ (loss - weight @ loss) ** 2))
        theta = max(_saddle(weight, loss, epsilon / size), 1.0 / untilted)
        tilted = weight * np.exp(theta * loss - (theta * loss).max())
        log_moment = math.log(tilted.sum()) + (theta * loss).max()
        tilted /= tilted.sum()
        mean = tilted @ loss
        spread = math.sqrt(size * (tilted @ (loss - mean) ** 2))
        s = np.arange(0.0, 12.0 + 400.0 / size, 0.05) / spread
        moment = np.exp(1j * s[:, None] * loss) @ tilted
        z = theta + 1j * s
        terms = np.real(moment**size * np.exp(-1j * s * epsilon) / (z * (1.0 + z)))
        integral = (s[1] - s[0]) * (terms.sum() - 0.5 * terms[0]) / math.pi
        return math.exp(size * log_moment - theta * epsilon) * float(integral)

    def epsilon(self, delta: float, size: int) -> float:
        """ε at `delta` for `size` >= 8 entries, the worse of both directions; 0 if δ(0) is below `delta`."""
        found = [0.0]
        for wide_first in (False, True):
            top = size * self.directed(wide_first)[1].max()

            def surplus(share: float, wide_first: bool = wide_first, top: float = top) -> float:
                value = self.delta(share * top, size, wide_first=wide_first)
                return math.log(max(value, 1e-300)) - math.log(delta)

            if surplus(1e-9) > 0.0:
                found.append(top * _root(surplus, 1e-9, 1.0 - 1e-9))
        return max(found)


class SmallPair:
    """The same pair for one or two entries, whose losses have no smooth law to invert: by the sets themselves.

    For one entry the worst set is a half line, δ_1(ε) = P(Y < y) - e^ε Q(Y < y) at the y with L(y) = ε, or the half
    line above it for the other direction. For two, δ_2(ε) = E_P[δ_1(ε - L(Y))]. The y is interpolated, which is
    harmless because δ_1 is flat in it; the tails are then taken at that very y.
    """

    def __init__(self, p: float, rho: float) -> None:
        self.p, self.shift = p, math.log1p(rho - 1.0) / p
        step = 0.05
        self.y = np.arange(-14.0 - 2.6 / p, 26.0 / p + self.shift, step)
        log_h, log_wide = _law(p, self.y)[0], _law(p, self.y - self.shift)[0]
        self.loss = np.minimum.accumulate(log_h - log_wide)
        self.weights = step * np.exp(log_h), step * np.exp(log_wide)

    def delta(self, epsilon: float, size: int, *, wide_first: bool) -> float:
        """δ(ε) of one or two entries; its absolute error is about 1e-13."""
        if size == 1:
            return float(self._one(np.array([epsilon]), wide_first)[0])
        loss = -self.loss if wide_first else self.loss
        return float(np.sum(self.weights[wide_first] * self._one(epsilon - loss, wide_first)))

    def _one(self, epsilon: Array, wide_first: bool) -> Array:
        out = np.maximum(-np.expm1(epsilon), 0.0)
        top = self.loss.min() if wide_first else self.loss.max()
        inside = (-epsilon > top) if wide_first else (epsilon < top)
        inside &= (-epsilon < self.loss.max()) if wide_first else (epsilon > self.loss.min())
        wanted = -epsilon[inside] if wide_first else epsilon[inside]
        y = np.interp(-wanted, -self.loss, self.y)
        narrow, wide = upper_tail(self.p, y), upper_tail(self.p, y - self.shift)
        first, second = (wide, narrow) if wide_first else (1.0 - narrow, 1.0 - wide)
        out[inside] = np.maximum(out[inside], first - np.exp(epsilon[inside]) * second)
        return out


def _saddle(weight: Array, loss: Array, mean: float) -> float:
    """The θ > 0 for which the tilted loss has this mean; a small one where the mean is below the untilted."""

    def gap(log_theta: float) -> float:
        exponent = math.exp(log_theta) * loss
        tilted = weight * np.exp(exponent - exponent.max())
        return float(tilted @ loss / tilted.sum()) - mean

    scale = math.log(1.0 / np.abs(loss).max())
    if gap(scale - 12.0) > 0.0:
        return math.exp(scale - 12.0)
    return math.exp(_root(gap, scale - 12.0, scale + 12.0)) if gap(scale + 12.0) > 0.0 else math.exp(scale + 12.0)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-13, rtol=1e-10))


@lru_cache(maxsize=64)
def _law_cached(p: float, points: bytes) -> tuple[Array, Array]:
    return log_density_and_score(p, np.frombuffer(points))


def _law(p: float, y: Array) -> tuple[Array, Array]:
    return _law_cached(p, y.tobytes())
