"""`Monitor`: takes blocks of lines, counts rows into windows, releases the windows that close, and stores everything.

**A row counts once, whenever monitors are started.** A new monitor, or one that is restarted on a pipe, counts from the
first window into which no earlier monitor can have counted rows: by the clock, the first that takes none yet. If `tail
-F` sends lines a second time, those that contain a time are therefore late. (Rows with their time of arrival cannot be
recognised: the sender must send them once.) Windows that a pipe had open are released as they were at the last
checkpoint. A followed file continues where the state says, because counts and position are stored together.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import (
    ArgumentError,
    BudgetExceeded,
    CheckpointError,
    DataError,
    LedgerError,
    NotDelivered,
    StablesketchError,
)
from ..ledger import Ledger
from ..reading.duckdb import DuckDB, prefetched
from ..text.wording import arg
from .input.blocks import Block, Rows
from .input.reader import LineReader
from .row_counts import RowCounts
from .state.open_windows import OpenWindows
from .state.outbox import Outbox, Sink
from .state.records import note_record, window_record
from .state.state import MonitorState
from .watch import Watch
from .windows import SECOND, Clock, Steady, in_units, shown

OpenInput = Callable[[Clock, Any, int | None], Iterator[Block]]
_CHECKPOINT = 1.0  # seconds between checkpoints
_SILENT = 60.0  # seconds without a checkpoint after which it is not alive
_AT_ONCE = 64  # windows released in one transaction


class Monitor:
    """Runs a `Watch` over an input until it ends or `stop` is called. `run` may then be called again on the same state.

    `open_input` opens it, given the clock, the position of the last checkpoint and its clock (None at first);
    `replays` says that it can find its place again, as files can and pipes cannot. Every window is paid for from
    `ledger` before it is released; if the budget is spent, the window is not released. `sinks` get every record, with
    its number, once it is stored. A sink that raises OSError gets the record again; BrokenPipeError ends the run. `say`
    gets messages for the person who runs the monitor. `elapsed` is a monotonic clock, to notice when the other one is
    set.
    """

    def __init__(
        self, watch: Watch, name: str, open_input: OpenInput, state: MonitorState, sinks: Sequence[Sink] = (), *,
        replays: bool, ledger: Ledger | None = None, clock: Clock = time.time_ns, elapsed: Clock | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:  # fmt: skip
        if watch.windows.span is not None and not replays and state.folder is not None:
            raise ArgumentError(
                "state", str(state.folder), "cannot be used for a replay of a pipe, which cannot be resumed",
                f"Leave out {arg('state')}, or name a file instead of the pipe",
            )  # fmt: skip
        self._watch, self._name, self._open_input, self._state = watch, name, open_input, state
        self._replays, self._say = replays, say
        self._last: int | None = state.fact("clock")
        self._machine, self._clock = clock, Steady(clock, self._last or 0, elapsed)
        self._ledger = ledger
        self._windows = OpenWindows(watch, state, ledger)
        self._spent = False  # whether a message has said that the budget is spent
        untouched = watch.windows.first_untouched(self._clock())
        self._next: int = state.fact("next", untouched)
        if not watch.windows.may_be_next(self._next):
            raise state.damaged()
        if self._last is None and not state.windows():  # a run that was killed before it read anything starts again
            self._next = max(self._next, untouched)
        self._first = self._next
        self._position: Any = state.fact("position")
        self._outbox = Outbox(state, sinks)
        self._released: list[int] = []
        self._stopped = threading.Event()
        self._stored_at = time.monotonic()
        self._trouble, self._reading = "", False
        self._waits = False  # whether a window must be paid for, and state or ledger cannot be written
        self._rows = RowCounts(watch, state, say)

    @property
    def counters(self) -> dict[str, int]:
        """The numbers of rows, invalid lines, late and early rows: exact, and not private."""
        return self._rows.counters

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    @property
    def begins(self) -> int | None:
        """The second at which counting begins; None if reading continues where an earlier run stopped."""
        if self._position is not None:
            return None
        windows = self._watch.windows
        restarted = self._last is not None and not self._replays
        return windows.start(max(self._next, windows.first_untouched(self._clock())) if restarted else self._next)

    def stop(self) -> None:
        """Ends `run` soon, at a checkpoint. Open windows stay in the state, for the next run."""
        self._stopped.set()

    @property
    def alive(self) -> bool:
        """Whether it reached a checkpoint within the last minute. It does so every second, with or without rows."""
        return time.monotonic() - self._stored_at < _SILENT

    @property
    def ready(self) -> bool:
        """Whether it is reading, and everything released could be stored and delivered."""
        return self._reading and self.alive and not self._trouble

    @property
    def lag(self) -> float:
        """How many seconds reading is behind the clock. Like the counters, this is exact and not private."""
        return max(0.0, (self._machine() - self._last) / SECOND) if self._last else 0.0

    def run(self) -> None:
        """Runs until the input ends, then releases all open windows. If stopped before, it can continue from its state.

        Raises:
            DataError: a line cannot be used and lines are not skipped, or the input cannot be read. The state has all
                blocks before the one with that line, and nothing of that block.
            CheckpointError: the clock has jumped too far.
            NotDelivered: nobody accepts the records any more. They are in the state.
        """
        if self._went_on():
            self._read()
        self._checkpoint()
        try:
            self._outbox.deliver()
        except OSError as error:
            raise self._undelivered(error) from None
        self._checkpoint()  # records that they were delivered

    def _read(self) -> None:
        """Reads until the input ends, or until it is stopped."""
        self._reading = True
        with DuckDB() as duckdb:
            watch = self._watch
            strict = watch.on_bad == "error"
            reader = LineReader(watch.fields, watch.windows.every, self._name, duckdb, strict=strict)
            blocks = self._open_input(self._clock, self._position, self._last)
            # Reading, parsing and counting have a thread each. Only `_take` moves the position that is stored.
            read = prefetched((block, reader.rows(block)) for block in prefetched(blocks))
            try:
                for block, rows in read:
                    self._take(block, rows)
                    if self._stopped.is_set():
                        break
                else:
                    self._end()
            except DataError:
                self._checkpoint()  # everything before is counted
                raise
            finally:
                del read  # ends its thread
                self._reading = False

    # --- what a block does ---

    def _take(self, block: Block, rows: Rows) -> None:
        if rows.bad and self._watch.on_bad == "error":
            raise DataError(
                self._name,
                rows.fault or "a line cannot be used as a row: it is too long",
                f"Correct the input, or skip such lines ({arg('on_bad', 'skip')})",
            )
        if block.note:
            self._note(block.now, block.note)
        if self._clock.jump:
            way, jump = "forward" if self._clock.jump > 0 else "back", abs(self._clock.jump) // SECOND
            self._clock.jump = 0
            self._note(block.now, f"the clock of this machine was set {way} by {in_units(jump)}.")
        # Where a file is begun is stored at once: without that, the next run could not read on from there.
        due = self._last is None or time.monotonic() - self._stored_at >= _CHECKPOINT
        if self._watch.windows.span is None and (due or not self._waits):
            self._close(self._watch.windows.first_open(block.clock), patient=True)
        self._count(block, rows)
        if block.position is not None:
            self._position = block.position
        self._last = block.clock
        if due or not self._outbox.empty:
            self._store()

    def _count(self, block: Block, rows: Rows) -> None:
        """Counts every row into its window. A row of a closed window is late; a row from the future is early."""
        asked = self._watch.windows
        first, last = max(self._next, asked.first_open(block.clock)), asked.last_open(block.now)
        windows = rows.windows
        late, early = int(np.count_nonzero(windows < first)), int(np.count_nonzero(windows > last))
        if early and self._watch.on_bad == "error":
            raise DataError(
                self._name,
                "the time of a line is in the future",
                f"Correct its clock, or skip such lines ({arg('on_bad', 'skip')})",
            )
        self._rows.add(len(windows), rows.bad, late, early, begun=self._next > self._first)
        for number in np.unique(windows):
            if first <= number <= last:
                here = np.flatnonzero(windows == number)
                self._windows.add(int(number), rows, None if len(here) == len(windows) else here)

    def _close(self, first: int, *, patient: bool = False) -> None:
        """Releases all windows before `first`, empty or not; with `patient`, as many as can be paid for now.

        If stopped, it ends between two windows: there may be thousands, and the next run releases the others.
        """
        self._watch.windows.check_jump(self._next, first)
        while self._next < first and not self._stopped.is_set():
            try:
                self._release()
            except (CheckpointError, LedgerError) as error:
                if not patient or not self._may_pass(error):
                    raise
                self._waits = True
                self._tell(error)
                return
            self._waits = False
            self._released.append(self._next)
            self._next += 1
            if len(self._released) >= _AT_ONCE or self._ledger is not None:
                self._store()

    def _release(self) -> None:
        """Releases the next window. If its ledger does not allow it, a note says so once, and when it continues."""
        start = shown(self._watch.windows.start(self._next))
        if self._ledger is not None:
            self._windows.touch(self._next)
            self._checkpoint()  # stores the secret, by which a paid release is found again
        try:
            releases = self._windows.release(self._next, start)
        except BudgetExceeded as error:
            if not self._spent:
                again = "Nothing is released any more" if error.renews is None else f"It renews on {error.renews} (UTC)"
                self._note_and_say(
                    f"the budget of the ledger is spent. The window of {start} is not released, nor are those after "
                    f"it. {again}."
                )
            self._spent = True
            return
        if self._spent:
            self._note_and_say(f"the budget of the ledger allows releases again, from the window of {start} on.")
            self._spent = False
        left, window = None if self._ledger is None else self._ledger.left(), self._next
        self._outbox.put(lambda number: window_record(self._state.id, number, self._watch, window, releases, left))

    def _end(self) -> None:
        """The input has ended: every window that could have had rows is released now."""
        self._rows.input_ended()
        self._close(self._watch.windows.last_open(self._clock()) + 1)
        if not self._stopped.is_set():
            self._rows.all_released(self._first, anything=self._outbox.last > 0)

    # --- what is stored and delivered ---

    def _went_on(self) -> bool:
        """After a restart on a pipe, releases its open windows as they were, and begins with a new window.

        Returns False if it was stopped before all of them were released.
        """
        now, windows = self._clock(), self._watch.windows
        if self._last is not None and not self._replays:
            end = windows.last_open(self._last) + 1
            self._close(end)
            if self._next < end:
                return False
            unseen, self._next = self._next, max(self._next, windows.first_untouched(now))
            self._note(
                now,
                "the monitor was started again. What came through the pipe after its last checkpoint at "
                f"{shown(self._last // SECOND)} was not counted. Windows before {shown(windows.start(unseen))} are "
                f"released as they were then, and the next one begins at {shown(windows.start(self._next))}.",
            )
            self._first, self._last = self._next, now
        if self._last is None and not self._replays:  # of a file, the clock is stored with its place
            self._last = now
        self._checkpoint()
        return True

    def _note(self, clock: int, text: str) -> None:
        self._outbox.put(lambda number: note_record(self._state.id, number, clock, text))

    def _note_and_say(self, text: str) -> None:
        """A note that the person who runs it must not miss, wherever the records go."""
        self._note(self._clock(), text)
        self._say(text)

    def _store(self) -> None:
        """Stores a checkpoint, then delivers the records. What cannot be stored now is kept and tried again."""
        try:
            self._checkpoint()
            self._outbox.deliver()
            self._trouble = self._trouble if self._waits else ""
        except BrokenPipeError as error:
            raise self._undelivered(error) from None
        except OSError as error:
            if not self._may_pass(error):
                raise
            self._tell(error)
        self._stored_at = time.monotonic()

    def _may_pass(self, error: Exception) -> bool:
        """Whether trying again may help and loses nothing: the disk may have room later."""
        if isinstance(error, CheckpointError) and self._windows.spilled:
            return False  # the last checkpoint is intact: a new run continues from there
        return not isinstance(error, LedgerError) or type(error) is LedgerError  # subclasses are about its content

    def _tell(self, error: Exception) -> None:
        """Reports an error once, until another one occurs."""
        if str(error) != self._trouble:
            own = error.wording if isinstance(error, StablesketchError) else f"a record cannot be written: {error}"
            self._say(own)
        self._trouble = str(error)

    def _undelivered(self, error: OSError) -> NotDelivered:
        """Stores what was delivered, and says where the rest is."""
        self._checkpoint()
        return self._outbox.undelivered(error)

    def _checkpoint(self) -> None:
        facts = {
            "position": self._position, "clock": self._last, "next": self._next, "counters": self.counters,
            "delivered": self._outbox.delivered,
        }  # fmt: skip
        self._state.commit(facts, self._windows.changed(), self._released, self._outbox.unstored)
        self._windows.stored()
        self._outbox.stored()
        self._released = []
