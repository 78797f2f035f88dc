"""Shannon's entropy by the exact mechanism: noise on N where it is private, then on G = N H; H is their ratio."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from ..plan.entropy_plan import entropy_noise
from ..plan.exact_entropy_plan import exact_entropy_deviation
from ..plan.in_words import shown_error
from ..plan.plan import Plan
from ..statistic import Shannon, Statistic
from .entropy import Entropy
from .exact import Exact
from .histogram import HistogramState
from .laplace_noise import noise_of
from .measured import Measured
from .measured_entropy import measured_entropy

__all__ = ["ExactEntropy", "ExactEntropyState"]


class ExactEntropyState(HistogramState):
    """Totals by fingerprint; what is released of them, and why it is private: privacy/noisy_entropy.py."""

    def measure(self, confidence: float) -> Measured:
        """H = β + (N (H - β) with noise)/(N with noise), N exactly where it is public."""
        noise = entropy_noise(self._plan)
        found = noise.measure_exact(self._totals.values(), noise_of(self.secret, self._plan.statistic))
        return measured_entropy(found, noise, confidence).within(*self._plan.range(self._pairs))

    def _scale(self) -> Fraction:
        return entropy_noise(self._plan).mass_scale


class ExactEntropy(Entropy, Exact):
    """From the totals of all keys."""

    state = ExactEntropyState

    def serves(self, statistic: Statistic, name: str, *, sampled: bool) -> bool:
        return isinstance(statistic, Shannon) and name == "exact"

    def noise_at(self, plan: Plan, pairs: float) -> float:
        return exact_entropy_deviation(replace(plan.privacy, pairs=math.ceil(pairs)))

    def error_beside_noise(self, plan: Plan) -> str:
        error = plan.statistic.default_error
        return f"less than {shown_error(error, plan)} in streams of {self.more_than(plan, error)}"
