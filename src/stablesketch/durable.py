"""Files that are there whole or not at all, also after a crash or a power cut; and locks between processes.

A file is written under another name in the same folder, synced, and only then given its name; the folder is synced
after. Errors are the `OSError` of the system: callers know what the file was for and say so.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # no POSIX: no locks between processes there
    fcntl = None  # type: ignore[assignment]

__all__ = ["lock", "locked", "sync_folder", "unlock", "write_new", "write_over"]

_WAIT = 60.0  # seconds for others to let go of a file


def write_new(path: Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """A new file of mode 0600; FileExistsError if there is one of that name already.

    What must not stand in a variable is written by a function: it gets the file.
    """
    with _temporary(path, content) as name:
        os.link(name, path)  # unlike rename, fails if the target exists
    sync_folder(path.parent)


def write_over(path: Path, content: bytes) -> None:
    """A file of mode 0600 in place of whatever has that name: readers see the old one or the new one."""
    with _temporary(path, content) as name:
        os.replace(name, path)
    sync_folder(path.parent)


@contextlib.contextmanager
def _temporary(path: Path, content: bytes | Callable[[BinaryIO], object]) -> Iterator[str]:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                content(file)
            file.flush()
            os.fsync(file.fileno())
        yield name
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def sync_folder(folder: Path) -> None:
    """Makes new names durable; a folder that cannot be synced (some file systems) is left to the system."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock(handle: int, wait: float | None = None) -> None:
    """Holds the file for this open handle alone, until `unlock` or its end; TimeoutError if others keep it too long.

    The lock is on the file, whatever its name. It is never waited for without an end: a second handle of the same
    process would wait for itself.
    """
    if fcntl is None:
        return
    end, pause = time.monotonic() + (_WAIT if wait is None else wait), 0.001
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
                raise
        if time.monotonic() >= end:
            raise TimeoutError(errno.ETIMEDOUT, "another process, or another part of this one, holds it. Try again")
        time.sleep(pause)
        pause = min(2.0 * pause, 0.02)


def unlock(handle: int) -> None:
    """Lets others have it, also if a fork has inherited the handle."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[BinaryIO]:
    """The file that has this name, opened for reading and held by this process alone until the end of the block.

    The lock is on the file, not on its name. Whoever held it before may have put another file in its place, so the name
    is looked up again once the lock is there.
    """
    while True:
        file = open(path, "rb")  # noqa: SIM115  closed below, on every way out
        try:
            lock(file.fileno())
            try:
                if not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    continue
                yield file
                return
            finally:
                unlock(file.fileno())
        finally:
            file.close()
