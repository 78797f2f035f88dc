"""What F_p below order 1 and norms above have in common: an estimate from entries, discrete Laplace noise on a grid."""

from __future__ import annotations

import math
from fractions import Fraction

from ..plan.exact_plan import expected_moment
from ..plan.mechanism import Mechanism
from ..plan.noisy_measure import released_by
from ..plan.plan import Plan
from ..privacy import discrete_laplace
from ..privacy.charge import Charge
from ..sketch.estimators.noisy_interval import NoisyLaw
from ..statistic import Moment
from .laplace_noise import check_noise, noise_of
from .measured import Measured
from .sketch_state import SketchState
from .state import check_promise

__all__ = ["NoisyEstimate", "NoisyState", "believed"]


class NoisyState(SketchState):
    """Nothing is promised of the stream, and nothing of it is looked at before the release but its counters."""

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self.pairs, self.total)
        check_noise(self._scale(), Fraction(self._plan.step))

    def _scale(self) -> Fraction:
        """Of the noise, in units of the grid."""
        return Fraction(self._plan.noise) / Fraction(self._plan.step)

    def _published(self, estimate: float) -> float:
        """The estimate with the noise of the plan."""
        plan = self._plan
        return self._noisy(min(estimate, plan.cap), plan.noise, plan.step, plan.statistic)

    def _noisy(self, cut: float, scale: float, step: float, what: object) -> float:
        """h (K + J): K = floor(min(X, X_max)/h + 1/2) for the estimate X, J discrete Laplace noise of scale b/h. Why it
        is private: docs/math-noisy-estimate.md.
        """
        grid = Fraction(step)
        units = math.floor(Fraction(cut) / grid + Fraction(1, 2))
        noise = discrete_laplace.sample(Fraction(scale) / grid, noise_of(self.secret, what))
        return float((units + noise) * grid)


def believed(released: float, noise: float, law: NoisyLaw, confidence: float) -> Measured:
    """What was released, with limits and with what is to be believed of X, by the law of X ξ + noise."""
    limits = law.limits(released, noise, confidence)
    return Measured(released, *limits, lambda probability: law.quantiles(released, noise, probability))


class NoisyEstimate(Mechanism):
    """X ξ + noise, ξ independent of the stream."""

    estimate: str
    """By what name the law of ξ is known to the ledger."""

    def cost(self, plan: Plan) -> Charge:
        """Δ and what computing costs are found anew."""
        released = released_by(plan)
        gap, added = 0.5 * released.precision.failures, released.precision.shift(released.noise)
        return Charge(
            "estimate", p=plan.statistic.p, size=released.entries, gap=gap, epsilon=plan.epsilon, delta=plan.delta,
            estimate=self.estimate, noise=released.noise, added=added, copies=released.copies,
        )  # fmt: skip

    def expects_least(self, plan: Plan) -> bool:
        assert isinstance(plan.statistic, Moment)
        return plan.expected == expected_moment(plan.statistic, plan.privacy, None)
