"""`Sizing`: how large a sketch, or how small an error, is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..plan import Asked, MechanismName, Plan
from ..plan.asked import USUAL_MEMORY
from ..plan.asked import asked as asked_for
from ..plan.planner import planned_for_data, planned_long
from ..privacy import Privacy
from ..statistic import Statistic

__all__ = ["Sizing"]


@dataclass(frozen=True)
class Sizing:
    """What `plan` is asked for besides the privacy; by default the usual error of the statistic."""

    error: float | None = None
    size: int | tuple[int, ...] | None = None
    memory: str | int | None = None
    expected: float | None = None
    mechanism: MechanismName = "sketch"
    entries_per_key: int | tuple[int, ...] | None = None
    usual_memory: int = field(default=USUAL_MEMORY)

    def asked(self, statistic: Statistic, privacy: Privacy) -> Asked:
        made = asked_for(
            statistic, privacy, error=self.error, size=self.size, memory=self.memory, expected=self.expected,
            mechanism=self.mechanism, entries_per_key=self.entries_per_key,
        )  # fmt: skip
        return replace(made, usual_memory=self.usual_memory)

    def in_table(self, groups: int | None) -> Sizing:
        """The same for each of so many groups."""
        probe = Asked(None, None, self.error, self.size, None if self.memory is None else 1, mechanism=self.mechanism)  # type: ignore[arg-type]
        return replace(self, usual_memory=probe.in_table(groups).usual_memory)

    def plan(self, statistic: Statistic, privacy: Privacy) -> Plan:
        return planned_for_data(self.asked(statistic, privacy))

    def like(self, chosen: Plan) -> Sizing:
        """The same with the sizes decided, as in this plan; the exact mechanism has none."""
        if self.mechanism == "exact":
            return self
        sized = replace(self, error=None, memory=None, size=chosen.sizes, entries_per_key=chosen.per_key)
        return replace(sized, usual_memory=USUAL_MEMORY)

    def long(self, statistic: Statistic, privacy: Privacy) -> Plan:
        """The plan of a stream so long that it needs no floor."""
        return planned_long(self.asked(statistic, privacy))
