"""ln h and its slope as a table fine enough for privacy accounting; h is the density of ln|X| for symmetric p-stable X.

The law itself (law/log_magnitude.py) is an integral per point. A privacy curve needs a hundred thousand points or so
and, for small shifts τ, the difference ln h(y) - ln h(y-τ) to many more digits than ln h has. Both come from this
table: in each cell of width 1/4 it has the polynomial of degree 10 through the law's values at the cell's Chebyshev
nodes. Below the table the law is a straight line, above it a short series: law/log_magnitude.py.

The privacy accounting relies on two bounds, for every p from 0.05 to 1 and every y:

    |table - ln h|     <= VALUE_ERROR,
    |slope - (ln h)'|  <= SLOPE_ERROR.

They are measured, not proved. The largest errors found are 5e-13 and 8e-12, both at p = 0.8, where the law changes its
method; mostly they are ten times smaller. tests/privacy/entries/test_fine_density.py compares the table with another
integral at thousands of points, and with 30 digits at some.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...law.log_magnitude import log_magnitude
from ...numbers.arrays import Array

VALUE_ERROR = 4e-12
SLOPE_ERROR = 1e-10

_DEGREE = 10
_CELL = 0.25


class FineLogDensity:
    """ln h for one p; `fine_log_density(p)` returns one shared instance per p."""

    def __init__(self, p: float) -> None:
        law = log_magnitude(p)
        self.p = p
        self._cells = math.ceil((law.high - law.low) / _CELL)
        self.low = law.low
        self.high = law.low + self._cells * _CELL
        self.intercept = math.log(2.0) + law.log_density_at_zero
        self._upper = law.upper_series
        nodes = np.cos(math.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
        middles = self.low + _CELL * (np.arange(self._cells) + 0.5)
        values = law.values(middles[:, None] + 0.5 * _CELL * nodes).density
        chebyshev = np.polynomial.chebyshev.chebvander(nodes, _DEGREE)
        fitted = np.linalg.solve(chebyshev, values.T)
        to_powers = np.zeros((_DEGREE + 1, _DEGREE + 1))
        for k in range(_DEGREE + 1):
            series = np.polynomial.chebyshev.cheb2poly(np.eye(_DEGREE + 1)[k])
            to_powers[: len(series), k] = series
        # One row per power of the position within the cell, -1 to 1: the rows are gathered one after another.
        self._value_powers = np.ascontiguousarray(to_powers @ fitted)
        rising = np.arange(1, _DEGREE + 1)[:, None]
        self._slope_powers = np.ascontiguousarray(self._value_powers[1:] * rising * (2.0 / _CELL))

    def value(self, y: Array) -> Array:
        """ln h(y)."""
        out = self._polynomial(self._value_powers, y)
        below, above = y < self.low, y > self.high
        if below.any():
            out[below] = self.intercept + y[below]
        if above.any():
            far = y[above]
            out[above] = np.log(self._series(far, 1)) - self.p * far
        return out

    def slope(self, y: Array) -> Array:
        """(ln h)'(y), falling from 1 to -p."""
        out = self._polynomial(self._slope_powers, y)
        below, above = y < self.low, y > self.high
        if below.any():
            out[below] = 1.0
        if above.any():
            far = y[above]
            out[above] = -self.p * self._series(far, 2) / self._series(far, 1)
        return out

    def mass_below(self) -> float:
        """P(ln|X| < low): below `low` the density is e^{intercept + y}, and so is its integral."""
        return math.exp(self.intercept + self.low)

    def mass_above(self, y: float) -> float:
        """P(ln|X| > y) for y >= high, by the series in z = e^{-py}."""
        return math.exp(-self.p * y) * float(self._series(np.array([y]), 0)[0]) / self.p

    def _polynomial(self, powers: Array, y: Array) -> Array:
        position = (y - self.low) * (1.0 / _CELL)
        cell = np.clip(position, 0.0, self._cells - 1.0).astype(np.intp)
        inside = 2.0 * (position - cell) - 1.0
        # The caller overwrites points beyond the table; here they only must not overflow.
        np.clip(inside, -1.0, 1.0, out=inside)
        out: Array = powers[-1].take(cell)
        for row in powers[-2::-1]:
            out *= inside
            out += row.take(cell)
        return out

    def _series(self, y: Array, power: int) -> Array:
        """e^{py} Σ p k^power b_k z^k, z = e^{-py}: the density for power 1, minus its slope over p for power 2."""
        orders = np.arange(1.0, len(self._upper) + 1.0)
        coefficients = self.p * orders**power * self._upper
        out: Array = np.polynomial.polynomial.polyval(np.exp(-self.p * y), coefficients).astype(np.float64)
        return out


fine_log_density = lru_cache(maxsize=32)(FineLogDensity)
"""The table for p, built once, in a tenth of a second or less."""
