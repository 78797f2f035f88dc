"""The law of ln|X|, X symmetric p-stable: its density h, distribution function H and tail, all in logarithms.

With w = exp(c (S(θ) - y)) and the notation of zolotarev.py, P(|X| <= e^y | θ) = P(W >= w) = e^{-w}, and so

    H(y) = (2/π) ∫ e^{-w} dθ,         h(y) = c (2/π) ∫ w e^{-w} dθ        (θ from 0 to π/2),

or, integrating over θ first and writing θ(s) for the inverse of S,

    H(y) = (2/π) E θ(y + ln(W)/c),    h(y) = (2/π) E θ'(y + ln(W)/c).

The first pair is used for smaller p, by the trapezoid rule in t = ln tan θ. The second is used for p near 1, where w
jumps from 0 to ∞ within a width 1 - p that the first would have to resolve, and where ln(W)/c is a small disturbance
that a few Gauss nodes integrate. All terms are positive, so nothing cancels; the tail is 1 - H, which is at least
0.06 in the body, and beyond the body come the series of tails.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentTypeError
from ..numbers.arrays import Array
from . import tails
from .quadrature import gauss_log_exponential
from .zolotarev import angle, angle_rate, log_scale, log_scale_rate, solve_log_scale

# The Gauss rule is used from this p on, the trapezoid rule below it. At 0.8 the first has an error of 2e-13, and the
# second still needs only a thousand nodes.
_GAUSS_FROM = 0.8
_GAUSS_NODES = 32
# The error of the trapezoid rule with step d is about exp(-2π·strip/d), where strip is the half-width within which the
# integrand stays bounded off the real axis: |Im c S| < π/2 where S is steepest, that is (1-p) π/2.
_TRAPEZOID_ACCURACY = 34.0
# Numbers in a block of intermediate values: 4 MiB each.
_BLOCK = 1 << 19


class LogValues(NamedTuple):
    """ln h, ln H and ln(1 - H) at the same points."""

    density: Array
    cdf: Array
    sf: Array


Part = tuple[NDArray[np.bool_], Callable[[Array], Sequence[Array]]]


def by_parts(y: Array, count: int, block: int, *parts: Part) -> Array:
    """`count` values at each y, of any shape, along the first axis. Each part of y has its own formula, evaluated in
    blocks; NaN where there is none. A part says where in y it applies."""
    flat = y.ravel()
    out = np.full((count, flat.size), np.nan)
    for part, evaluate in parts:
        where = np.flatnonzero(part)
        for start in range(0, len(where), block):
            some = where[start : start + block]
            out[:, some] = evaluate(flat[some])
    return out.reshape(count, *y.shape)


def known_tail(log_cdf: Array | None, log_sf: Array | None) -> tuple[bool, Array]:
    """Whether the lower tail of a quantile is given, and that tail: a caller gives the one known exactly."""
    if (log_cdf is None) == (log_sf is None):
        raise ArgumentTypeError(
            "log_cdf, log_sf", (log_cdf, log_sf), "must have exactly one of the two", "Pass one of them"
        )
    return log_cdf is not None, np.asarray(log_sf if log_cdf is None else log_cdf, dtype=np.float64)


class LogMagnitude:
    """The law of ln|X| for one p; `log_magnitude(p)` returns one shared instance per p."""

    def __init__(self, p: float) -> None:
        self.p = p
        self.low = tails.lower_end(p)
        self.high = tails.upper_end(p)
        self.log_density_at_zero = tails.log_density_at_zero(p)
        self._upper = tails.upper_coefficients(p)
        if p < _GAUSS_FROM:
            self._prepare_trapezoid()

    def values(self, y: Array) -> LogValues:
        """ln h, ln H and ln(1 - H) at y, an array of any shape; NaN gives NaN, ±∞ the limits."""
        at = np.asarray(y, dtype=np.float64)
        inside = (at >= self.low) & (at <= self.high)
        parts = (at < self.low, self._below), (inside, self._inside), (at > self.high, self._above)
        return LogValues(*by_parts(at, 3, max(at.size, 1), *parts))

    def _below(self, y: Array) -> LogValues:
        # X has density f(0) there: H = 2 f(0) e^y and h is the same.
        log_h = math.log(2.0) + self.log_density_at_zero + y
        return LogValues(log_h, log_h, np.log1p(-np.exp(log_h)))

    def _above(self, y: Array) -> LogValues:
        orders = np.arange(1, len(self._upper) + 1)
        z = np.exp(-self.p * y)
        # The factor z is taken out of both series, so that they stay exact where z itself underflows.
        log_z = -self.p * y
        log_sf = log_z + np.log(np.polynomial.polynomial.polyval(z, self._upper))
        log_h = log_z + np.log(np.polynomial.polynomial.polyval(z, self.p * orders * self._upper))
        return LogValues(log_h, np.log1p(-np.exp(log_sf)), log_sf)

    def _inside(self, y: Array) -> LogValues:
        h, cdf = np.empty_like(y), np.empty_like(y)
        compute = self._trapezoid if self.p < _GAUSS_FROM else self._gauss
        nodes = len(self._scale_power) if self.p < _GAUSS_FROM else _GAUSS_NODES
        rows = max(1, _BLOCK // nodes)
        for start in range(0, len(y), rows):
            block = slice(start, start + rows)
            h[block], cdf[block] = compute(y[block])
        return LogValues(np.log(h), np.log(cdf), np.log1p(-cdf))

    def _prepare_trapezoid(self) -> None:
        p = self.p
        step = 2.0 * math.pi * (1.0 - p) * math.pi / 2.0 / _TRAPEZOID_ACCURACY
        # On the left, dθ falls like e^t from about t = y on. On the right, e^{-w} is negligible once w is 45, at the t
        # where c S(t) = c high + ln 45, and S(t) >= t/p + (a constant near -1 or more).
        left = self.low - 37.0
        right = p * self.high + (1.0 - p) * math.log(45.0) + 3.0
        t = np.arange(left, right + step, step)
        self._c = p / (1.0 - p)
        self._scale_power = np.exp(self._c * log_scale(t, p))
        self._weights = (2.0 / math.pi) * step * angle_rate(t)

    def _trapezoid(self, y: Array) -> tuple[Array, Array]:
        # w = exp(c S) exp(-c y): c < 4 here and both exponents stay far from the ends of a float.
        w = np.exp(-self._c * y)[:, None] * self._scale_power
        survival = np.exp(-w)
        w *= survival
        return self._c * (w @ self._weights), survival @ self._weights

    def _gauss(self, y: Array) -> tuple[Array, Array]:
        u, weights = gauss_log_exponential(_GAUSS_NODES)
        t = solve_log_scale(y[:, None] + (1.0 - self.p) / self.p * u, self.p)
        weights = (2.0 / math.pi) * weights
        return (angle_rate(t) / log_scale_rate(t, self.p)) @ weights, angle(t) @ weights


log_magnitude = lru_cache(maxsize=64)(LogMagnitude)
"""The law of ln|X|. Building it takes about ten microseconds to a millisecond, so it is cached."""
