"""F_p of an order above 1 by a sketch: symmetric entries, an estimate of the norm F_p^{1/p}, and noise on it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...errors import PlanInfeasible
from ...plan.plan import Plan
from ...privacy import discrete_laplace
from ...sketch import Sketch
from ...sketch.entry_values import integer_entries
from ...sketch.estimators.noisy_interval import noisy_norm_law
from ...sketch.estimators.norm import norm_law, norms
from ...statistic import Moment, Statistic
from ..exact.moment import norm_in_words
from ..shared.belief import Belief, moment_of
from .estimate import NoisySketch, NoisyState, believed
from .measure import most_keys_of

if TYPE_CHECKING:
    from ...secret import Secret


class NormState(NoisyState):
    """F_p of an order above 1, as a power of its norm, from symmetric entries."""

    @staticmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        return Sketch(plan.statistic.p, plan.size, secret, law="symmetric")

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
