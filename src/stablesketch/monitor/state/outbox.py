"""Records on their way out: an `Outbox` numbers them and gives each, once stored, to the sinks, such as a file."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from ...errors import ArgumentError, NotDelivered
from ...files.durable import sync_folder
from ...format.checked_json import parsed
from ...text.wording import arg
from .state import MonitorState

Sink = Callable[[int, str], None]
_LONGEST = 1 << 20  # bytes of a record


class Outbox:
    """Records that are not stored yet, and those that are stored and not delivered, of this run and of earlier ones.

    A sink that raises an error gets the record again with the next delivery.
    """

    def __init__(self, state: MonitorState, sinks: Sequence[Sink]) -> None:
        self._state, self._sinks = state, sinks
        self.delivered: int = state.fact("delivered", 0)
        self._waiting = state.records(self.delivered)
        self.last = max(self._waiting, default=self.delivered)
        self.unstored: dict[int, str] = {}

    @property
    def empty(self) -> bool:
        """Whether everything is stored and delivered."""
        return not self.unstored and not self._waiting

    def put(self, record_of: Callable[[int], str]) -> None:
        """Takes a record, given the function that makes it from its number."""
        self.last += 1
        self.unstored[self.last] = record_of(self.last)

    def stored(self) -> None:
        """Called when `unstored` is in the state: these records may be delivered."""
        self._waiting |= self.unstored
        self.unstored = {}

    def deliver(self) -> None:
        """Gives all stored records to all sinks, in order, after outdating copies of the state that has their
        secrets.
        """
        self._state.seal()
        while self._waiting:
            number = next(iter(self._waiting))
            for sink in self._sinks:
                sink(number, self._waiting[number])
            del self._waiting[number]
            self.delivered = number

    def undelivered(self, error: OSError) -> NotDelivered:
        """The error that says where the records are that nobody accepts."""
        kept, count = self._state.folder is not None, len(self._waiting)
        return NotDelivered(
            f"{count:,} record{'s' * (count != 1)} could not be written ({error.strerror}). "
            + (f"A run on the same {arg('state')} writes them." if kept else f"Without {arg('state')} they are lost.")
        )


class JsonLinesFile:
    """Appends records to a file of JSON lines, which may already exist, and may be moved away at any time.

    Each is written once: after a crash, the file itself shows which ones it has. A record is stored in the state before
    it is written here. A file that ends within a record, or lacks the last ones, is therefore completed from the state,
    and nothing in it is ever removed or changed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: tuple[str, int] | None = None  # monitor and number of the last record this process wrote
        try:
            new = not path.exists()
            with open(path, "ab"):
                pass
            if new:
                sync_folder(path.parent)
        except OSError as error:
            raise ArgumentError("out", str(path), f"cannot be written ({error.strerror})", "Choose another") from None

    def __call__(self, number: int, text: str) -> None:
        """Appends a record, unless the file already has it.

        Raises:
            OSError: it was not written, or only in part; call again.
        """
        line, monitor = text.encode() + b"\n", json.loads(text)["monitor"]
        last, self._last = self._last, None
        with open(self._path, "ab", buffering=0) as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)  # a device or a named pipe keeps nothing
            # Nobody else writes records of this monitor, so a later one cannot be in the file yet.
            follows = last is not None and last[0] == monitor and number > last[1]
            if not regular or (follows and self._end(1)[-1] == b""):
                whole, torn = [], b""
            else:
                *whole, torn = self._end(_LONGEST)
            if any(_is_after(one, line) for one in reversed(whole)):
                return
            if torn and not line.startswith(torn):
                line, torn = b"\n" + line, b""  # an unfinished line of another writer
            rest = line[len(torn) :]
            while rest:
                rest = rest[file.write(rest) or 0 :]
            if regular:
                os.fsync(file.fileno())
        self._last = monitor, number

    def _end(self, length: int) -> list[bytes]:
        """The lines in this many bytes at the end of the file; the last one is not terminated."""
        with open(self._path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - length))
            return file.read(length).split(b"\n")


def _is_after(written: bytes, line: bytes) -> bool:
    """Whether a line is this record or a later one of the same monitor; others may write to the same file."""
    try:
        content, own = parsed(written.decode()), json.loads(line)
        return bool(content["monitor"] == own["monitor"] and content["number"] >= own["number"])
    except (ValueError, KeyError, TypeError):  # not a record
        return False
