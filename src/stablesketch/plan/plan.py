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
    """The cost of a release: never more than was asked for. δ includes the cost of finite precision."""

    epsilon: float
    delta: float
    pure_epsilon: float = math.inf


@dataclass(frozen=True)
class Accuracy:
    """`error` is the root mean square error at the value `expected`, relative to it or absolute.

    If no value is expected (0), it is the error of the sketch alone, and the noise comes on top. `exact_error` is the
    error of the exact mechanism.
    """

    error: float
    relative: bool
    expected: float
    exact_error: float


@dataclass(frozen=True)
class Numbers:
    """The numbers that a mechanism decided; those it does not use keep these defaults.

    `size` is the number of all entries. They are divided into `buckets`; each key belongs to one bucket. `noise` is the
    scale b of the noise, in units of what is measured, and `step` the step of the grid. `cap` is where an estimate is
    cut before noise is added, far above anything to be expected. `sampled` says how pairs are sampled, and compares
    with a plan that does not sample. `bytes` is the approximate size of a stored collector.
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
    """What was asked for, the mechanism, its price and its error. Frozen, and public: made from public numbers only.

    If the statistic is computed from several measurements, `inputs` are the plans of these, and `epsilon` and `delta`
    are the price of all of them together. Every number of a plan is an attribute: `plan.size`, `plan.error`. Print a
    plan to see it as a table.
    """

    asked: Asked
    mechanism: MechanismName
    cost: Cost
    accuracy: Accuracy
    numbers: Numbers
    inputs: tuple[Plan, ...] = ()

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
        """Whether deletes are allowed."""
        return self.asked.deletes

    @property
    def measurements(self) -> tuple[Plan, ...]:
        """The plans of all measurements; the plan itself if there is only one."""
        return self.inputs or (self,)

    @property
    def epsilon(self) -> float:
        """The ε of a release: at most that of `privacy`."""
        return self.cost.epsilon

    @property
    def delta(self) -> float:
        """The δ of a release, including the cost of finite precision."""
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
        """The number of buckets that the entries are divided into."""
        return self.numbers.buckets

    @property
    def step(self) -> float:
        """The step of the grid that the noise is drawn on."""
        return self.numbers.step

    @property
    def noise(self) -> float:
        """The scale b of the noise, in units of what is measured."""
        return self.numbers.noise

    @property
    def cap(self) -> float:
        """The largest possible estimate; a larger one is cut to it."""
        return self.numbers.cap

    @property
    def phantoms(self) -> Phantoms:
        """The phantom keys of a bare plan: its floor."""
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
        """The number of entries that a key touches: those of its bucket in every measurement."""
        return sum(one.size // one.buckets for one in self.measurements)

    @property
    def worst_error(self) -> float:
        """The error if one key holds everything: larger than `error` if entries are in buckets."""
        from .mechanism import mechanism_of

        return mechanism_of(self).worst_error(self)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of entries of each measurement."""
        return tuple(one.size for one in self.measurements)

    @property
    def per_key(self) -> tuple[int, ...] | None:
        """For each measurement, the number of entries that a key touches, or 0 without buckets; None if all are 0."""
        each = tuple(one.entries_per_key if one.buckets > 1 else 0 for one in self.measurements)
        return each if any(each) else None

    @property
    def floor(self) -> float:
        """Λ: the phantom mass that is added to F_p in the entries and subtracted from the estimate."""
        return self.phantoms.mass(self.statistic.p)

    def known(self, pairs: int) -> Known:
        """What is public about a stream of this many pairs when it is released by this plan."""
        from .mechanism import needs_promise

        return Known.of(self.privacy, pairs, promised=needs_promise(self))  # the release checks the promise

    def range(self, pairs: int) -> tuple[float, float]:
        """The range of the statistic on a stream of this many pairs."""
        return self.statistic.range(self.known(pairs))

    def again(self, *, same_size: bool = False, **changes: Any) -> Plan:
        """A new plan for the same question with some changes: `plan.again(epsilon=0.5)`, `plan.again(error=0.01)`.

        Takes the arguments of `ss.plan` and of `ss.Privacy`. With `same_size` the sizes stay the same.

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

    def releases_like(self, other: Plan) -> bool:
        """Whether both plans release the same thing, however they were asked for."""
        return self._decided() == other._decided()

    def _decided(self) -> tuple[object, ...]:
        own = (self.statistic, self.privacy, self.deletes, self.mechanism, self.cost, self.numbers)
        return *own, self.accuracy, tuple(one._decided() for one in self.inputs)

    def open(
        self, secret: Secret | None = None, shard: str | None = None, shards: Iterable[str] | None = None
    ) -> Collector:
        """A collector for this plan, under `secret` or a fresh one. Shards of one stream share the secret.

        `shards` lists the names of all shards. If given, nothing is released while one is missing.
        """
        from ..collector import Collector

        return Collector(self, secret, shard, shards)

    def is_written_as(self, text: str) -> bool:
        """Whether this text is the JSON of the plan, in the current format or an earlier one."""
        from .plan_text import is_written_as

        return is_written_as(self, text)

    def to_json(self) -> str:
        """The plan as JSON; equal plans give equal texts. `pure_epsilon` is null if there is no pure ε."""
        from .plan_text import written

        return written(self)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Reads the result of `to_json`. It trusts the stored ε and δ, so keep plans where only you can write them."""
        from .plan_text import read

        return read(text)

    def __repr__(self) -> str:
        """The repr of a dataclass; of a half-built plan, the fields that it has."""
        there = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if hasattr(self, field.name)]
        return f"Plan({', '.join(there)})"

    def __str__(self) -> str:
        from .table import plan_table

        return plan_table(self)
