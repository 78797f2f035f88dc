"""Tables for estimators that need millions of values: ln h and the quantiles of ln|X|, and ln h of the skewed law R.

In each cell of a uniform grid, ln h is a polynomial of degree 5, the interpolant at the cell's Chebyshev nodes. Beyond
the grid it is a straight line, with slope 1 below (|X| has a flat density at 0) and -p above (a power tail).

**R.** In z = y for y >= 0 and z = -ln(1 - y) below, ln h is smooth on one scale: its left tail is a power of y. So the
cells, of width 1/16, are in z; the error is below 1e-10. Left of the table ln h is -2 ln|y|, a straight line in z, to
rounding. Right of it, where R falls with a probability below e^-148, ln h continues as -x + ln(x)/2, x = e^{y-1}, from
its last value; the error is below 1e-3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..numbers.arrays import Array
from .log_magnitude import log_magnitude
from .skewed import SkewedLaw

_DEGREE = 5
_CELL = 1.0 / 8.0
# Where z = e^{-py} is e^{-26} = 5e-12, the law's upper tail is a straight line in logarithms to that accuracy.
_STRAIGHT_FROM = 26.0
# Of R: the grid in z, and the y beyond which ln h is below -10^300; it is kept there instead of becoming -∞.
_SKEWED_CELL = 1.0 / 16.0
_SKEWED_LOW, _SKEWED_HIGH = -40.0, 6.0
_SKEWED_FARTHEST = 690.0


def cell_polynomials(function: Callable[[Array], Array], low: float, width: float, cells: int) -> Array:
    """The interpolants of `function` in cells from `low` on: a row for each power of the position in the cell, 0 to 1.

    `in_cells` gathers the rows one after another when it evaluates a polynomial.
    """
    nodes = 0.5 - 0.5 * np.cos(math.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    values = function(low + width * np.arange(cells)[:, None] + width * nodes)
    return np.ascontiguousarray(np.linalg.solve(np.vander(nodes, increasing=True), values.T))


def in_cells(powers: Array, cell: NDArray[np.intp], inside: Array) -> Array:
    """The polynomials of these cells at these positions within them."""
    value: Array = powers[_DEGREE].take(cell)
    for k in range(_DEGREE - 1, -1, -1):
        value *= inside
        value += powers[k].take(cell)
    return value


class TabulatedLogDensity:
    """ln h, its slope and its curvature for one p; absolute error of ln h below 1e-10, about 30 ns per value."""

    def __init__(self, p: float) -> None:
        law = log_magnitude(p)
        self.p = p
        self.low = law.low - _CELL
        cells = math.ceil((_STRAIGHT_FROM / p - self.low) / _CELL)
        self.high = self.low + cells * _CELL
        self._powers = cell_polynomials(lambda y: law.values(y).density, self.low, _CELL, cells)
        self._cells = cells

    def __call__(self, y: Array) -> Array:
        """ln h(y)."""
        cell, inside, beyond = self._locate(y)
        value = in_cells(self._powers, cell, inside)
        if beyond is not None:
            value += np.where(beyond < 0.0, beyond, -self.p * beyond)
        return value

    def derivatives(self, y: Array) -> tuple[Array, Array, Array]:
        """ln h, (ln h)' and (ln h)'' at y."""
        cell, inside, beyond = self._locate(y)
        value = self._powers[_DEGREE].take(cell)
        slope = np.zeros_like(value)
        half_curvature = np.zeros_like(value)
        for k in range(_DEGREE - 1, -1, -1):
            half_curvature = half_curvature * inside + slope
            slope = slope * inside + value
            value = value * inside + self._powers[k].take(cell)
        slope /= _CELL
        half_curvature *= 2.0 / _CELL**2
        if beyond is not None:
            value += np.where(beyond < 0.0, beyond, -self.p * beyond)
            slope = np.where(beyond < 0.0, 1.0, np.where(beyond > 0.0, -self.p, slope))
            half_curvature = np.where(beyond != 0.0, 0.0, half_curvature)
        return value, slope, half_curvature

    def _locate(self, y: Array) -> tuple[NDArray[np.intp], Array, Array | None]:
        """The cell, the position in it from 0 to 1, and the distance beyond the grid (None if all are inside)."""
        beyond = None
        if y.size and (y.min() < self.low or y.max() > self.high):
            kept = np.clip(y, self.low, self.high)
            beyond, y = y - kept, kept
        position = (y - self.low) * (1.0 / _CELL)
        cell = np.minimum(position.astype(np.intp), self._cells - 1)
        position -= cell
        return cell, position, beyond


