"""The Pitman estimator: exactly unbiased for every size from 2, with exactly calibrated limits; and the likelihood of a
location, which others are built on too.

Entries of a sketch are a_j = F^{1/p} X_j, so y_j = ln|a_j| = μ + ln|X_j| with μ = ln(F)/p: a location family, of
density h. h is log-concave for p <= 1 (ln|X| is the sum of ln sqrt(2Z), Z positive p/2-stable, and ln|N|; both are
log-concave, and convolution keeps that), so the log likelihood ψ(μ) = Σ ln h(y_j - μ) is concave and has one maximum.

Write y_j = μ + e_j. The differences y_j - y_1 do not depend on μ:
they are ancillary. Given them, what remains random is the position of the whole configuration, and its conditional
density at shift d is proportional to Π h(y_j - d): as a function of the unknown μ that is also the posterior of μ
under a flat prior. So conditionally on the configuration, hence also without the condition,

- T - μ has the law of T - μ* for μ* drawn from the posterior, whatever equivariant T is chosen (Fisher 1934, Pitman
  1939);
- F_hat = 1 / E_post[1/F], F = e^{pμ}, has E[F_hat/F] = F_hat · E_post[1/F] = 1: it is unbiased;
- the posterior's α-quantile of F exceeds the true F with probability α: its quantiles are exact confidence limits.

As μ → -∞ the posterior falls like e^{rpμ} and 1/F grows like e^{-pμ}: the mean exists for r >= 2. For r = 1 it does
not, and no equivariant estimator is unbiased (E|X|^p = ∞); the posterior median is used, which is median-unbiased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from ...law.tabulated import tabulated_log_density
from ...numbers.arrays import Array

LogDensity = Callable[[Array], Array]

# Values of ln h computed at a time: few enough to stay in the processor's cache.
_BLOCK = 1 << 16
_NEWTON_STEPS = 100
# How far the log posterior has fallen at the ends of its grid: e^{-38} is below rounding.
_FALL = 38.0
# Grid step in units of the posterior's width at its peak. 0.6 would be enough for the trapezoid rule; the quantiles,
# from a sixth-order rule, need this.
_STEP = 0.35
_LEAST_POINTS, _MOST_POINTS = 24, 4000
# The number of sketches whose grids are held at a time, and have the same number of points.
_ROWS = 256


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


def log_estimate(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """ln F_hat; the posterior median for one entry. Shape (m, r) in, (m,) out."""
    return posterior_summary(log_magnitudes, p, np.empty(0))[0]


def posterior_summary(log_magnitudes: Array, p: float, probabilities: Array) -> tuple[Array, Array]:
    """ln F_hat, and the posterior quantiles of ln F. Shape (m, r) in, (m,) and (m, number of probabilities) out."""
    m, r = log_magnitudes.shape
    estimate = np.empty(m)
    limits = np.empty((m, len(probabilities)))
    for rows, location, log_posterior in _posteriors(log_magnitudes, p):
        posterior = np.exp(log_posterior)
        limits[rows] = p * _quantiles(location, posterior, probabilities)
        if r == 1:
            estimate[rows] = p * _quantiles(location, posterior, np.array([0.5]))[:, 0]
            continue
        # The integral of the posterior over that of posterior/F, both by the trapezoid rule on one grid. 1/F is taken
        # relative to its value at the left end, where it is largest.
        start = location[:, :1]
        weighted = np.exp(log_posterior - p * (location - start))
        estimate[rows] = p * start[:, 0] + np.log(posterior.sum(axis=1) / weighted.sum(axis=1))
    return estimate, limits


def _posteriors(y: Array, p: float) -> Iterator[tuple[slice, Array, Array]]:
    """Block by block: the rows, their grids of μ, and the log posterior on them less its maximum."""
    # Everything is relative to the middle of the row, so that nothing is lost when the entries are huge.
    middle = np.median(y, axis=1)
    y = y - middle[:, None]
    mode = maximum(y, p)
    top, _, curvature = log_likelihood_derivatives(y, mode, p)
    narrowest = density_shape(p)[1]
    width = 1.0 / np.sqrt(np.maximum(-curvature, narrowest**-2))
    left = mode - _reach(y, mode, top, width, p, side=-1)
    right = mode + _reach(y, mode, top, width, p, side=1)
    points = np.clip(np.ceil((right - left) / (_STEP * width)).astype(int) + 1, _LEAST_POINTS, _MOST_POINTS)
    for start in range(0, len(y), _ROWS):
        rows = slice(start, start + _ROWS)
        grid = np.linspace(left[rows], right[rows], int(points[rows].max()), axis=1)
        yield rows, grid + middle[rows, None], log_likelihood(y[rows], grid, tabulated_log_density(p)) - top[rows, None]


def _reach(y: Array, mode: Array, top: Array, width: Array, p: float, side: int) -> Array:
    """How far from the mode the log posterior (on the left, of the product with 1/F) has fallen by `_FALL` or slightly
    more.

    The function is concave, so a Newton step towards the level lands beyond the point, wherever it starts, and further
    steps approach it from outside: stopping early only makes the grid slightly too long.
    """
    # With one entry 1/F has no mean, and is not needed.
    lift = p if side < 0 and y.shape[1] > 1 else 0.0
    distance: Array = np.sqrt(2.0 * _FALL) * width
    for _ in range(5):
        value, slope, _ = log_likelihood_derivatives(y, mode + side * distance, p)
        fallen = value - top + lift * distance
        rate = np.minimum(side * slope + lift, -1e-9)
        distance = np.maximum(distance + (-_FALL - fallen) / rate, 0.5 * width)
    return distance


def _quantiles(location: Array, density: Array, probabilities: Array) -> Array:
    """Quantiles of densities given on uniform grids, one per row, zero at both ends.

    Each cell's integral is that of the quintic through the six nearest values; within a cell the distribution
    function is the cubic with the right values and slopes at its ends.
    """
    m, n = density.shape
    step = (location[:, -1:] - location[:, :1]) / (n - 1)
    padded = np.pad(density, ((0, 0), (2, 2)))
    weights = np.array([11.0, -93.0, 802.0, 802.0, -93.0, 11.0]) / 1440.0
    cells = np.zeros((m, n - 1))
    for k, weight in enumerate(weights):
        cells += weight * padded[:, k : k + n - 1]
    cumulative = np.concatenate([np.zeros((m, 1)), np.cumsum(np.maximum(cells, 0.0), axis=1)], axis=1)
    total = cumulative[:, -1]
    rows = np.arange(m)
    out = np.empty((m, len(probabilities)))
    for j, probability in enumerate(probabilities):
        target = probability * total
        cell = np.clip((cumulative < target[:, None]).sum(axis=1) - 1, 0, n - 2)
        start, mass = cumulative[rows, cell], cells[rows, cell]
        left, right = density[rows, cell], density[rows, cell + 1]
        out[:, j] = location[rows, cell] + step[:, 0] * _invert_cubic(target - start, mass, left, right)
    return out


def _invert_cubic(target: Array, mass: Array, left: Array, right: Array) -> Array:
    """s in [0, 1] with C(s) = target, C the cubic of C(0) = 0, C(1) = mass, C'(0) = left, C'(1) = right; bisection."""
    low, high = np.zeros_like(target), np.ones_like(target)
    for _ in range(40):
        s = 0.5 * (low + high)
        value = s * (left + s * (3.0 * mass - 2.0 * left - right + s * (left + right - 2.0 * mass)))
        below = value < target
        low, high = np.where(below, s, low), np.where(below, high, s)
    return 0.5 * (low + high)
