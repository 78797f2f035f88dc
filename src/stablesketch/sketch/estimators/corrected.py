"""Estimators whose bias has no closed form: each is divided by its mean at F = 1, which is simulated.

Let T be any equivariant estimator (scaling the entries by s multiplies it by s^p) and P the Pitman one. T/P does not
change when the entries are scaled: it depends on the configuration alone, and given the configuration E[P/F] = 1
(pitman.py). So

    E[T/F] = E[ (T/P) · E[P/F | configuration] ] = E[T/P],

and the right side, unlike the left, is the mean of a quantity with light tails and a small spread. The noise of the
simulation is reduced further by the two estimators G whose mean is known in closed form, the geometric mean and the
median: E[G/P] = 1, so the part of T/P that is correlated with G/P is corrected by the distance of the simulated mean of
G/P from 1. The seed is fixed: the factor is a constant of the library, the same for everyone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps

import numpy as np

from ...errors import ArgumentError
from ...law import StableLaw
from ...numbers.arrays import Array
from .closed_forms import best_power, geometric_mean, log_power_mean, median
from .pitman import log_estimate as pitman
from .pitman import maximum

Estimator = Callable[[Array, Array, float], Array]
"""ln F_hat, of shape (m,), from ln|a_j| and the signs, both of shape (m, r) with r >= 2, and p."""

_SEED = 20_240_501
_ENTRIES = 400_000
_LEAST_SKETCHES, _MOST_SKETCHES = 1_000, 20_000
# Above this size ln E[T/F] is assumed to fall like 1/size, as it does to first order for every estimator here.
_LARGEST_SIZE = 400
# Closer to 0 than this, the power mean and its limit, the geometric mean, agree to four digits.
_NEAR_ZERO = 0.01
_LEAST_SIZE = 4


@lru_cache(maxsize=256)
def log_mean_ratio(raw: Estimator, p: float, size: int) -> float:
    """ln E[T/F] for the estimator whose logarithm `raw` computes, at one index and size."""
    if size > _LARGEST_SIZE:
        return log_mean_ratio(raw, p, _LARGEST_SIZE) * _LARGEST_SIZE / size
    log_magnitudes, signs, log_pitman, controls = _simulated(p, size)
    ratio = np.exp(raw(log_magnitudes, signs, p) - log_pitman)
    slopes = np.linalg.lstsq(controls - controls.mean(axis=0), ratio - ratio.mean(), rcond=None)[0]
    return float(np.log(ratio.mean() - slopes @ (controls.mean(axis=0) - 1.0)))


@lru_cache(maxsize=2)
def _simulated(p: float, size: int) -> tuple[Array, Array, Array, Array]:
    """Sketches with F = 1, the logarithms of their Pitman estimates P, and both G/P: one simulation for all."""
    sketches = int(np.clip(_ENTRIES // size, _LEAST_SKETCHES, _MOST_SKETCHES))
    log_magnitudes, signs = StableLaw(p).sample_logs((sketches, size), np.random.default_rng([_SEED, size]))
    log_pitman, log_geometric, log_median = (
        method(log_magnitudes, signs, p) for method in (pitman, geometric_mean, median)
    )
    controls = np.exp(np.stack([log_geometric, log_median], axis=1) - log_pitman[:, None])
    return log_magnitudes, signs, log_pitman, controls


def _unbiased(raw: Estimator) -> Estimator:
    """The estimator divided by its mean at F = 1."""

    @wraps(raw)
    def corrected(log_magnitudes: Array, signs: Array, p: float) -> Array:
        return raw(log_magnitudes, signs, p) - log_mean_ratio(raw, p, log_magnitudes.shape[1])

    return corrected


def fractional_power(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """(mean|a|^{λp} / E|X|^{λp})^{1/λ} with the best λ = `best_power(p)`: close to the bound for small p, and the
    geometric mean at p = 1."""
    if abs(best_power(p)) < _NEAR_ZERO:
        return geometric_mean(log_magnitudes, signs, p)
    return _best_power_mean(log_magnitudes, signs, p)


@_unbiased
def _best_power_mean(log_magnitudes: Array, signs: Array, p: float) -> Array:
    return log_power_mean(log_magnitudes, p, best_power(p))


@_unbiased
def harmonic_mean(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """E|X|^{-p} / mean|a|^{-p}: nearly optimal for very small p, useless from p = 1/2 on.

    For large r its mean is 1 + V/r, V = E|X|^{-2p}/(E|X|^{-p})² - 1, but V grows without bound towards p = 1/2 and the
    expansion with it.
    """
    if p >= 0.5:
        raise ArgumentError(
            "p", p, "must be below 1/2 for the harmonic mean",
            'Use method="pitman" or another estimator',
            because="above that E|X|^(-2p) does not exist and the error is unbounded",
        )  # fmt: skip
    return log_power_mean(log_magnitudes, p, -1.0)


@_unbiased
def maximum_likelihood(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """e^{pμ}, where μ is the location of greatest likelihood: as good as the Pitman one, except for tiny sketches."""
    return p * maximum(log_magnitudes, p)


@_unbiased
def inter_quantile(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """((upper quartile - lower quartile)/(2 x))^p of the signed entries, where x is the quartile of X: the textbook
    estimator."""
    size = log_magnitudes.shape[1]
    if size < _LEAST_SIZE:
        raise ArgumentError(
            "size", size, "must be at least 4",
            'Use method="pitman", or a sketch of at least 4 entries',
            because="otherwise the distance between the extreme entries has no mean",
        )  # fmt: skip
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
    # smoothly like 1/size, which `log_mean_ratio` relies on. P(X > x) = level is P(|X| > x) = 2 level.
    log_half_distance = StableLaw(p).log_abs_quantile(upper=2.0 * order / (size + 1))
    estimate: Array = p * (top + distance - np.log(2.0) - log_half_distance)
    return estimate
