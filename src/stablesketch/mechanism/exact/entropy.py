"""Shannon's entropy by the exact mechanism: noise on N if it is private, then on G = N H; H is their ratio."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from ...errors import PlanInfeasible
from ...plan.asked import Asked
from ...plan.in_words import shown_error
from ...plan.plan import Plan, altered
from ...statistic import Shannon, Statistic, total_is_public
from ...text.wording import arg
from ..entropy.noise import Entropy, entropy_noise, exact_entropy_deviation, least_total, measured_entropy, noise_for
from ..shared.belief import Belief
from ..shared.laplace_noise import noise_of
from .histogram import HistogramState
from .number import ExactMechanism, noise_plan


class ExactEntropyState(HistogramState):
    """Totals by fingerprint. What is released, and why it is private: privacy/entropy/noise.py."""

    def measure(self, confidence: float) -> Belief:
        """H = β + (N (H - β) with noise)/(N with noise); N is exact if it is public."""
        noise = entropy_noise(self._plan)
        found = noise.measure_exact(self._totals.values(), noise_of(self.secret, self._plan.statistic))
        return measured_entropy(found, noise, confidence).within(*self._plan.range(self._pairs))

    def _scale(self) -> Fraction:
        return entropy_noise(self._plan).mass_scale


class ExactEntropy(Entropy, ExactMechanism):
    """From the totals of all keys."""

    state = ExactEntropyState

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Shannon) and name == "exact"

    def plan(self, asked: Asked) -> Plan:
        """For streams of any length; the error is for a stream of the promised number of pairs."""
        privacy = asked.privacy
        error = exact_entropy_deviation(privacy)
        if asked.error is not None and error > asked.error:
            promised = (
                f"among {privacy.pairs:,} pairs" if privacy.pairs else "in a stream about which nothing is promised"
            )
            raise PlanInfeasible(
                f"the exact mechanism has an error of {error:.3g} nats {promised}, and {asked.error:g} was asked for. "
                f"Leave out {arg('error')}, which changes nothing here, or promise more pairs ({arg('pairs')})."
            )
        noise = noise_for(privacy, 0, 1)
        step = float(noise.step(noise.bound(least_total(privacy))))
        planned = noise_plan(asked, error, 0.0, step=step)
        delta = privacy.delta if noise.lost else 0.0
        return altered(planned, delta=delta, pure_epsilon=math.inf if noise.lost else privacy.epsilon)

    def methods(self, plan: Plan) -> list[str]:
        count = (
            "The total of all values was given discrete Laplace noise, drawn exactly, on integers. So was a bound on "
            "how much one person can change the next number."
        )
        return [
            "All keys were held in memory, as keyed fingerprints with their totals.",
            *([] if total_is_public(plan.privacy) else [count]),
            "Entropy times the total, which rises with every pair by no more than a known amount, was computed "
            "exactly, rounded to a public grid, given discrete Laplace noise, and divided by the total.",
        ]

    def noise_at(self, plan: Plan, pairs: float, keys: float | None = None) -> float:
        return exact_entropy_deviation(replace(plan.privacy, pairs=math.ceil(pairs)))

    def error_beside_noise(self, plan: Plan) -> str:
        error = plan.statistic.default_error
        return f"less than {shown_error(error, plan)} in streams of {self.more_than(plan, error)}"
