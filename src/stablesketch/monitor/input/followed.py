"""The lines of a file, as blocks: read from where an earlier run stopped, and followed through rotation.

A file that is followed for the first time is read from its current end, so that no line counts that an earlier monitor
may have counted. A position is the file's inode, the offset of its next line, and a hash of the kilobyte before it.
After a restart, a file that was renamed meanwhile is found in its folder, and read to its end before its successor.

**No line decides whether others count.** Where to begin in a file is decided by inodes and names, not by its content:

- it has taken the name of a file that was renamed and still exists: it is new, and read from its start;
- anything else (the file was truncated, or the previous one is gone): it is read from its current end. It may contain
  lines that were counted, and lines after the change cannot be distinguished from them. They are lost, and a note says
  so.

One thing depends on content: a file that was truncated and has grown past the offset again is recognised by the
kilobyte before the offset. If that is unchanged, or nothing had been read, reading continues as if nothing had
happened. The guarantee then does not hold for the lines of that moment (docs/known-limits.md). A replay is refused
instead: its file must not change while it is counted.

A file that was renamed is read for five more seconds, because its writer may still have it open: five seconds by the
clock, whatever is written. **Only complete lines count**: the start of a line could come again, in a copy. If reading
begins within a line, it starts with the next line.

Windows close by the time at which the file was last read to its end: whatever was written before then has been seen.
After a stop of an hour, the windows of that hour are therefore open until the backlog is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ...errors import CheckpointError, DataError
from ...reading.packed import check_bytes
from ...text.wording import arg
from ..windows import SECOND, Clock
from .blocks import BLOCK, HEAD, POLL, Block, LineCutter

_MARK = 1024  # bytes before an offset
_LINGER = 5 * SECOND  # how long a renamed file is still read
_FROM_ITS_END = "It is read on from its end: lines that were written before this was noticed may be lost."


def followed(
    path: Path, clock: Clock, *, follow: bool, position: Any = None, seen: int | None = None
) -> Iterator[Block]:
    """Blocks of complete lines; without `follow` they end with the file. An earlier run had read everything that
    existed at `seen`.
    """
    seen = clock() if seen is None else seen
    place, offset, note = _resumed(path, position, follow=follow)
    while True:
        with place.file:
            for block in place.blocks(clock, offset, seen, note, follow=follow):
                seen, position = block.clock, block.position
                yield block
            if not follow:
                return
            while True:
                now = clock()
                found = _next(path, place, position)
                if found is not None:
                    break
                seen = now  # no file had the name then, so none had lines
                yield Block(b"", seen, now, position)  # so that windows close, and the monitor can be stopped
                time.sleep(POLL)
            place, offset, note = found


def _next(path: Path, before: _Place, position: Any) -> tuple[_Place, int, str] | None:
    """The file that has the name now; None if it is gone again.

    Others that were rotated away in between are not read, and a note says so. They cannot be distinguished from copies,
    whose lines would count twice: ε would then be too small.
    """
    try:
        place = _Place(path)
    except DataError:  # it was there a moment ago
        return None
    if place.is_same(position):  # it has its name again
        return place, position["offset"] if place.has(position) else place.size(), ""
    offset, note = (0, "") if before.renamed else (place.size(), f"{path.name} was replaced. {_FROM_ITS_END}")
    unread = [other.name for other in _rotated(path) if before.may_precede(other, place)]
    if unread:
        note += f" {', '.join(unread)} may have been {path.name} for a while. What is in it was not read."
    return place, offset, note.strip()


def _opened(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise DataError(str(path), "is a folder", "Name a file in it")
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise DataError(str(path), "is not a regular file", "Pass it through a pipe: stablesketch monitor - < PATH")
        return open(path, "rb")
    except OSError as error:
        raise DataError(str(path), f"cannot be opened ({error.strerror})", "Name a file that can be read") from None


def _resumed(path: Path, position: Any, *, follow: bool) -> tuple[_Place, int, str]:
    if position is None or not follow:
        place = _Place(path)
        if position is None:
            return place, place.size() if follow else 0, ""
        if not place.has(position):
            place.file.close()
            raise _changed(path)
        return place, position["offset"], ""
    for candidate in (path, *_rotated(path)):
        with contextlib.suppress(DataError):
            place = _Place(path, candidate)
            if place.is_same(position) and place.has(position):
                return place, position["offset"], ""
            place.file.close()
    place = _Place(path)
    return place, place.size(), f"{path.name} was replaced or truncated while the monitor was stopped. {_FROM_ITS_END}"


def _rotated(path: Path) -> list[Path]:
    """Files in the same folder that are named like rotated ones: conn.log.1, conn.log-20261118, or as Zeek names them,
    conn.2026-11-18-08-00-00.log and conn-26-11-18_08.00.00.log.
    """
    dated = re.compile(rf"{re.escape(path.name)}.+|{re.escape(path.stem)}[-._]\d.*{re.escape(path.suffix)}")
    try:
        return sorted(each for each in path.parent.iterdir() if dated.fullmatch(each.name))
    except OSError:  # the folder may not be listed
        return []


def _changed(path: Path) -> CheckpointError:
    return CheckpointError(
        f"{path} was changed after part of it was counted, so what is left to count is unknown. Restore the file as it "
        f"was, or name a new folder ({arg('state')}), which counts all of it and spends ε again."
    )


class _Place:
    """A file that is being read, whatever its name is `now`; `path` is the name that is followed."""

    def __init__(self, path: Path, now: Path | None = None) -> None:
        self.path, self.file = path, _opened(now or path)
        self._stat = os.fstat(self.file.fileno())
        self.renamed = False  # whether it was seen under another name than the one that is followed

    def is_same(self, position: Any) -> bool:
        """Whether this is the file of a position, judged by its inode. Device numbers change at a boot."""
        return bool(self._stat.st_ino == position["inode"])

    def has(self, position: Any) -> bool:
        """Whether it still has, at the same place, what was read last."""
        offset, length = position["offset"], position["mark"]
        return bool(self.size() >= offset and self._digest(offset - length, length) == position["before"])

    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def may_precede(self, other: Path, successor: _Place) -> bool:
        """Whether another file may have had the name between these two, because it was written to after this one."""
        try:
            found = os.stat(other)
        except OSError:
            return False
        known = any(os.path.samestat(found, each._stat) for each in (self, successor))
        return not known and found.st_mtime_ns >= os.fstat(self.file.fileno()).st_mtime_ns

    def blocks(self, clock: Clock, offset: int, seen: int, note: str, *, follow: bool) -> Iterator[Block]:
        """To the end of the file; if it is followed, until another file has its name."""
        check_bytes(os.pread(self.file.fileno(), 16, 0), str(self.path), unpacked=False)
        lines, start, opened, last_look, leave = self._lines(offset), offset, True, False, None
        position = self._position(offset)
        while True:
            began, end = clock(), offset + lines.waiting
            chunk = os.pread(self.file.fileno(), BLOCK, end)
            now = clock()  # these lines may have been written since it began
            whole, rest = lines.take(chunk), b""
            if len(chunk) < BLOCK and (last_look or not follow):
                rest = lines.last()
            offset = end + len(chunk) - lines.waiting
            before, position = position, self._position(offset)
            # Checked after reading, because it could be truncated in between.
            if not self.has(before) or self.size() < end:
                if not follow:
                    raise _changed(self.path)
                offset = start = self.size()
                lines, opened, position = self._lines(offset), True, self._position(offset)
                note = f"{self.path.name} was truncated. {_FROM_ITS_END}"
                continue
            whole, left_out = (whole, lines.too_long() + bool(rest)) if follow else (whole + rest, lines.too_long())
            head = self._head(start) if opened and whole else None
            check_bytes((head or b"")[:16], str(self.path), unpacked=False)
            yield Block(whole, seen, now, position, head, head is not None and start == 0, left_out, note)
            opened, note = opened and not whole, ""
            if len(chunk) == BLOCK:
                continue
            if last_look or not follow:
                return
            if self._replaced():
                leave = now + _LINGER if leave is None else leave
                last_look = now >= leave
            else:
                seen, leave = began, None  # everything written by then has been read: no other file had the name
            if not last_look:
                time.sleep(POLL)

    def _lines(self, offset: int) -> LineCutter:
        return LineCutter(within=offset > 0 and os.pread(self.file.fileno(), 1, offset - 1) != b"\n")

    def _head(self, start: int) -> bytes:
        """The beginning of the file; if Zeek has written more headers since, the last one before `start`."""
        head = os.pread(self.file.fileno(), HEAD, 0)
        if start and head[:1] == b"#":
            with mmap.mmap(self.file.fileno(), start, access=mmap.ACCESS_READ) as content:
                last = content.rfind(b"\n#fields\t")
                head = content[last + 1 : last + 1 + HEAD] if last >= 0 else head
        return head

    def _position(self, offset: int) -> dict[str, Any]:
        mark = min(offset, _MARK)
        before = self._digest(offset - mark, mark)
        return {"inode": self._stat.st_ino, "offset": offset, "mark": mark, "before": before}

    def _digest(self, start: int, length: int) -> str:
        return hashlib.sha256(os.pread(self.file.fileno(), length, start)).hexdigest() if length else ""

    def _replaced(self) -> bool:
        """Whether another file has the name now."""
        try:
            found = os.stat(self.path)
        except OSError:
            found = None  # the new one is not there yet
        if found is not None and os.path.samestat(found, self._stat):
            self.renamed = False
            return False
        self.renamed |= os.fstat(self.file.fileno()).st_nlink > 0
        return found is not None
