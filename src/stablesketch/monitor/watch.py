"""`Watch`: everything a monitor is asked to do, checked and planned before a line is read."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from ..bounding import budget
from ..errors import HIDDEN, ArgumentError
from ..plan import Asked, MechanismName, Plan
from ..plan.asked import asked
from ..privacy import Privacy
from ..reading.columns import Columns, OnBad, check_on_bad
from ..release.decide import Decision, decide
from ..release.question import Question
from ..statistic import STATISTICS, Statistic
from ..text.spoken import at_most
from ..text.wording import arg
from .input.fields import LineFields
from .windows import Windows

Protect = Literal["event", "person-window"]


@dataclass(frozen=True)
class Watch:
    """What to measure in every window, by which plans, and how lines are read.

    **Events are protected.** Two streams are neighbours if one has one row more. A row is in one window, and decides
    nothing about other rows or windows (windows.py), so neighbours differ in one window, by one row: the cost of one
    window is the cost of all windows together. Somebody with a row in every window is not protected by that: see
    docs/how-to/monitor.md.

    **People may be protected in each window** (`protect="person-window"`, state/open_windows.py): at most
    `pairs_per_person` rows of each person count in a window. Each window then spends ε again: somebody with rows in k
    windows is protected at the cost of k windows together. A ledger limits that.

    Several statistics share ε and δ of the window evenly: they see the same rows, so their costs add up.
    """

    decisions: tuple[Decision, ...]
    fields: LineFields
    windows: Windows
    on_bad: OnBad = "skip"
    confidence: float = Question.confidence
    protect: Protect = "event"

    @classmethod
    def of(
        cls, statistics: Sequence[Statistic], epsilon: float, delta: float, fields: LineFields, windows: Windows, *,
        mechanism: MechanismName = Asked.mechanism, memory: str | int | None = None, error: float | None = None,
        on_bad: OnBad = on_bad, confidence: float = confidence, protect: Protect = protect,
        pairs_per_person: int = Privacy.pairs_per_person,
    ) -> Watch:  # fmt: skip
        """Decides on every statistic at its share of ε and δ. Nothing is promised of how many rows a window has."""
        Privacy(epsilon, delta)  # refuses an invalid ε or δ
        if not statistics or len(set(statistics)) < len(statistics):
            raise ArgumentError("statistic", list(statistics), "must be one or more, each once", "Name each once")
        for each in statistics:
            if each.of_people:
                others = [kind.name for kind in STATISTICS.values() if kind.on_command_line and not kind.of_people]
                raise ArgumentError(
                    "statistic", each.name, "must not need a public number of people, which a window does not have",
                    f"Choose {', '.join(others[:-1])} or {others[-1]}",
                )  # fmt: skip
        if windows.span is not None and fields.time is None:
            raise ArgumentError("time", HIDDEN, "must be given for a replay", f"Pass {arg('time')}, or {arg('preset')}")
        check_on_bad(on_bad)
        if protect not in get_args(Protect):
            raise ArgumentError("protect", protect, f"must be {' or '.join(get_args(Protect))}", "Choose one of them")
        if protect != "event" and fields.person is None:
            raise ArgumentError(
                "protect", protect, f"needs {arg('person')}, the field of people", "Pass both, or neither"
            )
        if protect == "event" and fields.person is not None:
            raise ArgumentError(
                "person", fields.person, f"must be given together with {arg('protect', 'person-window')}",
                "Pass both, or neither",
            )  # fmt: skip
        if protect == "event" and pairs_per_person != 1:
            raise ArgumentError(
                "pairs_per_person", pairs_per_person, f"cannot be used without {arg('protect', 'person-window')}",
                "Leave it out",
            )  # fmt: skip
        share = Privacy(
            budget.divided(epsilon, len(statistics)), budget.divided(delta, len(statistics)),
            max_value=fields.max_value, pairs_per_person=pairs_per_person,
        )  # fmt: skip
        decisions = tuple(
            decide(
                Question(
                    asked(each, share, mechanism=mechanism, memory=memory, error=error),
                    Columns(fields.key, fields.value, person=fields.person), clip=fields.clip, on_bad=on_bad,
                    confidence=confidence,
                ),
                total=True,
            )
            for each in statistics
        )  # fmt: skip
        return cls(decisions, fields, windows, on_bad, confidence, protect)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plan of each statistic."""
        return tuple(each.plan for each in self.decisions)

    @property
    def price(self) -> tuple[float, float]:
        """ε and δ of a window: the sum over its statistics, rounded up. For an event, it is that of all windows."""
        return budget.total((one.epsilon, 1) for one in self.plans), budget.total((one.delta, 1) for one in self.plans)

    @property
    def promise(self) -> str:
        """What ε buys, in plain words."""
        epsilon, delta = self.price
        shared = f", shared by {len(self.plans)} statistics" if len(self.plans) > 1 else ""
        said = f"every window: ε = {at_most(epsilon)}, δ = {at_most(delta)}{shared}. "
        if self.protect == "event":
            return said + (
                "A single row is protected, over all windows together. Somebody with rows in many windows is not: see "
                "docs/how-to/monitor.md"
            )
        a_day = max(1, 86_400 // self.windows.every)
        whole = budget.total([(epsilon, a_day)])
        spent = at_most(whole) if whole < 1000.0 else f"{math.ceil(whole):,}"
        rows = (
            "1 of their rows counts" if self.pairs_per_person == 1 else f"{self.pairs_per_person:,} of their rows count"
        )
        return said + (
            f"Everything one person did in a window is protected; {rows}. Each window spends ε again: up to "
            f"ε = {spent} in a day for somebody who is in all {a_day:,} windows, unless a ledger stops it"
        )

    @property
    def pairs_per_person(self) -> int:
        """How many rows of one person a window counts; 1 if events are protected."""
        return self.plans[0].privacy.pairs_per_person

    def to_json(self, source: str = "", *, follow: bool = False, ledger: str = "") -> str:
        """The settings that a state folder must match: the question and the input, but not how to treat bad lines."""
        own = {"fields": asdict(self.fields), "windows": asdict(self.windows), "confidence": self.confidence}
        own |= {"protect": self.protect, "source": source, "follow": follow, "ledger": ledger}
        return json.dumps({**own, "plans": [each.to_json() for each in self.plans]}, sort_keys=True)
