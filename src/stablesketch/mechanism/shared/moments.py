"""What all mechanisms of a moment need, or of the number of keys, which is that of order 0: what is measured, the least
that it can be, and the error of the exact mechanism, which their plans compare themselves with.
"""

from __future__ import annotations

import math

from ...plan.asked import Asked
from ...plan.mechanism import Mechanism
from ...plan.plan import Plan
from ...privacy import Privacy


class CountsKeys(Mechanism):
    """Measures the number of keys, by registers or exactly: the noise is on that number."""

    counts_keys = True

    def noise_at(self, plan: Plan, pairs: float, keys: float | None = None) -> float:
        if keys is None or self.includes_noise(plan):
            return 0.0  # many pairs may be of few keys
        return self.noise_deviation(plan) / min(keys, pairs)

    def measured(self, plan: Plan) -> str:
        return "the number of keys"


class MeasuresMoments(Mechanism):
    """Measures F_p, or for orders above 1 the norm of the totals, by a sketch or exactly: the noise is on that."""

    def exponent(self, plan: Plan) -> float:
        return max(plan.statistic.p, 1.0)

    def measured(self, plan: Plan) -> str:
        p = plan.statistic.p
        return f"F_{p:g}^(1/{p:g})" if p > 1.0 else f"F_{p:g}"

    def expects_least(self, plan: Plan) -> bool:
        return plan.expected == least_moment(plan.statistic.p, plan.privacy)


def exact_deviation(p: float, privacy: Privacy) -> float:
    """The standard deviation of the noise of the exact mechanism: sqrt(2) c M^p/ε on F_p up to order 1 (order 0 counts
    keys), and sqrt(2) c M/ε on the norm F_p^{1/p} above it."""
    return math.sqrt(2.0) * privacy.pairs_per_person * math.pow(privacy.max_value, min(p, 1.0)) / privacy.epsilon


def exact_moment_error(p: float, privacy: Privacy, expected: float) -> float:
    """The relative error of the exact mechanism at this F_p; the deviation of its noise if no value is expected."""
    deviation = exact_deviation(p, privacy)
    return max(p, 1.0) * deviation / math.pow(expected, 1.0 / max(p, 1.0)) if expected else deviation


def expected_moment(asked: Asked) -> float:
    """F_p for the predicted error: the expected value, or the least possible."""
    return least_moment(asked.statistic.p, asked.privacy) if asked.expected is None else asked.expected


def least_moment(p: float, privacy: Privacy) -> float:
    """The least F_p of n pairs of value 1 or more: n^p, if all have the same key; above order 1 it is n, if all keys
    differ."""
    if privacy.unit == "key":  # every key occurs once
        return float(privacy.pairs)
    return math.pow(max(privacy.pairs, privacy.total), min(p, 1.0))
