"""The sketch mechanism: one-sided entries, an estimate, discrete Laplace noise on a grid."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..privacy import discrete_laplace
from ..secret import Secret
from ..sketch import Sketch
from ..sketch.estimators.one_sided import log_estimates
from ..sketch.estimators.power_sum import power_sum
from ..sketch.sketch import log_magnitudes
from ..statistic import Array
from .measured import Measured
from .sketch_state import SketchState, check_promise
from .total_state import check_noise, noise_of

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["NoisyState"]


class NoisyState(SketchState):
    """Nothing is promised of the stream, and nothing of it is looked at before the release but its counters."""

    @staticmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        return Sketch(plan.statistic.p, plan.size, secret, law="one-sided")

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self.pairs, self.total)
        check_noise(self._scale(), Fraction(self._plan.step))

    def _scale(self) -> Fraction:
        """Of the noise, in units of the grid."""
        return Fraction(self._plan.noise) / Fraction(self._plan.step)

    def measure(self, confidence: float) -> Measured:
        """h (K + J): K = floor(min(F_hat, F_max)/h + 1/2) for the estimate F_hat, J discrete Laplace noise of scale
        b/h. Why it is private: docs/math-noisy-estimate.md.
        """
        plan = self._plan
        entries, _, _ = self._sketch._snapshot()
        # No entries are no moment, exactly: the estimate of an empty stream must be 0, as the proof has it.
        logs, _ = log_magnitudes(entries, zero=0.0)
        estimate = math.exp(float(log_estimates(np.array(logs), plan.statistic.p)))
        step = Fraction(plan.step)
        units = math.floor(Fraction(min(estimate, plan.cap)) / step + Fraction(1, 2))
        noise = discrete_laplace.sample(self._scale(), noise_of(self.secret, plan.statistic))
        return self._found(float((units + noise) * step), confidence).within(*plan.range(self.pairs))

    def _found(self, value: float, confidence: float) -> Measured:
        """The limits invert the law of F ξ + noise."""
        law, noise = power_sum(self._plan.statistic.p, self._plan.size), self._plan.noise
        at = (np.arange(400) + 0.5) / 400
        xi = np.exp([law.log_quantile(float(each)) for each in at])

        def quantiles(probability: Array) -> Array:
            low, high = np.zeros(len(probability)), np.full(len(probability), 4.0 * abs(value) + 400.0 * noise)
            for _ in range(60):
                middle = 0.5 * (low + high)
                z = (value - middle[:, np.newaxis] * xi) / noise
                below = np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.maximum(z, 0))).mean(
                    axis=1
                )
                over = below < 1.0 - probability
                low, high = np.where(over, low, middle), np.where(over, middle, high)
            return high

        low, high = quantiles(np.array([0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence])).tolist()
        return Measured(value, low, high, quantiles)
