"""The frame of every blob: a header that says what it contains, fields, and a checksum. Specified in
docs/wire-format.md.

magic (8) | version (2) | kind (2) | fields of the kind | checksum (8)

The format is canonical: one content, one byte string. A reader refuses anything that a writer would not have written
(an integer with a superfluous byte, bytes after the end), even if it could guess the meaning.
"""

from __future__ import annotations

import hashlib
import struct
from enum import IntEnum
from typing import Any

from .._native import integers_end
from ..errors import BlobError, ForeignBlob, UnsupportedVersion
from ..text.wording import either

MAGIC = b"\x89SSK\r\n\x1a\n"  # not text, and damaged by anything that treats it as text
VERSION = 1
MOST_COUNTED = 2**256  # pairs or total: no stream comes near, but a sketch merged with itself repeatedly might

_HEADER = struct.Struct("<8sHH")  # magic, version, kind
_CHECKSUM_BYTES = 8
FRAME_BYTES = _HEADER.size + _CHECKSUM_BYTES


class Kind(IntEnum):
    SKETCH = 1
    COLLECTOR = 2
    COLLECTOR_OF_LISTED = 3
    CHECKPOINT = 4
    REGISTERS = 5
    BUCKETED_SKETCH = 6


NAMES = {
    Kind.SKETCH: ("a sketch", "Sketch.from_bytes"),
    Kind.COLLECTOR: ("a collector", "Collector.from_bytes"),
    Kind.COLLECTOR_OF_LISTED: ("a collector", "Collector.from_bytes"),
    Kind.CHECKPOINT: ("a checkpoint", "Collector.resume"),
    Kind.REGISTERS: ("a set of registers", "DistinctRegisters.from_bytes"),
    Kind.BUCKETED_SKETCH: ("a sketch", "Sketch.from_bytes"),
}
"""What a blob of each kind is, and what reads it."""


def framed(kind: Kind, *fields: bytes) -> bytes:
    """The blob with these fields."""
    body = b"".join((_HEADER.pack(MAGIC, VERSION, kind), *fields))
    return body + _checksum(body)


def unframed(blob: bytes, *kinds: Kind) -> tuple[Kind, Reader]:
    """The kind, one of `kinds`, and a reader of the fields, after the header and the checksum have been checked."""
    what = NAMES[kinds[0]][0]
    if kinds[0] in (Kind.COLLECTOR, Kind.COLLECTOR_OF_LISTED):
        what = either(what, "a stored sketch")
    if not blob or blob[: len(MAGIC)] != MAGIC[: len(blob)]:
        written = NAMES[kinds[0]][1].replace("from_bytes", "to_bytes").replace("resume", "checkpoint")
        raise ForeignBlob(f"these {len(blob)} bytes are not {what}: unrecognised header. Pass the result of {written}.")
    if len(blob) < _HEADER.size:
        raise BlobError(f"{what} is truncated to {len(blob)} bytes. Fetch it again from where it was stored.")
    _, version, found = _HEADER.unpack_from(blob)
    if version > VERSION:
        raise UnsupportedVersion(
            f"{what} has wire format {version}, but this version of stablesketch reads only up to {VERSION}. "
            "Upgrade it."
        )
    body = blob[:-_CHECKSUM_BYTES]
    if len(body) < _HEADER.size or blob[-_CHECKSUM_BYTES:] != _checksum(body):
        raise BlobError(f"the checksum of {what} does not match: truncated or corrupt data. Fetch it again.")
    if version < VERSION:
        raise BlobError(f"invalid wire format version {version} of {what}: corrupt data.")
    if found not in kinds:
        named = "{}, read by {}".format(*NAMES[Kind(found)]) if found in NAMES else "unknown"
        raise BlobError(f"expected {what}, got a blob of kind {found} ({named}).")
    return Kind(found), Reader(what, body, _HEADER.size)


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()[:_CHECKSUM_BYTES]


_WRONG = {
    "missing": "ends before its last integer",
    "cut": "ends in the middle of an integer",
    "long": "has an integer that is not in its shortest form",
}


class Reader:
    """Takes one field after another from `body`. If it ends too early, the error names `what` it is."""

    def __init__(self, what: str, body: bytes, position: int = 0) -> None:
        self._what = what
        self._body = body
        self._position = position

    @property
    def left(self) -> int:
        """Bytes not taken yet."""
        return len(self._body) - self._position

    def take(self, count: int) -> bytes:
        """The next `count` bytes as they are."""
        if count > self.left:
            raise BlobError(f"{self._what} ends too early: corrupt data.")
        raw = self._body[self._position : self._position + count]
        self._position += count
        return raw

    def rest(self) -> bytes:
        return self.take(self.left)

    def unpack(self, form: struct.Struct) -> tuple[Any, ...]:
        """The next numbers of this form."""
        return form.unpack(self.take(form.size))

    def sized(self, length: struct.Struct) -> bytes:
        """A length of this form, then that many bytes."""
        (count,) = self.unpack(length)
        return self.take(count)

    def packed(self, count: int) -> bytes:
        """The next `count` integers, each in its shortest form, as they are: so the compiled core reads them."""
        end, wrong = integers_end(self._body, self._position, count)
        if wrong:
            raise BlobError(f"{self._what} {_WRONG[wrong]}: corrupt data.")
        return self.take(end - self._position)

    def integer(self) -> int:
        (value,) = unpacked_integers(self.packed(1))
        return value

    def counts(self) -> tuple[int, int]:
        """Pairs and total, within what any stream can have."""
        pairs, total = unpacked_integers(self.packed(2))
        if not counts_are_possible(pairs, total):
            raise BlobError(f"impossible number of pairs or total in {self._what}: corrupt data.")
        return pairs, total

    def end(self) -> None:
        if self.left:
            raise BlobError(f"{self.left} bytes after the end of {self._what}: corrupt data.")


def unpacked_integers(raw: bytes) -> list[int]:
    """The integers that `encode_integer` wrote one after another."""
    values, at = [], 0
    while at < len(raw):
        end = at + 1 + raw[at]
        values.append(int.from_bytes(raw[at + 1 : end], "little", signed=True))
        at = end
    return values


def encode_integer(value: int) -> bytes:
    """One length byte, then the shortest little-endian two's complement; zero is the length byte 0 alone."""
    length = 0 if value == 0 else (value if value >= 0 else ~value).bit_length() // 8 + 1
    return bytes((length,)) + value.to_bytes(length, "little", signed=True)


def counts_are_possible(pairs: int, total: int = 0) -> bool:
    """Whether a stream can have this many pairs and this total, counting deletes as negative. A float can hold both."""
    return max(abs(pairs), abs(total)) <= MOST_COUNTED
