"""The distance between the quartiles of the signed entries: the textbook estimator, here with its bias removed."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...errors import ArgumentError
from ...law import StableLaw
from .bias import log_mean_ratio

__all__ = ["log_estimate"]


_LEAST_SIZE = 4


def log_estimate(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """((upper quartile - lower quartile)/(2 x))^p, x the quartile of X, divided by its mean at F = 1, from bias.py."""
    size = log_magnitudes.shape[1]
    if size < _LEAST_SIZE:
        raise ArgumentError(
            "size",
            size,
            "the distance between the extreme entries has no mean, and with fewer than 4 entries there is no other",
            'Use method="pitman", or a sketch of at least 4 entries',
        )
    return _raw(log_magnitudes, signs, p) - log_mean_ratio(_raw, p, size)


def _raw(log_magnitudes: Array, signs: Array, p: float) -> Array:
    size = log_magnitudes.shape[1]
    # Entries are put in order by an increasing function of a that cannot overflow: sign · (ln|a| above the row's
    # least).
    rank = signs * (log_magnitudes - log_magnitudes.min(axis=1, keepdims=True) + 1.0)
    # From 2 on, never 1: the extreme entries have no p-th moment.
    order = max(2, round((size + 1) / 4))
    places = np.argpartition(rank, (order - 1, size - order), axis=1)
    low, high = places[:, order - 1, None], places[:, size - order, None]
    log_low, sign_low = (np.take_along_axis(values, low, axis=1)[:, 0] for values in (log_magnitudes, signs))
    log_high, sign_high = (np.take_along_axis(values, high, axis=1)[:, 0] for values in (log_magnitudes, signs))
    top = np.maximum(log_low, log_high)
    # Of two equal entries the difference is 0 and its logarithm -∞; that is the answer, not an accident.
    with np.errstate(divide="ignore"):
        distance = np.log(sign_high * np.exp(log_high - top) - sign_low * np.exp(log_low - top))
    # The level is a quarter to within rounding; with the law's own quantile at that level taken out, what bias remains
    # falls smoothly like 1/size, which bias.py relies on. P(X > x) = level is P(|X| > x) = 2 level.
    log_half_distance = StableLaw(p).log_abs_quantile(upper=2.0 * order / (size + 1))
    estimate: Array = p * (top + distance - np.log(2.0) - log_half_distance)
    return estimate
