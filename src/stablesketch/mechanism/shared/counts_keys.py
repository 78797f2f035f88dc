"""What all counts of distinct keys have in common, by registers or exact: the noise is on the number of keys."""

from __future__ import annotations

from ...plan.mechanism import Mechanism
from ...plan.plan import Plan


class CountsKeys(Mechanism):
    """Measures the number of keys."""

    def noise_at(self, plan: Plan, pairs: float, keys: float | None = None) -> float:
        if keys is None or self.includes_noise(plan):
            return 0.0  # many pairs may be of few keys
        return self.noise_deviation(plan) / min(keys, pairs)

    def measured(self, plan: Plan) -> str:
        return "the number of keys"
