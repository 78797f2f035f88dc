"""Exact F_p and the exact number of distinct keys: the honest baseline."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from functools import partial

from ...plan.asked import Asked
from ...plan.plan import Plan
from ...privacy import discrete_laplace
from ...privacy.exact_moment import moment_units, norm_distance, norm_units, units_sensitivity
from ...statistic import Distinct, Moment, Statistic
from ..shared.belief import Belief, moment_of
from ..shared.moments import CountsKeys, MeasuresMoments, exact_deviation, exact_moment_error, expected_moment
from .number import OfHistogram, noise_plan


class ExactMoment(MeasuresMoments, OfHistogram):
    """F_p on a grid, or its norm for an order above 1."""

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Moment) and statistic.p != 1.0 and name == "exact"

    def plan(self, asked: Asked) -> Plan:
        """Exact F_p, or its norm for an order above 1, on a grid plus discrete Laplace noise: pure ε-DP.

        The grid is a thousandth of the noise or of the sensitivity (c M^p or c M), whichever is less. Rounding to it
        adds at most one step to the sensitivity, so less than a thousandth to the noise. If one person can change
        several groups, each of them is rounded, and the grid is finer by their number.
        """
        statistic, privacy, guess = asked.statistic, asked.privacy, expected_moment(asked)
        deviation = exact_deviation(statistic.p, privacy)
        error = exact_moment_error(statistic.p, privacy, guess)
        finest = deviation * min(1.0, privacy.epsilon / math.sqrt(2.0)) / (1000.0 * privacy.copies)
        step = 2.0 ** math.floor(math.log2(finest))
        return noise_plan(asked, error * (guess or 1.0), guess, step=step)

    def distance(self, plan: Plan) -> int:
        privacy, p = plan.privacy, plan.statistic.p
        distance = norm_distance if p > 1.0 else partial(units_sensitivity, p)
        return distance(privacy.max_value, privacy.pairs_per_person, Fraction(plan.step), privacy.copies)

    def units(self, plan: Plan, totals: Collection[int]) -> int:
        p = plan.statistic.p
        return (norm_units if p > 1.0 else moment_units)(totals, p, Fraction(plan.step))

    def statistic_of(self, plan: Plan, found: Belief, scale: Fraction) -> Belief:
        p = plan.statistic.p
        if p <= 1.0:
            return found
        return moment_of(found, p, 0.0, discrete_laplace.variance(scale) * plan.step**2 if p == 2.0 else 0.0)

    def noise_scale(self, plan: Plan) -> float:
        return self.noise_deviation(plan) / math.sqrt(2.0)

    def noise_deviation(self, plan: Plan) -> float:
        return exact_deviation(plan.statistic.p, plan.privacy)


class ExactCount(CountsKeys, OfHistogram):
    """The number of distinct keys."""

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Distinct) and name == "exact"

    def plan(self, asked: Asked) -> Plan:
        """Noise of scale c/ε on the number of keys."""
        return noise_plan(asked, exact_deviation(0.0, asked.privacy), asked.expected or 0.0)

    def distance(self, plan: Plan) -> int:
        """c pairs can add or remove at most c keys, under either relation."""
        return plan.privacy.pairs_per_person

    def units(self, plan: Plan, totals: Collection[int]) -> int:
        return len(totals)
