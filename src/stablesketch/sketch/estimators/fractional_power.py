"""The mean of |a_j| to the power that serves best: close to the bound for small p, the geometric mean at p = 1."""

from __future__ import annotations

from ...arrays import Array
from . import geometric_mean
from .bias import log_mean_ratio
from .moments import best_power
from .power_mean import log_power_mean

__all__ = ["log_estimate"]


# Closer to 0 than this the power mean and its limit, the geometric mean, are equally good to four digits.
_NEAR_ZERO = 0.01


def log_estimate(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """(mean|a|^{λp} / E|X|^{λp})^{1/λ}, λ = `best_power(p)`, divided by its mean at F = 1, which bias.py finds."""
    if abs(best_power(p)) < _NEAR_ZERO:
        return geometric_mean.log_estimate(log_magnitudes, signs, p)
    return _raw(log_magnitudes, signs, p) - log_mean_ratio(_raw, p, log_magnitudes.shape[1])


def _raw(log_magnitudes: Array, signs: Array, p: float) -> Array:
    return log_power_mean(log_magnitudes, p, best_power(p))
