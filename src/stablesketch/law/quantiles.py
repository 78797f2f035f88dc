"""Quantiles of ln|X| from the logarithm of either tail, so that both tails keep their digits."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..numbers.arrays import Array
from .log_magnitude import LogValues, log_magnitude

# ln H and ln(1-H) are concave, and tabulated at every quarter for the first guess. Newton's method therefore starts
# within 0.01 and converges long before the last of these steps.
_GUESS_STEP = 0.25
_NEWTON_STEPS = 8


def log_quantile_from_log_cdf(p: float, log_cdf: Array) -> Array:
    """The y with ln P(|X| <= e^y) = log_cdf; -∞ gives -∞ and 0 gives ∞."""
    grid, values, _ = _guesses(p)
    law = log_magnitude(p)
    y = np.interp(log_cdf, values.cdf, grid)
    # Below the table H is 2 f(0) e^y, exactly.
    straight = log_cdf - math.log(2.0) - law.log_density_at_zero
    y = np.where(log_cdf < values.cdf[0], straight, y)
    upper = log_cdf > values.cdf[-1]
    if upper.any():
        # Near 1 the distribution function has no digits left; its complement is as exact as the argument.
        with np.errstate(divide="ignore"):
            y[upper] = log_quantile_from_log_sf(p, np.log(-np.expm1(log_cdf[upper])))
    todo = np.isfinite(y) & (log_cdf >= values.cdf[0]) & ~upper
    y[todo] = _newton(p, y[todo], log_cdf[todo], lower=True)
    return y


def log_quantile_from_log_sf(p: float, log_sf: Array) -> Array:
    """The y with ln P(|X| > e^y) = log_sf; -∞ gives ∞ and 0 gives -∞."""
    grid, values, log_first = _guesses(p)
    y = np.interp(-log_sf, -values.sf, grid)
    # Above the table the first term of the series, b_1 e^{-py}, is a good first guess.
    y = np.where(log_sf < values.sf[-1], (log_first - log_sf) / p, y)
    lower = log_sf > math.log(0.5)
    if lower.any():
        with np.errstate(divide="ignore"):
            y[lower] = log_quantile_from_log_cdf(p, np.log(-np.expm1(log_sf[lower])))
    todo = np.isfinite(y) & ~lower
    y[todo] = _newton(p, y[todo], log_sf[todo], lower=False)
    return y


def _newton(p: float, y: Array, target: Array, *, lower: bool) -> Array:
    law = log_magnitude(p)
    for _ in range(_NEWTON_STEPS):
        values = law.values(y)
        tail = values.cdf if lower else values.sf
        slope = np.exp(values.density - tail)
        step = (tail - target) / (slope if lower else -slope)
        y = y - step
        # The error after a step of this size is of the order of its square.
        if np.max(np.abs(step), initial=0.0) < 1e-8:
            break
    return y


@lru_cache(maxsize=64)
def _guesses(p: float) -> tuple[Array, LogValues, float]:
    law = log_magnitude(p)
    grid = np.linspace(law.low, law.high, 2 + math.ceil((law.high - law.low) / _GUESS_STEP))
    log_first = math.log(2.0 / math.pi) + math.lgamma(p) + math.log(math.sin(math.pi * p / 2.0))
    return grid, law.values(grid), log_first
