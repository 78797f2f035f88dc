"""ln h of the skewed law R as a table, for estimators that need millions of values.

In z = y for y >= 0 and z = -ln(1 - y) below, ln h is smooth on one scale: its left tail is a power of y. In each cell
of width 1/16 in z it is a polynomial of degree 5; the error is below 1e-10. Left of the table ln h is -2 ln|y|, a
straight line in z, to rounding. Right of it, where R falls with a probability below e^-148, ln h continues as -x +
ln(x)/2, x = e^{y-1}, from its last value; the error is below 1e-3.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..numbers.arrays import Array
from .skewed import SkewedLaw
from .tabulated import cell_polynomials, in_cells

_WIDTH = 1.0 / 16.0
_LOW, _HIGH = -40.0, 6.0
# Beyond this y, ln h is below -10^300; it is kept there instead of becoming -∞.
_FARTHEST = 690.0


class TabulatedSkewedLogDensity:
    """ln h of R; absolute error below 1e-10 up to y = 6, about 40 ns per value."""

    def __init__(self) -> None:
        self._cells = round((_HIGH - _LOW) / _WIDTH)
        law = SkewedLaw()

        def in_z(z: Array) -> Array:
            return law.values(np.where(z < 0.0, -np.expm1(-np.minimum(z, 0.0)), z)).density

        self._powers = cell_polynomials(in_z, _LOW, _WIDTH, self._cells)

    def __call__(self, y: Array) -> Array:
        """ln h(y)."""
        z = np.maximum(y, 0.0)
        z -= np.log1p(z - y)
        position = (z - _LOW) * (1.0 / _WIDTH)
        cell = np.clip(position, 0.0, self._cells - 1.0).astype(np.intp)
        position -= cell
        np.clip(position, 0.0, 1.0, out=position)
        value = in_cells(self._powers, cell, position)
        if y.size and y.max() > _HIGH:
            far = np.clip(y, _HIGH, _FARTHEST)
            value += math.exp(_HIGH - 1.0) - np.exp(far - 1.0) + 0.5 * (far - _HIGH)
        if y.size and z.min() < _LOW:
            value += 2.0 * np.minimum(z - _LOW, 0.0)
        return value


tabulated_skewed_log_density = lru_cache(maxsize=1)(TabulatedSkewedLogDensity)
"""The table, built once, in a tenth of a second."""
