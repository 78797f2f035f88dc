"""Windows of time: tumbling, half-open, aligned to UTC; and which of them take rows, by a clock that no row sets.

**Why no row moves the clock.** Under `protect="event"` two streams are neighbours if they differ in one row. A row is
in the window of its own time, so neighbours should differ in one window, by one row, and the ε of one window is the ε
of all windows together. That holds only if no row decides anything about another. If the largest time seen so far
closed windows, as watermarks do elsewhere, one row from next year would close them all, and every later row would be
late: one row more would change all windows. Therefore:

- a live window closes when the clock of this machine has passed its end and the lateness, whatever the rows say;
- a replay has a span that is stated beforehand, and all of its windows are released when the input ends;
- a live monitor begins with the first window that takes no rows yet, so that no row is counted by two monitors in turn;
- which rows are dropped (late, early, outside the span) depends on the row and the clock, not on other rows (truncated
  files are the exception: input/followed.py);
- which windows are released, and when, depends on the clock or the span: an empty window is released like any other.

What remains is timing: how long this process takes for a block of rows is not hidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from ..errors import HIDDEN, ArgumentError, CheckpointError
from ..text.wording import arg

Clock = Callable[[], int]  # nanoseconds since 1970
SECOND = 10**9
LAST_SECOND = 253_370_764_800  # the year 9999 begins: later times cannot be written
_DAY = 86_400
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": _DAY}
MOST_WINDOWS = 100_000  # in a replay
_MOST_LIVE = 10_000  # windows that may close at once
_MOST_LATE = 1_000  # windows that wait for late rows
_JUMP = 10 * SECOND  # smaller changes of the clock are not noticed


def seconds(name: str, text: str) -> int:
    """A length of time as people write it: 30s, 5m, 1h, 1d; whole seconds."""
    match = re.fullmatch(r"(\d{1,9})([smhd])", text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ArgumentError(name, text, "must be a number and s, m, h or d", "Pass 30s, 5m, 1h or 1d, for example")
    return int(match[1]) * _UNITS[match[2]]


def in_units(length: int) -> str:
    """Seconds as people write them: 90s, 5m, 1h, 31d.

    >>> in_units(0), in_units(90), in_units(300), in_units(2678400)
    ('0s', '90s', '5m', '31d')
    """
    unit = next(unit for unit, size in reversed(_UNITS.items()) if length % size == 0 and (length or unit == "s"))
    return f"{length // _UNITS[unit]}{unit}"


def second_of(name: str, text: str) -> int:
    """A time as people write it, with its offset from UTC, in seconds since 1970."""
    try:
        read = datetime.fromisoformat(text)
        if read.tzinfo is not None and not read.microsecond:
            return int(read.timestamp())
    except (TypeError, ValueError):
        pass
    raise ArgumentError(
        name, text, "must be a time of whole seconds with its offset from UTC", "Pass 2026-11-16T00:00:00Z, for example"
    )


def shown(second: int) -> str:
    """A time in UTC, as RFC 3339 writes it."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Windows:
    """Windows of `every` seconds, numbered from 1970: window i has the times from i · every up to (i + 1) · every.

    Live, rows may be late by `lateness` seconds, and early by as much, in case clocks disagree. With a `span`, the
    first window and the one after the last, it is a replay.
    """

    every: int
    lateness: int = 0
    span: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.every < 1 or (_DAY % self.every and self.every % _DAY) or self.every > 31 * _DAY:
            raise ArgumentError(
                "every", in_units(self.every),
                "must divide a day or be 1 to 31 whole days, because windows are aligned to UTC",
                "Pass 1m, 5m, 1h or 1d, for example",
            )  # fmt: skip
        most = min(7 * _DAY, _MOST_LATE * self.every)
        if not 0 <= self.lateness <= most:
            raise ArgumentError(
                "lateness", in_units(self.lateness),
                f"must be from 0s to {in_units(most)} for windows of {in_units(self.every)}", "Pass 10s, for example",
            )  # fmt: skip
        if self.span is not None and not 0 < self.span[1] - self.span[0] <= MOST_WINDOWS:
            raise ArgumentError(
                "until", shown(self.start(self.span[1])),
                f"must give a replay 1 to {MOST_WINDOWS:,} windows, not {self.span[1] - self.span[0]:,}",
                f"Choose a time after {arg('from')}, or longer windows ({arg('every')})",
            )  # fmt: skip

    @classmethod
    def of(cls, every: str, lateness: str = "0s", since: str | None = None, until: str | None = None) -> Windows:
        """Windows as users type them. A span must begin and end where windows do."""
        length, late = seconds("every", every), seconds("lateness", lateness)
        if since is None and until is None:
            return cls(length, late)
        if since is None or until is None:
            name = "from" if since is None else "until"
            raise ArgumentError(name, HIDDEN, "must be given for a replay", f"Pass {arg('from')} and {arg('until')}")
        plain = cls(length)
        ends = second_of("from", since), second_of("until", until)
        for name, end, text in zip(("from", "until"), ends, (since, until), strict=True):
            if end < 0:
                raise ArgumentError(name, text, "must not be before 1970", f"Pass {shown(0)}, or a later time")
            if end % length:
                raise ArgumentError(
                    name, text, f"must be the start of a window of {every}", f"Pass {shown(end // length * length)}"
                )
        return cls(length, late, (plain.index(ends[0]), plain.index(ends[1])))

    def index(self, second: int) -> int:
        """The window of a time."""
        return second // self.every

    def start(self, index: int) -> int:
        """Its first second. Its end is the start of the next window."""
        return index * self.every

    def first_open(self, clock: int) -> int:
        """The first window that is not closed yet at this time."""
        if self.span is not None:
            return self.span[0]
        return (clock // SECOND - self.lateness) // self.every

    def last_open(self, clock: int) -> int:
        """The last window that takes rows: at most the lateness ahead, so that a row cannot open arbitrary windows."""
        if self.span is not None:
            return self.span[1] - 1
        return (clock // SECOND + self.lateness) // self.every

    def check_jump(self, at: int, first: int) -> None:
        """Refuses to close too many windows at once, from the one a monitor is at up to `first`: its clock is wrong."""
        if self.span is None and first - at > _MOST_LIVE:
            raise CheckpointError(
                f"the clock of this machine says {shown(self.start(first))}, and the monitor is at "
                f"{shown(self.start(at))}: that is {first - at:,} windows, of at most {_MOST_LIVE:,}. Correct the "
                f"clock and start again. If it is right, name a new folder ({arg('state')}): it begins with the next "
                "whole window."
            )

    def first_untouched(self, clock: int) -> int:
        """The first window into which no monitor can have counted a row yet. A replay has its span."""
        return self.span[0] if self.span is not None else self.last_open(clock) + 1

    def may_be_next(self, number: object) -> bool:
        """Whether the next window to be released can have this number. A replay ends with its span."""
        first, last = self.span or (-LAST_SECOND, LAST_SECOND // self.every)
        return type(number) is int and first <= number <= last


class Steady:
    """A clock that never goes back: while the machine's clock is behind, it stands still.

    With `elapsed`, a monotonic clock, it notices when the machine's clock is set: `jump` then has the difference in
    nanoseconds, until it is read.
    """

    def __init__(self, clock: Clock, last: int = 0, elapsed: Clock | None = None) -> None:
        self._clock, self._last, self._elapsed = clock, last, elapsed
        self._ahead: int | None = None  # how far the machine's clock is ahead of the other one
        self.jump = 0

    def __call__(self) -> int:
        now = self._clock()
        if self._elapsed is not None:
            ahead = now - self._elapsed()
            if self._ahead is None:
                self._ahead = ahead
            if abs(ahead - self._ahead) >= _JUMP:
                self.jump += ahead - self._ahead
                self._ahead = ahead
        self._last = max(self._last, now)
        return self._last
