"""Complete lines from input that arrives in pieces, and a clock that never goes back."""

from __future__ import annotations

from collections.abc import Callable

from ..reading.lines import LONGEST_LINE

Clock = Callable[[], int]
BLOCK = 1 << 24  # bytes of a block
POLL = 0.1  # seconds between checks for more input
HEAD = 1 << 16  # a header must be within this many bytes
_JUMP = 10 * 10**9  # nanoseconds: smaller changes of the clock are not noticed


class LineCutter:
    """Splits input into complete lines. A line that is too long is left out and counted, whatever its content.

    If the input begins `within` a line, that line is left out and not counted.
    """

    def __init__(self, *, within: bool = False) -> None:
        self._parts: list[bytes] = []
        self._skipping = within
        self._too_long = 0
        self.waiting = 0  # bytes of the unfinished line

    def take(self, chunk: bytes) -> bytes:
        """The lines that end in this chunk."""
        end = chunk.rfind(b"\n") + 1
        whole, tail = b"", chunk[end:]
        if end:
            whole = b"".join([*self._parts, memoryview(chunk)[:end]])
            if self._skipping:  # only the end of the long line was kept
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
        """The number of lines left out since the last call."""
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
            if self._ahead is not None and abs(ahead - self._ahead) >= _JUMP:
                self.jump += ahead - self._ahead
            if self._ahead is None or abs(ahead - self._ahead) >= _JUMP:
                self._ahead = ahead
        self._last = max(self._last, now)
        return self._last
