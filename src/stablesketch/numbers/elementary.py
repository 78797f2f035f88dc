"""Logarithms and exponentials whose errors are proved, with the same bits on every machine and anywhere in an array.

numpy takes these from the C library or from its own code, depending on the processor. Neither guarantees a bound on the
error, and what a release charges for rounding needs one. With u = 2^-53, docs/math-elementary.md proves:

    log(x)       is within u (|ln x| + 1) of ln x, 0 at 1 and -∞ at 0;
    exp(x)       is within 2u of e^x, relative to it, for -708 <= x <= 709; below it is 0, above ∞;
    exp_sums(x)  of each row has the largest x, exactly, and the sum of the computed e^{x - largest} to within 1.1u.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._native import exp_sums as _exp_sums
from .._native import exps, logs
from .arrays import Array


def log(x: ArrayLike, exponent: ArrayLike = 0.0) -> Array:
    """ln(x 2^exponent), whole exponents below 2^16 in size; -∞ for 0."""
    numbers = np.asarray(x, dtype=np.float64)
    exponents = np.broadcast_to(np.asarray(exponent, dtype=np.float64), numbers.shape)
    return logs(np.ravel(numbers), np.ravel(exponents)).reshape(numbers.shape)


def exp(x: ArrayLike) -> Array:
    """e^x."""
    numbers = np.asarray(x, dtype=np.float64)
    return exps(np.ravel(numbers)).reshape(numbers.shape)


def exp_sums(x: Array) -> tuple[Array, Array]:
    """The largest x along the last axis, and Σ e^{x - largest} there; NaN where that is infinite."""
    tops, sums = _exp_sums(np.ascontiguousarray(x).reshape(-1, x.shape[-1]))
    return tops.reshape(x.shape[:-1]), sums.reshape(x.shape[:-1])
