"""The lines of a file, as blocks: read from where an earlier run had read, and followed through rotation.

A position is the file's device and inode, a hash of how it begins, and the offset of its next line. After a restart, a
file that was renamed meanwhile is found in its folder by that, and read to its end before the file that has its name
now. What cannot be found is said in a note.

Windows close by the time at which the file had last been read to its end: whatever was written before then has been
seen. So after a stop of an hour the windows of that hour are open until the backlog is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import DataError
from ..reading.packed import check_bytes
from .block import Block
from .lines import BLOCK, HEAD, POLL, Clock, LineCutter

_KNOWN_BY = 512  # bytes at the start of a file


def followed(
    path: Path, clock: Clock, *, follow: bool, position: Any = None, seen: int | None = None
) -> Iterator[Block]:
    """Whole lines; without `follow` they end with the file. An earlier run had read all that was there at `seen`."""
    seen = clock() if seen is None else seen
    place, offset, note = _resumed(path, position)
    while True:
        with place.file:
            for block in place.blocks(clock, offset, seen, note, follow=follow):
                seen = block.clock
                yield block
            if not follow:
                return
            place, offset, note = _next(path, place)


def _next(path: Path, before: _Place) -> tuple[_Place, int, str]:
    """The file that has the name now. Others that were rotated away in between are not read, and that is said.

    They cannot be told from copies, whose lines would count twice: then ε would be too small.
    """
    while True:
        with contextlib.suppress(DataError):  # it was there a moment ago
            place = _Place(path, _opened(path))
            break
        time.sleep(POLL)
    unread = [other.name for other in path.parent.glob(f"{path.name}?*") if before.may_precede(other, place)]
    note = f"{', '.join(sorted(unread))} may have been {path.name} for a while. What is in it was not read."
    return place, 0, note if unread else ""


def _opened(path: Path) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise DataError(str(path), f"cannot be opened ({error.strerror})", "Name a file that can be read") from None


def _resumed(path: Path, position: Any) -> tuple[_Place, int, str]:
    if position is None:
        return _Place(path, _opened(path)), 0, ""
    for candidate in (path, *sorted(path.parent.glob(f"{path.name}?*"))):
        try:
            place = _Place(path, _opened(candidate))
        except DataError:
            continue
        if place.is_at(position):
            return place, position["offset"], ""
        place.file.close()
    lost = (
        f"{path.name} was replaced or truncated while the monitor was stopped, and the file it was reading is gone: "
        "lines written to it after the last checkpoint are lost. The new file is read from its start."
    )
    return _Place(path, _opened(path)), 0, lost


class _Place:
    """A file that is read, whatever its name is now; `path` is the name that is followed."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path, self.file = path, file
        self._stat = os.fstat(file.fileno())
        self._known = 0  # bytes at its start, and their hash
        self._hash = ""

    def is_at(self, position: Any) -> bool:
        """Whether this is the file of a position, and still has what was read of it."""
        same = (self._stat.st_dev, self._stat.st_ino) == (position["device"], position["inode"])
        return same and self._size() >= position["offset"] and self._start(position["known"]) == position["hash"]

    def may_precede(self, other: Path, successor: _Place) -> bool:
        """Whether another file may have had the name between these two: it was written to after this one."""
        try:
            found = os.stat(other)
        except OSError:
            return False
        known = any(os.path.samestat(found, each._stat) for each in (self, successor))
        return not known and found.st_mtime_ns >= os.fstat(self.file.fileno()).st_mtime_ns

    def blocks(self, clock: Clock, offset: int, seen: int, note: str, *, follow: bool) -> Iterator[Block]:
        """To the end of the file; if it is followed, until another file has its name."""
        lines, start, opened, last_look = LineCutter(), offset, True, False
        while True:
            now = clock()
            if self._size() < offset + lines.waiting or self._start(self._known) != self._hash:
                note = f"{self.path.name} was truncated. It is read from its start."
                lines, start, offset, opened = LineCutter(), 0, 0, True
                self._known, self._hash = 0, ""
            end = offset + lines.waiting
            chunk = os.pread(self.file.fileno(), BLOCK, end)
            whole = lines.take(chunk)
            if not chunk and (last_look or not follow):
                whole = lines.last()
            offset = end + len(chunk) - lines.waiting
            head = os.pread(self.file.fileno(), HEAD, 0) if opened and whole else None
            check_bytes((head or b"")[:16], str(self.path))
            begins = head is not None and start == 0
            yield Block(whole, seen, now, self._position(offset), head, begins, lines.too_long(), note)
            opened, note = opened and not whole, ""
            if chunk:
                continue
            if last_look or not follow:
                return
            last_look = self._replaced()  # its writer may have had a last line: one more look, then the next file
            if not last_look:
                seen = now  # all that was written by then has been read: no other file had the name
                time.sleep(POLL)

    def _position(self, offset: int) -> dict[str, Any]:
        if self._known < _KNOWN_BY and self._known < offset:
            self._known = min(offset, _KNOWN_BY)
            self._hash = self._start(self._known)
        own = {"device": self._stat.st_dev, "inode": self._stat.st_ino, "offset": offset}
        return {**own, "known": self._known, "hash": self._hash}

    def _size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def _start(self, length: int) -> str:
        return hashlib.sha256(os.pread(self.file.fileno(), length, 0)).hexdigest() if length else ""

    def _replaced(self) -> bool:
        try:
            return not os.path.samestat(os.stat(self.path), self._stat)
        except OSError:
            return False  # the new one is not there yet
