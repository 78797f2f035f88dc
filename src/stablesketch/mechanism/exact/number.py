"""A number with noise of known scale: what every exact mechanism has in common, and those that count a histogram.

The number is computed from the histogram of all keys (histogram.py), rounded to a public grid and given discrete
Laplace noise (mechanism/shared/laplace_noise.py). The counter shares `ExactNumber`, exact entropy `ExactMechanism`: its
noise depends on the length of the stream (entropy.py).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from fractions import Fraction

from ...errors import PlanInfeasible
from ...plan.asked import Asked
from ...plan.in_words import a_larger_error, amount, laplace
from ...plan.mechanism import Mechanism, Row, mechanism_of
from ...plan.plan import Plan
from ...privacy.charge import Charge
from ...text.wording import arg
from ..shared.belief import Belief
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
            f"the noise of the exact mechanism is ± {error:.3g} whatever {asked.statistic} is, so a relative error "
            f"cannot be planned. Leave out {arg('error')}, or pass {arg('expected')}, the {asked.statistic} you expect."
        )
    if aim is not None and error > aim:
        raise PlanInfeasible(
            f"the exact mechanism has an error of {error:.3g} at {asked.statistic} = {expected:,.6g}; {aim:g} was "
            f"asked for. {a_larger_error(error)}, or a larger ε, or {arg('expected')} if the value is known to be "
            "larger."
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
