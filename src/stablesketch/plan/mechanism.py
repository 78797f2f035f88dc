"""`Mechanism`: the interface of every way to measure, and the registry that finds one.

A mechanism serves some statistics under one of the three names that a user can ask for. It is one object in one file of
mechanism/, and holds everything that depends on how something is measured: its state, its cost and its description. No
other code asks which mechanism it has.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, get_args

from ..errors import ArgumentError, ArgumentTypeError, BlobError
from ..privacy.charge import Charge
from ..statistic import Statistic
from .arguments import LARGEST_IN_ALL, LARGEST_SIZE
from .asked import Asked, MechanismName
from .erring import Erring
from .in_words import amount, both_errors, laplace, rounded_up, shown_error, stored
from .plan import Plan

if TYPE_CHECKING:
    from ..mechanism.shared.state import State

Row = tuple[str, str]
_HELD = "if all keys may be held in memory"


class Mechanism(Erring, ABC):
    """A way to measure. Its methods take plans that it serves. Its error: erring.py."""

    state: ClassVar[type[State]]
    """Takes pairs for a plan under a secret, merges, converts to bytes, and releases."""
    name: ClassVar[MechanismName]
    """The name that its plans use."""
    measures: ClassVar[str] = ""
    """What it measures, as a noun, if messages need it."""
    example: ClassVar[str] = ""
    """A statistic that it measures, as named in a text (text/wording.py), if messages need it."""
    in_buckets: ClassVar[bool] = False
    """Whether entries can be in buckets. Then, by default, as many are taken as fit into the usual memory."""
    samples: ClassVar[bool] = False
    """Whether it measures a sample of the pairs instead of all of them."""
    guesses: ClassVar[bool] = False
    """Whether it needs an expected value before it can aim at an error."""
    bare: ClassVar[bool] = False
    """Whether its entries are private by themselves, given promises about the stream. The release checks these."""
    exact: ClassVar[bool] = False
    """Whether its only error is the noise."""
    pure: ClassVar[bool] = False
    """Whether it is ε-private, so that δ does not apply to it."""
    counter: ClassVar[bool] = False
    """Whether its state is a single number."""
    counts_keys: ClassVar[bool] = False
    """Whether the noise is on a number of keys: how much it weighs depends on them, not on the number of pairs."""
    by_length: ClassVar[bool] = False
    """Whether noise and error depend on the length of the stream instead of the value."""
    folds: ClassVar[bool] = True
    """Whether to add up pairs by key before they are counted: if that saves time and pairs are not sampled."""
    fewest: ClassVar[int] = 1
    """The minimum number of entries."""
    largest: ClassVar[int] = LARGEST_SIZE
    """The maximum number of entries without buckets."""
    own: ClassVar[tuple[str, ...]] = ()
    """The names of the numbers that only its plans have (`Plan.own`)."""
    entries_named: ClassVar[tuple[str, str]] = ("entry", "entries")
    """The singular and the plural."""

    @abstractmethod
    def serves(self, statistic: Statistic, name: str) -> bool:
        """Whether it measures this statistic under this name."""

    @abstractmethod
    def plan(self, asked: Asked) -> Plan:
        """The plan that answers the question. Its sizes are of one measurement, unless the statistic is derived."""

    def check(self, plan: Plan) -> None:
        """Raises a BlobError for an invalid plan."""
        if plan.mechanism != self.name or plan.inputs or tuple(dict(plan.own)) != self.own:
            raise BlobError(f"a plan of {plan.statistic} is inconsistent: invalid plan. Make it again with ss.plan.")
        self.check_size(plan, self.fewest, self.largest if plan.buckets == 1 else LARGEST_IN_ALL)
        if not self.bare and plan.epsilon < plan.privacy.epsilon:
            raise self.odd_claim(plan)

    def check_size(self, plan: Plan, least: int, most: int) -> None:
        """Checks the size before memory is allocated. All buckets have the same, even number of entries, because the
        kernels make two entries at a time.
        """
        if not least <= plan.size <= most:
            raise BlobError(
                f"a plan of {plan.statistic} must have between {least:,} and {most:,} entries, got {plan.size:,}: "
                "invalid plan. Make the plan again with ss.plan."
            )
        each, left = divmod(plan.size, plan.buckets)
        even = left == 0 and each % 2 == 0 and 6 <= each <= LARGEST_SIZE
        if plan.buckets > 1 and not (even and self.in_buckets):
            raise BlobError(
                f"a plan of {plan.statistic} has {plan.size} entries in {plan.buckets} buckets: invalid plan. Make the "
                "plan again with ss.plan."
            )

    @staticmethod
    def odd_noise(plan: Plan) -> BlobError:
        """The error for an estimate that has no noise, too coarse a grid or a cap of 0, or for noise where there must
        be none.
        """
        return BlobError(
            f"a plan of {plan.statistic} with mechanism {plan.mechanism!r} has noise = {plan.noise:g}, step = "
            f"{plan.step:g} and cap = {plan.cap:g}: invalid plan. Make the plan again with ss.plan."
        )

    @staticmethod
    def odd_claim(plan: Plan) -> BlobError:
        """The error for an ε or δ below the true cost."""
        return BlobError(
            f"a plan of {plan.statistic} claims less than it spends: invalid plan. Make it again with ss.plan."
        )

    @abstractmethod
    def cost(self, plan: Plan) -> Charge:
        """What a ledger charges for a release: computed from what the release does, not from what the plan claims.

        For the plan of a group (`privacy.groups` above 1) it is the charge of the whole table, once:
        bounding/groups.py.
        """

    def claimed_curve(self, plan: Plan, share: float = 1.0) -> Callable[[float], float]:
        """The claimed δ(ε), from the composed losses of all measurements. What is computed from them reveals no more.
        With a `share` below 1, the curve for neighbours whose difference is scaled by that share.
        """
        charge = self.cost(plan)
        laws = (charge if share == 1.0 else charge.scaled(share)).laws(plan.privacy.relation)
        return lambda epsilon: min(1.0, max(law.delta(epsilon) for law in laws))

    def shared_by_neighbours(self, plan: Plan) -> tuple[int, int]:
        """The number of pairs that the two most distinguishable neighbours share (all on one key where that is
        allowed), and their minimum total. Both follow from what is promised about each neighbour."""
        replaced = plan.privacy.pairs_per_person if plan.privacy.relation == "replace" else 0
        return max(plan.privacy.pairs - replaced, 0), max(plan.privacy.total - replaced, 0)

    # --- in words ---

    def named(self, plan: Plan) -> str:
        """How a release by this plan says that it was measured."""
        return plan.mechanism

    def measured(self, plan: Plan) -> str:
        """The name of the quantity that the noise is added to and compared with."""
        return str(plan.statistic)

    def on_measured(self, plan: Plan) -> str:
        """What the noise is added to, in words, if that is not the statistic itself."""
        return f" on {self.measured(plan)}" if self.exponent(plan) != 1.0 else ""

    def entries(self, plan: Plan) -> str:
        """The numbers that are held, in words."""
        if plan.buckets > 1:
            return f"{plan.size:,} entries in {plan.buckets:,} buckets, {plan.entries_per_key:,} per key"
        return f"{plan.size:,} {self.entries_named[plan.size != 1]}"

    def held(self, plan: Plan) -> str:
        """What is held in memory, in words."""
        sketches = [one for one in plan.measurements if one.size]
        if len(sketches) == 1:
            return f"sketch of {mechanism_of(sketches[0]).entries(sketches[0])}"
        return f"{len(sketches)} sketches, {plan.size:,} entries in all"

    def noise_in_words(self, plan: Plan) -> str:
        """The scale b of the Laplace noise, in units of what is measured."""
        return f"b = {amount(self.noise_scale(plan))}{self.on_measured(plan)}"

    def noise_on(self, plan: Plan) -> str:
        """The same, with what the noise is added to."""
        said = self.noise_in_words(plan)
        return said if " on " in said else f"{said} on {plan.statistic}"

    def in_a_line(self, plan: Plan) -> str:
        """How it is measured: what is held in memory, and the noise that is added."""
        ways = [(mechanism_of(one), one) for one in plan.measurements]
        noise = [way.noise_on(one) if len(ways) > 1 else way.noise_in_words(one) for way, one in ways]
        return f"{self.held(plan)}, {laplace(', '.join(noise))}"

    def error_in_words(self, plan: Plan) -> str:
        """The error of the sketch and what the noise adds; as one number if a value is expected."""
        if self.includes_noise(plan):
            return f"{both_errors(plan)}{self.expected_in_words(plan)}{'' if self.exact else ', noise included'}"
        return self.error_beside_noise(plan)

    def error_beside_noise(self, plan: Plan) -> str:
        """Like `error_in_words`, without an expected value."""
        noise = f"± {amount(self.noise_deviation(plan))}{self.on_measured(plan)}"
        return f"{both_errors(plan, f' of {plan.statistic}')}, and {noise}"

    def expected_in_words(self, plan: Plan) -> str:
        """The value at which the error is predicted, in words."""
        if plan.statistic.of_people:  # what is expected is their mean total
            return " if all have about the same"
        if not plan.expected:  # only the length is known
            return f" if there are {max(plan.privacy.pairs, plan.privacy.total):,} {plan.privacy.unit}s"
        pairs, unit = plan.privacy.pairs, plan.privacy.unit
        least = f", the least that {pairs:,} {unit}s can have" if pairs and self.expects_least(plan) else ""
        value = f"{plan.expected:,.0f}" if plan.expected >= 1_000.0 else f"{plan.expected:.6g}"
        return f" at {plan.statistic} = {value}{least}"

    def expects_least(self, plan: Plan) -> bool:
        """Whether the expected value is the least that this many pairs can have, because the caller gave none."""
        return False

    def exact_in_words(self, plan: Plan) -> str:
        """The error of the exact mechanism, in words."""
        if self.includes_noise(plan):
            better = "no better: " if plan.exact_error >= plan.error else ""
            return f"{better}{shown_error(plan.exact_error, plan)}, {_HELD}"
        return f"{self.exact_beside_noise(plan)}, {_HELD}"

    def exact_beside_noise(self, plan: Plan) -> str:
        """Like `exact_in_words`, if the error does not include the noise."""
        return f"± {amount(plan.exact_error)}{self.on_measured(plan)}"

    def more_than(self, plan: Plan, error: float, worst: str = "") -> str:
        """The number of pairs above which the noise adds less than `error`, rounded up to two digits. It holds for any
        stream of that length; `worst` describes the one with the least value."""
        pairs, unit = self.pairs_for_noise_below(plan, error), plan.privacy.unit
        if pairs == math.inf:
            return f"more {unit}s than can be counted"
        return "any length" if pairs < 2.0 else f"more than {rounded_up(pairs):,.0f} {unit}s{worst}"

    def noise_decides(self, plan: Plan) -> str:
        """In which streams the noise is the larger part of the error; their length is rounded up to two digits."""
        pairs = self.noise_decides_below(plan)
        if pairs == math.inf:
            return "can be the larger part of the error in every stream"
        if pairs < 2.0:
            return "is the smaller part of the error, however short the stream"
        return f"can be the larger part of the error below {rounded_up(pairs):,.0f} {plan.privacy.unit}s"

    @abstractmethod
    def methods(self, plan: Plan) -> list[str]:
        """How a release was made, in sentences."""

    def reason(self, plan: Plan) -> str:
        """Why it is private, in a sentence, if the methods do not say it."""
        return ""

    def rows(self, plan: Plan) -> list[Row]:
        """The rows of a plan's table: the size, the noise, the error, and the error of the exact mechanism if this is
        another one.
        """
        return [
            ("size", f"{self.entries(plan)}, about {stored(plan.bytes)} stored"),
            ("noise", f"Laplace of scale {self.noise_in_words(plan)}"),
            ("error", self.error_in_words(plan)),
            ("exact", self.exact_in_words(plan)),
        ]

    def row_among_others(self, plan: Plan) -> str:
        """The content of `rows` in one line, for one of several measurements."""
        return f"{self.entries(plan)}, {laplace(self.noise_in_words(plan))}"


_REGISTERED: list[Mechanism] = []


def register_mechanism(mechanism: Mechanism) -> None:
    """Registers a mechanism before all earlier ones, so that it is chosen for everything it serves."""
    _REGISTERED.insert(0, mechanism)
    find.cache_clear()


def every_mechanism() -> tuple[Mechanism, ...]:
    """All mechanisms; the first that serves a statistic measures it."""
    from ..mechanism import MECHANISMS

    return (*_REGISTERED, *MECHANISMS)


@lru_cache(maxsize=256)
def find(statistic: Statistic, name: str, *, sampled: bool) -> Mechanism | None:
    """The mechanism of this name that measures the statistic, or None."""
    return next((each for each in every_mechanism() if each.samples == sampled and each.serves(statistic, name)), None)


def mechanism_for(statistic: Statistic, name: str, *, sampled: bool = False) -> Mechanism:
    """Like `find`, but raises an error if there is none."""
    found = find(statistic, name, sampled=sampled)
    if found is not None:
        return found
    others = [each for each in get_args(MechanismName) if find(statistic, each, sampled=False) is not None]
    if others and not sampled:
        raise ArgumentError(
            "mechanism", name, f"cannot be used for {statistic}", f"Pass {' or '.join(map(repr, others))}"
        )
    raise ArgumentTypeError(
        "statistic", statistic, "must be one that some mechanism can plan", "Pass a statistic of this library"
    )


def measuring(asked: Asked) -> tuple[Mechanism, ...]:
    """The mechanisms of all measurements that the answer needs. They decide what it takes and what it promises: the
    name that was asked for does not, because some statistics have the same mechanism under several names.
    """
    needs, sampled = asked.statistic.needs(asked.privacy), asked.sampling is not None
    return tuple(mechanism_for(each, asked.mechanism, sampled=sampled) for each in needs)


def mechanism_of(plan: Plan) -> Mechanism:
    """The mechanism of a plan."""
    return mechanism_for(plan.statistic, plan.mechanism, sampled=plan.sampled is not None)


def charge_of(plan: Plan) -> Charge:
    """The charge of a release by this plan."""
    return mechanism_of(plan).cost(plan)


def needs_promise(plan: Plan) -> bool:
    """Whether the guarantee rests on promises about the stream, because the release contains bare entries."""
    return any(mechanism_of(one).bare for one in plan.measurements)
