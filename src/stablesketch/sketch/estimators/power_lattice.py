"""Sums of independent Y = X^{λp} on a lattice: the basis of power_sum.py and of the noise of a release.

Y is rounded down to multiples of a cell. Because Y > 0, the law of a sum below some end depends only on the law of its
terms below that end: everything beyond is left out, and nothing wraps around.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...law.one_sided import one_sided_law
from ...law.tabulated import cell_polynomials, in_cells
from ...numbers.arrays import Array

Number = TypeVar("Number", np.float64, np.complex128)

_WIDTH = 1.0 / 8.0
_LOW, _HIGH = -48.0, 16.0
# Below -48, to where the upper tail of Z is e^-46, cells are as wide in ln|t|.
_FAR_WIDTH = 1.0 / 16.0
_FARTHEST = 46.0


class LogBelow:
    """ln P(Y <= e^t) for one p and power, as a table: absolute error below 1e-9, about 40 ns per value."""

    def __init__(self, p: float, power: float) -> None:
        self._cells = round((_HIGH - _LOW) / _WIDTH)
        self._law, self._power = one_sided_law(p), power
        self._powers = cell_polynomials(self._exact, _LOW, _WIDTH, self._cells)
        self._far_cells = max(math.ceil(math.log(_FARTHEST * power / _LOW) / _FAR_WIDTH), 0)

    def _exact(self, t: Array) -> Array:
        return self._law.values(t / self._power).sf  # Y <= e^t where Z >= t/λ

    @cached_property
    def _far_powers(self) -> Array:
        start = math.log(-_LOW)
        return cell_polynomials(lambda u: self._exact(-np.exp(u)), start, _FAR_WIDTH, self._far_cells)

    def _far(self, t: Array) -> Array:
        position = np.log(t / _LOW) * (1.0 / _FAR_WIDTH)
        cell = np.minimum(position.astype(np.intp), max(self._far_cells - 1, 0))
        value = in_cells(self._far_powers, cell, position - cell) if self._far_cells else np.zeros_like(t)
        farther = position > self._far_cells
        value[farther] = self._exact(t[farther])
        return value

    def __call__(self, t: Array) -> Array:
        """At t up to 16, beyond which it is 0; where Y is smaller with probability e^-46, it is computed."""
        position = (np.clip(t, _LOW, _HIGH) - _LOW) * (1.0 / _WIDTH)
        cell = np.minimum(position.astype(np.intp), self._cells - 1)
        value = in_cells(self._powers, cell, position - cell)
        far = t < _LOW
        if far.any():
            value[far] = self._far(t[far])
        return np.minimum(value, 0.0)


log_below = lru_cache(maxsize=16)(LogBelow)
"""The table of p and power, built once."""


def convolved(left: Array, right: Array, cells: int) -> Array:
    """The first `cells` of the convolution of two arrays of at most that length."""
    length = 1 << math.ceil(math.log2(len(left) + len(right)))
    product = np.fft.irfft(np.fft.rfft(left, length) * np.fft.rfft(right, length), length)
    out = np.zeros(cells)
    count = min(cells, len(left) + len(right) - 1)
    out[:count] = product[:count]
    return out


def truncated_power(masses: Array, count: int, cells: int) -> Array:
    """The first `cells` of the `count`-fold convolution of `masses` with itself, by repeated squaring.

    The error of a cell is a few 1e-16 of the largest mass, or of 1 over the number of cells that share it; negative
    results of rounding are left as they are.
    """
    result, square, left = np.ones(1), masses[:cells], count
    while True:
        if left & 1:
            result = convolved(result, square, cells)
        left >>= 1
        if not left:
            return result
        square = convolved(square, square, cells)


def to_the(values: NDArray[Number], exponent: int) -> NDArray[Number]:
    """Each value to a power of 1 or more, by repeated squaring: several times faster than **."""
    result = values
    for digit in f"{exponent:b}"[1:]:
        result = result * result
        if digit == "1":
            result = result * values
    return result


def cyclic_power(masses: Array, count: int, cells: int) -> Array:
    """The `count`-fold convolution of `masses` on a circle of this many cells, by one Fourier transform."""
    return np.fft.irfft(to_the(np.fft.rfft(masses, cells), count), cells)
