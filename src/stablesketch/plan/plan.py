"""`Plan`: how a statistic will be released and at what price, decided before any data are seen."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files.durable import write_named
from ..privacy import Privacy
from ..privacy.sampling import Sampling
from ..statistic import Known, Statistic
from .asked import Asked, MechanismName
from .phantoms import NO_PHANTOMS, Phantoms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..collector import Collector
    from ..secret import Secret


@dataclass(frozen=True)
class Sampled:
    """How a plan samples, its expected relative bias, and a plan of the same size without sampling, for comparison.

    `unsampled_error` and `unsampled_floor` belong to the plan that reaches the same (ε, δ) by a floor alone.
    `bare_epsilon` is the ε that the entries would have with neither sampling nor a floor.
    """

    sampling: Sampling
    bias: float
    unsampled_error: float
    unsampled_floor: float
    bare_epsilon: float


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of a release: never more than was asked for."""

    epsilon: float
    """The ε of a release: at most that of `privacy`."""
    delta: float
    """The δ of a release, including the cost of finite precision."""
    pure_epsilon: float = math.inf
    """The ε at δ = 0; infinite if there is none."""


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """The root mean square error at an expected value. If none is expected, it is the error of the sketch alone, and
    the noise comes on top.
    """

    error: float
    """The root mean square error."""
    relative: bool
    """Whether the error is relative to the value."""
    expected: float = 0.0
    """The value for which the error is predicted; 0 if none is expected."""
    exact_error: float
    """The error of the exact mechanism."""


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """The numbers that a mechanism decided; those it does not use keep these defaults."""

    size: int = 0
    """The number of all entries."""
    buckets: int = 1
    """The number of buckets that the entries are divided into; each key belongs to one."""
    step: float = 0.0
    """The step of the grid that the noise is drawn on."""
    noise: float = 0.0
    """The scale b of the noise, in units of what is measured."""
    cap: float = 0.0
    """Where an estimate is cut before noise is added, far above anything to be expected."""
    phantoms: Phantoms = NO_PHANTOMS
    """The phantom keys of a bare plan: its floor."""
    sampled: Sampled | None = None
    """How pairs are sampled, and a plan that does not sample; None if they are not."""
    bytes: int = 0
    """The approximate size of a stored collector."""
    own: tuple[tuple[str, float], ...] = ()
    """Numbers that no other mechanism has, by name: those that its `Mechanism.own` lists."""


@dataclass(frozen=True)
class Plan(Numbers, Accuracy, Cost):
    """What was asked for, the mechanism, and its cost, accuracy and numbers, each number an attribute: `plan.epsilon`,
    `plan.error`, `plan.size`. Frozen, and public: made from public numbers only. Print a plan to see it as a table.

    If the statistic is computed from several measurements, `epsilon` and `delta` are the price of all of them together.
    """

    asked: Asked
    """The whole question."""
    mechanism: MechanismName
    """How it is measured."""
    inputs: tuple[Plan, ...] = ()
    """The plans of the measurements that the statistic is computed from; empty if it is measured itself."""

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

        asked = self.asked.like(self) if same_size else self.asked
        return planned(asked.changed(**changes))

    def releases_like(self, other: Plan) -> bool:
        """Whether both plans release the same thing, however they were asked for."""
        return self._decided() == other._decided()

    def _decided(self) -> tuple[object, ...]:
        asked = (self.statistic, self.privacy, self.deletes)
        own = (getattr(self, each.name) for each in fields(self) if each.name not in ("asked", "inputs"))
        return *asked, *own, tuple(one._decided() for one in self.inputs)

    def open(
        self, secret: Secret | None = None, shard: str | None = None, shards: Iterable[str] | None = None
    ) -> Collector:
        """A collector for this plan, under `secret` or a fresh one. Shards of one stream share the secret.

        `shards` lists the names of all shards. If given, nothing is released while one is missing.
        """
        from ..collector import Collector

        return Collector(self, secret, shard, shards)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """A matplotlib figure of how its error depends on ε, on the size and on the value. With `path`, it is also
        written to a new .png, .svg or .html file. It makes about a dozen plans, which takes a few seconds.

        It shows a single sketch: of a Hill number, the moment that it is computed from. A profile has no picture.
        """
        from ..pictures import plan_bytes, plan_picture

        figure = plan_picture(self)
        if path is not None:
            write_named("path", Path(path), plan_bytes(self, Path(path), figure), public=True)
        return figure

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
        names = sorted((each.name for each in fields(self)), key=lambda name: name not in ("asked", "mechanism"))
        there = [f"{name}={getattr(self, name)!r}" for name in names if hasattr(self, name)]
        return f"Plan({', '.join(there)})"

    def __str__(self) -> str:
        from .table import plan_table

        return plan_table(self)


def altered(plan: Plan, **changes: Any) -> Plan:
    """The plan with other numbers, or for another statistic, privacy or deletes: for mechanisms that finish a plan and
    for views of it, not for users.

    Nothing is checked: whoever calls it knows that the new plan holds. `Plan.again` plans again.
    """
    asked = {name: changes.pop(name) for name in ("statistic", "privacy", "deletes") if name in changes}
    return replace(plan, asked=replace(plan.asked, **asked), **changes)
