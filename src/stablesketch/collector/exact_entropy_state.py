"""Shannon's entropy by the exact mechanism: noise on N where it is private, then on G = N H; H is their ratio."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..plan.exact_entropy_plan import mass_epsilon, total_epsilon
from ..plan.total_plan import total_distance
from ..privacy.exact_entropy import failure, mass_distance, mass_step, mass_units, most_total
from ..statistic import Array, total_is_public
from .histogram_state import HistogramState
from .measured import Measured, belief
from .total_state import noise_of, noisy

__all__ = ["ExactEntropyState"]


class ExactEntropyState(HistogramState):
    """Totals by fingerprint; what is released of them, and why it is private: privacy/exact_entropy.py."""

    def measure(self, confidence: float) -> Measured:
        """H = G/N, from the noisy G and N; N exactly where it is public."""
        privacy = self._plan.privacy
        if total_is_public(privacy):
            counted, bound = None, self._pairs
        else:
            distance, scale = total_distance(privacy), self._total_scale()
            counted = noisy(
                sum(self._totals.values()),
                scale,
                Fraction(1),
                confidence,
                noise_of(self.secret, f"{self._plan.statistic}, total"),
            )
            lost = failure(mass_epsilon(privacy), privacy.delta) / privacy.copies
            bound = most_total(int(counted.value), distance, scale, lost)
        step = mass_step(privacy, bound)
        mass = noisy(
            mass_units(self._totals.values(), step),
            self._scale(),
            step,
            confidence,
            noise_of(self.secret, self._plan.statistic),
        )
        return self._ratio(mass, counted, confidence).within(*self._plan.range(self._pairs))

    def _scale(self) -> Fraction:
        return Fraction(mass_distance(self._plan.privacy)) / Fraction(mass_epsilon(self._plan.privacy))

    def _total_scale(self) -> Fraction:
        privacy = self._plan.privacy
        return Fraction(total_distance(privacy)) / Fraction(total_epsilon(privacy))

    def _ratio(self, mass: Measured, counted: Measured | None, confidence: float) -> Measured:
        if counted is None:
            n = float(max(self._pairs, 1))
            return Measured(
                mass.value / n, mass.low / n, mass.high / n, lambda probability: mass.quantiles(probability) / n
            )

        def ratio(at: tuple[Array, ...]) -> Array:
            value: Array = np.maximum(at[0], 0.0) / np.maximum(at[1], 1.0)
            return value

        return belief(ratio, (mass, counted), confidence)
