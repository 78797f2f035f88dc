"""The estimator of one-sided entries: a power mean, unbiased at every size, with limits from its own law.

    F_hat = (mean of entry^{λp})^{1/λ} / c,      λ = best_one_sided_power(p) < 0,

within 2% of the least variance that any estimator can have for p up to 0.95 (power_sum.py has λ, c and the law of
F_hat/F). It is scale-equivariant, F_hat(s y) = s^p F_hat(y) for every s >= 0, with F_hat(0) = 0: no additive constant,
no clamp and no branch. docs/math-noisy-estimate.md says what relies on that.

**In buckets**, F_p is the sum of the estimates of the buckets, with limits from the normal law. Each key is in one
bucket, so F_p = Σ F_b, and F_hat_b = F_b ξ_b with independent ξ_b of the law of power_sum.py for g entries, E ξ = 1,
Var ξ = v_g, whatever the hash. So T = Σ F_hat_b has the mean F_p and the variance v_g Σ F_b². Since
E F_hat_b² = (1 + v_g) F_b²,

    Var T  is estimated, without bias, by  v_g/(1 + v_g) Σ F_hat_b².

Over the hash E Σ F_b² = F_p² (1/B + S (1 - 1/B)), S = Σ f^{2p}/F_p². If one key holds most of F_p, the law of T is that
of one ξ, which is not normal, and the limits are rough. For two entries ξ has no variance, and there are no limits.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ArgumentError
from ...numbers.arrays import Array
from .power_sum import power_sum
from .registry import Estimate, checked_confidence

METHOD = "power"


def log_estimates(log_entries: ArrayLike, p: float) -> Array:
    """ln F_hat for sketches or buckets stacked along the leading axes, the entries of one along the last; -∞ for 0."""
    z = p * np.asarray(log_entries, dtype=np.float64)
    return power_sum(p, z.shape[-1]).log_estimates(z)


def estimate(log_entries: ArrayLike | None, size: int, p: float, method: str, confidence: float) -> Estimate:
    """F_p from the logarithms of the entries of one sketch, or from none if all of them are 0."""
    _check(method)
    law, beyond = power_sum(p, size), 0.5 * (1.0 - checked_confidence(confidence))
    if log_entries is None:
        return Estimate(0.0, 0.0, 0.0, float(confidence), METHOD)
    value = float(log_estimates(log_entries, p))
    low, high = value - law.log_quantile(1.0 - beyond), value - law.log_quantile(beyond)
    return Estimate(math.exp(value), math.exp(low), math.exp(high), float(confidence), METHOD)


def deviation(bucket_estimates: Array, entries: int, p: float) -> float:
    """The standard deviation of the sum of these bucket estimates, estimated from the estimates themselves."""
    v = power_sum(p, entries).relative_variance
    if not math.isfinite(v):
        return math.inf if bucket_estimates.any() else 0.0
    return math.sqrt(v / (1.0 + v)) * math.hypot(*bucket_estimates.tolist())


def estimate_in_buckets(bucket_estimates: Array, entries: int, p: float, method: str, confidence: float) -> Estimate:
    """F_p from the estimates of all buckets, `entries` in each."""
    _check(method)
    value = math.fsum(bucket_estimates.tolist())
    reach = NormalDist().inv_cdf(0.5 + 0.5 * checked_confidence(confidence)) * deviation(bucket_estimates, entries, p)
    return Estimate(value, max(0.0, value - reach), value + reach, float(confidence), METHOD)


def _check(method: str) -> None:
    if method not in ("best", METHOD):
        raise ArgumentError("method", method, f'must be "{METHOD}" for one-sided entries', "Leave it out")
