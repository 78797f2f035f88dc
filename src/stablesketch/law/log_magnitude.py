"""The law of ln|X|, X symmetric p-stable: its density h, distribution function H and tail, all in logarithms.

With w = exp(c (S(θ) - y)) and the notation of zolotarev.py, P(|X| <= e^y | θ) = P(W >= w) = e^{-w}, and so

    H(y) = (2/π) ∫ e^{-w} dθ,         h(y) = c (2/π) ∫ w e^{-w} dθ        (θ from 0 to π/2),

or, integrating over θ first and writing θ(s) for the inverse of S,

    H(y) = (2/π) E θ(y + ln(W)/c),    h(y) = (2/π) E θ'(y + ln(W)/c).

The first pair is used for smaller p, by the trapezoid rule in t = ln tan θ. The second is used for p near 1, where w
jumps from 0 to ∞ within a width 1 - p that the first would have to resolve, and where ln(W)/c is a small disturbance
that a few Gauss nodes integrate. All terms are positive, so nothing cancels; the tail is 1 - H, which is at least
0.06 in the body.

Beyond the body a short series is exact to rounding. Below, X has a flat density at 0. Above, the density is a power
series in z = e^{-py} = |x|^{-p}.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentTypeError
from ..numbers.arrays import Array
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
# At z <= 1/10 each term of the upper series is at most a tenth of the one before: 20 terms are exact to rounding.
_UPPER_Z = 0.1
_UPPER_TERMS = 20
# ln H and ln(1-H) are concave, and tabulated at every quarter for the first guess of a quantile. Newton's method
# therefore starts within 0.01 and converges long before the last of these steps.
_GUESS_STEP = 0.25
_NEWTON_STEPS = 8


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
        self.low = _lower_end(p)
        # Above it z = e^{-py} <= 1/10.
        self.high = -math.log(_UPPER_Z) / p
        # ln f(0), f(0) = (1/π) ∫ exp(-t^p) dt over t > 0 = Γ(1 + 1/p)/π.
        self.log_density_at_zero = math.lgamma(1.0 + 1.0 / p) - math.log(math.pi)
        self.upper_series = _upper_series(p)
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
        orders = np.arange(1, len(self.upper_series) + 1)
        z = np.exp(-self.p * y)
        # The factor z is taken out of both series, so that they stay exact where z itself underflows.
        log_z = -self.p * y
        log_sf = log_z + np.log(np.polynomial.polynomial.polyval(z, self.upper_series))
        log_h = log_z + np.log(np.polynomial.polynomial.polyval(z, self.p * orders * self.upper_series))
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

    def quantile(self, *, log_cdf: Array | None = None, log_sf: Array | None = None) -> Array:
        """The y with ln P(|X| <= e^y) = log_cdf, or with ln P(|X| > e^y) = log_sf; give the one that is known exactly.
        A probability of 0 or 1 gives ±∞."""
        lower, target = known_tail(log_cdf, log_sf)
        return self._lower_quantile(target) if lower else self._upper_quantile(target)

    def _lower_quantile(self, log_cdf: Array) -> Array:
        grid, values = self._guesses
        y = np.interp(log_cdf, values.cdf, grid)
        # Below the table H is 2 f(0) e^y, exactly.
        straight = log_cdf - math.log(2.0) - self.log_density_at_zero
        y = np.where(log_cdf < values.cdf[0], straight, y)
        upper = log_cdf > values.cdf[-1]
        if upper.any():
            # Near 1 the distribution function has no digits left; its complement is as exact as the argument.
            with np.errstate(divide="ignore"):
                y[upper] = self._upper_quantile(np.log(-np.expm1(log_cdf[upper])))
        todo = np.isfinite(y) & (log_cdf >= values.cdf[0]) & ~upper
        y[todo] = self._newton(y[todo], log_cdf[todo], lower=True)
        return y

    def _upper_quantile(self, log_sf: Array) -> Array:
        grid, values = self._guesses
        y = np.interp(-log_sf, -values.sf, grid)
        # Above the table the first term of the series, b_1 e^{-py}, is a good first guess.
        log_first = math.log(2.0 / math.pi) + math.lgamma(self.p) + math.log(math.sin(math.pi * self.p / 2.0))
        y = np.where(log_sf < values.sf[-1], (log_first - log_sf) / self.p, y)
        lower = log_sf > math.log(0.5)
        if lower.any():
            with np.errstate(divide="ignore"):
                y[lower] = self._lower_quantile(np.log(-np.expm1(log_sf[lower])))
        todo = np.isfinite(y) & ~lower
        y[todo] = self._newton(y[todo], log_sf[todo], lower=False)
        return y

    def _newton(self, y: Array, target: Array, *, lower: bool) -> Array:
        for _ in range(_NEWTON_STEPS):
            values = self.values(y)
            tail = values.cdf if lower else values.sf
            slope = np.exp(values.density - tail)
            step = (tail - target) / (slope if lower else -slope)
            y = y - step
            # The error after a step of this size is of the order of its square.
            if np.max(np.abs(step), initial=0.0) < 1e-8:
                break
        return y

    @cached_property
    def _guesses(self) -> tuple[Array, LogValues]:
        grid = np.linspace(self.low, self.high, 2 + math.ceil((self.high - self.low) / _GUESS_STEP))
        return grid, self.values(grid)


def _lower_end(p: float) -> float:
    """The y below which f(e^y) = f(0) to rounding.

    f(x)/f(0) = 1 - x² Γ(3/p) / (2 Γ(1/p)) + ..., by expanding the cosine in (1/π) ∫ cos(tx) exp(-t^p) dt; the remainder
    of that expansion is at most the first term left out. The y returned makes the x² term 1e-17.
    """
    return 0.5 * (math.log(2e-17) + math.lgamma(1.0 / p) - math.lgamma(3.0 / p))


def _upper_series(p: float) -> Array:
    """b_1, b_2, ... of P(|X| > e^y) = Σ b_k z^k, b_k = (2/π) (-1)^{k+1} Γ(pk)/k! sin(πpk/2), z = e^{-py}.

    Proof: turn the path of (1/π) Re ∫ exp(itx - t^p) dt onto the imaginary axis, expand exp(-t^p) and integrate term by
    term (allowed for p < 1; for p = 1 it is the series of arctan 1/x). The density of ln|X| is Σ pk b_k z^k.
    """
    return np.array(
        [
            (2.0 / math.pi) * (-1.0) ** (k + 1) * math.exp(math.lgamma(p * k) - math.lgamma(k + 1.0)) * _sine(p, k)
            for k in range(1, _UPPER_TERMS + 1)
        ]
    )


def _sine(p: float, k: int) -> float:
    """sin(πpk/2); for even k it is written with 1 - p, so that it goes to zero correctly as p goes to 1."""
    if k % 2 == 1:
        return math.sin(math.pi * p * k / 2.0)
    return -math.cos(math.pi * k / 2.0) * math.sin(math.pi * (1.0 - p) * k / 2.0)


log_magnitude = lru_cache(maxsize=64)(LogMagnitude)
"""The law of ln|X|. Building it takes about ten microseconds to a millisecond, so it is cached."""
