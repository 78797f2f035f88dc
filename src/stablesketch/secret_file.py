"""The file of a secret: who may read it, and whether it has been spent.

A fresh file holds the bits. A spent one does not: in the place of the bits stand the fingerprint of the secret and the
time. The change is one rename of a file that was synced before, so that a file is fresh or spent, and never neither; a
lock on the file sees to it that of several processes exactly one makes the change.

    stablesketch-secret 1          stablesketch-secret 1 spent
    64 hexadecimal digits          16 hexadecimal digits: the fingerprint
    checksum                       time, ISO 8601
                                   checksum

What the file cannot know: a copy that was made of it before. A ledger does (it has the fingerprint).
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from .durable import locked, sync_folder, write_new
from .errors import SecretFileError, SecretSpent

__all__ = ["SECRET_BYTES", "SecretFile", "Spending", "check_spendable", "derive", "read", "spending", "write"]

SECRET_BYTES = 32
_FRESH = "stablesketch-secret 1"
_SPENT = "stablesketch-secret 1 spent"


@dataclass(frozen=True)
class SecretFile:
    """What may be known of a secret file: `fingerprint` in hexadecimal, and when it was spent, if it was."""

    fingerprint: str
    spent: bool
    time: str | None


@dataclass(frozen=True)
class _Content:
    bits: bytes | None  # None in a spent file
    about: SecretFile

    def __repr__(self) -> str:
        return f"<{self.about}>"


def derive(bits: bytes | bytearray, purpose: str) -> bytes:
    """HMAC-SHA256(secret, "stablesketch/1/" + purpose): the key of one purpose."""
    return hmac.digest(bits, b"stablesketch/1/" + purpose.encode(), "sha256")


def write(path: Path, bits: bytes | bytearray) -> None:
    """A new file of mode 0600. Never replaces one: a secret overwritten is a stream that can never be released."""
    try:
        write_new(path, f"{_FRESH}\n{bits.hex()}\n{_checksum(bits)}\n".encode())
    except FileExistsError:
        raise SecretFileError(f"{path} exists already. Choose another name, or load it with Secret.load.") from None
    except OSError as error:
        raise SecretFileError(f"cannot write a secret to {path}: {error.strerror}.") from None


def read(path: Path) -> _Content:
    """What is in the file, if others could not have read it."""
    while True:
        try:
            with open(path, "rb") as file:
                try:
                    return _parse(path, file)
                except SecretFileError:
                    # A file that is spent is replaced, and wiped after that: perhaps between opening and reading it.
                    if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                        raise
        except SecretFileError:
            raise
        except OSError as error:
            raise _unreadable(path, error) from None


class Spending:
    """A fresh file, locked; `mark` makes it a spent one."""

    def __init__(self, path: Path, prepared: Path) -> None:
        self._path = path
        self._prepared = prepared

    def mark(self) -> None:
        """One rename and a sync. The bits of the old file are then overwritten, as far as the disk lets that happen."""
        try:
            with _writable(self._path) as old:
                os.replace(self._prepared, self._path)
                sync_folder(self._path.parent)
                if old is not None:
                    old.write(bytes(4096))
                    old.flush()
                    os.fsync(old.fileno())
        except OSError as error:
            raise SecretFileError(
                f"cannot mark {self._path} as spent: {error.strerror}. Nothing was released."
            ) from None


@contextlib.contextmanager
def spending(path: Path, bits: bytes | bytearray) -> Iterator[Spending]:
    """Holds the file of this secret for oneself, makes sure that it is fresh, and has all of the spent one ready.

    Whatever can fail (a full disk, a folder that cannot be written) fails here, before anything is paid.
    """
    prepared = path.with_name(f".{path.name}.spent")
    with contextlib.ExitStack() as held:
        try:
            content = _parse(path, held.enter_context(locked(path)))
        except SecretFileError:
            raise
        except OSError as error:
            raise _unreadable(path, error) from None
        check_spendable(path, content, bits)
        try:
            held.callback(_remove, prepared)
            _prepare(prepared, content.about.fingerprint)
        except OSError as error:
            raise SecretFileError(
                f"cannot mark {path} as spent: {error.strerror}. Nothing was released. See that its folder can be "
                "written and the disk has room."
            ) from None
        yield Spending(path, prepared)


def check_spendable(path: Path, content: _Content, bits: bytes | bytearray) -> None:
    """Refuses a spent file, and one that holds another secret by now."""
    if content.bits is None:
        raise SecretSpent(
            f"the secret in {path} had its one release at {content.about.time}. Collect anew under a fresh secret."
        )
    if not hmac.compare_digest(content.bits, bytes(bits)):
        raise SecretFileError(f"{path} holds another secret than when it was loaded. Put the right one back.")


def _prepare(path: Path, fingerprint: str) -> None:
    """The spent file under another name, synced. A leftover of a killed process is taken away first."""
    _remove(path)
    time = datetime.now(UTC).isoformat(timespec="seconds")
    body = f"{_SPENT}\n{fingerprint}\n{time}\n"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(f"{body}{_digest(body)}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _parse(path: Path, file: BinaryIO) -> _Content:
    mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    if os.name == "posix" and mode & 0o077:
        raise SecretFileError(
            f"{path} has mode {mode:04o}: others may have read it. If nobody did, run chmod 600 on it; "
            "otherwise make a new secret."
        )
    lines = file.read(4096).decode("ascii", "replace").split("\n")
    if lines[0] == _FRESH:
        with contextlib.suppress(ValueError, IndexError):
            bits = bytes.fromhex(lines[1])
            if len(bits) == SECRET_BYTES and lines[2:] == [_checksum(bits), ""]:
                return _Content(bits, SecretFile(derive(bits, "identity")[:8].hex(), False, None))
    elif lines[0] == _SPENT:
        if len(lines) == 5 and lines[3:] == [_digest("\n".join(lines[:3]) + "\n"), ""]:
            return _Content(None, SecretFile(lines[1], True, lines[2]))
    else:
        raise SecretFileError(f"{path} is not a stablesketch secret file. Make one with Secret.generate().save(path).")
    raise SecretFileError(f"{path} is damaged: its checksum does not match. Restore it from a backup.")


@contextlib.contextmanager
def _writable(path: Path) -> Iterator[BinaryIO | None]:
    """The file that has this name now, for writing over it later; None if that is not allowed."""
    with contextlib.ExitStack() as held:
        file = None
        with contextlib.suppress(OSError):
            file = held.enter_context(open(path, "r+b"))
        yield file


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _unreadable(path: Path, error: OSError) -> SecretFileError:
    return SecretFileError(f"cannot read the secret file {path}: {error.strerror}.")


def _checksum(bits: bytes | bytearray) -> str:
    """Detects a damaged file. It is computed under a purpose of its own, so it reveals nothing of the bits."""
    return derive(bits, "file")[:4].hex()


def _digest(text: str) -> str:
    """Nothing here is secret any more."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
