"""`Asked`: the whole question that a plan answers: the statistic, what is protected, how precise, and what size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..errors import ArgumentError, ArgumentTypeError
from ..format.checked_json import JsonError
from ..numbers.checked import checked_share, is_whole
from ..privacy import Privacy, Relation
from ..privacy.sampling import Sampling
from ..statistic import Statistic, from_dict, usual
from ..text.wording import arg
from .arguments import (
    LARGEST_SIZE,
    LEAST_SIZE,
    check_one_by_one,
    checked_expected,
    checked_memory,
    checked_per_key,
    checked_plan_size,
    checked_sampling,
    each_checked,
)

if TYPE_CHECKING:
    from .plan import Plan

MechanismName = Literal["sketch", "exact", "bare"]

USUAL_MEMORY = 256 * 1024
HEADER_BYTES = 600  # approximate size of the plan, the shards and the frame of a stored collector
_TABLE_MEMORY, _LEAST_SHARE = 64 << 20, 4 << 10  # bytes stored: for all groups of a table, and at least for each
_SOME_GROUPS = 1 << 10
_LONG = 2**40  # pairs: such a long stream needs no floor, so the error alone decides its size


@dataclass(frozen=True)
class Measurement:
    """One of several measurements: the statistic they serve, how many measurements share its memory, and whether the
    caller left the error free, so that no target need be reached.
    """

    of: Statistic | None = None
    sharing: int = 1
    usual: bool = False


@dataclass(frozen=True)
class Asked:
    """A statistic, what is protected, and at most one of `error`, `size` and `memory` (in bytes).

    `size` and `entries_per_key` are tuples if the statistic is computed from several measurements and each has its own
    size; a measurement without one has 0. `expected` is the expected value, `deletes` says whether deletes are allowed,
    and `sampling` is the rate at which pairs are kept. `usual_memory` is the default memory; each group of a table has
    less.
    """

    statistic: Statistic
    privacy: Privacy
    error: float | None = None
    size: int | tuple[int, ...] | None = None
    memory: int | None = None
    entries_per_key: int | tuple[int, ...] | None = None
    expected: float | None = None
    mechanism: MechanismName = "sketch"
    deletes: bool = False
    sampling: Sampling | None = None
    usual_memory: int = USUAL_MEMORY
    memory_as_given: str | int | None = field(default=None, compare=False, repr=False)
    measurement: Measurement = field(default=Measurement(), compare=False, repr=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of every measurement, if the caller gave one for each; otherwise empty."""
        return self.size if isinstance(self.size, tuple) else ()

    @property
    def each_per_key(self) -> tuple[int, ...]:
        """The number of entries that a key touches in each measurement, if the caller gave one for each; otherwise
        empty."""
        return self.entries_per_key if isinstance(self.entries_per_key, tuple) else ()

    @property
    def one_size(self) -> int | None:
        """The size of a single measurement."""
        assert not isinstance(self.size, tuple)
        return self.size

    @property
    def one_per_key(self) -> int | None:
        """The number of entries that a key touches in a single measurement."""
        assert not isinstance(self.entries_per_key, tuple)
        return self.entries_per_key

    def like(self, plan: Plan) -> Asked:
        """The same question with the sizes of this plan instead of an error; the exact mechanism has no sizes."""
        if self.mechanism == "exact":
            return replace(self, error=None)
        free = replace(self, error=None, memory=None, memory_as_given=None, usual_memory=USUAL_MEMORY)
        return replace(free, size=plan.sizes, entries_per_key=plan.per_key)

    def in_table(self, groups: int | None) -> Asked:
        """The question for each of this many groups, which share 64 MiB. The number of groups is unknown if their names
        are private; a thousand are then assumed.

        While pairs are read, the sketches take about ten times as much memory.
        """
        share = _TABLE_MEMORY // (groups or _SOME_GROUPS)
        return replace(self, usual_memory=min(max(share, _LEAST_SHARE), USUAL_MEMORY))

    @property
    def aim(self) -> float:
        """The error to aim at: by default, the usual one of the statistic."""
        return self.statistic.default_error if self.error is None else self.error

    @property
    def free_error(self) -> bool:
        """Whether the caller asked for no error, so that the default need not be reached."""
        return self.error is None or self.measurement.usual

    def in_a_long_stream(self) -> Asked:
        """The same question about a stream long enough to need no floor."""
        relation: Relation = "add_remove" if self.privacy.unit == "individual" else "replace"
        return replace(self, privacy=replace(self.privacy, pairs=_LONG, relation=relation))

    @property
    def sized(self) -> bool:
        """Whether a size or a memory was given."""
        return self.size is not None or self.memory is not None

    def size_within(self, bytes_each: float, fewest: int = LEAST_SIZE) -> int:
        """The given size, or the number of entries of this many bytes that fit into the memory: at least `fewest`."""
        if self.one_size is not None:
            return self.one_size
        assert self.memory is not None
        fits = math.floor((self.memory - HEADER_BYTES) / bytes_each)
        if fits < fewest:
            least = self.measurement.sharing * (HEADER_BYTES + math.ceil(fewest * bytes_each))
            raise ArgumentError(
                "memory", self.memory_as_given or self.memory, f"must be at least {least} bytes for this plan",
                f"Pass {arg('memory', least)} or more",
            )  # fmt: skip
        return min(fits, LARGEST_SIZE)

    def no_buckets(self, others: Sequence[str]) -> None:
        """Refuses buckets, and more entries than one bucket can hold, for measurements without buckets. `others` have
        them."""
        if self.one_size is not None and self.one_size > LARGEST_SIZE:
            raise ArgumentError(
                "size", self.size, f"must be at most {LARGEST_SIZE:,} for {self.statistic}",
                f"Pass {LARGEST_SIZE} or fewer, or leave it out",
            )  # fmt: skip
        if self.entries_per_key is not None:
            raise ArgumentError(
                "entries_per_key", self.entries_per_key, f"cannot be used for {self.statistic}",
                f"Leave it out; only {' and '.join(others)} have buckets, with {arg('mechanism', 'sketch')}",
                because="every key touches all its entries",
            )  # fmt: skip

    def changed(self, **changes: Any) -> Asked:
        """The same question with other arguments of `plan` or `Privacy`, checked.

        A new `error`, `size` or `memory` replaces the previous one and `entries_per_key`; another `mechanism` replaces
        all four, because they may not apply to it.
        """
        own = {each.name for each in fields(Privacy)}
        privacy = changes.pop("privacy", self.privacy)
        privacy = replace(privacy, **{name: value for name, value in changes.items() if name in own})
        rest = {name: value for name, value in changes.items() if name not in own}
        if {"error", "size", "memory"} & rest.keys() or rest.get("mechanism", self.mechanism) != self.mechanism:
            rest = {"error": None, "size": None, "memory": None, "entries_per_key": None, **rest}
        given = {name: getattr(self, name) for name in _GIVEN} | {"memory": self.memory_as_given or self.memory} | rest
        odd = given.keys() - set(_GIVEN) - {"statistic"}
        if odd:
            name = min(odd)
            raise ArgumentError(name, changes[name], "must be an argument of ss.plan or ss.Privacy", "Leave it out")
        made = asked(given.pop("statistic", self.statistic), privacy, **given)
        return replace(made, usual_memory=self.usual_memory)

    def to_dict(self) -> dict[str, Any]:
        """Only what the caller asked for, ready for JSON."""
        content: dict[str, Any] = {"statistic": self.statistic.to_dict(), "privacy": self.privacy.to_dict()}
        usual = {"mechanism": "", "deletes": False, "usual_memory": USUAL_MEMORY}
        for name in (*_GIVEN, "usual_memory"):
            value = getattr(self, name)
            if value is not None and value != usual.get(name):
                content[name] = value
        if self.sampling is not None:
            content["sampling"] = self.sampling.to_dict()
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Asked:
        """Reads the result of `to_dict`; anything else raises one of the errors that `Plan.from_json` expects."""
        odd = content.keys() - {"statistic", "privacy", "usual_memory", *_GIVEN}
        if odd or content["mechanism"] not in get_args(MechanismName):
            raise JsonError("unknown fields in a question")
        given: dict[str, Any] = {name: content[name] for name in _GIVEN if name in content}
        for name in ("size", "entries_per_key"):
            if isinstance(given.get(name), list):
                given[name] = tuple(given[name])
        if "sampling" in given:
            given["sampling"] = Sampling(**given["sampling"])
        found = asked(from_dict(content["statistic"]), Privacy.from_dict(content["privacy"]), **given)
        memory = content.get("usual_memory", USUAL_MEMORY)
        if type(memory) is not int or not _LEAST_SHARE <= memory <= USUAL_MEMORY:
            raise JsonError("invalid memory in a question")
        return replace(found, usual_memory=memory)


