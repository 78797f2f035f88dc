"""The sketch mechanism: entries, an estimate, discrete Laplace noise on a grid. F_p below order 1, the norm above."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import PlanInfeasible
from ..plan.noisy_measure import most_keys_of, spread_noise
from ..privacy import discrete_laplace
from ..secret import Secret
from ..sketch import Sketch
from ..sketch.estimators.noisy_interval import NoisyLaw, noisy_norm_law, noisy_power_law, noisy_sum_law
from ..sketch.estimators.norm import norm_law, norms
from ..sketch.estimators.power_sum import power_sum
from ..sketch.sketch import integer_entries
from ..statistic import exact_name
from .measured import Measured, moment_of
from .sketch_state import SketchState, check_promise
from .total_state import check_noise, noise_of

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["MomentState", "NormState"]

_NEARLY = 0.99  # of its cap: a norm so large has probably been cut


class _NoisyState(SketchState):
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


class MomentState(_NoisyState):
    """F_p of an order below 1, from one-sided entries. Of an empty stream it is 0, and no error depends on entries."""

    @staticmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        return Sketch(plan.statistic.p, plan.size, secret, law="one-sided", buckets=plan.buckets)

    def check(self, confidence: float) -> None:
        super().check(confidence)
        if self._plan.buckets > 1:
            scale, step, _ = spread_noise(self._plan)
            check_noise(Fraction(scale) / Fraction(step), Fraction(step))

    def measure(self, confidence: float) -> Measured:
        """F_p with noise, and limits that invert the law of F ξ + noise."""
        plan = self._plan
        estimates = self._sketch.bucket_estimates()
        released = self._published(math.fsum(estimates))
        law = noisy_power_law(plan.statistic.p, plan.size) if plan.buckets == 1 else self._sum_law(estimates, released)
        found = _believed(released, plan.noise, law, confidence)
        return found.within(*plan.range(self.pairs))

    def _sum_law(self, estimates: NDArray[np.float64], released: float) -> NoisyLaw:
        """The law of the sum over its mean, by how evenly it is spread over the buckets: ‖F_hat‖_2, with noise.

        With R = Σ F_b²/F², and v the relative variance of one F_hat_b, the sum has v R; and ‖F_hat‖_2²/T² is about
        (1 + v) R/(1 + v R). For the noise of the norm half its scale is added to it, and its variance to the square:
        limits that are too narrow lose more coverage than as much too wide gain. So they are too wide in short streams,
        and what is added is nothing to the norm of a long one. R is 1/B to 1.
        """
        plan = self._plan
        scale, step, cap = spread_noise(plan)
        norm = math.sqrt(math.fsum(estimates**2))  # estimates are at most 2^140
        shown = self._noisy(min(norm, cap), scale, step, f"spread of {exact_name(plan.statistic)}")
        least = max(released, plan.noise)
        seen, spread = max(shown + 0.5 * scale, 0.0) / least, scale / least
        square = seen * seen + 2.0 * spread * spread  # divided first: a square of the noise may be beyond the floats
        variance = power_sum(plan.statistic.p, plan.entries_per_key).relative_variance
        square = min(square, 1.0) if shown < _NEARLY * cap else 1.0  # nothing is known of a norm that was cut
        share = max(square / (1.0 + variance * (1.0 - square)), 1.0 / plan.buckets)
        return noisy_sum_law(plan.statistic.p, variance * share)


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
        entries = self._sketch.entries()
        unit = -entries.resolution
        values = np.array([math.ldexp(float(value), unit) for value in integer_entries(entries)])
        return float(norms(values, self._plan.statistic.p))

    def measure(self, confidence: float) -> Measured:
        """The norm with noise, to the power p; of order 2 without the bias of squaring it."""
        plan, p = self._plan, self._plan.statistic.p
        law = norm_law(p, plan.size)
        norm = _believed(self._published(self._estimate()), plan.noise, noisy_norm_law(p, plan.size), confidence)
        spread = law.relative_variance if p == 2.0 else 0.0
        noise = discrete_laplace.variance(self._scale()) * plan.step**2 if p == 2.0 else 0.0
        return moment_of(norm, p, spread, noise).within(*plan.range(self.pairs))


def _believed(released: float, noise: float, law: NoisyLaw, confidence: float) -> Measured:
    """What was released, with limits and with what is to be believed of X, by the law of X ξ + noise."""
    limits = law.limits(released, noise, confidence)
    return Measured(released, *limits, lambda probability: law.quantiles(released, noise, probability))
