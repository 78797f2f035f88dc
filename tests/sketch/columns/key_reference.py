"""What docs/keys.md says, in plain Python and as slowly as it is clear: the tests hold the library to this."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable

Fingerprints = Callable[[object], list[int]]
"""The fixture `fingerprints`: all fingerprints of a column, as Python integers."""

MASK = 2**64 - 1
DOMAINS = ["big", "text", "bytes", "date", "naive", "instant", "uuid", "tuple"]
MATERIAL = bytes((37 * i + 11) % 256 for i in range(16 * len(DOMAINS)))


def siphash(key: bytes, message: bytes, compress: int = 1, finish: int = 3) -> int:
    """SipHash-c-d with 64 bits of output."""
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rotate(x: int, by: int) -> int:
        return ((x << by) | (x >> (64 - by))) & MASK

    def rounds(count: int) -> None:
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = (v0 + v1) & MASK
            v1 = rotate(v1, 13) ^ v0
            v0 = rotate(v0, 32)
            v2 = (v2 + v3) & MASK
            v3 = rotate(v3, 16) ^ v2
            v0 = (v0 + v3) & MASK
            v3 = rotate(v3, 21) ^ v0
            v2 = (v2 + v1) & MASK
            v1 = rotate(v1, 17) ^ v2
            v2 = rotate(v2, 32)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v3 ^= word
        rounds(compress)
        v0 ^= word
    v2 ^= 0xFF
    rounds(finish)
    return v0 ^ v1 ^ v2 ^ v3


def hashed(domain: str, message: bytes) -> int:
    at = 16 * DOMAINS.index(domain)
    return siphash(MATERIAL[at : at + 16], message)


def timestamp(domain: str, nanoseconds: int) -> int:
    return hashed(domain, nanoseconds.to_bytes(16, "little", signed=True))


def fingerprint(key: object) -> int:
    """The fingerprint of one key under MATERIAL."""
    match key:
        case int():
            return key & MASK if key < 2**63 else hashed("big", key.to_bytes(8, "little"))
        case str():
            return hashed("text", key.encode("utf-8"))
        case bytes() | bytearray():
            return hashed("bytes", bytes(key))
        case datetime.datetime():
            zero = datetime.datetime(1970, 1, 1, tzinfo=None if key.tzinfo is None else datetime.UTC)
            microseconds = (key - zero) // datetime.timedelta(microseconds=1)
            return timestamp("naive" if key.tzinfo is None else "instant", 1000 * microseconds)
        case datetime.date():
            return hashed("date", (key - datetime.date(1970, 1, 1)).days.to_bytes(8, "little", signed=True))
        case uuid.UUID():
            return hashed("uuid", key.bytes)
        case tuple():
            return hashed("tuple", b"".join(fingerprint(part).to_bytes(8, "little") for part in key))
    raise TypeError(key)
