"""Files that exist completely or not at all, even after a crash or a power cut; locks between processes; second names.

A file is written under another name in the same folder, synced, and only then given its name. Then the folder is
synced. Errors are the `OSError` of the system: callers know what the file was for, and say so.

A file that is replaced by renaming, or that has companion files, must have exactly one name. Under a second name (a
hard link, or a mount of the single file, as in containers) the companion files differ, and a rename leaves the second
name behind. Symbolic links, relative paths and mounts of whole folders are not second names: they lead to the same
entry of the same folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import ArgumentError

try:
    import fcntl
except ImportError:  # not POSIX: no locks between processes
    fcntl = None  # type: ignore[assignment]

Identity = tuple[int, int]  # device and inode
_WAIT = 60.0  # seconds to wait until others release a file
_MOUNTS = Path("/proc/self/mountinfo")


def write_new(path: Path, content: bytes, *, public: bool = False) -> None:
    """Writes a new file of mode 0600, or as the umask says if `public`; FileExistsError if the name already exists."""
    Reserved(path, public=public).store(content)


def write_named(argument: str, path: Path, content: bytes, *, public: bool = False) -> None:
    """Like `write_new`, for a path given as `argument`: errors name it."""
    try:
        write_new(path, content, public=public)
    except FileExistsError:
        raise ArgumentError(
            argument, str(path), "must be a new file", "This one already exists: choose another name"
        ) from None
    except OSError as error:
        must = f"cannot be written ({error.strerror})"
        raise ArgumentError(argument, str(path), must, "Choose another place") from None


def write_over(path: Path, content: bytes) -> None:
    """Writes a file of mode 0600, replacing any file of that name: readers see the old one or the new one."""
    Reserved(path).store(content, over=True)


class Reserved:
    """A reserved file: open in its folder under another name, with `room` bytes of disk space.

    A read-only folder or a full disk is noticed now, and not when there is content to write. `store` or `discard` ends
    the reservation, and leaves nothing else behind. The file's mode is 0600; for a `public` file, such as a release, it
    is 0666 less the umask.
    """

    def __init__(self, path: Path, room: int = 0, *, public: bool = False) -> None:
        self.path, self._mode = path, 0o666 if public else 0o600
        with contextlib.suppress(FileNotFoundError):
            os.lstat(path)  # notices a name that is too long; since Python 3.14, Path.exists just returns False
        self._name = str(path.parent / f"{_temporary(path)}{secrets.token_hex(8)}")
        handle = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), self._mode)
        self._file = os.fdopen(handle, "wb")
        try:
            if room and hasattr(os, "posix_fallocate"):
                _allocate(handle, room)
        except BaseException:
            self.discard()
            raise

    def store(self, content: bytes | Callable[[BinaryIO], object], *, over: bool = False) -> None:
        """Writes, syncs, and names the file: FileExistsError if the name already exists, unless `over`.

        What no variable must hold is written by a function, which gets the file.
        """
        try:
            if isinstance(content, bytes):
                self._file.write(content)
            else:
                content(self._file)
            self._file.flush()
            self._file.truncate()
            os.fsync(self._file.fileno())
            self._file.close()
            if over:
                os.replace(self._name, self.path)
            else:
                _named(self._name, self.path, self._mode)
        finally:
            self.discard()
        sync_folder(self.path.parent)

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        remove(self._name)


def remove(path: str | Path) -> None:
    """Removes a file, if it is there and the system allows it."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def _temporary(path: Path) -> str:
    """How temporary names begin. A name of 255 bytes is allowed, so they must not be longer than that."""
    return f".{path.name[:40]}-"


def _allocate(handle: int, room: int) -> None:
    try:
        os.posix_fallocate(handle, 0, room)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        # Otherwise the file system cannot reserve space, and we learn nothing.


def _named(name: str, path: Path, mode: int) -> None:
    try:
        os.link(name, path)  # unlike rename, fails if the target exists
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
        # A file system without hard links: create the name first, then move the file to it.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        os.replace(name, path)


def sync_folder(folder: Path) -> None:
    """Makes new names durable. A folder that cannot be synced, as on some file systems, is left to the system."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock(handle: int, wait: float | None = None) -> None:
    """Locks the file for this open handle until `unlock` or its close; TimeoutError if others hold it too long.

    The lock is on the file, whatever its name. The wait is never endless: a second handle of the same process would
    wait for itself.
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
            raise TimeoutError(errno.ETIMEDOUT, "locked by another process, or by another part of this one. Try again")
        time.sleep(pause)
        pause = min(2.0 * pause, 0.02)


def unlock(handle: int) -> None:
    """Releases the lock, even if a fork has inherited the handle."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[BinaryIO]:
    """The file of this name, opened for reading and locked by this process until the end of the block.

    The lock is on the file, not on its name. The previous holder may have put another file in its place, so the name is
    looked up again once the lock is held.
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
            with contextlib.suppress(OSError):  # nothing was written to it, and the work under the lock is done
                file.close()


def identity_of(found: os.stat_result) -> Identity:
    """What tells the files of one machine apart, whatever their names."""
    return found.st_dev, found.st_ino


def second_name(path: Path, found: os.stat_result) -> str | None:
    """What is wrong with the names of the file at this real path, and the way out; None if it has one name."""
    if found.st_nlink > 1:
        return (
            f"{path} has {found.st_nlink} names (hard links), and a change under one could leave the others as they "
            f"were. Find them with find -inum {found.st_ino}, and delete all but one"
        )
    if _is_mounted_alone(path, found):
        return f"{path} is mounted as a single file, apart from its folder. Mount its folder instead"
    return None


def leftovers(path: Path, found: os.stat_result) -> list[Path]:
    """Temporary names that a killed process left of this very file."""
    same = []
    try:
        for entry in os.scandir(path.parent):
            if entry.name.startswith(_temporary(path)) and entry.inode() == found.st_ino:
                same.append(Path(entry.path))
    except OSError:
        pass
    return same


def _is_mounted_alone(path: Path, found: os.stat_result) -> bool:
    """Whether the system lists it as a mount point. Without a list, whether its device differs from its folder's.

    If there is a list, the device proves nothing: files and folders of one overlay can be on two devices.
    """
    try:
        with open(_MOUNTS, "rb") as mounts:
            return any(_unescaped(line.split(b" ")[4]) == os.fsencode(path) for line in mounts)
    except (OSError, IndexError):
        return os.stat(path.parent).st_dev != found.st_dev


def _unescaped(place: bytes) -> bytes:
    r"""The list has spaces, tabs, line ends and backslashes as \040 and the like."""
    for code in (b"040", b"011", b"012", b"134"):
        place = place.replace(b"\\" + code, bytes([int(code, 8)]))
    return place
