"""F_p by a sketch with noise on its estimate: `Stable` below order 1, flat or in buckets; `Norm` above it.

Both release an estimate from entries with discrete Laplace noise on a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...errors import PlanInfeasible
from ...numbers.arrays import Array
from ...plan.asked import Asked
from ...plan.in_words import amount
from ...plan.plan import Plan
from ...privacy import discrete_laplace
from ...privacy.charge import Charge
from ...sketch.entry_values import integer_entries
from ...sketch.estimators.noisy_interval import NoisyLaw, noisy_norm_law, noisy_power_law, noisy_sum_law
from ...sketch.estimators.norm import norm_law, norms
from ...sketch.estimators.power_sum import power_sum
from ...statistic import Moment, Statistic, exact_name
from ..shared.belief import Belief, moment_of
from ..shared.laplace_noise import check_noise, noise_of
from ..shared.layout import in_one_bucket, layout_of
from ..shared.moments import MeasuresMoments
from ..shared.state import SketchState, check_promise
from .measure import entries_error, measure_of, most_keys_of, released_by, spread_noise
from .plan import noisy_plan

_LEAST_EPSILON = 1e-9
_NEARLY = 0.99  # of its cap: a larger norm has probably been cut


class NoisyState(SketchState):
    """Needs no promise about the stream, and looks only at its counters before the release."""

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self.pairs, self.total)
        check_noise(self._scale(), Fraction(self._plan.step))

    def _scale(self) -> Fraction:
        """The scale of the noise, in units of the grid."""
        return Fraction(self._plan.noise) / Fraction(self._plan.step)

    def _published(self, estimate: float) -> float:
        """The estimate with the noise of the plan."""
        plan = self._plan
        return self._noisy(min(estimate, plan.cap), plan.noise, plan.step, plan.statistic)

    def _noisy(self, cut: float, scale: float, step: float, what: object) -> float:
        """h (K + J), with K = floor(min(X, X_max)/h + 1/2) for the estimate X and discrete Laplace noise J of scale
        b/h. Why it is private: docs/math-noisy-estimate.md.
        """
        grid = Fraction(step)
        units = math.floor(Fraction(cut) / grid + Fraction(1, 2))
        noise = discrete_laplace.sample(Fraction(scale) / grid, noise_of(self.secret, what))
        return float((units + noise) * grid)


def believed(released: float, noise: float, law: NoisyLaw, confidence: float) -> Belief:
    """The released value, with its limits and the belief about X, from the law of X ξ + noise."""
    limits = law.limits(released, noise, confidence)
    return Belief(released, *limits, lambda probability: law.quantiles(released, noise, probability))


class NoisySketch(MeasuresMoments):
    """X ξ + noise, where ξ is independent of the stream."""

    estimate: str
    """The name of the law of ξ in the ledger."""
    law: str
    """The law of the weights, in words."""

    def plan(self, asked: Asked) -> Plan:
        return noisy_plan(asked)

    def check(self, plan: Plan) -> None:
        super().check(plan)
        if not (plan.cap and plan.step <= plan.noise * 2.0**-10):
            raise self.odd_noise(plan)

    def cost(self, plan: Plan) -> Charge:
        """Computes Δ and the cost of finite precision again."""
        released = released_by(plan)
        gap, added = 0.5 * released.precision.failures, released.precision.shift(released.noise)
        return Charge(
            "estimate", p=plan.statistic.p, size=released.entries, gap=gap, epsilon=plan.epsilon, delta=plan.delta,
            estimate=self.estimate, noise=released.noise, added=added, copies=released.copies,
        )  # fmt: skip

    def methods(self, plan: Plan) -> list[str]:
        places, whose, spread = "", "all keys", []
        if plan.buckets > 1:
            places = f" in {plan.buckets:,} buckets; a secret hash gave each key one bucket"
            whose = "the keys of its bucket"
            spread = [
                "The interval depends on how evenly the buckets are filled. That number was given discrete Laplace "
                "noise too, for a 32nd of the budget."
            ]
        return [
            f"The stream was folded into {plan.size:,} numbers{places}. Each is a sum of the totals of {whose} with "
            f"secret random weights of the {self.law} stable law of order {plan.statistic.p:g}. "
            f"{self.measured(plan)} was estimated from them. No key was stored.",
            "Noise was drawn exactly, on a public grid, from the discrete Laplace law of scale "
            f"{amount(plan.noise)}, and added to the estimate.",
            *spread,
        ]

    def reason(self, plan: Plan) -> str:
        return why_private("an", "value times a random factor")

    def claimed_curve(self, plan: Plan, share: float = 1.0) -> Callable[[float], float]:
        """Certified (privacy/noisy_estimate.py), from the noise of the plan.

        If ε is below the shift from finite precision, δ at a larger ε bounds it: P - e^ε Q <= (P - e^x Q) + (e^x - e^ε)
        Q.
        """
        released = released_by(plan)
        estimate = measure_of(plan.statistic.p).estimate(released.entries, released.copies)
        noise, precision = released.noise / share, released.precision
        least = 2.0 * precision.shift(noise) + _LEAST_EPSILON

        def delta(epsilon: float) -> float:
            above = max(epsilon, least)
            rest = math.exp(epsilon) * math.expm1(above - epsilon) if epsilon < 700.0 else 0.0
            return min(1.0, estimate.delta(above, noise, precision) + rest)

        return delta

    def shared_by_neighbours(self, plan: Plan) -> tuple[int, int]:
        """The number of pairs that makes the difference (F - F')/deviation most visible. Nothing is promised.

        It is 0 if pairs are added or removed. A replaced pair changes F by less if there is little to add it to. Above
        order 1 the noise is on the norm, which differs most if all pairs have one key.
        """
        p, privacy = plan.statistic.p, plan.privacy
        count, most = privacy.pairs_per_person, privacy.max_value
        if privacy.relation == "add_remove" or privacy.unit == "key" or p > 1.0:
            return 0, 0

        def shows(shared: int) -> float:
            one = math.pow(shared, p) + count * math.pow(most, p)
            other = math.pow(shared + count, p)
            relative = plan.error if not plan.expected else 0.0
            return (one - other) / math.hypot(math.sqrt(2.0) * plan.noise, relative * one)

        return max((0, *(1 << i for i in range(16))), key=shows), 0

    def error_alone(self, plan: Plan) -> float:
        return entries_error(plan.statistic.p, layout_of(plan))


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


def why_private(which: str, estimate: str) -> str:
    """docs/math-noisy-estimate.md in a sentence."""
    return (
        f"This is private for any stream, short or long: {which} estimate is the true {estimate} whose law is the same "
        "for every stream, so one person moves it little, and the noise hides how much. The cost of finite precision "
        "is part of δ."
    )
