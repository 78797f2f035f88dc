"""The geometric mean of |a_j|^p: exactly unbiased in closed form."""

from __future__ import annotations

from ...arrays import Array
from .moments import log_moment

__all__ = ["log_estimate"]


def log_estimate(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """Π|a_j|^{p/r} / (E|X|^{p/r})^r, r >= 2; its relative variance times r goes to π²(p² + 2)/12.

    Unbiased since the entries are independent. With r = 1 the moment would be E|X|^p = ∞.
    """
    size = log_magnitudes.shape[1]
    estimate: Array = p * log_magnitudes.mean(axis=1) - size * log_moment(1.0 / size, p)
    return estimate
