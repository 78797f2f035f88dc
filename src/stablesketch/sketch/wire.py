"""A sketch as bytes, of kind 1, or 6 with buckets, exactly as docs/wire-format.md specifies."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..errors import BlobError
from ..format.framing import Kind, encode_integer, framed, unframed, unpacked_integers
from .entry_law import ENTROPY

_HEADER = struct.Struct("<dIH8s")  # p, size, resolution, fingerprint of the secret
_BUCKETS = struct.Struct("<I")  # follows the header if the sketch has buckets


@dataclass(frozen=True)
class Frame:
    """The content of a blob; `p` is the number of its law (entry_law.py). `entries` holds integers in units of
    2^-resolution, as `unpacked_integers` reads them and the compiled core packs them.

    With buckets, entry j of bucket b is number b * size // buckets + j; a sketch of entropy also has a total for each
    bucket, which its estimate needs.
    """

    p: float
    size: int
    resolution: int
    secret_fingerprint: bytes
    pairs: int
    total: int
    entries: bytes
    buckets: int = 1
    totals: bytes = b""


def encode(frame: Frame) -> bytes:
    """The bytes of a frame; equal frames give equal bytes."""
    return framed(
        Kind.SKETCH if frame.buckets == 1 else Kind.BUCKETED_SKETCH,
        _HEADER.pack(frame.p, frame.size, frame.resolution, frame.secret_fingerprint),
        b"" if frame.buckets == 1 else _BUCKETS.pack(frame.buckets),
        encode_integer(frame.pairs),
        encode_integer(frame.total),
        frame.entries,
        frame.totals,
    )


def decode(blob: bytes) -> Frame:
    """The frame of `blob`, or a typed error: `ForeignBlob`, `UnsupportedVersion` or `BlobError`."""
    kind, reader = unframed(blob, Kind.SKETCH, Kind.BUCKETED_SKETCH)
    p, size, resolution, fingerprint = reader.unpack(_HEADER)
    buckets = 1
    if kind == Kind.BUCKETED_SKETCH:
        (buckets,) = reader.unpack(_BUCKETS)
        if not 1 < buckets <= size:
            raise BlobError(f"{size} entries cannot be divided into {buckets} buckets: corrupt data.")
    if size > reader.left:  # every entry has at least its length byte: refuse before allocating
        raise BlobError(f"a sketch of {len(blob)} bytes cannot hold {size} entries: corrupt data.")
    pairs, total = reader.counts()
    entries = reader.packed(size)
    totals = reader.packed(buckets) if buckets > 1 and p == ENTROPY.number else b""
    reader.end()
    if totals and sum(unpacked_integers(totals)) != total:
        raise BlobError("the totals of the buckets do not add up to the total of the sketch: corrupt data.")
    return Frame(p, size, resolution, fingerprint, pairs, total, entries, buckets, totals)
