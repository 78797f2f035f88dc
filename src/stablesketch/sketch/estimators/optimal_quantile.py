"""The one quantile of |a_j| that says most about F: the 23rd percentile at p = 1/4, the median at p = 1."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...arrays import Array
from ...law.log_magnitude import log_magnitude
from .order_statistic import log_estimate_from_order

__all__ = ["best_level", "log_estimate"]


def log_estimate(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """|a|_(k)^p / E|X|_(k)^p with k/(r+1) nearest to the best level, exactly unbiased."""
    size = log_magnitudes.shape[1]
    # The largest entry is never used: its p-th power has no mean.
    order = min(max(round(best_level(p) * (size + 1)), 1), size - 1)
    return log_estimate_from_order(log_magnitudes, p, order)


@lru_cache(maxsize=64)
def best_level(p: float) -> float:
    """The level q = H(y) with the least asymptotic variance p² q (1-q) / h(y)² of p times the q-quantile of ln|a|."""
    law = log_magnitude(p)
    y = np.linspace(-3.0 / p, law.high, 4001)
    values = law.values(y)
    return float(np.exp(values.cdf[np.argmin(values.cdf + values.sf - 2.0 * values.density)]))
