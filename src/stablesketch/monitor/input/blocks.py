"""Blocks of complete lines on their way from an input to the windows, and those of a pipe (followed.py has files')."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...reading.lines import LONGEST_LINE
from ...reading.packed import check_bytes
from ..windows import Clock

BLOCK = 1 << 24  # bytes of a block
POLL = 0.1  # seconds between checks for more input
HEAD = 1 << 16  # a header must be within this many bytes
_PIECE = 1 << 20  # bytes read from a pipe at once


@dataclass(frozen=True)
class Block:
    """Complete lines, possibly none, and how far the input was read with them.

    `clock` is a time up to which everything that arrived is in earlier blocks: windows are closed by it, and then these
    lines are counted. `now` is when they were read. Both are in nanoseconds, and never go back. `position` is where to
    continue after a restart, as JSON. `head` is the beginning of the file, passed with the first block after it was
    opened; `begins` says that this block begins there too. `too_long` counts lines that were left out. `note` says what
    happened to the input.
    """

    lines: bytes
    clock: int
    now: int
    position: Any = None
    head: bytes | None = None
    begins: bool = False
    too_long: int = 0
    note: str = ""


@dataclass(frozen=True)
class Rows:
    """The rows of a block: Arrow columns of keys, the window of each, values if there are any; `bad` are the lines that
    could not be used, whatever the reason. `persons` are whose rows they are, where people are protected. `fault` says
    which line was the first that is bad, and why, if somebody wants to know."""

    keys: tuple[Any, ...]
    windows: NDArray[np.int64]
    values: NDArray[np.int64] | None
    bad: int
    persons: Any = None
    fault: str = ""


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


def piped(handle: int, clock: Clock) -> Iterator[Block]:
    """Blocks of complete lines as they arrive, and empty blocks in between, so that windows close on time."""
    chunks: queue.Queue[bytes | OSError] = queue.Queue(16)
    threading.Thread(target=_pull, args=(handle, chunks), daemon=True).start()
    lines, first, ended = LineCutter(), True, False
    while not ended:
        chunk, ended = _gathered(chunks)
        whole = lines.take(chunk)
        if ended:
            whole += lines.last()
        if first:
            check_bytes(whole[:16], "standard input", unpacked=False)
        now = clock()
        opened = first and bool(whole)
        yield Block(whole, now, now, head=whole[:HEAD] if opened else None, begins=opened, too_long=lines.too_long())
        first = first and not whole


def _pull(handle: int, chunks: queue.Queue[bytes | OSError]) -> None:
    try:
        while chunk := os.read(handle, _PIECE):
            chunks.put(chunk)
        chunks.put(b"")
    except OSError as error:
        chunks.put(error)


def _gathered(chunks: queue.Queue[bytes | OSError]) -> tuple[bytes, bool]:
    """The waiting input, up to a block, and whether the pipe has ended. A pipe gives 64 KiB at a time."""
    parts: list[bytes] = []
    length = 0
    while length < BLOCK:
        try:
            chunk = chunks.get(timeout=POLL) if not parts else chunks.get_nowait()
        except queue.Empty:
            break
        if isinstance(chunk, OSError):
            raise DataError("standard input", f"cannot be read ({chunk.strerror})", "Start the monitor again")
        if not chunk:
            return b"".join(parts), True
        parts.append(chunk)
        length += len(chunk)
    return b"".join(parts), False
