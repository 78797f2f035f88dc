"""`Bits`: 256 secret bits that no error report shows.

Programs that report errors record the local variables of every function on the way, by repr or by walking through what
they hold. So from the file to the file no variable ever holds the bits: they are in this object, as two shares whose
exclusive or they are, and come together within single expressions alone. That hides them from reports, not from
somebody who can read the memory of the process.

It has no repr, no `__dict__`, no pickle and no hash to tell them by, and compares in constant time.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import secrets
from collections.abc import Callable
from operator import xor
from typing import NoReturn, final

from ..errors import SecretNotPicklable

SECRET_BYTES = 32


@final
class Bits:
    """A secret, or nothing once it has been wiped; false then."""

    __slots__ = ("_one", "_other")
    _one: bytearray
    _other: bytearray

    def __init__(self, source: Callable[[], bytes | bytearray]) -> None:
        """The 32 bytes that `source` returns; ValueError if it returns another number."""
        share = bytearray(secrets.token_bytes(SECRET_BYTES + 1))  # one more, to see that there are not more than 32
        self._one, self._other = share[:SECRET_BYTES], bytearray(map(xor, share, source()))
        if len(self._other) != SECRET_BYTES:
            self.wipe()
            raise ValueError("a secret has 32 bytes")

    @classmethod
    def fresh(cls) -> Bits:
        """From the operating system's random number generator."""
        return cls(lambda: secrets.token_bytes(SECRET_BYTES))

    @classmethod
    def of_hex(cls, source: Callable[[], str]) -> Bits:
        """From 64 hexadecimal digits; ValueError if they are not."""
        with contextlib.suppress(ValueError):
            return cls(lambda: bytes.fromhex(source()))
        raise ValueError("not 64 hexadecimal digits")

    def derive(self, purpose: str) -> bytes:
        """HMAC-SHA256(secret, "stablesketch/1/" + purpose): the key of one purpose."""
        return hmac.digest(self._together(), b"stablesketch/1/" + purpose.encode(), "sha256")

    def child(self, purpose: str) -> Bits:
        """The key of a purpose as bits of its own."""
        return Bits(lambda: self.derive(purpose))

    def write_to(self, write: Callable[[bytes], object]) -> None:
        """Calls `write` with 64 hexadecimal digits; it must keep them in no variable."""
        write(self._together().hex().encode())

    def are_in(self, sent: bytes) -> bool:
        """Whether these bytes have the secret in them, as it is or as text."""
        return (
            self._together() in sent
            or self._together().hex().encode() in sent
            or self._together().hex().upper().encode() in sent
            or repr(self._together())[2:-1].encode() in sent
            # Base64 of something longer has these characters in the middle, at one of three offsets.
            or base64.b64encode(self._together())[4:40] in sent
            or base64.b64encode(bytes(1) + self._together())[4:40] in sent
            or base64.b64encode(bytes(2) + self._together())[4:40] in sent
        )

    def wipe(self) -> None:
        """Overwrites both shares. Whoever asks afterwards finds nothing."""
        for share in (self._one, self._other):
            for i in range(len(share)):
                share[i] = 0
        self._one, self._other = bytearray(), bytearray()

    def _together(self) -> bytes:
        return bytes(map(xor, self._one, self._other))

    def __bool__(self) -> bool:
        return bool(self._other)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bits):
            return NotImplemented
        return bool(self) and bool(other) and hmac.compare_digest(self._together(), other._together())

    __hash__ = None  # type: ignore[assignment]  # a hash of secret bits could end up in a log

    def __repr__(self) -> str:
        return "<Bits>"

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(None)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SecretNotPicklable("secret bits are never pickled. Use secret.save(path) and Secret.load(path).")
