"""`Bits`: 256 secret bits that no error report shows.

Error reporting tools record the local variables of every function on the stack, by repr or by walking through what they
hold. So no variable ever holds the bits. This object keeps them as two shares whose exclusive or is the secret, and
joins the shares only within single expressions. This hides the bits from error reports, but not from anyone who can
read the memory of the process.

The object has no repr, `__dict__`, pickle or hash that would show the bits, and compares in constant time.

If one thread overwrote the bits while another derived a key from them, anyone could compute that key. So the object is
marked as wiped before the bits are overwritten, and the mark is checked after the shares are joined: a key is derived
from all bits, or `SecretSpent` is raised. There is no lock, because an interrupted or forked process could leave it
held forever.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import secrets
from collections.abc import Callable
from operator import xor
from typing import NoReturn, final

from ..errors import SecretNotPicklable, SecretSpent

SECRET_BYTES = 32
SPENT = "this secret has already been used for its one release. Collect again under a fresh secret."


@final
class Bits:
    """A secret; empty and false once it has been wiped."""

    __slots__ = ("_one", "_other", "_whole")
    _one: bytearray
    _other: bytearray
    _whole: bool  # until they are about to be overwritten

    def __init__(self, read: Callable[[], bytes | bytearray]) -> None:
        """Takes the 32 bytes that `read` returns; ValueError for any other number of bytes."""
        share = bytearray(secrets.token_bytes(SECRET_BYTES + 1))  # one more, to notice more than 32 bytes
        self._one, self._other = share[:SECRET_BYTES], bytearray(map(xor, share, read()))
        self._whole = True
        if len(self._other) != SECRET_BYTES:
            self.wipe()
            raise ValueError("a secret must have 32 bytes")

    @classmethod
    def fresh(cls) -> Bits:
        """From the operating system's random number generator."""
        return cls(lambda: secrets.token_bytes(SECRET_BYTES))

    @classmethod
    def of_hex(cls, read: Callable[[], str]) -> Bits:
        """From 64 hexadecimal digits; ValueError for anything else."""
        with contextlib.suppress(ValueError):
            return cls(lambda: bytes.fromhex(read()))
        raise ValueError("not 64 hexadecimal digits")

    def derive(self, purpose: str) -> bytes:
        """HMAC-SHA256(secret, "stablesketch/1/" + purpose): the key of one purpose."""
        return hmac.digest(self._together(), b"stablesketch/1/" + purpose.encode(), "sha256")

    @property
    def fingerprint(self) -> bytes:
        """Eight public bytes that tell secrets apart, and reveal nothing about them."""
        return self.derive("identity")[:8]

    def child(self, purpose: str) -> Bits:
        """The key of one purpose, as new bits."""
        return Bits(lambda: self.derive(purpose))

    def write_to(self, write: Callable[[bytes], object]) -> None:
        """Calls `write` with 64 hexadecimal digits; `write` must not keep them in a variable."""
        write(self._together().hex().encode())

    def are_in(self, sent: bytes) -> bool:
        """Whether these bytes contain the secret, as bytes or as text."""
        return (
            self._together() in sent
            or self._together().hex().encode() in sent
            or self._together().hex().upper().encode() in sent
            or repr(self._together())[2:-1].encode() in sent
            # Base64 of a longer text has these characters in the middle, at one of three offsets.
            or base64.b64encode(self._together())[4:40] in sent
            or base64.b64encode(bytes(1) + self._together())[4:40] in sent
            or base64.b64encode(bytes(2) + self._together())[4:40] in sent
        )

    def wipe(self) -> None:
        """Overwrites both shares. Any later use raises `SecretSpent`."""
        self._whole = False
        for share in (self._one, self._other):
            for i in range(len(share)):
                share[i] = 0
        self._one, self._other = bytearray(), bytearray()

    def _together(self) -> bytes:
        # Within one expression: a variable would show the bits in error reports.
        return (bytes(map(xor, self._one, self._other)), self._still_whole())[0]

    def _still_whole(self) -> bool:
        if not self._whole:
            raise SecretSpent(SPENT)
        return True

    def __bool__(self) -> bool:
        return self._whole

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bits):
            return NotImplemented
        with contextlib.suppress(SecretSpent):
            return hmac.compare_digest(self._together(), other._together())
        return False

    __hash__ = None  # type: ignore[assignment]  # a hash of secret bits could end up in a log

    def __repr__(self) -> str:
        return "<Bits>"

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(None)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SecretNotPicklable("secret bits cannot be pickled. Use secret.save(path) and Secret.load(path).")
