"""The secret of a sketch: 256 bits from the operating system, from which every other key is derived.

Whoever knows the secret can compute the whole projection, and then the sketch protects nobody. So a secret is never
shown: not by repr, str or format, not by pickle, not in an error. It leaves the process by `save` alone, into a file
only its owner may read.

Derivation: HMAC-SHA256(secret, "stablesketch/1/" + purpose), cut to length. Every use has a purpose of its own, so that
nothing learned about one derived key says anything about another (HMAC-SHA256 is a pseudorandom function).
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from pathlib import Path
from typing import NoReturn, final

from .errors import ArgumentError, ArgumentTypeError, SecretFileError, SecretNotPicklable

__all__ = ["Secret"]

_SECRET_BYTES = 32
_MAGIC = "stablesketch-secret 1"


@final
class Secret:
    """256 secret bits. `Secret.generate()` draws a fresh one; `save` and `load` keep it in a file of mode 0600.

    Two secrets compare equal if they are the same bits. `fingerprint` is public: eight bytes that tell secrets apart
    and reveal nothing of them; blobs carry it.
    """

    __slots__ = ("_bits",)
    _bits: bytes

    def __init__(self) -> None:
        raise ArgumentTypeError("Secret()", (), "a secret is not made by calling the class", "Use Secret.generate().")

    @classmethod
    def generate(cls) -> Secret:
        """A fresh secret from the operating system's random number generator."""
        return cls.from_bytes(secrets.token_bytes(_SECRET_BYTES))

    @classmethod
    def from_bytes(cls, bits: bytes) -> Secret:
        """A secret held elsewhere, such as in a key management service: exactly 32 bytes, uniformly random.

        Never a password, a hash of public data or a fixed seed: a guessable secret protects nobody.
        """
        if not isinstance(bits, bytes):
            raise ArgumentTypeError("bits", type(bits), "a secret is bytes", "Pass 32 random bytes.")
        if len(bits) != _SECRET_BYTES:
            raise ArgumentError("len(bits)", len(bits), "a secret is 32 bytes", "Use Secret.generate().")
        self = object.__new__(cls)
        self._bits = bits
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the secret to a new file of mode 0600, atomically: the file is there whole or not at all.

        Refuses to replace a file: a secret overwritten is a stream that can never be updated or released again.
        """
        target = Path(path)
        body = f"{_MAGIC}\n{self._bits.hex()}\n{_checksum(self._bits)}\n"
        try:
            handle, name = tempfile.mkstemp(prefix=".secret-", dir=target.parent)  # mkstemp makes it 0600
        except OSError as error:
            raise SecretFileError(f"cannot write a secret into {target.parent}: {error.strerror}.") from None
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            os.link(name, target)  # unlike rename, fails if the target exists
        except FileExistsError:
            raise SecretFileError(
                f"{target} exists already. Choose another name, or load it with Secret.load."
            ) from None
        except OSError as error:
            raise SecretFileError(f"cannot write the secret to {target}: {error.strerror}.") from None
        finally:
            with contextlib.suppress(OSError):
                os.unlink(name)
        _sync_folder(target.parent)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Secret:
        """Reads a secret from a file written by `save`; refuses one that others could have read."""
        source = Path(path)
        try:
            with open(source, encoding="ascii", errors="replace") as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                lines = file.read(4096).split("\n")
        except OSError as error:
            raise SecretFileError(f"cannot read the secret file {source}: {error.strerror}.") from None
        if os.name == "posix" and mode & 0o077:
            raise SecretFileError(
                f"{source} has mode {mode:04o}: others may have read it. If nobody did, run chmod 600 on it; "
                "otherwise make a new secret."
            )
        if not lines or lines[0] != _MAGIC:
            raise SecretFileError(
                f"{source} is not a stablesketch secret file. Make one with Secret.generate().save(path)."
            )
        try:
            bits = bytes.fromhex(lines[1])
            intact = len(bits) == _SECRET_BYTES and lines[2:] == [_checksum(bits), ""]
        except (ValueError, IndexError):
            intact = False
        if not intact:
            raise SecretFileError(f"{source} is damaged: its checksum does not match. Restore it from a backup.")
        return cls.from_bytes(bits)

    def derive(self, purpose: str, length: int = 32) -> bytes:
        """The key of one purpose: HMAC-SHA256(secret, "stablesketch/1/" + purpose), its first `length` bytes."""
        if not 0 < length <= _SECRET_BYTES:
            raise ArgumentError("length", length, "a derived key has 1 to 32 bytes", "Derive two of them")
        return hmac.digest(self._bits, b"stablesketch/1/" + purpose.encode(), "sha256")[:length]

    @property
    def fingerprint(self) -> bytes:
        """Eight public bytes that tell this secret from others."""
        return self.derive("identity", 8)

    def __eq__(self, other: object) -> bool:
        return hmac.compare_digest(self._bits, other._bits) if isinstance(other, Secret) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # a hash of secret bits could end up in a log

    def __repr__(self) -> str:
        return "<Secret>"

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Secret:
        return self

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(None)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SecretNotPicklable(
            "a Secret is never pickled, so that it cannot end up in a cache, a queue or a log. "
            "Use secret.save(path) and Secret.load(path)."
        )


def _checksum(bits: bytes) -> str:
    """Detects a damaged file. It is computed under a purpose of its own, so it reveals nothing of the bits."""
    return hmac.digest(bits, b"stablesketch/1/file", hashlib.sha256)[:4].hex()


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable; a folder that cannot be synced (some file systems) is left to the system."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
