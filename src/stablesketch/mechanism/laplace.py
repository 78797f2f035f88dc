"""The exact mechanism: a number of the histogram on a public grid, discrete Laplace noise. The honest baseline."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import partial

from ..plan.exact_plan import expected_moment
from ..plan.plan import Plan
from ..plan.sizing import exact_deviation
from ..privacy import discrete_laplace
from ..privacy.exact_moment import moment_units, units_sensitivity
from ..privacy.exact_norm import norm_distance, norm_units
from ..statistic import Distinct, Moment, Statistic
from .exact import ExactNumber
from .histogram import HistogramState
from .laplace_noise import noise_of, noisy
from .measured import Measured, moment_of

__all__ = ["ExactCount", "ExactMoment", "norm_in_words"]


class _NumberState(HistogramState):
    """One number of the histogram, in units of a public grid, is released."""

    def _scale(self) -> Fraction:
        return Fraction(self._distance()) / Fraction(self._plan.privacy.epsilon)

    @abstractmethod
    def _distance(self) -> int:
        """By how many units neighbours can differ."""

    @abstractmethod
    def _units(self) -> int:
        """The number."""

    def measure(self, confidence: float) -> Measured:
        """(units + noise) · step: an integer of sensitivity D with noise of scale D/ε is ε-DP."""
        return self._noisy(confidence).within(*self._plan.range(self._pairs))

    def _noisy(self, confidence: float) -> Measured:
        plan, below = self._plan, noise_of(self.secret, self._plan.statistic)
        return noisy(self._units(), self._scale(), Fraction(plan.step), confidence, below)


class _MomentState(_NumberState):
    """F_p, or its norm for an order above 1."""

    def _distance(self) -> int:
        return _moment_distance(self._plan)

    def _units(self) -> int:
        p, step = self._plan.statistic.p, Fraction(self._plan.step)
        return (norm_units if p > 1.0 else moment_units)(self._totals.values(), p, step)

    def _noisy(self, confidence: float) -> Measured:
        found, plan, p = super()._noisy(confidence), self._plan, self._plan.statistic.p
        if p <= 1.0:
            return found
        return moment_of(found, p, 0.0, discrete_laplace.variance(self._scale()) * plan.step**2 if p == 2.0 else 0.0)


class _CountState(_NumberState):
    """The number of keys."""

    def _distance(self) -> int:
        return _count_distance(self._plan)

    def _units(self) -> int:
        return len(self._totals)


class ExactMoment(ExactNumber):
    """F_p on a grid, or its norm for an order above 1."""

    state = _MomentState

    def serves(self, statistic: Statistic, name: str, *, sampled: bool) -> bool:
        return isinstance(statistic, Moment) and statistic.p != 1.0 and name == "exact"

    def distance(self, plan: Plan) -> int:
        return _moment_distance(plan)

    def noise_scale(self, plan: Plan) -> float:
        return self.noise_deviation(plan) / math.sqrt(2.0)

    def noise_deviation(self, plan: Plan) -> float:
        return exact_deviation(plan.statistic.p, plan.privacy)

    def exponent(self, plan: Plan) -> float:
        return max(plan.statistic.p, 1.0)

    def expects_least(self, plan: Plan) -> bool:
        assert isinstance(plan.statistic, Moment)
        return plan.expected == expected_moment(plan.statistic, plan.privacy, None)

    def measured(self, plan: Plan) -> str:
        return norm_in_words(plan.statistic.p)


class ExactCount(ExactNumber):
    """The number of distinct keys."""

    state = _CountState

    def serves(self, statistic: Statistic, name: str, *, sampled: bool) -> bool:
        return isinstance(statistic, Distinct) and name == "exact"

    def distance(self, plan: Plan) -> int:
        return _count_distance(plan)

    def noise_scale(self, plan: Plan) -> float:
        return plan.privacy.pairs_per_person / plan.privacy.epsilon

    def noise_at(self, plan: Plan, pairs: float) -> float:
        return 0.0  # many pairs may be of few keys

    def measured(self, plan: Plan) -> str:
        return "the number of keys"


def norm_in_words(p: float) -> str:
    """What is measured of F_p: above order 1 the norm of the totals."""
    return f"F_{p:g}^(1/{p:g})" if p > 1.0 else f"F_{p:g}"


def _moment_distance(plan: Plan) -> int:
    privacy, p = plan.privacy, plan.statistic.p
    distance = norm_distance if p > 1.0 else partial(units_sensitivity, p)
    return distance(privacy.max_value, privacy.pairs_per_person, Fraction(plan.step), privacy.copies)


def _count_distance(plan: Plan) -> int:
    """c pairs come and go with at most c keys, whatever the relation."""
    return plan.privacy.pairs_per_person
