"""The maximally skewed 1-stable law R that Shannon's entropy is made of: E e^{tR} = t^t for t > 0.

If f_k/N are the shares of the keys and R_k are independent draws, then Σ (f_k/N) R_k has the transform
Π (t f_k/N)^{t f_k/N} = t^t e^{-tH}, H = -Σ (f_k/N) ln(f_k/N): it is distributed as R - H, a location family in the
entropy with a public law.

R = A(φ) + ln W with A(φ) = φ cot φ + ln(sin φ/φ), φ uniform on (0, π), W exponential. Conditioning on φ,

    P(R > y) = (1/π) ∫_0^π e^{-w} dφ,      h(y) = (1/π) ∫_0^π w e^{-w} dφ,      w = e^{y - A(φ)}.

The integrands are even at φ = 0 and vanish with all derivatives at π, so the trapezoid rule converges exponentially;
all terms are positive. Far on the left, w jumps within a short distance of π; there the transform is inverted along the
cut of the logarithm,

    P(R <= y) = (1/π) ∫_0^∞ e^{s (y - ln s)} sin(πs)/s ds,      h(y) = (1/π) ∫_0^∞ e^{s (y - ln s)} sin(πs) ds,

on s = v/|y|, by the double exponential rule. The left tail is heavy, P(R <= -x) ~ 1/x; the right tail falls like
exp(-e^{y-1}), so that R + c and R are never within a bounded factor of each other: private releases of entropy have a
δ above 0.

The slope of ln h comes from the same sums: in the angle it is 1 - ∫ w² e^{-w} dφ / ∫ w e^{-w} dφ, along the cut the
factor s under the integral.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..numbers.arrays import Array
from .log_magnitude import LogValues, by_parts

FISHER_INFORMATION = 1.0 / 2.9025873
"""∫ (h'/h)² h: the information of one entry about the entropy (a number; tests/law/test_skewed.py computes it)."""

_LEFT = -6.0  # where the second formula takes over
_ANGLES = 512
_CUT_STEP = 1.0 / 12.0
_BLOCK = 1 << 12


class SkewedLaw:
    """The law of R: density, distribution function and tail in logarithms, and samples."""

    def values(self, y: Array) -> LogValues:
        """ln h, ln P(R <= y) and ln P(R > y) at y, an array of any shape, each to about 1e-13 of its value."""
        at = np.asarray(y, dtype=np.float64)
        return LogValues(*by_parts(at, 3, _BLOCK, (at < _LEFT, self._on_the_left), (at >= _LEFT, self._elsewhere)))

    def slope(self, y: Array) -> Array:
        """(ln h)'(y), to about 1e-12 of max(1, |slope|); it falls to 0 on the left and like -e^{y-1} on the right."""
        at = np.asarray(y, dtype=np.float64)
        parts = (at < _LEFT, self._slope_on_the_left), (at >= _LEFT, self._slope_elsewhere)
        out: Array = by_parts(at, 1, _BLOCK, *parts)[0]
        return out

    def sample(self, shape: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Independent draws, by the formula of Chambers, Mallows and Stuck."""
        phi = rng.uniform(0.0, math.pi, shape)
        drawn: Array = phi / np.tan(phi) + np.log(np.sin(phi) / phi) + np.log(rng.exponential(size=shape))
        return drawn

    @cached_property
    def _angle_terms(self) -> Array:
        """A(φ) at φ = kπ/n, k = 0, 1, ...; at π it is -∞ and the integrands are 0."""
        phi = math.pi * np.arange(1, _ANGLES) / _ANGLES
        return np.concatenate([[1.0], phi / np.tan(phi) + np.log(np.sin(phi) / phi)])

    def _elsewhere(self, y: Array) -> LogValues:
        log_w = y[:, None] - self._angle_terms
        # The smallest w of a row is factored out, so that nothing underflows far on the right.
        least = np.exp(y - 1.0)
        with np.errstate(over="ignore"):
            w = np.exp(log_w)
        falling = np.exp(least[:, None] - w)
        falling[:, 0] *= 0.5
        above = falling.sum(axis=1) / _ANGLES
        density = np.where(falling > 0.0, w * falling, 0.0).sum(axis=1) / _ANGLES
        log_sf = np.log(above) - least
        below = np.where(w < 40.0, -np.expm1(-w), 1.0)
        below[:, 0] *= 0.5
        # The integrand of the lower tail is also 1 at π, and counts half.
        log_cdf = np.log((below.sum(axis=1) + 0.5) / _ANGLES)
        return LogValues(np.log(density) - least, log_cdf, log_sf)

    def _slope_elsewhere(self, y: Array) -> list[Array]:
        with np.errstate(over="ignore"):
            w = np.exp(y[:, None] - self._angle_terms)
        falling = np.exp(w[:, :1] - w)
        falling[:, 0] *= 0.5
        density = np.where(falling > 0.0, w * falling, 0.0)
        second = np.where(falling > 0.0, w * density, 0.0)
        return [1.0 - second.sum(axis=1) / density.sum(axis=1)]

    @cached_property
    def _cut_nodes(self) -> tuple[Array, Array]:
        tau = _CUT_STEP * np.arange(-48, 80)
        v = np.exp(tau - np.exp(-tau))
        weight = _CUT_STEP * v * (1.0 + np.exp(-tau)) * np.exp(-v)
        kept = (weight > 1e-40) & (v < 90.0)
        return v[kept], weight[kept]

    def _cut_terms(self, y: Array) -> tuple[Array, Array]:
        """v at the nodes, and e^{-v} s^{-s} sin(πs)/(πs) times the weights: what all integrals along the cut share."""
        v, weight = self._cut_nodes
        s = v / -y[:, None]
        return v, weight * np.exp(-s * np.log(s)) * np.sinc(s)

    def _slope_on_the_left(self, y: Array) -> list[Array]:
        v, terms = self._cut_terms(y)
        return [(terms * v**2).sum(axis=1) / (terms * v).sum(axis=1) / -y]

    def _on_the_left(self, y: Array) -> LogValues:
        v, terms = self._cut_terms(y)
        below = terms.sum(axis=1) / -y
        density = (terms * v).sum(axis=1) / y**2
        return LogValues(np.log(density), np.log(below), np.log1p(-below))
