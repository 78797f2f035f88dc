"""The wire format, version 1: a sketch as bytes, byte for byte as docs/wire-format.md specifies it.

The format is canonical: one net stream, one byte string. So the decoder refuses whatever the encoder would not have
written (an integer with a superfluous byte, bytes after the end) even where it could guess what was meant.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from .._native import integers_end
from ..errors import BlobError, ForeignBlob, UnsupportedVersion
from .entry_law import ENTROPY

__all__ = [
    "CHECKSUM_BYTES",
    "MAGIC",
    "PREFIX_BYTES",
    "VERSION",
    "Frame",
    "IntegerReader",
    "PackedIntegers",
    "checksum",
    "counts_are_possible",
    "decode",
    "encode",
    "encode_integer",
    "opened",
    "prefix",
    "totals_of",
]

MAGIC = b"\x89SSK\r\n\x1a\n"  # not text, and broken by whatever treats it as text
VERSION = 1
KIND_SKETCH = 1
KIND_BUCKETED_SKETCH = 6
CHECKSUM_BYTES = 8
MOST_COUNTED = 2**256  # pairs, or total: no stream comes near, a sketch merged with itself again and again might

_PREFIX = struct.Struct("<8sHH")  # magic, version, kind
PREFIX_BYTES = _PREFIX.size
_HEADER = struct.Struct("<dIH8s")  # p, size, resolution, fingerprint of the secret
_BUCKETS = struct.Struct("<I")  # follows, of a sketch in buckets


class PackedIntegers(Sequence[int]):
    """Integers one after the other as the wire has them, which is how the compiled core reads and writes entries.

    They are known to be good: `raw` is as many integers in their shortest form, and nothing else.
    """

    def __init__(self, raw: bytes, count: int) -> None:
        self.raw = raw
        self._count = count

    @classmethod
    def of(cls, integers: Sequence[int]) -> PackedIntegers:
        if isinstance(integers, PackedIntegers):
            return integers
        return cls(b"".join(map(encode_integer, integers)), len(integers))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        at = 0
        for _ in range(self._count):
            end = at + 1 + self.raw[at]
            yield int.from_bytes(self.raw[at + 1 : end], "little", signed=True)
            at = end

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...
    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        return list(self)[at]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.raw)


@dataclass(frozen=True)
class Frame:
    """What a blob holds. Entry j of the sketch is `entries[j]` times 2^-resolution; `p` is the number of its law
    (entry_law.py).

    Of a sketch in buckets, entry j of bucket b is `entries[b * size // buckets + j]`; that of entropy has `totals`.
    """

    p: float
    size: int
    resolution: int
    secret_fingerprint: bytes
    pairs: int
    total: int
    entries: Sequence[int]
    buckets: int = 1
    totals: Sequence[int] = ()


def totals_of(p: float, buckets: int) -> int:
    """How many totals of buckets a sketch has: one each if it is entropy's, whose estimate needs them."""
    return buckets if buckets > 1 and p == ENTROPY.number else 0


def encode(frame: Frame) -> bytes:
    """The bytes of a frame; equal frames give equal bytes."""
    parts = [
        prefix(KIND_SKETCH if frame.buckets == 1 else KIND_BUCKETED_SKETCH),
        _HEADER.pack(frame.p, frame.size, frame.resolution, frame.secret_fingerprint),
        b"" if frame.buckets == 1 else _BUCKETS.pack(frame.buckets),
        encode_integer(frame.pairs),
        encode_integer(frame.total),
        PackedIntegers.of(frame.entries).raw,
        PackedIntegers.of(frame.totals).raw,
    ]
    body = b"".join(parts)
    return body + checksum(body)


