"""The lines of a file, as blocks: read from where an earlier run had read, and followed through rotation.

A file that is followed for the first time is read from its end on, so that no line counts which an earlier monitor may
have counted. A position is the file's device and inode, the offset of its next line, and hashes of how it begins and of
what stands before the offset. After a restart, a file that was renamed meanwhile is found in its folder, and read to
its end before the file that has its name now.

**No line counts twice.** A file may be replaced by a copy of itself, shortened, or lose its first lines (`_begin`):

- it begins as the one before: it is the same, longer or shorter, and is read on from where that was read;
- it is too short to tell: it is read on from its end;
- it has, somewhere, the last kilobyte that was read: it is read on from there;
- none of these: it is another file, and is read from its start.

Lines that are passed over by this are lost, never counted twice, and a note says so. A file that was renamed is read
for five seconds more: its writer may still have it open.

Windows close by the time at which the file had last been read to its end: whatever was written before then has been
seen. So after a stop of an hour the windows of that hour are open until the backlog is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import DataError
from ..reading.packed import check_bytes
from .block import Block
from .lines import BLOCK, HEAD, POLL, Clock, LineCutter

_KNOWN_BY = 512  # bytes at the start of a file
_MARK = 1024  # bytes before an offset
_LINGER = 5.0  # seconds for which a file that was renamed is still read


def followed(
    path: Path, clock: Clock, *, follow: bool, position: Any = None, seen: int | None = None
) -> Iterator[Block]:
    """Whole lines; without `follow` they end with the file. An earlier run had read all that was there at `seen`."""
    seen = clock() if seen is None else seen
    place, offset, note = _resumed(path, position, follow=follow)
    while True:
        with place.file:
            for block in place.blocks(clock, offset, seen, note, follow=follow):
                seen = block.clock
                position = block.position
                yield block
            if not follow:
                return
            place, offset, note = _next(path, place, position)


def _next(path: Path, before: _Place, position: Any) -> tuple[_Place, int, str]:
    """The file that has the name now. Others that were rotated away in between are not read, and that is said.

    They cannot be told from copies, whose lines would count twice: then ε would be too small.
    """
    while True:
        with contextlib.suppress(DataError):  # it was there a moment ago
            place = _Place(path, _opened(path))
            break
        time.sleep(POLL)
    offset, note = place.begin(position, renamed=os.fstat(before.file.fileno()).st_nlink > 0)
    unread = [other.name for other in path.parent.glob(f"{path.name}?*") if before.may_precede(other, place)]
    if unread:
        note += f" {', '.join(sorted(unread))} may have been {path.name} for a while. What is in it was not read."
    return place, offset, note.strip()


def _opened(path: Path) -> BinaryIO:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise DataError(str(path), "is not a regular file", "Pass it through a pipe: stablesketch monitor - < PATH")
        return open(path, "rb")
    except OSError as error:
        raise DataError(str(path), f"cannot be opened ({error.strerror})", "Name a file that can be read") from None


def _resumed(path: Path, position: Any, *, follow: bool) -> tuple[_Place, int, str]:
    if position is None:
        place = _Place(path, _opened(path))
        return place, place.last_line() if follow else 0, ""
    for candidate in (path, *sorted(path.parent.glob(f"{path.name}?*"))):
        with contextlib.suppress(DataError):
            place = _Place(path, _opened(candidate))
            if place.is_same(position) and place.has(position):
                return place, position["offset"], ""
            place.file.close()
    place = _Place(path, _opened(path))
    offset, note = place.begin(position, renamed=False)
    lost = (
        f"{path.name} was replaced or truncated while the monitor was stopped, and the file it was reading is gone: "
        "lines written to it after the last checkpoint are lost. The new file is read from its start."
    )
    return place, offset, note or lost


class _Place:
    """A file that is read, whatever its name is now; `path` is the name that is followed."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path, self.file = path, file
        self._stat = os.fstat(file.fileno())
        self._known = 0  # bytes at its start, and their hash
        self._hash = ""

    def is_same(self, position: Any) -> bool:
        """Whether this is the file of a position, by what the system says."""
        return (self._stat.st_dev, self._stat.st_ino) == (position["device"], position["inode"])

    def has(self, position: Any) -> bool:
        """Whether it has what was read of that file, at the same place."""
        offset, length = position["offset"], position["mark"]
        return bool(
            self._size() >= offset
            and self._digest(offset - length, length) == position["before"]
            and self._digest(0, position["known"]) == position["hash"]
        )

    def begin(self, position: Any, *, renamed: bool) -> tuple[int, str]:
        """Where to read on in a file that has taken the place of another; `renamed`, if that one still has a name.

        Then even a short file is a new one, and no copy that was cut.
        """
        size, known, name = self._size(), position["known"], self.path.name
        if known and size >= known and self._digest(0, known) == position["hash"]:
            there = min(position["offset"], self.last_line())
            return (
                there,
                f"{name} was replaced or shortened, and begins as before. It is read on from where it was read.",
            )
        if 0 < size < known and not renamed:
            return self.last_line(), f"{name} was replaced or shortened. It is read on from its end."
        there = self._after(position)
        return (
            there,
            f"{name} was replaced, and has lines that were read before. It is read after them." if there else "",
        )

    def last_line(self) -> int:
        """Where the line begins that has not ended yet."""
        end = self._size()
        while end:
            start = max(0, end - HEAD)
            place = os.pread(self.file.fileno(), end - start, start).rfind(b"\n")
            if place >= 0:
                return start + place + 1
            end = start
        return 0

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
        check_bytes(os.pread(self.file.fileno(), 16, 0), str(self.path))
        lines, start, opened, last_look = LineCutter(), offset, True, False
        position = self._position(offset)
        while True:
            now = clock()
            end = offset + lines.waiting
            chunk = os.pread(self.file.fileno(), BLOCK, end)
            if not self.has(position) or self._size() < end:  # looked at after it was read, or it could be cut between
                offset, note = self.begin(position, renamed=False)
                note = note or f"{self.path.name} was truncated. It is read from its start."
                lines, start, opened = LineCutter(), offset, True
                self._known, self._hash = 0, ""
                position = self._position(offset)
                continue
            whole = lines.take(chunk)
            if not chunk and (last_look or not follow):
                whole = lines.last()
            offset = end + len(chunk) - lines.waiting
            head = self._head(start) if opened and whole else None
            check_bytes((head or b"")[:16], str(self.path))
            position = self._position(offset)
            yield Block(whole, seen, now, position, head, head is not None and start == 0, lines.too_long(), note)
            opened, note = opened and not whole, ""
            if len(chunk) == BLOCK:
                continue
            if not follow:
                if chunk:
                    continue
                return
            if last_look and not chunk:
                return
            replaced = self._replaced()
            if not replaced:
                seen = now  # all that was written by then has been read: no other file had the name
            last_look = replaced and not chunk and not self._may_grow()
            if not last_look:
                time.sleep(POLL)

    def _head(self, start: int) -> bytes:
        """How the file begins; if Zeek has written more headers since, the last one before `start`."""
        head = os.pread(self.file.fileno(), HEAD, 0)
        if start and head[:1] == b"#":
            with mmap.mmap(self.file.fileno(), start, access=mmap.ACCESS_READ) as content:
                last = content.rfind(b"\n#fields\t")
                head = content[last + 1 : last + 1 + HEAD] if last >= 0 else head
        return head

    def _position(self, offset: int) -> dict[str, Any]:
        if self._known < _KNOWN_BY and self._known < offset:
            self._known = min(offset, _KNOWN_BY)
            self._hash = self._digest(0, self._known)
        mark = min(offset, _MARK)
        own = {"device": self._stat.st_dev, "inode": self._stat.st_ino, "offset": offset, "mark": mark}
        return {**own, "before": self._digest(offset - mark, mark), "known": self._known, "hash": self._hash}

    def _after(self, position: Any) -> int:
        """The end of the last place at which the bytes stand that were read last; 0 if they stand nowhere."""
        size, length = self._size(), position["mark"]
        if not length or size < length:
            return 0
        with mmap.mmap(self.file.fileno(), size, access=mmap.ACCESS_READ) as content:
            end = content.rfind(b"\n") + 1
            while end >= length:
                if hashlib.sha256(content[end - length : end]).hexdigest() == position["before"]:
                    return end
                end = content.rfind(b"\n", 0, end - 1) + 1
        return 0

    def _size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def _digest(self, start: int, length: int) -> str:
        return hashlib.sha256(os.pread(self.file.fileno(), length, start)).hexdigest() if length else ""

    def _may_grow(self) -> bool:
        """Whether it was written to a moment ago, by the clock of the files."""
        return 0.0 <= time.time() - os.fstat(self.file.fileno()).st_mtime < _LINGER

    def _replaced(self) -> bool:
        try:
            return not os.path.samestat(os.stat(self.path), self._stat)
        except OSError:
            return False  # the new one is not there yet
