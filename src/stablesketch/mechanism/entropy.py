"""What entropy with noise has in common, from a sketch or from exact totals: privacy/noisy_entropy.py."""

from __future__ import annotations

from ..plan.entropy_plan import entropy_noise
from ..plan.mechanism import Mechanism
from ..plan.plan import Plan
from ..privacy.charge import Charge

__all__ = ["Entropy"]


class Entropy(Mechanism):
    """N H with noise, and N where it is private. How much noise that is depends on the length of the stream."""

    by_length = True

    def cost(self, plan: Plan) -> Charge:
        return entropy_noise(plan).charge()

    def noise_scale(self, plan: Plan) -> float:
        return plan.noise if self.includes_noise(plan) else 0.0

    def includes_noise(self, plan: Plan) -> bool:
        """A length is expected."""
        return max(plan.privacy.pairs, plan.privacy.total) > 0

    def measured(self, plan: Plan) -> str:
        return "entropy times the total"

    def noise_in_words(self, plan: Plan) -> str:
        return super().noise_in_words(plan) if self.noise_scale(plan) else "b grows with the logarithm of the total"
