"""Estimators whose bias has no closed form: each is divided by its mean at F = 1, which bias.py computes."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...law import StableLaw
from ...numbers.arrays import Array
from .bias import RawEstimator, log_mean_ratio
from .location import maximum
from .moments import best_power, geometric_mean, log_power_mean

# Closer to 0 than this, the power mean and its limit, the geometric mean, agree to four digits.
_NEAR_ZERO = 0.01
_LEAST_SIZE = 4


def _corrected(raw: RawEstimator, log_magnitudes: Array, signs: Array, p: float) -> Array:
    return raw(log_magnitudes, signs, p) - log_mean_ratio(raw, p, log_magnitudes.shape[1])


def fractional_power(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """(mean|a|^{λp} / E|X|^{λp})^{1/λ} with the best λ = `best_power(p)`: close to the bound for small p, and the
    geometric mean at p = 1."""
    if abs(best_power(p)) < _NEAR_ZERO:
        return geometric_mean(log_magnitudes, signs, p)
    return _corrected(_raw_fractional_power, log_magnitudes, signs, p)


def _raw_fractional_power(log_magnitudes: Array, signs: Array, p: float) -> Array:
    return log_power_mean(log_magnitudes, p, best_power(p))


def harmonic_mean(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """E|X|^{-p} / mean|a|^{-p}: nearly optimal for very small p, useless from p = 1/2 on.

    For large r its mean is 1 + V/r, V = E|X|^{-2p}/(E|X|^{-p})² - 1, but V grows without bound towards p = 1/2 and the
    expansion with it.
    """
    if p >= 0.5:
        raise ArgumentError(
            "p",
            p,
            "must be below 1/2 for the harmonic mean",
            'Use method="pitman" or another estimator',
            because="above that E|X|^(-2p) does not exist and the error is unbounded",
        )
    return _corrected(_raw_harmonic_mean, log_magnitudes, signs, p)


def _raw_harmonic_mean(log_magnitudes: Array, signs: Array, p: float) -> Array:
    return log_power_mean(log_magnitudes, p, -1.0)


def maximum_likelihood(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """e^{pμ}, where μ is the location of greatest likelihood: as good as the Pitman one, except for tiny sketches."""
    return _corrected(_raw_maximum_likelihood, log_magnitudes, signs, p)


def _raw_maximum_likelihood(log_magnitudes: Array, signs: Array, p: float) -> Array:
    return p * maximum(log_magnitudes, p)


def inter_quantile(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """((upper quartile - lower quartile)/(2 x))^p of the signed entries, where x is the quartile of X: the textbook
    estimator."""
    if log_magnitudes.shape[1] < _LEAST_SIZE:
        raise ArgumentError(
            "size",
            log_magnitudes.shape[1],
            "must be at least 4",
            'Use method="pitman", or a sketch of at least 4 entries',
            because="otherwise the distance between the extreme entries has no mean",
        )
    return _corrected(_raw_inter_quantile, log_magnitudes, signs, p)


def _raw_inter_quantile(log_magnitudes: Array, signs: Array, p: float) -> Array:
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
    # For two equal entries the difference is 0 and its logarithm -∞; that is the intended answer.
    with np.errstate(divide="ignore"):
        distance = np.log(sign_high * np.exp(log_high - top) - sign_low * np.exp(log_low - top))
    # The level is a quarter, up to rounding. Relative to the law's own quantile at that level, the remaining bias falls
    # smoothly like 1/size, which bias.py relies on. P(X > x) = level is P(|X| > x) = 2 level.
    log_half_distance = StableLaw(p).log_abs_quantile(upper=2.0 * order / (size + 1))
    estimate: Array = p * (top + distance - np.log(2.0) - log_half_distance)
    return estimate
