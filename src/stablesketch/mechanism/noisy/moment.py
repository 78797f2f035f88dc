"""F_p by a sketch with noise on its estimate: `Stable` below order 1, flat or in buckets; `Norm` above it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...errors import PlanInfeasible
from ...numbers.arrays import Array
from ...plan.plan import Plan
from ...privacy import discrete_laplace
from ...sketch.entry_values import integer_entries
from ...sketch.estimators.noisy_interval import NoisyLaw, noisy_norm_law, noisy_power_law, noisy_sum_law
from ...sketch.estimators.norm import norm_law, norms
from ...sketch.estimators.power_sum import power_sum
from ...statistic import Moment, Statistic, exact_name
from ..exact.moment import norm_in_words
from ..shared.belief import Belief, moment_of
from ..shared.laplace_noise import check_noise
from ..shared.layout import in_one_bucket
from .estimate import NoisySketch, NoisyState, believed
from .measure import measure_of, most_keys_of, spread_noise

_NEARLY = 0.99  # of its cap: a larger norm has probably been cut


class StableState(NoisyState):
    """F_p of an order below 1, from one-sided entries. It is 0 for an empty stream. No error depends on the entries."""

    law = "one-sided"

    def check(self, confidence: float) -> None:
        super().check(confidence)
        if self._plan.buckets > 1:
            scale, step, _ = spread_noise(self._plan)
            check_noise(Fraction(scale) / Fraction(step), Fraction(step))

    def measure(self, confidence: float) -> Belief:
        """F_p with noise, and limits that invert the law of F ξ + noise."""
        plan = self._plan
        estimates = self._sketch.bucket_estimates()
        released = self._published(math.fsum(estimates))
        law = noisy_power_law(plan.statistic.p, plan.size) if plan.buckets == 1 else self._sum_law(estimates, released)
        found = believed(released, plan.noise, law, confidence)
        return found.within(*plan.range(self.pairs))

    def _sum_law(self, estimates: Array, released: float) -> NoisyLaw:
        """The law of the sum divided by its mean, given how evenly it is spread over the buckets: ‖F_hat‖_2, with
        noise.

        Let R = Σ F_b²/F², and v the relative variance of one F_hat_b. The relative variance of the sum is v R, and
        ‖F_hat‖_2²/T² is about (1 + v) R/(1 + v R). To allow for the noise of the norm, half its scale is added to the
        norm, and its variance to the square: limits that are too narrow lose more coverage than limits too wide by as
        much gain. So limits are too wide in short streams; in a long one the addition is negligible. R is 1/B to 1.
        """
        plan = self._plan
        scale, step, cap = spread_noise(plan)
        norm = math.sqrt(math.fsum(estimates**2))  # estimates are at most 2^140
        shown = self._noisy(min(norm, cap), scale, step, f"spread of {exact_name(plan.statistic)}")
        least = max(released, plan.noise)
        seen, spread = max(shown + 0.5 * scale, 0.0) / least, scale / least
        square = seen * seen + 2.0 * spread * spread  # divided first: the square of the noise may exceed any float
        variance = power_sum(plan.statistic.p, plan.entries_per_key).relative_variance
        square = min(square, 1.0) if shown < _NEARLY * cap else 1.0  # nothing is known about a norm that was cut
        share = max(square / (1.0 + variance * (1.0 - square)), 1.0 / plan.buckets)
        return noisy_sum_law(plan.statistic.p, variance * share)


class Stable(NoisySketch):
    """The only mechanism of moments whose entries can be in buckets."""

    state = StableState
    name = "sketch"
    estimate = "power"
    law = "positive"
    in_buckets = True
    measures = "moments of orders below 1"

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Moment) and statistic.p < 1.0 and name == "sketch"

    def worst_error(self, plan: Plan) -> float:
        return in_one_bucket(plan, measure_of(plan.statistic.p).relative_error(plan.entries_per_key))


class NormState(NoisyState):
    """F_p of an order above 1, as a power of its norm, from symmetric entries."""

    law = "symmetric"

    def check(self, confidence: float) -> None:
        """If the number of pairs is public, also checks that δ covers that many keys: there are no more keys than
        pairs. If it is private, a refusal would reveal it; the limit, 2^32 or more, is then documented instead
        (docs/known-limits.md).
        """
        super().check(confidence)
        plan = self._plan
        if plan.privacy.relation != "replace":
            return
        most = most_keys_of(plan.statistic.p, plan.size, plan.privacy)
        if self.pairs > most:
            raise PlanInfeasible(
                f"the stream has more than {most:,.0f} pairs, but with {plan.size:,} entries the δ of the plan covers "
                "only that many keys. Release parts of it, or plan with a larger delta or fewer entries."
            )

    def _estimate(self) -> float:
        entries = self._sketch.entries()
        unit = -entries.resolution
        values = np.array([math.ldexp(float(value), unit) for value in integer_entries(entries)])
        return float(norms(values, self._plan.statistic.p))

    def measure(self, confidence: float) -> Belief:
        """The norm with noise, to the power p; at order 2 without the bias from squaring."""
        plan, p = self._plan, self._plan.statistic.p
        law = norm_law(p, plan.size)
        norm = believed(self._published(self._estimate()), plan.noise, noisy_norm_law(p, plan.size), confidence)
        spread = law.relative_variance if p == 2.0 else 0.0
        noise = discrete_laplace.variance(self._scale()) * plan.step**2 if p == 2.0 else 0.0
        return moment_of(norm, p, spread, noise).within(*plan.range(self.pairs))


class Norm(NoisySketch):
    """Every key touches all entries."""

    state = NormState
    name = "sketch"
    estimate = "norm"
    law = "symmetric"

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Moment) and statistic.p > 1.0 and name == "sketch"

    def exponent(self, plan: Plan) -> float:
        return plan.statistic.p

    def measured(self, plan: Plan) -> str:
        return norm_in_words(plan.statistic.p)
