"""The file of a secret: who may read it, and whether it has been spent.

A fresh file holds the bits. A spent file holds the fingerprint of the secret and the time instead. The change is one
rename of a file that has already been synced, so a file is always either fresh or spent. A lock on the file makes sure
that exactly one of several processes makes the change.

    stablesketch-secret 1          stablesketch-secret 1 spent
    64 hexadecimal digits          16 hexadecimal digits: the fingerprint
    checksum                       time, ISO 8601
                                   checksum

The file cannot know of an earlier copy of itself. A ledger can, because it has the fingerprint.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from ..errors import SecretFileError, SecretSpent
from ..files.durable import Reserved, leftovers, locked, remove, second_name, sync_folder
from ..text.wording import either
from .bits import SECRET_BYTES, Bits

try:
    import fcntl
except ImportError:  # not POSIX: no file attributes
    fcntl = None  # type: ignore[assignment]

_FRESH = b"stablesketch-secret 1\n"
_SPENT = "stablesketch-secret 1 spent"
_PAUSES = (0.0, 0.05, 0.2, 0.5)  # seconds before each attempt to mark a file
_GET_ATTRIBUTES = 0x80006601 | struct.calcsize("l") << 16  # FS_IOC_GETFLAGS
_UNCHANGEABLE = {0x10: "immutable (chattr +i)", 0x20: "append-only (chattr +a)"}


@dataclass(frozen=True)
class SecretFile:
    """The public facts about a secret file: its `fingerprint` in hexadecimal, and when it was spent, if it was."""

    fingerprint: str
    spent: bool
    time: str | None


@dataclass(frozen=True)
class _Content:
    bits: Bits | None  # None in a spent file
    about: SecretFile

    def unspent(self, path: str | os.PathLike[str]) -> Bits:
        """The bits, or the error that says when they were spent."""
        if self.bits is None:
            raise SecretSpent(
                f"the secret in {path} was already used for its one release at {self.about.time}. Collect again under "
                "a fresh secret."
            )
        return self.bits


def write(path: Path, bits: Bits) -> None:
    """Writes a new file of mode 0600. Never replaces a file: without its secret, a stream can never be released."""

    def fill(file: BinaryIO) -> None:
        file.write(_FRESH)
        bits.write_to(file.write)
        file.write(f"\n{_checksum(bits)}\n".encode())

    try:
        Reserved(path).store(fill)
    except FileExistsError:
        way_out = either("Choose another name, or load it with Secret.load", "Choose another name")
        raise SecretFileError(f"{path} already exists. {way_out}.") from None
    except OSError as error:
        raise SecretFileError(f"cannot write a secret to {path}: {error.strerror}.") from None


def read(path: Path, *, alone: bool = False) -> _Content:
    """The content of the file. Refuses one that others could have read; with `alone`, also one with a second name."""
    while True:
        try:
            with open(path, "rb") as file:
                try:
                    content = _parse(path, file)
                    if alone and content.bits is not None:
                        _check_names(path, file)
                    return content
                except SecretFileError:
                    # A spent file is replaced and then wiped, perhaps between our opening and reading it.
                    if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                        raise
        except SecretFileError:
            raise
        except OSError as error:
            raise _unreadable(path, error) from None


class Spending:
    """A locked, fresh file; `mark` marks it as spent."""

    def __init__(self, path: Path, prepared: Path, fingerprint: str) -> None:
        self.path = path
        self._prepared = prepared
        self._fingerprint = fingerprint

    def mark(self) -> None:
        """One rename and a sync. Then the bits in the old file are overwritten, as far as the disk allows.

        Raises the system's error if several attempts fail; the file is then still fresh.
        """
        with _writable(self.path) as old:
            self._replace()
            sync_folder(self.path.parent)
            if old is not None:
                with contextlib.suppress(OSError):
                    old.write(bytes(4096))
                    old.flush()
                    os.fsync(old.fileno())

    def _replace(self) -> None:
        for attempt, pause in enumerate(_PAUSES, 1):
            time.sleep(pause)
            try:
                if not self._prepared.exists():
                    _prepare(self._prepared, self._fingerprint)
                os.replace(self._prepared, self.path)
                return
            except OSError:
                if attempt == len(_PAUSES):
                    raise


@contextlib.contextmanager
def fresh(path: Path, bits: Bits) -> Iterator[BinaryIO]:
    """Locks the file of this secret and makes sure that it is fresh."""
    with contextlib.ExitStack() as held:
        try:
            file = held.enter_context(locked(path))
            content = _parse(path, file)
        except SecretFileError:
            raise
        except OSError as error:
            raise _unreadable(path, error) from None
        if content.unspent(path) != bits:
            raise SecretFileError(
                f"{path} now holds a different secret from the one that was loaded. Restore the original file."
            )
        yield file


def holds(path: Path, bits: Bits) -> bool:
    """Whether the file can be read, is fresh, and holds this secret."""
    try:
        return read(path).bits == bits
    except SecretFileError:
        return False


@contextlib.contextmanager
def ready_to_spend(path: Path, bits: Bits) -> Iterator[Spending]:
    """A locked, fresh file, with its spent replacement ready beside it.

    Every foreseeable problem (a full disk, a second name, a folder or file that cannot be changed) raises its error
    here, before anything is paid.
    """
    prepared = path.with_name(f".{path.name}.spent")
    with contextlib.ExitStack() as held:
        file = held.enter_context(fresh(path, bits))
        fingerprint = bits.fingerprint.hex()
        try:
            _check_names(path, file)
            _check_attributes(path)
            held.callback(remove, prepared)
            _prepare(prepared, fingerprint)
        except SecretFileError:
            raise
        except OSError as error:
            raise SecretFileError(
                f"cannot mark {path} as spent: {error.strerror}. Nothing was released. Make sure that its folder is "
                "writable and that the disk has space."
            ) from None
        yield Spending(path, prepared, fingerprint)


def _check_names(path: Path, file: BinaryIO) -> None:
    """Refuses a file with two names: marked under one name, it would stay fresh under the other."""
    found = os.fstat(file.fileno())
    if found.st_nlink > 1:
        for name in leftovers(path, found):
            remove(name)
        found = os.fstat(file.fileno())
    problem = second_name(path, found)
    if problem is not None:
        raise SecretFileError(f"{problem}. A secret has one release, so it must have one file. Nothing was released.")


def _check_attributes(path: Path) -> None:
    """Refuses a file whose attributes forbid any rename, on file systems that have attributes."""
    if fcntl is None:
        return
    for place in (path, path.parent):
        flags = bytearray(struct.calcsize("l"))
        try:
            handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
            try:
                fcntl.ioctl(handle, _GET_ATTRIBUTES, flags)
            finally:
                os.close(handle)
        except OSError:
            continue  # not every file system has attributes
        for flag, name in _UNCHANGEABLE.items():
            if struct.unpack("i", flags[:4])[0] & flag:
                raise SecretFileError(
                    f"cannot mark {path} as spent: {place} is {name}. Nothing was released. Remove the attribute."
                )


def _prepare(path: Path, fingerprint: str) -> None:
    """Writes the spent file under another name and syncs it. First removes the leftovers of a killed process.

    The file gets that name by a rename, as it will get its final one. A folder that allows new files but no renames is
    therefore noticed here.
    """
    first = path.with_name(f"{path.name}-")
    remove(path)
    remove(first)
    time = datetime.now(UTC).isoformat(timespec="seconds")
    body = f"{_SPENT}\n{fingerprint}\n{time}\n"
    handle = os.open(first, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(f"{body}{_digest(body)}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        os.rename(first, path)
    except BaseException:
        remove(first)
        raise


def _parse(path: Path, file: BinaryIO) -> _Content:
    handle = file.fileno()
    mode = stat.S_IMODE(os.fstat(handle).st_mode)
    if os.name == "posix" and mode & 0o077:
        raise SecretFileError(
            f"{path} has mode {mode:04o}: others may have read it. If nobody did, run chmod 600 on it; otherwise make "
            "a new secret."
        )
    start, digits = len(_FRESH), 2 * SECRET_BYTES
    if os.pread(handle, start, 0) == _FRESH:
        with contextlib.suppress(ValueError):
            bits = Bits.of_hex(lambda: os.pread(handle, digits, start).decode("ascii"))
            if os.pread(handle, 4096, start + digits) == f"\n{_checksum(bits)}\n".encode():
                return _Content(bits, SecretFile(bits.fingerprint.hex(), False, None))
    elif os.pread(handle, len(_SPENT) + 1, 0) == f"{_SPENT}\n".encode():
        lines = os.pread(handle, 4096, 0).decode("ascii", "replace").split("\n")
        if len(lines) == 5 and lines[3:] == [_digest("\n".join(lines[:3]) + "\n"), ""]:
            return _Content(None, SecretFile(lines[1], True, lines[2]))
    else:
        make = either("Secret.generate().save(path)", "stablesketch secret new FILE")
        raise SecretFileError(f"{path} is not a stablesketch secret file. Make one: {make}.")
    raise SecretFileError(f"{path} is damaged: its checksum does not match. Restore it from a backup.")


@contextlib.contextmanager
def _writable(path: Path) -> Iterator[BinaryIO | None]:
    """The file that has this name now, opened for overwriting later; None if that is not allowed."""
    with contextlib.ExitStack() as held:
        file = None
        with contextlib.suppress(OSError):
            if not os.access(path, os.W_OK):
                os.chmod(path, 0o600)  # the owner may do so: the file is about to be replaced
            file = held.enter_context(open(path, "r+b"))
        yield file


def _unreadable(path: Path, error: OSError) -> SecretFileError:
    return SecretFileError(f"cannot read the secret file {path}: {error.strerror}.")


def _checksum(bits: Bits) -> str:
    """Detects a damaged file. It is derived for its own purpose, so it reveals nothing about the bits."""
    return bits.derive("file")[:4].hex()


def _digest(text: str) -> str:
    """The checksum of a spent file, which holds nothing secret."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
