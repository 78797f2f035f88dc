"""`Plan`: how a statistic will be released and at what price, decided before any data are seen."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from ..privacy import Privacy
from ..statistic import Known, Statistic
from .asked import Asked, MechanismName
from .phantoms import NO_PHANTOMS, Phantoms
from .sampled import Sampled

if TYPE_CHECKING:
    from ..collector import Collector
    from ..secret import Secret


@dataclass(frozen=True)
class Cost:
    """The cost of a release: never above what was asked for. δ includes the price of finite precision."""

    epsilon: float
    delta: float
    pure_epsilon: float = math.inf


@dataclass(frozen=True)
class Accuracy:
    """`error` is the root mean square error at the value `expected`, relative to it or absolute.

    If nothing is expected (0) it is that of the sketch alone, and the noise comes on top. `exact_error` is that of the
    exact mechanism.
    """

    error: float
    relative: bool
    expected: float
    exact_error: float


@dataclass(frozen=True)
class Numbers:
    """The numbers that a mechanism decided; those it does not have keep the values here.

    `size` is the number of all entries. They are in `buckets`; a key has one of them. `noise` is the scale b of the
    noise, in units of what is measured; `step` that of the grid; `cap` where an estimate is cut before it gets its
    noise: far beyond all that is to be expected. `sampled` says how pairs are sampled and what would be without.
    `bytes` is about what a stored collector takes.
    """

    size: int = 0
    buckets: int = 1
    step: float = 0.0
    noise: float = 0.0
    cap: float = 0.0
    phantoms: Phantoms = NO_PHANTOMS
    sampled: Sampled | None = None
    bytes: int = 0


@dataclass(frozen=True)
class Plan:
    """What was asked for, the mechanism, its price and its error. Frozen and public: made from public numbers only.

    `parts` are the plans of what the statistic is computed from, if it is not measured itself; `epsilon` and `delta`
    are then those of all together. Every number of a plan is an attribute: `plan.size`, `plan.error`. Print a plan to
    see it as a table.
    """

    asked: Asked
    mechanism: MechanismName
    cost: Cost
    accuracy: Accuracy
    numbers: Numbers
    parts: tuple[Plan, ...] = ()

    @property
    def statistic(self) -> Statistic:
        """The statistic to be released."""
        return self.asked.statistic

    @property
    def privacy(self) -> Privacy:
        """What is protected."""
        return self.asked.privacy

    @property
    def deletes(self) -> bool:
        """Whether pairs may be taken back."""
        return self.asked.deletes

    @property
    def measurements(self) -> tuple[Plan, ...]:
        """The plans of all measurements: the plan itself, if nothing is computed from others."""
        return self.parts or (self,)

    @property
    def epsilon(self) -> float:
        """The ε reached: at most that of `privacy`."""
        return self.cost.epsilon

    @property
    def delta(self) -> float:
        """The δ reached, including the price of finite precision."""
        return self.cost.delta

    @property
    def pure_epsilon(self) -> float:
        """The ε at δ = 0; infinite if there is none."""
        return self.cost.pure_epsilon

    @property
    def error(self) -> float:
        """The root mean square error: see `Accuracy`."""
        return self.accuracy.error

    @property
    def relative(self) -> bool:
        """Whether the error is relative to the value."""
        return self.accuracy.relative

    @property
    def expected(self) -> float:
        """The value for which the error is predicted; 0 if none is expected."""
        return self.accuracy.expected

    @property
    def exact_error(self) -> float:
        """The error of the exact mechanism."""
        return self.accuracy.exact_error

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.numbers.size

    @property
    def buckets(self) -> int:
        """The number of buckets the entries lie in."""
        return self.numbers.buckets

    @property
    def step(self) -> float:
        """The step of the grid on which the noise lies."""
        return self.numbers.step

    @property
    def noise(self) -> float:
        """The scale b of the noise, in units of what is measured."""
        return self.numbers.noise

    @property
    def cap(self) -> float:
        """The largest estimate; a larger one is cut to it."""
        return self.numbers.cap

    @property
    def phantoms(self) -> Phantoms:
        """The phantom keys of a bare plan, its floor."""
        return self.numbers.phantoms

    @property
    def sampled(self) -> Sampled | None:
        """How pairs are sampled; None if they are not."""
        return self.numbers.sampled

    @property
    def bytes(self) -> int:
        """The approximate size of a stored collector."""
        return self.numbers.bytes

    @property
    def entries_per_key(self) -> int:
        """The number of entries that a key touches: those of its bucket, in every measurement."""
        return sum(part.size // part.buckets for part in self.measurements)

    @property
    def worst_error(self) -> float:
        """The error if one key holds everything: more than `error` where entries lie in buckets."""
        from .mechanism import mechanism_of

        return mechanism_of(self).worst_error(self)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of entries of each measurement."""
        return tuple(part.size for part in self.measurements)

    @property
    def per_key(self) -> tuple[int, ...] | None:
        """For each measurement, the number of entries a key touches, 0 without buckets; None if none has buckets."""
        each = tuple(part.entries_per_key if part.buckets > 1 else 0 for part in self.measurements)
        return each if any(each) else None

    @property
    def floor(self) -> float:
        """Λ: the phantom mass added to F_p in the entries and subtracted from the estimate."""
        return self.phantoms.mass(self.statistic.p)

    def known(self, pairs: int) -> Known:
        """What is public about a stream of this many pairs that is released by this plan."""
        from .mechanism import needs_promise

        return Known.of(self.privacy, pairs, promised=needs_promise(self))  # which is then checked

    def range(self, pairs: int) -> tuple[float, float]:
        """The range of the statistic on such a stream."""
        return self.statistic.range(self.known(pairs))

    def again(self, *, same_size: bool = False, **changes: Any) -> Plan:
        """The plan of the same question with some changes: `plan.again(epsilon=0.5)`, `plan.again(error=0.01)`.

        Takes the arguments of `ss.plan` and of `ss.Privacy`. With `same_size` the sizes do not change.

        >>> import stablesketch as ss
        >>> plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9), error=0.05)
        >>> plan.again(epsilon=2.0).noise < plan.noise
        True
        """
        from .planner import planned

        if not same_size:
            return planned(self.asked.changed(**changes))
        sized = replace(self.asked, error=None) if self.asked.exact else self.asked.like(self)
        return planned(sized.changed(**changes))

    def altered(self, **changes: Any) -> Plan:
        """The plan with other values of its fields, or of those of what it is made of, by name. Nothing is checked."""
        wholes: dict[str, Any] = {"cost": self.cost, "accuracy": self.accuracy, "numbers": self.numbers}
        own = {name: {each.name for each in fields(whole)} for name, whole in wholes.items()}
        own["asked"] = {"statistic", "privacy", "deletes"}
        made: dict[str, Any] = {}
        for name, names in own.items():
            mine = {each: changes.pop(each) for each in names & changes.keys()}
            if mine:
                made[name] = replace(getattr(self, name), **mine)
        return replace(self, **made, **changes)

    def releases_like(self, other: Plan) -> bool:
        """Whether both release the same, however they were asked for."""
        return self._decided() == other._decided()

    def _decided(self) -> tuple[object, ...]:
        own = (self.statistic, self.privacy, self.deletes, self.mechanism, self.cost, self.numbers)
        return *own, self.accuracy, tuple(part._decided() for part in self.parts)

    def open(
        self, secret: Secret | None = None, shard: str | None = None, shards: Iterable[str] | None = None
    ) -> Collector:
        """A collector for this plan, under `secret` or a fresh one. Shards of one stream share the secret.

        `shards` lists the names of all shards; then nothing is released while one is missing.
        """
        from ..collector import Collector

        return Collector(self, secret, shard, shards)

    def is_written_as(self, text: str) -> bool:
        """Whether this is the plan's text, in today's form or an earlier one."""
        from .plan_text import is_written_as

        return is_written_as(self, text)

    def to_json(self) -> str:
        """The plan as JSON; equal plans give equal texts. A pure ε that does not exist is null."""
        from .plan_text import written

        return written(self)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Reads the result of `to_json`. It trusts the stored ε and δ: keep plans where only you can write them."""
        from .plan_text import read

        return read(text)

    def __repr__(self) -> str:
        """As dataclasses have it; a plan that was never made has what it has."""
        there = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if hasattr(self, field.name)]
        return f"Plan({', '.join(there)})"

    def __str__(self) -> str:
        from .table import plan_table

        return plan_table(self)
