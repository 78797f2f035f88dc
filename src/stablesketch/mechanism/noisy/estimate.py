"""What F_p below order 1 and norms above it share: an estimate from entries, with discrete Laplace noise on a grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from ...plan.asked import Asked
from ...plan.in_words import amount
from ...plan.mechanism import Mechanism
from ...plan.plan import Plan
from ...privacy import discrete_laplace
from ...privacy.charge import Charge
from ...sketch.estimators.noisy_interval import NoisyLaw
from ..exact.moment import least_moment
from ..shared.belief import Belief
from ..shared.laplace_noise import check_noise, noise_of
from ..shared.layout import layout_of
from ..shared.state import SketchState, check_promise
from .measure import entries_error, measure_of, released_by
from .plan import noisy_plan

_LEAST_EPSILON = 1e-9


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


class NoisySketch(Mechanism):
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

    def expects_least(self, plan: Plan) -> bool:
        return plan.expected == least_moment(plan.statistic.p, plan.privacy)


def why_private(which: str, estimate: str) -> str:
    """docs/math-noisy-estimate.md in a sentence."""
    return (
        f"This is private for any stream, short or long: {which} estimate is the true {estimate} whose law is the same "
        "for every stream, so one person moves it little, and the noise hides how much. The cost of finite precision "
        "is part of δ."
    )
