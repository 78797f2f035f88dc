"""Exact F_p and the exact number of distinct keys: the honest baseline.

A number is computed from the histogram of all keys, rounded to a public grid and given discrete Laplace noise
(mechanism/shared/laplace_noise.py). What all exact mechanisms share is in number.py, and the histogram in histogram.py.
The noise of exact entropy depends on the length of the stream: entropy.py.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection
from fractions import Fraction
from functools import partial

from ...plan.asked import Asked
from ...plan.mechanism import mechanism_of
from ...plan.plan import Plan
from ...privacy import discrete_laplace
from ...privacy.exact_moment import moment_units, norm_distance, norm_units, units_sensitivity
from ...statistic import Distinct, Moment, Statistic
from ..shared.belief import Belief, moment_of
from ..shared.counts_keys import CountsKeys
from ..shared.laplace_noise import noise_of, noisy
from ..shared.moments import exact_deviation, exact_moment_error, expected_moment, least_moment
from .histogram import HistogramState
from .number import ExactNumber, noise_plan


class NumberState(HistogramState):
    """Releases one number computed from the histogram; its mechanism says which."""

    def _scale(self) -> Fraction:
        return Fraction(self._way.distance(self._plan)) / Fraction(self._plan.privacy.epsilon)

    @property
    def _way(self) -> OfHistogram:
        way = mechanism_of(self._plan)
        assert isinstance(way, OfHistogram)
        return way

    def measure(self, confidence: float) -> Belief:
        """(units + noise) · step: an integer of sensitivity D with noise of scale D/ε is ε-DP."""
        plan, scale, below = self._plan, self._scale(), noise_of(self.secret, self._plan.statistic)
        found = noisy(self._way.units(plan, self._totals.values()), scale, Fraction(plan.step), confidence, below)
        return self._way.statistic_of(plan, found, scale).within(*plan.range(self._pairs))


class OfHistogram(ExactNumber):
    """A number computed from the histogram of all keys."""

    state = NumberState

    @abstractmethod
    def units(self, plan: Plan, totals: Collection[int]) -> int:
        """The number for keys with these totals, in units of the public grid."""

    def statistic_of(self, plan: Plan, found: Belief, scale: Fraction) -> Belief:
        """The statistic, if it is not the noisy number itself, given the scale of the noise."""
        return found


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


class ExactCount(CountsKeys, OfHistogram):
    """The number of distinct keys."""

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Distinct) and name == "exact"

    def plan(self, asked: Asked) -> Plan:
        """Noise of scale c/ε on the number of keys."""
        deviation = math.sqrt(2.0) * asked.privacy.pairs_per_person / asked.privacy.epsilon
        return noise_plan(asked, deviation, asked.expected or 0.0)

    def distance(self, plan: Plan) -> int:
        """c pairs can add or remove at most c keys, under either relation."""
        return plan.privacy.pairs_per_person

    def units(self, plan: Plan, totals: Collection[int]) -> int:
        return len(totals)


def norm_in_words(p: float) -> str:
    """The name of what is measured: F_p, or for orders above 1 the norm of the totals."""
    return f"F_{p:g}^(1/{p:g})" if p > 1.0 else f"F_{p:g}"
