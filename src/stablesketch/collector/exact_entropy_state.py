"""Shannon's entropy by the exact mechanism: noise on N where it is private, then on G = N H; H is their ratio."""

from __future__ import annotations

from fractions import Fraction

from ..plan.entropy_plan import entropy_noise
from .histogram_state import HistogramState
from .measured import Measured
from .measured_entropy import measured_entropy
from .total_state import noise_of

__all__ = ["ExactEntropyState"]


class ExactEntropyState(HistogramState):
    """Totals by fingerprint; what is released of them, and why it is private: privacy/noisy_entropy.py."""

    def measure(self, confidence: float) -> Measured:
        """H = β + (N (H - β) with noise)/(N with noise), N exactly where it is public."""
        noise = entropy_noise(self._plan)
        found = noise.measure_exact(self._totals.values(), noise_of(self.secret, self._plan.statistic))
        return measured_entropy(found, noise, confidence).within(*self._plan.range(self._pairs))

    def _scale(self) -> Fraction:
        return entropy_noise(self._plan).mass_scale
