"""The harmonic mean of |a_j|^p: nearly the best for very small p, useless from p = 1/2."""

from __future__ import annotations

from ...arrays import Array
from ...errors import ArgumentError
from .bias import log_mean_ratio
from .power_mean import log_power_mean

__all__ = ["log_estimate"]


def log_estimate(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """E|X|^{-p} / mean|a|^{-p}, divided by its mean at F = 1, which bias.py finds.

    For large r that mean is 1 + V/r, V = E|X|^{-2p}/(E|X|^{-p})² - 1, but V grows without bound towards p = 1/2 and the
    expansion with it.
    """
    if p >= 0.5:
        raise ArgumentError(
            "p",
            p,
            "the harmonic mean needs p < 1/2: E|X|^(-2p) does not exist from there on, so its error is not bounded",
            'Use method="pitman" or another estimator',
        )
    return _raw(log_magnitudes, signs, p) - log_mean_ratio(_raw, p, log_magnitudes.shape[1])


def _raw(log_magnitudes: Array, signs: Array, p: float) -> Array:
    return log_power_mean(log_magnitudes, p, -1.0)