_GIVEN = ("error", "size", "memory", "entries_per_key", "expected", "mechanism", "deletes", "sampling")


def asked(
    statistic: Statistic, privacy: Privacy, *, error: float | None = None, size: int | Sequence[int] | None = None,
    memory: str | int | None = None, entries_per_key: int | Sequence[int] | None = None,
    expected: float | None = None, mechanism: MechanismName = "sketch", deletes: bool = False,
    sampling: Sampling | float | None = None,
) -> Asked:  # fmt: skip
    """The arguments of `ss.plan`, checked."""
    if not isinstance(statistic, Statistic):
        raise ArgumentTypeError("statistic", statistic, "must be a statistic", f"Pass {usual().named}, for example")
    statistic.check_released()
    if not isinstance(privacy, Privacy):
        raise ArgumentTypeError(
            "privacy", privacy, "must be a Privacy", "Pass ss.Privacy(epsilon=1.0, delta=1e-9, ...)"
        )
    sizes = (("error", error), ("size", size), ("memory", memory))
    given = {name: value for name, value in sizes if value is not None}
    if len(given) > 1:
        (first, value), (second, _), *_ = given.items()
        raise ArgumentError(
            first, value, f"cannot be used together with {arg(second)}",
            f"Leave out {arg(first)} or {arg(second)}",
            because="each of them decides the size",
        )  # fmt: skip
    if not isinstance(deletes, bool):
        raise ArgumentTypeError("deletes", deletes, "must be True or False", "Pass True to allow deletes")
    if mechanism not in get_args(MechanismName):
        raise ArgumentError("mechanism", mechanism, 'must be "sketch", "exact" or "bare"', "Choose one of these")
    if mechanism == "exact" and (size is not None or memory is not None):
        (named,) = (name for name in ("size", "memory") if name in given)
        way_out = f"Leave out {arg(named)}"
        raise ArgumentError(
            named, given[named], f"cannot be used with {arg('mechanism', 'exact')}",
            way_out,
            because="it holds every key",
        )  # fmt: skip
    if mechanism != "sketch" and entries_per_key is not None:
        raise ArgumentError(
            "entries_per_key", entries_per_key, f"cannot be used with {arg('mechanism', mechanism)}",
            f"Leave out {arg('entries_per_key')}",
            because="it has no buckets",
        )  # fmt: skip
    check_one_by_one(size, entries_per_key)
    all_sizes, per_key = each_checked(size, checked_plan_size), each_checked(entries_per_key, checked_per_key)
    return Asked(
        statistic,
        privacy.usually(**statistic.usual_privacy),
        error=None if error is None else checked_share("error", error, f"Pass {arg('error', 0.05)} for 5%"),
        size=all_sizes,
        memory=None if memory is None else checked_memory(memory),
        entries_per_key=per_key,
        expected=checked_expected(expected),
        mechanism=mechanism,
        deletes=deletes,
        sampling=None if sampling is None else checked_sampling(sampling),
        memory_as_given=int(memory) if is_whole(memory) else memory,
    )
