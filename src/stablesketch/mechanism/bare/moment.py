"""Entries that are private by themselves (mechanism="bare"): phantoms, an estimate, a grid in ln T."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ...errors import BlobError, PlanInfeasible, StreamTooShort
from ...numbers.arrays import Array
from ...plan.asked import Asked
from ...plan.in_words import NOTHING_USEFUL, stored
from ...plan.mechanism import Mechanism, Row, mechanism_of
from ...plan.plan import Plan
from ...privacy import PrivacyCurve, log_sensitivity
from ...privacy.charge import Charge
from ...privacy.neighbours import worst_neighbours
from ...privacy.precision import NUMERICAL_ERROR, is_covered, rounded_deviation, rounding_delta
from ...sketch import Sketch
from ...sketch.entry_law import LawKind
from ...sketch.entry_values import log_magnitudes
from ...sketch.estimators import log_estimates
from ...sketch.estimators.pitman import log_estimate
from ...sketch.estimators.pivot import PivotLaw, pivot_law
from ...statistic import Moment, Statistic, exact_name
from ...text.spoken import percent, relative_error, short
from ...text.wording import arg, subject
from ..shared.belief import Belief
from ..shared.state import SketchState, check_promise
from .floor import relative_deviation
from .plan import bare_plan


class BareState(SketchState):
    """Symmetric entries; the release checks what the plan promises about the stream."""

    law: ClassVar[LawKind] = "symmetric"

    def check(self, confidence: float) -> None:
        plan, pairs = self._plan, self.pairs
        if pairs < plan.privacy.pairs:
            raise StreamTooShort(
                f"the stream has fewer pairs than the {plan.privacy.pairs:,} that the plan promises, so its guarantee "
                f"would not hold. Collect more, or {self._shorter()}."
            )
        check_promise(plan, pairs, self.total)
        if self.total < plan.privacy.total:
            raise StreamTooShort(
                f"the values add up to less than the {plan.privacy.total:,} that the plan promises, so its guarantee "
                f"would not hold. Collect more, or pass {arg('total', 0)} to the plan to promise nothing."
            )
        self._check_precision()
        # This is public, so it is refused before the release is paid for.
        self._pivot().limits(self._pivot_confidence(confidence), plan.step)

    def _shorter(self) -> str:
        """What to plan for if the stream is this short; its length is shown only if it is public."""
        if self._plan.privacy.relation == "replace":
            return f"plan with {arg('pairs', self.pairs)}, the number of pairs in the stream"
        return f"plan with {arg('mechanism', 'sketch')}, which is safe for streams of any length"

    def _pivot_confidence(self, confidence: float) -> float:
        return confidence

    def _check_precision(self) -> None:
        plan, pairs = self._plan, self.pairs
        if not is_covered(pairs, pairs * float(plan.privacy.max_value) ** plan.statistic.p + plan.floor):
            raise PlanInfeasible(
                f"the stream is too long for the δ of the plan with values up to {plan.privacy.max_value:,}: the "
                "largest entries would be cut off too often. Release parts of it, or plan with a smaller "
                f"{subject('max_value')}."
            )

    def _pivot(self) -> PivotLaw:
        return pivot_law(log_estimate, self._plan.statistic.p, self._plan.size)

    def _rounded(self, estimate: float) -> float:
        """g (k + 1/2 - u), k = floor(estimate/g + u): the publishable form of an estimate. u comes from the secret.

        It is the estimate plus an independent uniform number between -g/2 and g/2 (privacy/precision.py).
        """
        plan = self._plan
        raw = self.secret.derive(f"grid offset/{exact_name(plan.statistic)}", 8)
        offset = math.ldexp(int.from_bytes(raw, "little") >> 11, -53)  # 53 bits: a double holds them exactly
        return plan.step * (math.floor(estimate / plan.step + offset) + 0.5 - offset)

    def measure(self, confidence: float) -> Belief:
        """s exp(g (k + 1/2 - u)) - Λ, k = floor(ln T/g + u): T is the estimate of F_p + Λ, u uniform from the secret.

        The exponential of what rounding adds to ln T has the mean sinh(g/2)/(g/2), and s is its inverse. So the value
        is as unbiased as T, except at the ends of its range.

        The limits are public functions of k: g (k + 1/2 - u) - ln(F_p + Λ) is a pivot, and its law depends only on p,
        the size and g.
        """
        plan, p = self._plan, self._plan.statistic.p
        logs, signs = self._entry_logs()
        rounded = self._rounded(float(log_estimates(logs, signs, p)))
        half = 0.5 * plan.step
        log_scale = rounded - math.log(math.sinh(half) / half)
        pivot = self._pivot()
        below, above = pivot.limits(self._pivot_confidence(confidence), plan.step)
        shown = [math.exp(log) - plan.floor for log in (log_scale, rounded - above, rounded - below)]
        value, low, high = self._answer(shown[0], shown[1], shown[2], confidence)

        def quantiles(probability: Array) -> Array:
            truth: Array = np.exp(rounded - pivot.quantiles(1.0 - probability, plan.step)) - plan.floor
            return truth

        return Belief(value, low, high, quantiles).within(*plan.range(self.pairs))

    def _sketches(self) -> list[Sketch]:
        return [self._sketch]

    def _entry_logs(self) -> tuple[Array, Array]:
        """ln|a_j| and the signs of the entries, including phantoms."""
        phantoms = self._plan.phantoms
        weights = np.full(phantoms.count, phantoms.weight, dtype=np.int64) if phantoms.count else None
        found = [log_magnitudes(sketch.entries(phantoms=weights)) for sketch in self._sketches()]
        return np.concatenate([logs for logs, _ in found]), np.concatenate([signs for _, signs in found])

    def _answer(self, value: float, low: float, high: float, confidence: float) -> tuple[float, float, float]:
        """The answer about F_p from the value and limits of what was sketched: here they are the same."""
        return value, low, high


class BareMechanism(Mechanism):
    """Bare entries, and what is computed from them: how they are planned, and what their plans say."""

    name = "bare"

    def plan(self, asked: Asked) -> Plan:
        """If nothing is known about the stream, the requested error is the one before the floor; so is the usual error
        if it is out of reach. The plan shows what the floor makes of it.
        """
        privacy, of_another = asked.privacy, asked.measurement.of is not None  # which has its own error
        if asked.sized or of_another:
            return self.reaching(asked)
        aims = asked.error is not None or self.guesses
        if aims and not (privacy.pairs > 0 or privacy.total > 0 or asked.expected is not None):
            return self._before_the_floor(asked)
        try:
            return self.reaching(asked)
        except PlanInfeasible:
            if aims and asked.error is None:
                with suppress(PlanInfeasible):
                    return self._before_the_floor(asked)
            raise  # what would do in the stream that was asked about

    def _before_the_floor(self, asked: Asked) -> Plan:
        """The plan with the entries that reach the error in a long stream."""
        long = self.reaching(asked.in_a_long_stream())
        # What is measured depends on what is public, so sizes are matched by what they measure, not by position.
        sizes = {one.statistic: one.size for one in long.measurements}
        size = tuple(sizes.get(each, 0) for each in asked.statistic.needs(asked.privacy))
        sized = replace(asked, error=None, size=size if asked.statistic.derived else long.size)
        return replace(self.reaching(sized), asked=asked)

    @abstractmethod
    def reaching(self, asked: Asked) -> Plan:
        """The plan that reaches the error in every stream that the question allows."""

    def in_a_line(self, plan: Plan) -> str:
        floors = ", ".join(f"{one.floor:,.6g}" for one in plan.measurements if one.floor)
        return f"bare sketch of {plan.size:,} entries, {f'floor {floors}' if floors else 'no floor needed'}"

    def error_in_words(self, plan: Plan) -> str:
        """An absolute error; that of entropy is the same for any stream."""
        return f"{plan.error:.3g} absolute{', if everyone has the minimum' if plan.privacy.unit == 'key' else ''}"

    def rows(self, plan: Plan) -> list[Row]:
        floor = f"{plan.floor:,.6g}" if plan.floor else "none needed"
        return [
            ("pure ε", f"{plan.pure_epsilon:.4g} at δ = 0"),
            *((str(one.statistic), _bare_row(one)) for one in plan.inputs),
            ("size", f"{plan.size:,} entries, about {stored(plan.bytes)} stored"),
            *([] if plan.inputs else [("floor", floor)]),
            ("error", self.error_in_words(plan)),
            ("exact + Laplace", _comparison(plan)),
        ]


class Bare(BareMechanism):
    """Entries that are private by themselves. A release first checks the promises about the stream."""

    bare = True
    numerical_error = NUMERICAL_ERROR

    def check(self, plan: Plan) -> None:
        """Also checks that there is no noise and that the grid is not too fine: the cost of finite precision alone must
        be within δ.
        """
        super().check(plan)
        if plan.noise or plan.cap:
            raise self.odd_noise(plan)
        if rounding_delta(plan.epsilon, plan.step, self.numerical_error) > plan.delta * (1.0 + 1e-9):
            raise BlobError(
                f"a plan of {plan.statistic} has step = {plan.step:g}, which is too fine for δ = {plan.delta:g}: "
                "invalid plan. Make the plan again with ss.plan."
            )


class BareMoment(Bare):
    """F_p up to order 1, with a floor."""

    guesses = True
    state: ClassVar[type[SketchState]] = BareState

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Moment) and name == "bare"

    def reaching(self, asked: Asked) -> Plan:
        return bare_plan(asked)

    def cost(self, plan: Plan) -> Charge:
        """Computes ρ again from the order, the privacy and the phantoms."""
        p = plan.statistic.p
        # As in plan.py: the mass is a sum of rounded powers, so a slightly smaller mass is used.
        log_rho = log_sensitivity(p, plan.privacy, plan.floor * (1.0 - 1e-12))
        # (1 + e^0) g is the cost of finite precision at ε = 0.
        gap = 0.5 * rounding_delta(0.0, plan.step)
        return Charge("sketch", p=p, size=plan.size, log_rho=log_rho, gap=gap, epsilon=plan.epsilon, delta=plan.delta)

    def claimed_curve(self, plan: Plan, share: float = 1.0) -> Callable[[float], float]:
        """The certified curve of the entries, plus the cost of finite precision."""
        worst = worst_neighbours(plan.statistic.p, plan.privacy, plan.floor)
        curve = PrivacyCurve.from_log(plan.statistic.p, plan.size, worst.log_rho * share)
        return lambda epsilon: min(1.0, curve.delta(epsilon) + rounding_delta(epsilon, plan.step))

    def methods(self, plan: Plan) -> list[str]:
        floor = (
            f"Before the release, phantom keys of a known mass of {short(plan.floor)} were added, so that the entries "
            "are random enough for the requested privacy; that mass was subtracted from the estimate."
            if plan.floor
            else "No phantom keys were needed: the stream is long enough."
        )
        return [
            f"The stream was folded into {plan.size:,} numbers, each a sum of the totals of all keys with secret "
            f"random weights of the symmetric stable law of order {plan.statistic.p:g}. No key was stored.",
            floor,
        ]

    def shared_by_neighbours(self, plan: Plan) -> tuple[int, int]:
        _, total = super().shared_by_neighbours(plan)
        return worst_neighbours(plan.statistic.p, plan.privacy, plan.floor).shared, total

    def error_alone(self, plan: Plan) -> float:
        """γ: `error` is γ(1 + Λ/F), or γΛ where F is not known."""
        return rounded_deviation(relative_deviation(plan.statistic.p, plan.size), plan.step)

    def error_in_words(self, plan: Plan) -> str:
        if not plan.relative:
            return f"{plan.error:,.4g} absolute: nothing is promised about {plan.statistic}"
        error = percent(plan.error) if plan.error <= 1.0 else NOTHING_USEFUL
        return f"{error} at {plan.statistic} = {plan.expected:,.6g}"


def _bare_row(plan: Plan) -> str:
    """One of several measurements, some of them bare."""
    way = mechanism_of(plan)
    if way.counter:
        return f"ε = {plan.epsilon:.3g}, noise of {way.noise_deviation(plan):,.4g}"
    entries = f"{plan.size:,} entries, " if plan.size else ""
    return f"{entries}ε = {plan.epsilon:.3g}, {f'floor {plan.floor:,.4g}' if plan.floor else 'no floor'}"


def _comparison(plan: Plan) -> str:
    if plan.exact_error >= plan.error:
        return f"no better: {short_error(plan.exact_error, plan)}"
    ratio = plan.error / plan.exact_error if plan.exact_error > 0 else float("inf")
    times = f"{ratio:,.0f}" if ratio >= 1_000.0 else f"{ratio:.3g}"
    return f"{times} times as accurate, if all keys may be held in memory"


def short_error(error: float, plan: Plan) -> str:
    """An error, in the unit of the plan's error."""
    return relative_error(error) if plan.relative else f"{error:,.4g}"
