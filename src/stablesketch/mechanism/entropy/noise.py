"""What entropy with noise has in common, from a sketch or from exact totals: privacy/entropy/noise.py."""

from __future__ import annotations

from functools import lru_cache

from ...plan.mechanism import Mechanism
from ...plan.plan import Plan
from ...privacy import Privacy
from ...privacy.charge import Charge
from ...privacy.entropy.noise import EntropyNoise


class Entropy(Mechanism):
    """N H with noise, and N with noise if it is private. The amount of noise depends on the length of the stream."""

    by_length = True

    def cost(self, plan: Plan) -> Charge:
        return entropy_noise(plan).charge()

    def noise_scale(self, plan: Plan) -> float:
        return plan.noise if self.includes_noise(plan) else 0.0

    def includes_noise(self, plan: Plan) -> bool:
        """True if a length is expected."""
        return max(plan.privacy.pairs, plan.privacy.total) > 0

    def measured(self, plan: Plan) -> str:
        return "entropy times the total"

    def noise_in_words(self, plan: Plan) -> str:
        return super().noise_in_words(plan) if self.noise_scale(plan) else "b (set by the total)"


def entropy_noise(plan: Plan) -> EntropyNoise:
    """The noise of a release by this plan, from a sketch or from exact totals."""
    return noise_for(plan.privacy, plan.size, plan.buckets)


@lru_cache(maxsize=64)
def noise_for(privacy: Privacy, size: int, buckets: int) -> EntropyNoise:
    """The noise, computed once for all groups of a table: computing z takes a while."""
    return EntropyNoise(privacy, size, privacy.copies, buckets=buckets)


def exact_entropy_deviation(privacy: Privacy) -> float:
    """The deviation of the released H, to first order, at the least possible N and with H farthest from β."""
    return noise_for(privacy, 0, 1).deviation(least_total(privacy))


def least_total(privacy: Privacy) -> int:
    return max(privacy.pairs, privacy.total, 1)
