"""Statistics computed from other measurements: their combined cost, and their description.

To first order, the squared errors of independent measurements add up, after each error is multiplied by its factor.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

from ...errors import BlobError
from ...plan.asked import Asked, MechanismName
from ...plan.in_words import NOTHING_USEFUL, amount, both_errors, shown_error, stored
from ...plan.mechanism import Mechanism, Row, charge_of, find, mechanism_of
from ...plan.plan import Plan
from ...privacy.charge import Charge
from ...statistic import Moment, Shannon, Statistic
from ...text.spoken import about, percent, relative_error
from ..bare.moment import BareMechanism
from ..bare.plan import not_above_one
from ..exact.number import ExactMechanism
from .plan import combined, derived_plan, together
from .state import DerivedState

_PAIRS, _KEYS = 10**5, 10**3  # of an example, if the length of the stream is not public
_MOST_NOISE = 0.5  # of the value: a 95% interval reaches twice as far, which is the whole value


class FromSketches(Mechanism):
    """Computed from sketches with noise. A number of keys has no other, so what needs nothing else is never bare."""

    state = DerivedState
    name: ClassVar[MechanismName] = "sketch"

    def serves(self, statistic: Statistic, name: str) -> bool:
        return statistic.derived and name in ("sketch", "bare")

    def plan(self, asked: Asked) -> Plan:
        return derived_plan(asked)

    def check(self, plan: Plan) -> None:
        """Checks that everything it needs is measured, protects the same thing, and claims no less."""
        if not plan.inputs:
            raise BlobError(f"a plan of {plan.statistic} is inconsistent: invalid plan. Make it again with ss.plan.")
        if tuple(one.statistic for one in plan.inputs) != plan.statistic.needs(plan.privacy):
            raise BlobError(
                f"a plan of {plan.statistic} has the wrong measurements: invalid plan. Make it again with ss.plan."
            )
        self.check_size(plan, *[sum(one.size for one in plan.inputs)] * 2)
        if plan.noise or plan.cap:
            raise self.odd_noise(plan)
        own = replace(plan.privacy, epsilon=1.0, delta=0.5)
        if any(replace(one.privacy, epsilon=1.0, delta=0.5) != own for one in plan.inputs):
            raise BlobError(
                f"a plan of {plan.statistic} has measurements that protect something else: invalid plan. Make it again "
                "with ss.plan."
            )
        if len(plan.inputs) == 1 and (plan.epsilon, plan.delta) != (plan.inputs[0].epsilon, plan.inputs[0].delta):
            raise self.odd_claim(plan)

    def cost(self, plan: Plan) -> Charge:
        if len(plan.inputs) == 1:
            return charge_of(plan.inputs[0])
        return together(plan.inputs, plan.epsilon, plan.delta)

    def methods(self, plan: Plan) -> list[str]:
        names = " and ".join(str(one.statistic) for one in plan.inputs)
        whose = "their" if plan.statistic.several else "its"
        return [
            f"The {plan.statistic} and {whose} limits were computed from the released {names}. That uses no data, so "
            "it costs no privacy."
        ]

    def includes_noise(self, plan: Plan) -> bool:
        return all(mechanism_of(one).includes_noise(one) for one in plan.inputs)

    def noise_at(self, plan: Plan, pairs: float, keys: float | None = None) -> float:
        noise = {one.statistic: mechanism_of(one).noise_at(one, pairs, keys) for one in plan.inputs}
        return plan.statistic.combined(noise, plan.privacy)

    def noise_decides_below(self, plan: Plan) -> float:
        """Noise on the number of keys is left out and mentioned separately: many pairs may have few keys."""
        return super().noise_decides_below(replace(plan, inputs=tuple(one for one in plan.inputs if not _counts(one))))

    def worst_error(self, plan: Plan) -> float:
        worst = [one.worst_error for one in plan.inputs]
        if worst == [one.error for one in plan.inputs]:
            return plan.error
        return combined(plan.statistic, plan.inputs, worst)

    def error_in_words(self, plan: Plan) -> str:
        """If the statistic is a number of keys, the noise is shown as a number of keys."""
        return self._drowned(plan) or super().error_in_words(plan)

    def _drowned(self, plan: Plan) -> str:
        """Says, with an example, that no useful answer can be expected in a typical stream. Empty if one can, or if the
        plan's error already includes the noise. Computed from the plan alone.

        The example has as many pairs as are promised, otherwise 100,000; 1,000 equally common keys; and values halfway
        between 1 and the maximum on a logarithmic scale, because few values reach the maximum.
        """
        if _counts_alone(plan) or not plan.statistic.relative or self.includes_noise(plan):
            return ""
        pairs, unit = plan.privacy.pairs or _PAIRS, plan.privacy.unit
        value = round(math.sqrt(plan.privacy.max_value))
        keys = min(_KEYS, pairs)
        noise = self.noise_at(plan, float(pairs * value), float(keys))
        if noise <= _MOST_NOISE:
            return ""
        of_keys = "" if unit == "key" else f" of {keys:,} keys"
        values = f" with {'totals' if unit == 'key' else 'values'} of {value:,}" if value > 1 else ""
        times = "about as large as" if noise < 1.5 else f"about {about(noise)} times"
        return (
            f"no useful answer can be expected: in a stream of {pairs:,} {unit}s{of_keys}{values}, for example, the "
            f"noise is {times} the value. More data, a larger ε or tighter bounds would help"
        )

    def error_beside_noise(self, plan: Plan) -> str:
        if _counts_alone(plan):
            return f"{shown_error(plan.error, plan)}, and {_on_keys(plan)}"
        return f"{both_errors(plan)}; the noise {self._noise_on_top(plan)}"

    def _noise_on_top(self, plan: Plan) -> str:
        return _and(self.noise_decides(plan), _on_keys(plan))

    def exact_beside_noise(self, plan: Plan) -> str:
        return _on_keys(plan) if _counts_alone(plan) and len(plan.inputs) == 1 else "the noise alone"

    def rows(self, plan: Plan) -> list[Row]:
        sketches = sum(one.size > 0 for one in plan.inputs)
        size = f"{plan.size:,} entries in all, " if sketches > 1 else ""
        rows = [*_rows_of_inputs(plan), ("size", f"{size}about {stored(plan.bytes)} stored")]
        if self.includes_noise(plan) or _counts_alone(plan) or self._drowned(plan):
            rows += [("error", self.error_in_words(plan))]
        else:
            rows += [("error", both_errors(plan)), ("noise", self._noise_on_top(plan))]
        return [*rows, ("exact", self.exact_in_words(plan))]


class FromExact(FromSketches, ExactMechanism):
    """Computed from exact numbers with noise; the factor of each multiplies its noise."""

    name = "exact"

    def serves(self, statistic: Statistic, name: str) -> bool:
        return statistic.derived and name == "exact"

    def error_beside_noise(self, plan: Plan) -> str:
        if _counts_alone(plan):
            return f"{_on_keys(plan)}, whatever the stream"
        error, each = plan.statistic.default_error, " at each order" if plan.statistic.several else ""
        less = f"less than {shown_error(error, plan, most='')}{each}"
        return _and(f"{less} in streams of {self.more_than(plan, error, _worst(plan))}", _on_keys(plan))

    def rows(self, plan: Plan) -> list[Row]:
        return [*_rows_of_inputs(plan), ("memory", self.memory()), ("error", self.error_in_words(plan))]


class FromBare(BareMechanism, FromSketches):
    """Computed from measurements of which at least one is bare."""

    name = "bare"

    def serves(self, statistic: Statistic, name: str) -> bool:
        return statistic.derived and name == "bare" and any(map(_is_bare, statistic.inputs))

    def reaching(self, asked: Asked) -> Plan:
        not_above_one(asked.statistic.needs(asked.privacy))
        return derived_plan(asked)

    def error_in_words(self, plan: Plan) -> str:
        statistic, error = plan.statistic, plan.error
        # The error of an entropy sketch is the same for any stream, so it needs no promise about the stream.
        if any(one.statistic.relative and not one.relative for one in plan.inputs):
            shown = relative_error(error) if statistic.relative else f"{error:.3g}"
            return f"{shown} if every moment equals its floor: nothing is promised about the stream"
        if not statistic.relative:
            return super().error_in_words(plan)
        if plan.relative and error > 1.0:
            return NOTHING_USEFUL
        if statistic.several:
            return f"at most {percent(error)}, reached if every moment is the least possible"
        if all(isinstance(one.statistic, Shannon) for one in plan.inputs if not mechanism_of(one).counter):
            return f"{percent(error)} for any stream"
        return f"{percent(error)} at {statistic} = {plan.expected:,.6g}"

    def shared_by_neighbours(self, plan: Plan) -> tuple[int, int]:
        """The pairs shared by neighbours of its first moment, if it has one."""
        moments = [one for one in plan.inputs if isinstance(one.statistic, Moment)]
        if not moments:
            return super().shared_by_neighbours(plan)
        return mechanism_of(moments[0]).shared_by_neighbours(moments[0])


def _is_bare(measured: Statistic) -> bool:
    way = find(measured, "bare", sampled=False)
    return way is not None and way.bare


def _rows_of_inputs(plan: Plan) -> list[Row]:
    return [(str(one.statistic), mechanism_of(one).row_among_others(one)) for one in plan.inputs]


def _counts(plan: Plan) -> bool:
    return mechanism_of(plan).counts_keys


def _counts_alone(plan: Plan) -> bool:
    return all(map(_counts, plan.inputs))


def _on_keys(plan: Plan) -> str:
    """The noise on the number of keys. A long stream does not outweigh it, because its keys may be few."""
    keys = list(filter(_counts, plan.inputs))
    return f"± {amount(mechanism_of(keys[0]).noise_deviation(keys[0]))} on the number of keys" if keys else ""


def _worst(plan: Plan) -> str:
    """Describes the worst case for this number of pairs: the streams with the least F_p."""
    orders = [one.statistic.p for one in plan.inputs if isinstance(one.statistic, Moment)]
    if plan.privacy.unit == "key" or not orders:
        return ""  # every key occurs once, or the noise (of entropy) does not depend on the keys
    if min(orders) > 1.0:
        return ", even if each has its own key"
    return ", even if all have one key" if max(orders) <= 1.0 else ", whatever their keys"


def _and(said: str, more: str) -> str:
    return f"{said}; {more}" if more else said
