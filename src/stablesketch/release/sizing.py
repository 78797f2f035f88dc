"""`Sizing`: how large a sketch, or how small an error, is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import PlanInfeasible
from ..plan import Mechanism, Plan, plan
from ..plan.planner import plan_of_group
from ..plan.wanted import USUAL_MEMORY
from ..privacy import Privacy
from ..statistic import Moment, Statistic

__all__ = ["Sizing"]

_TABLE_MEMORY, _LEAST_SHARE = 64 << 20, 4 << 10  # bytes stored: of all groups of a table, and of one at the least
_SOME_GROUPS = 1 << 10
_LONG = 2**40  # pairs: a stream so long needs no floor, so its size is what the error alone asks for


@dataclass(frozen=True)
class Sizing:
    """What `plan` is asked for besides the privacy; by default the usual error of the statistic."""

    error: float | None = None
    size: int | tuple[int, ...] | None = None
    memory: str | int | None = None
    expected: float | None = None
    mechanism: Mechanism = "sketch"
    entries_per_key: int | tuple[int, ...] | None = None
    usual_memory: int = USUAL_MEMORY
    """Of one group, where nothing is asked for."""

    def in_table(self, groups: int | None) -> Sizing:
        """The same for each of so many groups: they share 64 MB, if nothing is asked for. Of private names nobody knows
        how many there are, and a thousand are assumed.

        While pairs are read the sketches take about ten times as much.
        """
        if self.mechanism != "sketch" or (self.error, self.size, self.memory) != (None, None, None):
            return self
        share = _TABLE_MEMORY // (groups or _SOME_GROUPS)
        return replace(self, usual_memory=min(max(share, _LEAST_SHARE), USUAL_MEMORY))

    def plan(self, statistic: Statistic, privacy: Privacy) -> Plan:
        """The plan. Of a bare sketch of which nothing is known, the error asked for is that before the floor.

        So it is where nobody asked for an error and the usual 5% is out of reach: the plan says what is reached.
        """
        if self.mechanism != "bare" or self.size is not None or self.memory is not None:
            return self._plan(statistic, privacy)
        # Of statistics other than moments nobody has to guess a value, unless an error is asked for.
        guessed = self.error is not None or isinstance(statistic, Moment)
        if not guessed or privacy.pairs > 0 or privacy.total > 0 or self.expected is not None:
            try:
                return self._plan(statistic, privacy)
            except PlanInfeasible:
                if not guessed or self.error is not None:
                    raise
        long = self.long(statistic, privacy)
        # What is measured depends on what is public, so the sizes are matched by what they measure, not by place.
        sizes = dict(zip((part.statistic for part in long.parts or (long,)), long.sizes, strict=True))
        own = tuple(sizes.get(each, 0) for each in statistic.needs(privacy))
        return plan(statistic, privacy, size=own, expected=self.expected, mechanism="bare")

    def long(self, statistic: Statistic, privacy: Privacy) -> Plan:
        """The plan of a stream so long that it needs no floor."""
        return self._plan(statistic, replace(privacy, pairs=_LONG, relation="replace"))

    def like(self, chosen: Plan) -> Sizing:
        """The same with the sizes decided, as in this plan; the exact mechanism has none."""
        if self.mechanism == "exact":
            return self
        sized = replace(self, error=None, memory=None, size=chosen.sizes, entries_per_key=chosen.per_key)
        return replace(sized, usual_memory=USUAL_MEMORY)

    def _plan(self, statistic: Statistic, privacy: Privacy) -> Plan:
        if self.usual_memory != USUAL_MEMORY:
            return plan_of_group(
                statistic, privacy, self.usual_memory, expected=self.expected, entries_per_key=self.entries_per_key
            )
        return plan(
            statistic, privacy, error=self.error, size=self.size, memory=self.memory, expected=self.expected,
            mechanism=self.mechanism, entries_per_key=self.entries_per_key,
        )  # fmt: skip
