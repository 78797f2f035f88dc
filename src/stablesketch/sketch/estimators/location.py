"""The likelihood of the location of ln|a_j|, shared by everything built on it.

Entries of a sketch are a_j = F^{1/p} X_j, so y_j = ln|a_j| = μ + ln|X_j| with μ = ln(F)/p: a location family, of
density h. h is log-concave for p <= 1 (ln|X| is the sum of ln sqrt(2Z), Z positive p/2-stable, and ln|N|; both are
log-concave, and convolution keeps that), so the log likelihood ψ(μ) = Σ ln h(y_j - μ) is concave and has one maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...law.tabulated import tabulated_log_density
from ...numbers.arrays import Array

LogDensity = Callable[[Array], Array]

# Values of ln h computed at a time: few enough to stay in the processor's cache.
_BLOCK = 1 << 16
_NEWTON_STEPS = 100


@lru_cache(maxsize=64)
def density_shape(p: float) -> tuple[float, float]:
    """Where h is largest, and the least width 1/sqrt(-(ln h)'') of any part of it."""
    table = tabulated_log_density(p)
    y = np.linspace(table.low, table.high, 20_000)
    value, _, curvature = table.derivatives(y)
    return float(y[np.argmax(value)]), float(1.0 / np.sqrt(np.max(-curvature)))


def log_likelihood(y: Array, location: Array, log_density: LogDensity) -> Array:
    """ψ at several locations: y of shape (m, r), location of shape (m, n), the result of shape (m, n).

    `log_density` is ln h: `tabulated_log_density(p)`, or that of another location family.
    """
    m, r = y.shape
    n = location.shape[1]
    out = np.empty((m, n))
    rows = max(1, _BLOCK // (n * r))
    columns = max(1, _BLOCK // r)
    for i in range(0, m, rows):
        part = slice(i, i + rows)
        for j in range(0, n, columns):
            across = slice(j, j + columns)
            out[part, across] = log_density(y[part, None, :] - location[part, across, None]).sum(axis=2)
    return out


def log_likelihood_derivatives(y: Array, location: Array, p: float) -> tuple[Array, Array, Array]:
    """ψ, ψ' and ψ'' at one location per row: y of shape (m, r), location and results of shape (m,)."""
    table = tabulated_log_density(p)
    m, r = y.shape
    out = np.empty((3, m))
    rows = max(1, _BLOCK // r)
    for i in range(0, m, rows):
        part = slice(i, i + rows)
        value, slope, curvature = table.derivatives(y[part] - location[part, None])
        out[0, part] = value.sum(axis=1)
        out[1, part] = -slope.sum(axis=1)
        out[2, part] = curvature.sum(axis=1)
    return out[0], out[1], out[2]


def maximum(y: Array, p: float) -> Array:
    """The location of greatest likelihood in each row, by Newton's method kept inside a shrinking bracket."""
    peak, _ = density_shape(p)
    # At min(y) - peak every entry lies on the falling side of h, at max(y) - peak on the rising side.
    low, high = y.min(axis=1) - peak, y.max(axis=1) - peak
    location = np.median(y, axis=1) - peak
    active = np.arange(len(y))
    for _ in range(_NEWTON_STEPS):
        _, slope, curvature = log_likelihood_derivatives(y[active], location[active], p)
        here = location[active]
        low[active] = np.where(slope >= 0.0, here, low[active])
        high[active] = np.where(slope <= 0.0, here, high[active])
        # Where the likelihood is almost straight, the step would run away; the bracket is halved instead.
        moved = here - slope / np.minimum(curvature, -1e-300)
        inside = (moved >= low[active]) & (moved <= high[active])
        moved = np.where(inside, moved, 0.5 * (low[active] + high[active]))
        location[active] = moved
        active = active[np.abs(moved - here) > 1e-9 * (1.0 + np.abs(here))]
        if not active.size:
            break
    return location
