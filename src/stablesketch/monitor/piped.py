"""The lines of a pipe, as blocks. A row arrives when it is read; the pipe ends when its last writer closes it."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator

from ..errors import DataError
from ..reading.packed import check_bytes
from .block import Block
from .lines import BLOCK, HEAD, POLL, Clock, LineCutter

_PIECE = 1 << 20  # bytes read at once


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
