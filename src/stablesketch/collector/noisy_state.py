"""The sketch mechanism: entries, an estimate, discrete Laplace noise on a grid. F_p below order 1, the norm above."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..errors import PlanInfeasible
from ..plan.noisy_measure import most_keys_of
from ..privacy import discrete_laplace
from ..secret import Secret
from ..sketch import Sketch
from ..sketch.estimators.noisy_interval import NoisyLaw, noisy_norm_law, noisy_power_law
from ..sketch.estimators.norm import norm_law, norms
from ..sketch.estimators.one_sided import log_estimates
from ..sketch.sketch import integer_entries, log_magnitudes
from .measured import Measured, moment_of
from .sketch_state import SketchState, check_promise
from .total_state import check_noise, noise_of

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["MomentState", "NormState"]


class _NoisyState(SketchState):
    """Nothing is promised of the stream, and nothing of it is looked at before the release but its counters."""

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self.pairs, self.total)
        check_noise(self._scale(), Fraction(self._plan.step))

    def _scale(self) -> Fraction:
        """Of the noise, in units of the grid."""
        return Fraction(self._plan.noise) / Fraction(self._plan.step)

    def _published(self) -> float:
        """h (K + J): K = floor(min(X, X_max)/h + 1/2) for the estimate X, J discrete Laplace noise of scale b/h. Why it
        is private: docs/math-noisy-estimate.md.
        """
        plan = self._plan
        step = Fraction(plan.step)
        units = math.floor(Fraction(min(self._estimate(), plan.cap)) / step + Fraction(1, 2))
        noise = discrete_laplace.sample(self._scale(), noise_of(self.secret, plan.statistic))
        return float((units + noise) * step)

    @abstractmethod
    def _estimate(self) -> float:
        """X: equivariant, 0 for an empty stream, and never an error that depends on the entries."""


class MomentState(_NoisyState):
    """F_p of an order below 1, from one-sided entries."""

    @staticmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        return Sketch(plan.statistic.p, plan.size, secret, law="one-sided")

    def _estimate(self) -> float:
        entries, _, _ = self._sketch._snapshot()
        logs, _ = log_magnitudes(entries, zero=0.0)
        return math.exp(float(log_estimates(np.array(logs), self._plan.statistic.p)))

    def measure(self, confidence: float) -> Measured:
        """F_p with noise, and limits that invert the law of F ξ + noise."""
        plan = self._plan
        law = noisy_power_law(plan.statistic.p, plan.size)
        found = _believed(self._published(), plan.noise, law, confidence)
        return found.within(*plan.range(self.pairs))


class NormState(_NoisyState):
    """F_p of an order above 1, as a power of its norm, from symmetric entries."""

    @staticmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        return Sketch(plan.statistic.p, plan.size, secret, law="symmetric")

    def check(self, confidence: float) -> None:
        """Besides, where the number of pairs is public, that of keys, which is no larger: δ covers so many. Where it is
        private a refusal would tell it; then it is a limit that is stated (docs/known-limits.md), 2^32 or more.
        """
        super().check(confidence)
        plan = self._plan
        if plan.privacy.relation != "replace":
            return
        most = most_keys_of(plan.statistic.p, plan.size, plan.privacy)
        if self.pairs > most:
            raise PlanInfeasible(
                f"the stream has more than {most:,.0f} pairs, and with {plan.size:,} entries the δ of the plan covers "
                "no more keys than that. Release parts, which compose, or plan with a larger delta or fewer entries."
            )

    def _estimate(self) -> float:
        entries, _, _ = self._sketch._snapshot()
        unit = -entries.resolution
        values = np.array([math.ldexp(float(value), unit) for value in integer_entries(entries)])
        return float(norms(values, self._plan.statistic.p))

    def measure(self, confidence: float) -> Measured:
        """The norm with noise, to the power p; of order 2 without the bias of squaring it."""
        plan, p = self._plan, self._plan.statistic.p
        law = norm_law(p, plan.size)
        norm = _believed(self._published(), plan.noise, noisy_norm_law(p, plan.size), confidence)
        spread = law.relative_variance if p == 2.0 else 0.0
        noise = discrete_laplace.variance(self._scale()) * plan.step**2 if p == 2.0 else 0.0
        return moment_of(norm, p, spread, noise).within(*plan.range(self.pairs))


def _believed(released: float, noise: float, law: NoisyLaw, confidence: float) -> Measured:
    """What was released, with limits and with what is to be believed of X, by the law of X ξ + noise."""
    limits = law.limits(released, noise, confidence)
    return Measured(released, *limits, lambda probability: law.quantiles(released, noise, probability))
