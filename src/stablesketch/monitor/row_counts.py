"""`RowCounts`: how many rows a monitor has read, and messages for the person who runs it if none could be used.

These counts are exact and not private. They are never part of a record: that no line was valid is a fact about the
rows.
"""

from __future__ import annotations

from collections.abc import Callable

from ..text.wording import arg
from .state.state import MonitorState
from .watch import Watch
from .windows import shown

_USELESS = 1_000  # invalid lines after which a message is shown, if none was valid
_NOT_PRIVATE = "(this is not private: for your eyes only)"


class RowCounts:
    """Counts rows, invalid lines, and rows that are late or early; says once if all lines of a run are useless."""

    def __init__(self, watch: Watch, state: MonitorState, say: Callable[[str], None]) -> None:
        self._watch, self._say = watch, say
        nothing = {"rows": 0, "bad": 0, "late": 0, "early": 0}
        self.counters: dict[str, int] = state.fact("counters", nothing)
        self._useful, self._unused = False, 0  # whether any line of this run was valid, and how many were not
        self._counted, self._not_counted = False, 0  # whether any row of this run was counted, and how many were not

    def add(self, rows: int, bad: int, late: int, early: int, *, begun: bool) -> None:
        """The rows of a block. Before a window of this run has closed (`begun`), rows are usually late."""
        for name, more in (("rows", rows), ("bad", bad), ("late", late), ("early", early)):
            self.counters[name] += more
        self._useful |= rows > 0
        self._unused += bad
        if self._unused >= _USELESS:
            self._tell_useless()
        self._counted |= rows > late + early
        self._not_counted += late + early
        if self._not_counted >= _USELESS and begun:
            self._tell_none_counted()

    def input_ended(self) -> None:
        """Says what was wrong with all lines, before the last windows are released."""
        if self._unused:
            self._tell_useless()
        outside = self.counters["late"] + self.counters["early"]
        if self._watch.windows.span is not None and self.counters["rows"] == outside > 0:
            self._say(f"no row is within {arg('from')} and {arg('until')}. Check both {_NOT_PRIVATE}")

    def all_released(self, first: int, *, anything: bool) -> None:
        """Says what was wrong with all rows, after the last windows were released. `first` is the first window of this
        run.
        """
        live, timed = self._watch.windows.span is None, self._watch.fields.time is not None
        if live and timed and self.counters["rows"] == self.counters["late"] > 0:
            self._say(
                "no row was counted: all are older than the first whole window, which begins at "
                f"{shown(self._watch.windows.start(first))}. To read rows of the past, replay them: pass "
                f"{arg('from')} and {arg('until')} {_NOT_PRIVATE}"
            )
        elif live and self._not_counted and timed:
            self._tell_none_counted()
        elif not anything:
            self._say("the input ended before the first whole window, so nothing was released")

    def _tell_useless(self) -> None:
        if not self._useful:
            self._say(
                f"none of the first {self._unused:,} lines could be used as a row. Check {arg('format')}, "
                f"{arg('key')}, {arg('time')} and {arg('value')} {_NOT_PRIVATE}"
            )
        self._useful = True

    def _tell_none_counted(self) -> None:
        """Times in another unit, or a wrong clock."""
        if not self._counted:
            self._say(
                f"none of the first {self._not_counted:,} rows was counted: their times are in the past or in the "
                f"future. Check {arg('time')}, {arg('time_unit')} and the clocks {_NOT_PRIVATE}"
            )
        self._counted = True
