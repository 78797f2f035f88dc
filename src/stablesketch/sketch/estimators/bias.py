"""The mean of F_hat/F where no closed form is known, by a simulation that the Pitman estimator makes precise.

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
from functools import lru_cache

import numpy as np

from ...law import StableLaw
from ...numbers.arrays import Array
from .moments import geometric_mean
from .order_statistic import median
from .pitman import log_estimate as pitman

RawEstimator = Callable[[Array, Array, float], Array]

_SEED = 20_240_501
_ENTRIES = 400_000
_LEAST_SKETCHES, _MOST_SKETCHES = 1_000, 20_000
# Above this size ln E[T/F] is assumed to fall like 1/size, as it does to first order for every estimator here.
_LARGEST_SIZE = 400


@lru_cache(maxsize=256)
def log_mean_ratio(raw: RawEstimator, p: float, size: int) -> float:
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
