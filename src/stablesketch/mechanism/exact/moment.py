"""Exact F_p and the exact number of distinct keys: the honest baseline.

A number is computed from the histogram of all keys (histogram.py), rounded to a public grid and given discrete Laplace
noise (mechanism/shared/laplace_noise.py). The counter shares `ExactNumber`, exact entropy `ExactMechanism`: its noise
depends on the length of the stream (entropy.py). At the end is what other plans compare themselves with: the error of
the exact mechanism.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection
from fractions import Fraction
from functools import partial

from ...errors import PlanInfeasible
from ...plan.asked import Asked
from ...plan.in_words import a_larger_error, amount, laplace
from ...plan.mechanism import Mechanism, Row, mechanism_of
from ...plan.plan import Plan
from ...privacy import Privacy, discrete_laplace
from ...privacy.charge import Charge
from ...privacy.exact_moment import moment_units, norm_distance, norm_units, units_sensitivity
from ...statistic import Distinct, Moment, Statistic
from ...text.wording import arg
from ..shared.belief import Belief, moment_of
from ..shared.laplace_noise import noise_of, noisy
from .histogram import HistogramState


class ExactMechanism(Mechanism):
    """A mechanism whose only error is its noise."""

    name = "exact"
    exact = True
    fewest, largest = 0, 0

    def memory(self) -> str:
        """What is held in memory while it runs, in words."""
        return "every key of the stream, as a keyed fingerprint"

    def held(self, plan: Plan) -> str:
        return "exact, all keys in memory"

    def error_beside_noise(self, plan: Plan) -> str:
        return f"± {amount(self.noise_deviation(plan))}{self.on_measured(plan)}, whatever the stream"

    def rows(self, plan: Plan) -> list[Row]:
        return [
            ("memory", self.memory()),
            ("noise", f"Laplace of scale {self.noise_in_words(plan)}"),
            ("error", self.error_in_words(plan)),
        ]

    def row_among_others(self, plan: Plan) -> str:
        return laplace(self.noise_in_words(plan))


class ExactNumber(ExactMechanism):
    """An integer with noise of scale D/ε: pure ε for any number."""

    pure = True

    @abstractmethod
    def distance(self, plan: Plan) -> int:
        """D: the number of grid units by which neighbours can differ, in all groups of a table together."""

    def noise_scale(self, plan: Plan) -> float:
        return self.distance(plan) * plan.step / plan.privacy.epsilon

    def methods(self, plan: Plan) -> list[str]:
        return [
            f"All keys were held in memory, as keyed fingerprints with their totals, and {plan.statistic} was computed "
            "exactly, then rounded to a public grid.",
            "Noise was drawn exactly, on integers, from the discrete Laplace law of scale "
            f"{amount(self.noise_scale(plan))}, and added.",
        ]

    def cost(self, plan: Plan) -> Charge:
        return Charge("exact", epsilon=plan.privacy.epsilon, distance=self.distance(plan))


def noise_plan(asked: Asked, deviation: float, expected: float, *, step: float = 1.0, bytes: int = 0) -> Plan:
    """`deviation` is that of the noise. The error is relative to `expected`, or absolute if that is 0.

    Raises:
        PlanInfeasible: the noise alone exceeds the requested error.
    """
    error = deviation / expected if expected > 0.0 else deviation
    aim = None if asked.free_error else asked.error
    if aim is not None and asked.statistic.relative and not expected:
        raise PlanInfeasible(
            f"the noise of the exact mechanism is ± {error:.3g} whatever {asked.statistic} "
            f"is, so a relative error cannot be planned. Leave out {arg('error')}, or pass "
            f"{arg('expected')}, the {asked.statistic} you expect."
        )
    if aim is not None and error > aim:
        raise PlanInfeasible(
            f"the exact mechanism has an error of {error:.3g} at {asked.statistic} = "
            f"{expected:,.6g}; {aim:g} was asked for. {a_larger_error(error)}, or a larger ε, "
            f"or {arg('expected')} if the value is known to be larger."
        )
    epsilon = asked.privacy.epsilon
    return Plan(
        asked,
        "exact",
        epsilon=epsilon,
        delta=0.0,
        pure_epsilon=epsilon,
        error=error,
        relative=expected > 0.0,
        expected=expected,
        exact_error=error,
        step=step,
        bytes=bytes,
    )


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
