"""`Watch`: everything that is asked of a monitor, checked and planned before a line is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from ..bounding import budget
from ..errors import ArgumentError
from ..plan import MechanismName, Plan
from ..plan.planner import plan
from ..privacy import Privacy
from ..published import Terms
from ..reading.columns import OnBad
from ..spoken import at_most
from ..statistic import Statistic
from .fields import LineFields
from .windows import Windows

Protect = Literal["event"]


@dataclass(frozen=True)
class Watch:
    """What to know of every window, by which plans, and how lines are read.

    **Events are protected.** Two streams are neighbours if one has one row more. A row is in one window, and decides
    nothing about other rows or windows (windows.py), so neighbours differ in one window, by one row: what a window
    costs is what all windows cost together. Somebody with a row in every window is not protected by that: see
    docs/how-to/monitor.md.

    Several statistics share ε and δ of the window evenly: they see the same rows, so their costs add up.
    """

    plans: tuple[Plan, ...]
    fields: LineFields
    windows: Windows
    on_bad: OnBad = "skip"
    confidence: float = 0.95
    protect: Protect = "event"

    @classmethod
    def of(
        cls, statistics: Sequence[Statistic], epsilon: float, delta: float, fields: LineFields, windows: Windows, *,
        mechanism: MechanismName = "sketch", memory: str | int | None = None, error: float | None = None,
        on_bad: OnBad = "skip", confidence: float = 0.95,
    ) -> Watch:  # fmt: skip
        """Plans every statistic at its share of ε and δ. Nothing is promised of how many rows a window has."""
        Privacy(epsilon, delta)  # which refuses what is no ε or δ
        if not statistics or len(set(statistics)) < len(statistics):
            raise ArgumentError("statistic", list(statistics), "must be one or more, each once", "Name each once")
        for each in statistics:
            if each.of_people:
                raise ArgumentError(
                    "statistic", each.name, "it needs the number of people to be public, and in a window it is not",
                    "Choose shannon, hill, renyi, tsallis, distinct, moment or profile",
                )  # fmt: skip
        if windows.span is not None and fields.time is None:
            raise ArgumentError("time", None, "a replay needs the time of every row", "Pass --time, or --preset")
        if on_bad not in ("error", "skip"):
            raise ArgumentError("on_bad", on_bad, "there is no such choice", "Pass 'error' or 'skip'")
        share = Privacy(
            budget.divided(epsilon, len(statistics)), budget.divided(delta, len(statistics)), max_value=fields.max_value
        )
        plans = tuple(plan(each, share, mechanism=mechanism, memory=memory, error=error) for each in statistics)
        made = cls(plans, fields, windows, on_bad, confidence)
        made.terms(plans[0])  # which refuses what is no confidence
        return made

    @property
    def price(self) -> tuple[float, float]:
        """ε and δ of a window, and so of all windows together: the sum of its statistics', rounded up."""
        return budget.total((one.epsilon, 1) for one in self.plans), budget.total((one.delta, 1) for one in self.plans)

    @property
    def promise(self) -> str:
        """What one gets for ε, in plain words."""
        epsilon, delta = self.price
        shared = f", shared by {len(self.plans)} statistics" if len(self.plans) > 1 else ""
        return (
            f"every window: ε = {at_most(epsilon)}, δ = {at_most(delta)}{shared}. A single row is protected, over all "
            "windows together. Somebody with rows in many windows is not: see docs/how-to/monitor.md"
        )

    def terms(self, plan: Plan) -> Terms:
        """What each release says of itself: its own share."""
        return Terms(plan.epsilon, plan.delta, "add_remove", 1, confidence=self.confidence)

    def to_json(self, source: str = "", *, follow: bool = False) -> str:
        """What a folder of state must have been made for: the question and the input, but not what bad lines do."""
        own = {"fields": asdict(self.fields), "windows": asdict(self.windows), "confidence": self.confidence}
        own |= {"protect": self.protect, "source": source, "follow": follow}
        return json.dumps({**own, "plans": [each.to_json() for each in self.plans]}, sort_keys=True)