def decode(blob: bytes) -> Frame:
    """The frame of `blob`, or a typed error: `ForeignBlob`, `UnsupportedVersion` or `BlobError`."""
    in_buckets = blob[len(MAGIC) : _PREFIX.size] == prefix(KIND_BUCKETED_SKETCH)[len(MAGIC) :]
    if in_buckets:
        body = opened(blob, KIND_BUCKETED_SKETCH, "a sketch", "Sketch", _HEADER.size + _BUCKETS.size)
    else:
        body = opened(blob, KIND_SKETCH, "a sketch", "Sketch", _HEADER.size)
    p, size, resolution, fingerprint = _HEADER.unpack_from(blob, _PREFIX.size)
    at, buckets = _PREFIX.size + _HEADER.size, 1
    if in_buckets:
        (buckets,) = _BUCKETS.unpack_from(blob, at)
        at += _BUCKETS.size
        if not 1 < buckets <= size:
            raise BlobError(f"a sketch of {size} entries in {buckets} buckets, which nothing writes.")
    reader = IntegerReader(body, at)
    if size > len(body):  # every entry has at least its length byte: refuse before allocating
        raise BlobError(f"a sketch of {len(body)} bytes cannot hold {size} entries.")
    pairs, total = reader.counts()
    entries = reader.integers(size)
    totals = reader.integers(totals_of(p, buckets))
    reader.end()
    if totals and sum(totals) != total:
        raise BlobError("a sketch whose buckets have other totals than all of it.")
    return Frame(p, size, resolution, fingerprint, pairs, total, entries, buckets, totals)


def prefix(kind: int) -> bytes:
    """The first 12 bytes of a blob."""
    return _PREFIX.pack(MAGIC, VERSION, kind)


def opened(blob: bytes, kind: int, what: str, written_by: str, header: int) -> bytes:
    """The blob without its checksum, once its beginning, version, checksum and kind have been looked at.

    `what` it is and the class it is `written_by` are for the errors; `header` bytes must follow the first 12.
    """
    if blob[: len(MAGIC)] != MAGIC[: len(blob)] or not blob:
        raise ForeignBlob(
            f"these {len(blob)} bytes are not {what}: they do not begin as {written_by}.to_bytes() begins."
        )
    if len(blob) < _PREFIX.size:
        raise BlobError(f"{what} truncated to {len(blob)} bytes. Fetch it again from where it was stored.")
    _, version, found = _PREFIX.unpack_from(blob)
    if version > VERSION:
        raise UnsupportedVersion(
            f"{what} of wire format {version}, and this version of stablesketch reads up to {VERSION}. Upgrade it."
        )
    body, seal = blob[:-CHECKSUM_BYTES], blob[-CHECKSUM_BYTES:]
    if len(body) < _PREFIX.size + header or seal != checksum(body):
        raise BlobError(f"{what} truncated or corrupted: its checksum does not match. Fetch it again.")
    if version < 1 or found != kind:
        raise BlobError(f"a blob of version {version} and kind {found}, and {what} has kind {kind}.")
    return body


def encode_integer(value: int) -> bytes:
    """One length byte, then the shortest little-endian two's complement; zero is the length byte 0 alone."""
    length = 0 if value == 0 else (value if value >= 0 else ~value).bit_length() // 8 + 1
    return bytes((length,)) + value.to_bytes(length, "little", signed=True)


def counts_are_possible(pairs: int, total: int = 0) -> bool:
    """Whether a stream can have so many pairs and this total, deletes counted as negative: a float holds both."""
    return max(abs(pairs), abs(total)) <= MOST_COUNTED


def checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()[:CHECKSUM_BYTES]


_WRONG = {
    "missing": "a sketch that ends before its last entry.",
    "cut": "a sketch that ends within an entry.",
    "long": "a sketch with an integer that is not in its shortest form.",
}


class IntegerReader:
    """Reads integers one after the other and refuses every encoding but the shortest."""

    def __init__(self, body: bytes, position: int) -> None:
        self._body = body
        self._position = position

    def integers(self, count: int) -> PackedIntegers:
        """The next `count` integers."""
        end, wrong = integers_end(self._body, self._position, count)
        if wrong:
            raise BlobError(_WRONG[wrong])
        raw = self._body[self._position : end]
        self._position = end
        return PackedIntegers(raw, count)

    def integer(self) -> int:
        (value,) = self.integers(1)
        return value

    def counts(self) -> tuple[int, int]:
        """Pairs and total, within what any stream can have."""
        pairs, total = self.integer(), self.integer()
        if not counts_are_possible(pairs, total):
            raise BlobError("a blob of more pairs, or of a larger total, than any stream can have.")
        return pairs, total

    def take(self, count: int) -> bytes:
        """The next `count` bytes as they are."""
        raw = self._body[self._position : self._position + count]
        if len(raw) != count:
            raise BlobError("a blob that ends too early.")
        self._position += count
        return raw

    def rest(self) -> bytes:
        """All bytes that are left."""
        raw = self._body[self._position :]
        self._position = len(self._body)
        return raw

    def end(self) -> None:
        if self._position != len(self._body):
            raise BlobError(f"a sketch with {len(self._body) - self._position} bytes after its last entry.")
