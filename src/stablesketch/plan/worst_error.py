"""What a plan errs by if one key holds everything: then only the entries of its bucket count."""

from __future__ import annotations

import math

from ..sketch.estimators.entropy_mean import entropy_mean_deviation
from ..statistic import Derived, Shannon
from .derived_plan import combined
from .noisy_measure import measure_of
from .plan import Plan

__all__ = ["worst_error"]


def worst_error(plan: Plan) -> float:
    """`plan.error` where there is one bucket, or none; with v the variance of one bucket, v (1 - 1/B) more than that
    in B buckets (layout.py)."""
    if isinstance(plan.statistic, Derived):
        worst = [worst_error(part) for part in plan.parts]
        if worst == [part.error for part in plan.parts]:
            return plan.error
        return combined(plan.statistic, plan.parts, worst)
    if plan.buckets == 1:
        return plan.error
    entries = plan.entries_per_key
    shannon = isinstance(plan.statistic, Shannon)
    one = entropy_mean_deviation(entries) if shannon else measure_of(plan.statistic.p).relative_error(entries)
    return math.hypot(plan.error, one * math.sqrt(1.0 - 1.0 / plan.buckets))
