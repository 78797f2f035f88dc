"""Confidence limits for the estimators that have none of their own.

ln(F_hat/F) is a pivot: its law depends on p, the size and the method, never on F. Its quantiles, found once by a
simulation with a fixed seed, turn an estimate into limits.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ...law import StableLaw
from .bias import RawEstimator

__all__ = ["pivot_quantiles"]

Array = NDArray[np.float64]

_SEED = 20_240_502
_ENTRIES = 1_000_000
_LEAST_SKETCHES, _MOST_SKETCHES = 4_000, 20_000
# Sketches simulated at a time hold this many entries at most.
_BLOCK = 1 << 18
# Beyond this size the pivot is taken as normal, with the variance found at this size scaled by 1/size.
_LARGEST_SIZE = 400


def pivot_quantiles(method: RawEstimator, p: float, size: int, probabilities: Array) -> Array:
    """Quantiles of ln(F_hat/F) for the unbiased estimator whose logarithm `method` computes."""
    if size <= _LARGEST_SIZE:
        return np.quantile(_pivots(method, p, size), probabilities)
    spread = float(np.std(_pivots(method, p, _LARGEST_SIZE))) * (_LARGEST_SIZE / size) ** 0.5
    # An unbiased F_hat has E ln(F_hat/F) = -variance/2 to first order.
    normal = NormalDist(-0.5 * spread**2, spread)
    return np.array([normal.inv_cdf(float(probability)) for probability in probabilities])


@lru_cache(maxsize=64)
def _pivots(method: RawEstimator, p: float, size: int) -> Array:
    """Simulated values of ln(F_hat/F), F = 1."""
    rng = np.random.default_rng([_SEED, size])
    sketches = int(np.clip(_ENTRIES // size, _LEAST_SKETCHES, _MOST_SKETCHES))
    law = StableLaw(p)
    pivots = np.empty(sketches)
    rows = max(1, _BLOCK // size)
    for start in range(0, sketches, rows):
        part = slice(start, min(start + rows, sketches))
        log_magnitudes, signs = law.sample_logs((part.stop - start, size), rng)
        pivots[part] = method(log_magnitudes, signs, p)
    pivots.setflags(write=False)
    return pivots
