"""Files that are there whole or not at all, also after a crash or a power cut; and locks between processes.

A file is written under another name in the same folder, synced, and only then given its name; the folder is synced
after. Errors are the `OSError` of the system: callers know what the file was for and say so.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # no POSIX: no locks between processes there
    fcntl = None  # type: ignore[assignment]

__all__ = ["locked", "sync_folder", "write_new", "write_over"]


def write_new(path: Path, content: bytes) -> None:
    """A new file of mode 0600; FileExistsError if there is one of that name already."""
    with _temporary(path, content) as name:
        os.link(name, path)  # unlike rename, fails if the target exists
    sync_folder(path.parent)


def write_over(path: Path, content: bytes) -> None:
    """A file of mode 0600 in place of whatever has that name: readers see the old one or the new one."""
    with _temporary(path, content) as name:
        os.replace(name, path)
    sync_folder(path.parent)


@contextlib.contextmanager
def _temporary(path: Path, content: bytes) -> Iterator[str]:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
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


@contextlib.contextmanager
def locked(path: Path) -> Iterator[BinaryIO]:
    """The file that has this name, opened for reading and held by this process alone until the end of the block.

    The lock is on the file, not on its name. Whoever held it before may have put another file in its place, so the name
    is looked up again once the lock is there.
    """
    while True:
        file = open(path, "rb")  # noqa: SIM115  closed below, on every way out
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            if not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                continue
            yield file
            return
        finally:
            file.close()
