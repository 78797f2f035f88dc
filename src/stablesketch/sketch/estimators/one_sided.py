"""The estimator of one-sided entries: a power mean, unbiased at every size, with limits from its own law.

    F_hat = (mean of entry^{λp})^{1/λ} / c,      λ = best_one_sided_power(p) < 0,

within 2% of the least variance that any estimator can have for p up to 0.95 (power_sum.py has λ, c and the law of
F_hat/F). It is scale-equivariant, F_hat(s y) = s^p F_hat(y) for every s >= 0, with F_hat(0) = 0: no additive constant,
no clamp and no branch. docs/math-noisy-estimate.md says what relies on that.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ArgumentError
from ...numbers.arrays import Array
from .power_sum import power_sum
from .registry import checked_confidence
from .result import Estimate

METHOD = "power"


def log_estimates(log_entries: ArrayLike, p: float) -> Array:
    """ln F_hat for sketches or buckets stacked along the leading axes, the entries of one along the last; -∞ for 0."""
    z = p * np.asarray(log_entries, dtype=np.float64)
    return power_sum(p, z.shape[-1]).log_estimates(z)


def estimate(log_entries: ArrayLike | None, size: int, p: float, method: str, confidence: float) -> Estimate:
    """F_p from the logarithms of the entries of one sketch, or from none if all of them are 0."""
    if method not in ("best", METHOD):
        raise ArgumentError("method", method, f'must be "{METHOD}" for one-sided entries', "Leave it out")
    law, beyond = power_sum(p, size), 0.5 * (1.0 - checked_confidence(confidence))
    if log_entries is None:
        return Estimate(0.0, 0.0, 0.0, float(confidence), METHOD)
    value = float(log_estimates(log_entries, p))
    low, high = value - law.log_quantile(1.0 - beyond), value - law.log_quantile(beyond)
    return Estimate(math.exp(value), math.exp(low), math.exp(high), float(confidence), METHOD)
