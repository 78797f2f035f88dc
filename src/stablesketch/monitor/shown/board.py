"""`Board`: everything released so far, for the page, Prometheus and the text file.

It takes records, as every sink does, and nothing else. Whatever is computed from it therefore costs nothing, and is
publishable.
"""

from __future__ import annotations

import json
import math
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...bounding import budget
from ...statistic.published import Release
from ...statistic.words import Subject
from ...text.spoken import at_least, at_most
from ..state.records import WINDOW
from ..watch import Watch
from ..windows import second_of
from .alerts import FEW_ROWS, Fall, Judge, has_few

_WINDOWS, _NOTES = 1_500, 20  # kept: a day of minutes


@dataclass(frozen=True)
class Seen:
    """A released window: value, low and high of every number, how far the first fell, and its alerts.

    `spent` are ε and δ of what is protected, over all windows up to this one. An event is in one window. A person may
    be in all of them, so their costs add up; there are at most as many windows as records, so that many are counted.
    `left` is the ε left in a ledger; `few` says that the window may have no rows.
    """

    number: int
    start: int
    end: int
    values: tuple[tuple[float, float, float], ...]
    spent: tuple[float, float]
    left: float | None
    fall: Fall | None
    alerts: tuple[str, ...]
    few: bool

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: numbers beyond the largest float are null."""
        fall = None if self.fall is None else _finite(self.fall.deviations)
        values = [list(map(_finite, each)) for each in self.values]
        found = {"values": values, "fall": fall, "alerts": self.alerts, "few": self.few}
        return {"start": self.start, "end": self.end, **found}


class Board:
    """The last windows and notes. `before` are records from before a restart; the judge has not seen them yet.
    `budget` is the ε that a ledger allows, in each of its periods if it renews.
    """

    def __init__(
        self, watch: Watch, judge: Judge, before: Mapping[int, str] | None = None, budget: float | None = None
    ) -> None:  # fmt: skip
        self.watch, self._judge, self.budget = watch, judge, budget
        self.points = tuple(point for plan in watch.plans for point in plan.statistic.points)
        self.subject = Subject(", ".join(watch.fields.key), watch.fields.value)
        self._windows: deque[Seen] = deque(maxlen=_WINDOWS)
        self._notes: deque[dict[str, Any]] = deque(maxlen=_NOTES)
        self._number, self._said = 0, ""  # of the last record; of the last window, in words
        self._news = threading.Condition()
        self.closed = False
        for number, text in (before or {}).items():
            self(number, text)

    def __call__(self, number: int, text: str) -> None:
        """Takes a record."""
        content = json.loads(text)
        with self._news:
            self._number = number
            if content["format"] == WINDOW:
                self._windows.append(self._seen(number, content))
                first = Release.from_json(json.dumps(content["releases"][0]))
                headline = self.watch.plans[0].statistic.headline(first, self.subject)
                self._said = f"The last window has {FEW_ROWS}." if has_few(content) else headline
            else:
                self._notes.append({"number": number, "time": content["time"], "note": content["note"]})
            self._news.notify_all()

    @property
    def last(self) -> Seen | None:
        """The last released window."""
        with self._news:
            return self._windows[-1] if self._windows else None

    def after(self, number: int, wait: float) -> tuple[int, str]:
        """Everything after the record with this number, as JSON, and the number of the last record. Waits at most
        `wait` seconds.
        """
        with self._news:
            self._news.wait_for(lambda: self.closed or self._number > number, wait)
            windows = [each.to_dict() for each in self._windows if each.number > number]
            notes = [each for each in self._notes if each["number"] > number]
            content = {"windows": windows, "notes": notes, "said": self._said, "budget": self._budget()}
            return max(number, self._number), json.dumps(content) if windows or notes else ""

    def close(self) -> None:
        """Wakes everyone who is waiting."""
        with self._news:
            self.closed = True
            self._news.notify_all()

    def _budget(self) -> str:
        if not self._windows:
            return ""
        (epsilon, delta), left = self._windows[-1].spent, self._windows[-1].left
        price = f"ε = {at_most(epsilon)} and δ = {at_most(delta)}"
        said = f"A single row costs at most {price} in all, however long this runs."
        if self.watch.protect != "event":
            said = f"Somebody who was in every window so far has spent at most {price}."
        of = "" if self.budget is None else f" of {self.budget:g}"
        return said if left is None else f"{said} ε = {at_least(left)}{of} is left in the ledger."

    def _seen(self, number: int, content: dict[str, Any]) -> Seen:
        fall, reasons = self._judge(content)
        found = [each for release in content["releases"] for each in release.get("points") or [release]]
        values = tuple((_any(each["value"]), _any(each["low"]), _any(each["high"])) for each in found)
        ends = second_of("start", content["start"]), second_of("end", content["end"])
        alerts = tuple(str(reason["alert"]) for reason in reasons)
        times = 1 if self.watch.protect == "event" else number
        spent = budget.total([(content["epsilon"], times)]), budget.total([(content["delta"], times)])
        return Seen(number, *ends, values, spent, content.get("epsilon_left"), fall, alerts, has_few(content))


def _any(number: float | None) -> float:
    return math.inf if number is None else number


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
