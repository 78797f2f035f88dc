"""A collector as bytes: its plan, its shards, its state; without the secret. Specified in docs/wire-format.md.

magic (8) | version (2) | kind (2) = 2 | plan: length (4), JSON | shards: count (4), each length (2), UTF-8, sorted
| state: length (8), bytes | checksum (8)
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from ..errors import BlobError, ForeignBlob, UnsupportedVersion
from ..sketch.wire import CHECKSUM_BYTES, MAGIC, VERSION, checksum

__all__ = ["decode", "encode"]

KIND_COLLECTOR = 2
_PREFIX = struct.Struct("<8sHH")


def encode(plan: str, shards: Iterable[str], state: bytes) -> bytes:
    """The canonical bytes: shards sorted, the plan in its canonical JSON."""
    names = [name.encode() for name in sorted(shards)]
    raw = plan.encode()
    body = b"".join(
        (
            _PREFIX.pack(MAGIC, VERSION, KIND_COLLECTOR),
            struct.pack("<I", len(raw)),
            raw,
            struct.pack("<I", len(names)),
            *(struct.pack("<H", len(name)) + name for name in names),
            struct.pack("<Q", len(state)),
            state,
        )
    )
    return body + checksum(body)


def decode(blob: bytes) -> tuple[str, list[str], bytes]:
    """(plan JSON, shards, state), or a typed error."""
    if not blob or blob[: len(MAGIC)] != MAGIC[: len(blob)]:
        raise ForeignBlob(
            f"these {len(blob)} bytes are not a collector: they do not begin as Collector.to_bytes() begins."
        )
    if len(blob) < _PREFIX.size:
        raise BlobError(f"a collector truncated to {len(blob)} bytes. Fetch it again from where it was stored.")
    _, version, kind = _PREFIX.unpack_from(blob)
    if version > VERSION:
        raise UnsupportedVersion(
            f"the collector has wire format {version}, and this version reads up to {VERSION}. Upgrade."
        )
    body, mark = blob[:-CHECKSUM_BYTES], blob[-CHECKSUM_BYTES:]
    if len(body) < _PREFIX.size or mark != checksum(body):
        raise BlobError("a collector truncated or corrupted: its checksum does not match. Fetch it again.")
    if version < 1:
        raise BlobError(f"a blob of version {version}, which nothing has ever written.")
    if kind != KIND_COLLECTOR:
        raise BlobError(
            f"a blob of kind {kind}, and a collector is of kind {KIND_COLLECTOR}. Read a sketch with Sketch.from_bytes."
        )
    try:
        reader = _Reader(body, _PREFIX.size)
        plan = reader.take(reader.number("<I")).decode()
        shards = [reader.take(reader.number("<H")).decode() for _ in range(reader.number("<I"))]
        state = reader.take(reader.number("<Q"))
    except UnicodeDecodeError:
        raise BlobError("a collector with text that is not UTF-8.") from None
    if reader.left or not shards or not all(shards) or shards != sorted(set(shards)):
        raise BlobError("a collector that is not in canonical form.")
    return plan, shards, state


class _Reader:
    def __init__(self, body: bytes, position: int) -> None:
        self._body = body
        self._position = position

    @property
    def left(self) -> int:
        return len(self._body) - self._position

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise BlobError("a collector that ends too early.")
        raw = self._body[self._position : self._position + count]
        self._position += count
        return raw

    def number(self, form: str) -> int:
        (value,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return int(value)
