"""Alerts, computed from released values alone: they cost nothing, and are publishable like the releases.

`below` compares the first statistic of every window with a fixed number. `drop` compares it with the median of up to 60
previous windows: a value K deviations below it is an alert. A deviation is the larger of two: the error of the release
itself, from its interval, and the variation of the values, 1.4826 times their median distance from the median, which is
the standard deviation of normal values. Neither noise nor ordinary variation is therefore an alert, and a long drop
alerts until half of the previous windows are low too. The first five windows give no alert.

A window that may have no rows (monitor/state/records.py) says nothing about how varied they were. Other windows are not
compared with it, and its alert says that the input may have stopped. Of several in a row, only the first alerts of a
drop.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist, median
from typing import Any

from ...errors import ArgumentError
from ..state.records import WINDOW

ALERT = "stablesketch-alert/1"
FEW_ROWS = "few or no rows: the input may have stopped"
_WINDOWS, _FEWEST = 60, 5


@dataclass(frozen=True)
class Fall:
    """How far the value of a window is below the median of the previous windows, in `deviations`; negative if above."""

    median: float
    deviation: float
    deviations: float


class Judge:
    """Judges the windows in order: which values are an alert, and why."""

    def __init__(self, below: float | None = None, drop: float | None = None) -> None:
        for name, limit in (("alert_below", below), ("alert_drop", drop)):
            if limit is not None and not math.isfinite(limit):
                raise ArgumentError(name, limit, "must be a finite number", "Pass 3, for example")
        if drop is not None and drop <= 0.0:
            raise ArgumentError("alert_drop", drop, "must be positive", "Pass 3: three deviations below the median")
        self._below, self._drop = below, drop
        self._values: deque[float] = deque(maxlen=_WINDOWS)
        self._few = False  # whether the last window had few rows

    def __call__(self, content: dict[str, Any]) -> tuple[Fall | None, list[dict[str, float | str]]]:
        """The fall of a window (None for the first ones), and a reason for each of its alerts."""
        value, error = _first(content)
        reasons: list[dict[str, float | str]] = []
        if self._below is not None and value < self._below:
            reasons.append({"alert": "below", "limit": self._below})
        fall, few = self._fall(value, error), has_few(content)
        known, self._few = few and self._few, few
        if fall is not None and self._drop is not None and fall.deviations > self._drop and not known:
            reasons.append(
                {"alert": "drop", "median": fall.median, "deviation": fall.deviation, "limit": self._drop}
            )  # fmt: skip
        if math.isfinite(value) and not few:
            self._values.append(value)
        return fall, reasons

    def _fall(self, value: float, error: float) -> Fall | None:
        if len(self._values) < _FEWEST or not math.isfinite(value):
            return None
        middle = median(self._values)
        spread = NormalDist().inv_cdf(0.75) ** -1 * median(abs(one - middle) for one in self._values)
        deviation, below = max(error, spread), middle - value
        return Fall(
            middle, deviation, below / deviation if deviation else math.copysign(math.inf, below) if below else 0.0
        )


class Alerts:
    """A sink of records that reports alerts to `tell`, as JSON. `before` are records from before a restart.

    After a crash an alert may be repeated, with the same number: the number of its window's record.
    """

    def __init__(self, tell: Callable[[str], None], judge: Judge, before: Mapping[int, str] | None = None) -> None:
        self._tell, self._judge = tell, judge
        for text in (before or {}).values():
            content = json.loads(text)
            if content["format"] == WINDOW:
                judge(content)

    def __call__(self, number: int, text: str) -> None:
        """Takes a record, and reports each of its alerts once."""
        content = json.loads(text)
        if content["format"] != WINDOW:
            return
        release = content["releases"][0]
        window = {name: content[name] for name in ("start", "end")}
        found = {name: release[name] for name in ("statistic", "value", "low", "high")}
        few = {"few_rows": True} if has_few(content) else {}
        for reason in self._judge(content)[1]:
            self._tell(json.dumps({"format": ALERT, "number": number, **window, **found, **reason, **few}))


def has_few(content: Mapping[str, Any]) -> bool:
    """Whether a record or an alert belongs to a window that may have no rows."""
    return content.get("few_rows", False) is True


def _first(content: dict[str, Any]) -> tuple[float, float]:
    """The value of a window's first statistic, and its error: half its interval, in deviations of a normal law.

    Numbers beyond the largest float are null in JSON.
    """
    release = content["releases"][0]
    value, low, high = (math.inf if release[name] is None else release[name] for name in ("value", "low", "high"))
    width = NormalDist().inv_cdf(0.5 + release["confidence"] / 2)
    # At an end of its range an interval has one side: the longer side shows the error.
    return value, max(value - low, high - value) / width if math.isfinite(high) else math.inf


def alert_in_words(text: str) -> str:
    """An alert as a line for people."""
    content = json.loads(text)
    few = f"{FEW_ROWS}. " if has_few(content) else ""
    value = f"{content['start']}: {few}{content['statistic']} = {content['value']:,.6g}"
    if content["alert"] == "below":
        return f"alert: {value} is below {content['limit']:,.6g}"
    low = (content["median"] - content["value"]) / content["deviation"] if content["deviation"] else math.inf
    return f"alert: {value} is {low:.1f} deviations below the median of the windows before, {content['median']:,.6g}"
