"""One ledger is one file: locked by what the file *is*, not by its name.

SQLite keeps its log and its locks in files next to the database, named after it. Under a second name (a hard link, a
mount of the single file) those are different files: two processes would both write, and neither would see the other. A
file with two names is therefore refused, and a writer holds a lock on the file itself (flock), which all names share,
whether or not the second one was noticed.

**Why the handle stays open.** POSIX releases all of a process's record locks on a file as soon as *any* handle to it is
closed, including those that SQLite holds in another thread. There is therefore one handle per file and process, opened
before the first connection and closed after the last: `lock_of_file` counts them. flock locks are not record locks, and
on local Linux file systems the two do not interact.

A fork inherits the handle, and with it the lock. It closes its copy and forgets it. The parent unlocks explicitly, so
that a surviving copy keeps nobody waiting.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from ..errors import LedgerError
from ..files.durable import Identity, identity_of, lock, second_name, unlock


class _File:
    """The open handle of this process on one file."""

    def __init__(self) -> None:
        self.handles: list[int] = []
        self.users = 0
        self.writing = threading.Lock()


class _Files:
    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.by_identity: dict[Identity, _File] = {}


_files = _Files()


def _forked_away() -> None:
    """In a fork, the handles belong to the parent. Closing them here releases no lock of the parent."""
    global _files
    inherited, _files = _files, _Files()
    for file in inherited.by_identity.values():
        for handle in file.handles:
            with contextlib.suppress(OSError):
                os.close(handle)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked_away)


@contextlib.contextmanager
def lock_of_file(path: Path, *, write: bool, wait: float) -> Iterator[Identity]:
    """The file at this real path, open for the duration of the block; with `write`, for this thread alone.

    Raises OSError if it cannot be opened, or if others hold it for longer than `wait` seconds.
    """
    files = _files
    with files.guard:
        identity, file = _opened(files, path)
        file.users += 1
    try:
        if not write:
            _check_name(path, file.handles[0])
            yield identity
            return
        if not file.writing.acquire(timeout=wait):
            raise TimeoutError(0, "locked by another thread of this process. Try again")
        try:
            lock(file.handles[0], wait)
            try:
                _check_name(path, file.handles[0])
                yield identity
            finally:
                if files is _files:
                    unlock(file.handles[0])
        finally:
            file.writing.release()
    finally:
        if files is _files:  # otherwise this is a fork leaving its parent's block, and the handles are closed
            with files.guard:
                file.users -= 1
                if not file.users:
                    del files.by_identity[identity]
                    for handle in file.handles:
                        # Nothing was written to it. What was done under the lock is done, and must not look undone.
                        with contextlib.suppress(OSError):
                            os.close(handle)


def _opened(files: _Files, path: Path) -> tuple[Identity, _File]:
    identity = identity_of(os.stat(path))
    if identity not in files.by_identity:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        identity = identity_of(os.fstat(handle))  # of the file that was opened, even if another has replaced it
        files.by_identity.setdefault(identity, _File()).handles.append(handle)
    return identity, files.by_identity[identity]


def _check_name(path: Path, handle: int) -> None:
    found = os.fstat(handle)
    problem = second_name(path, found)
    if problem is not None:
        raise LedgerError(f"{problem}. A budget in two places could be spent twice. Nothing was recorded or released.")
    if not os.path.samestat(found, os.stat(path)):
        raise LedgerError(f"the ledger {path} was just replaced by another file. Nothing was recorded. Try again.")
