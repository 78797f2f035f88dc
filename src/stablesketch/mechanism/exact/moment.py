"""Exact F_p and the exact number of distinct keys: the honest baseline.

At the end is what other plans compare themselves with: the error of the exact mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from functools import partial

from ...plan.asked import Asked
from ...plan.mechanism import Mechanism
from ...plan.plan import Plan
from ...privacy import Privacy, discrete_laplace
from ...privacy.exact_moment import moment_units, norm_distance, norm_units, units_sensitivity
from ...statistic import Distinct, Moment, Statistic
from ..shared.belief import Belief, moment_of
from .number import OfHistogram, noise_plan


class ExactMoment(OfHistogram):
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

    def exponent(self, plan: Plan) -> float:
        return max(plan.statistic.p, 1.0)

    def expects_least(self, plan: Plan) -> bool:
        return plan.expected == least_moment(plan.statistic.p, plan.privacy)

    def measured(self, plan: Plan) -> str:
        return norm_in_words(plan.statistic.p)


class CountsKeys(Mechanism):
    """Measures the number of keys, by registers or exactly: the noise is on that number."""

    def noise_at(self, plan: Plan, pairs: float, keys: float | None = None) -> float:
        if keys is None or self.includes_noise(plan):
            return 0.0  # many pairs may be of few keys
        return self.noise_deviation(plan) / min(keys, pairs)

    def measured(self, plan: Plan) -> str:
        return "the number of keys"


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


def norm_in_words(p: float) -> str:
    """The name of what is measured: F_p, or for orders above 1 the norm of the totals."""
    return f"F_{p:g}^(1/{p:g})" if p > 1.0 else f"F_{p:g}"


def exact_deviation(p: float, privacy: Privacy) -> float:
    """The standard deviation of the noise of the exact mechanism: sqrt(2) c M^p/ε on F_p up to order 1 (order 0 counts
    keys), and sqrt(2) c M/ε on the norm F_p^{1/p} above it."""
    return math.sqrt(2.0) * privacy.pairs_per_person * math.pow(privacy.max_value, min(p, 1.0)) / privacy.epsilon


def exact_moment_error(p: float, privacy: Privacy, expected: float) -> float:
    """The relative error of the exact mechanism at this F_p; the deviation of its noise if no value is expected."""
    deviation = exact_deviation(p, privacy)
    return max(p, 1.0) * deviation / math.pow(expected, 1.0 / max(p, 1.0)) if expected else deviation


def expected_moment(asked: Asked) -> float:
    """F_p for the predicted error: the expected value, or the least possible."""
    return least_moment(asked.statistic.p, asked.privacy) if asked.expected is None else asked.expected


def least_moment(p: float, privacy: Privacy) -> float:
    """The least F_p of n pairs of value 1 or more: n^p, if all have the same key; above order 1 it is n, if all keys
    differ."""
    if privacy.unit == "key":  # every key occurs once
        return float(privacy.pairs)
    return math.pow(max(privacy.pairs, privacy.total), min(p, 1.0))