class TabulatedQuantile:
    """The quantile of ln|X| as a function of the logit of the probability, to about 1e-7.

    L(y) = ln H(y) - ln(1 - H(y)) and its slope h/(H (1 - H)) are known on a grid in y; between grid points y is the
    cubic in L with those values and slopes. Beyond the grid it is the straight line of the tail.
    """

    def __init__(self, p: float) -> None:
        law = log_magnitude(p)
        self._y = np.arange(law.low - _CELL, _STRAIGHT_FROM / p + _CELL, _CELL)
        values = law.values(self._y)
        self._logit = values.cdf - values.sf
        self._rate = np.exp(values.cdf + values.sf - values.density)

    def __call__(self, logit: Array) -> Array:
        """The y with ln(H(y)/(1 - H(y))) = logit."""
        k = np.clip(np.searchsorted(self._logit, logit) - 1, 0, len(self._y) - 2)
        width = self._logit[k + 1] - self._logit[k]
        kept = np.clip(logit, self._logit[0], self._logit[-1])
        s = (kept - self._logit[k]) / width
        rise = self._y[k + 1] - self._y[k]
        left, right = self._rate[k] * width, self._rate[k + 1] * width
        inner = self._y[k] + s * (left + s * (3.0 * rise - 2.0 * left - right + s * (left + right - 2.0 * rise)))
        beyond = logit - kept
        out: Array = inner + beyond * np.where(beyond < 0.0, self._rate[0], self._rate[-1])
        return out


class TabulatedSkewedLogDensity:
    """ln h of R; absolute error below 1e-10 up to y = 6, about 40 ns per value."""

    def __init__(self) -> None:
        self._cells = round((_SKEWED_HIGH - _SKEWED_LOW) / _SKEWED_CELL)
        law = SkewedLaw()

        def in_z(z: Array) -> Array:
            return law.values(np.where(z < 0.0, -np.expm1(-np.minimum(z, 0.0)), z)).density

        self._powers = cell_polynomials(in_z, _SKEWED_LOW, _SKEWED_CELL, self._cells)

    def __call__(self, y: Array) -> Array:
        """ln h(y)."""
        z = np.maximum(y, 0.0)
        z -= np.log1p(z - y)
        position = (z - _SKEWED_LOW) * (1.0 / _SKEWED_CELL)
        cell = np.clip(position, 0.0, self._cells - 1.0).astype(np.intp)
        position -= cell
        np.clip(position, 0.0, 1.0, out=position)
        value = in_cells(self._powers, cell, position)
        if y.size and y.max() > _SKEWED_HIGH:
            far = np.clip(y, _SKEWED_HIGH, _SKEWED_FARTHEST)
            value += math.exp(_SKEWED_HIGH - 1.0) - np.exp(far - 1.0) + 0.5 * (far - _SKEWED_HIGH)
        if y.size and z.min() < _SKEWED_LOW:
            value += 2.0 * np.minimum(z - _SKEWED_LOW, 0.0)
        return value


tabulated_log_density = lru_cache(maxsize=16)(TabulatedLogDensity)
"""The table for p, built once."""

tabulated_quantile = lru_cache(maxsize=16)(TabulatedQuantile)
"""The table for p, built once."""

tabulated_skewed_log_density = lru_cache(maxsize=1)(TabulatedSkewedLogDensity)
"""The table, built once, in a tenth of a second."""


@lru_cache(maxsize=64)
def fisher_information(p: float) -> float:
    """(1/p²) ∫ (h'/h)² h dy, the information of one entry about ln F_p.

    ln|a| is a location family in ln(F_p)/p, whose information is ∫ (h'/h)² h; the factor 1/p² changes the parameter.
    The trapezoid rule is exact to the table's accuracy: the integrand is analytic and dies out at both ends.
    """
    table = tabulated_log_density(p)
    step = 0.1
    y = np.arange(-50.0 + table.low, 45.0 / p, step)
    value, slope, _ = table.derivatives(y)
    return float(step * np.sum(slope**2 * np.exp(value))) / p**2
