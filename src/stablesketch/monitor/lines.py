"""Whole lines from input that arrives in pieces, and a clock that never goes back."""

from __future__ import annotations

from collections.abc import Callable

from ..reading.lines import LONGEST_LINE

Clock = Callable[[], int]
BLOCK = 1 << 24  # bytes that make a block
POLL = 0.1  # seconds between looks for more
HEAD = 1 << 16  # bytes in which a header must be
_JUMP = 10 * 10**9  # nanoseconds by which a clock must be set to be noticed


class LineCutter:
    """Cuts input into whole lines. A line that is too long is left out and counted, whatever is in it.

    If the input begins `within` a line, that one is left out and not counted.
    """

    def __init__(self, *, within: bool = False) -> None:
        self._parts: list[bytes] = []
        self._skipping = within
        self._too_long = 0
        self.waiting = 0  # bytes of the line that has not ended yet

    def take(self, chunk: bytes) -> bytes:
        """The lines that end in this chunk."""
        end = chunk.rfind(b"\n") + 1
        whole, tail = b"", chunk[end:]
        if end:
            whole = b"".join([*self._parts, memoryview(chunk)[:end]])
            if self._skipping:  # nothing of the long line was kept but its end
                whole = whole.partition(b"\n")[2]
            whole = self._short(whole)
            self._parts, self.waiting, self._skipping = [], 0, False
        self.waiting += len(tail)
        if self.waiting < LONGEST_LINE:
            self._parts.append(tail)
        elif not self._skipping:
            self._parts, self._skipping = [], True
            self._too_long += 1
        return whole

    def last(self) -> bytes:
        """The unfinished line at the end of the input."""
        rest = b"" if self._skipping else b"".join(self._parts)
        self._parts, self.waiting, self._skipping = [], 0, False
        return rest

    def too_long(self) -> int:
        """How many lines were left out since the last call."""
        found, self._too_long = self._too_long, 0
        return found

    def _short(self, whole: bytes) -> bytes:
        """The lines without those that are too long, found by leaps from a line end to the last one within reach."""
        kept, begin, start = [], 0, 0
        while start < len(whole):
            end = whole.rfind(b"\n", start, start + LONGEST_LINE) + 1
            if not end:
                kept.append(whole[begin:start])
                begin = end = whole.index(b"\n", start) + 1
                self._too_long += 1
            start = end
        return b"".join([*kept, whole[begin:]]) if kept else whole


class Steady:
    """A clock that never goes back: while the machine's is behind, it stands still.

    With `elapsed`, a monotonic clock, it notices when the machine's clock was set: `jump` then has the difference in
    nanoseconds, until somebody takes it.
    """

    def __init__(self, clock: Clock, last: int = 0, elapsed: Clock | None = None) -> None:
        self._clock, self._last, self._elapsed = clock, last, elapsed
        self._ahead: int | None = None  # of the machine's clock before the other one
        self.jump = 0

    def __call__(self) -> int:
        now = self._clock()
        if self._elapsed is not None:
            ahead = now - self._elapsed()
            if self._ahead is not None and abs(ahead - self._ahead) >= _JUMP:
                self.jump += ahead - self._ahead
            if self._ahead is None or abs(ahead - self._ahead) >= _JUMP:
                self._ahead = ahead
        self._last = max(self._last, now)
        return self._last
