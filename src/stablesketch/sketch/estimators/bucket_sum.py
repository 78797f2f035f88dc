"""F_p of a sketch in buckets: the sum of the estimates of its buckets, with limits from the normal law.

Each key is in one bucket, so F_p = Σ F_b, and F_hat_b = F_b ξ_b with independent ξ_b of the law of power_sum.py for g
entries, E ξ = 1, Var ξ = v_g, whatever the hash. So T = Σ F_hat_b has the mean F_p and the variance v_g Σ F_b². Since
E F_hat_b² = (1 + v_g) F_b²,

    Var T  is estimated, without bias, by  v_g/(1 + v_g) Σ F_hat_b².

Over the hash E Σ F_b² = F_p² (1/B + S (1 - 1/B)), S = Σ f^{2p}/F_p². If one key holds most of F_p, the law of T is that
of one ξ, which is not normal, and the limits are rough. For two entries ξ has no variance, and there are no limits.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from ...errors import ArgumentError
from ...numbers.arrays import Array
from .power_sum import power_sum
from .registry import checked_confidence
from .result import Estimate

METHOD = "power"


def deviation(bucket_estimates: Array, entries: int, p: float) -> float:
    """The standard deviation of the sum of these bucket estimates, estimated from the estimates themselves."""
    v = power_sum(p, entries).relative_variance
    if not math.isfinite(v):
        return math.inf if bucket_estimates.any() else 0.0
    return math.sqrt(v / (1.0 + v)) * math.hypot(*bucket_estimates.tolist())


def estimate(bucket_estimates: Array, entries: int, p: float, method: str, confidence: float) -> Estimate:
    """F_p from the estimates of all buckets, `entries` in each."""
    if method not in ("best", METHOD):
        raise ArgumentError("method", method, f'must be "{METHOD}" for one-sided entries', "Leave it out")
    value = math.fsum(bucket_estimates.tolist())
    reach = NormalDist().inv_cdf(0.5 + 0.5 * checked_confidence(confidence)) * deviation(bucket_estimates, entries, p)
    return Estimate(value, max(0.0, value - reach), value + reach, float(confidence), METHOD)
