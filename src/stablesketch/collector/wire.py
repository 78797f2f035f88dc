"""A collector as bytes: its plan, its shards, its state; without the secret. Specified in docs/wire-format.md.

magic (8) | version (2) | kind (2) | plan: length (4), JSON | shards: count (4), each length (2), UTF-8, sorted
| state: length (8), bytes | checksum (8)

Kind 2 is a collector that expects no particular shards. Kind 3 has, after the shards that are in, the complete list of
those that are expected, in the same form.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable

from ..errors import BlobError, ForeignBlob, UnsupportedVersion
from ..sketch.wire import CHECKSUM_BYTES, MAGIC, VERSION, checksum

__all__ = ["Reader", "decode", "encode", "opened", "prefix"]

KIND_COLLECTOR = 2
KIND_COLLECTOR_OF_LISTED = 3
KIND_CHECKPOINT = 4
_PREFIX = struct.Struct("<8sHH")
_NAMES = {1: "a sketch; read it with Sketch.from_bytes", 2: "a collector", 3: "a collector", 4: "a checkpoint"}


def encode(plan: str, shards: Iterable[str], expected: Iterable[str] | None, state: bytes) -> bytes:
    """The canonical bytes: shards sorted, the plan in its canonical JSON."""
    raw = plan.encode()
    body = b"".join(
        (
            prefix(KIND_COLLECTOR if expected is None else KIND_COLLECTOR_OF_LISTED),
            struct.pack("<I", len(raw)),
            raw,
            _encode_names(shards),
            b"" if expected is None else _encode_names(expected),
            struct.pack("<Q", len(state)),
            state,
        )
    )
    return body + checksum(body)


def decode(blob: bytes) -> tuple[str, list[str], list[str] | None, bytes]:
    """(plan JSON, shards, those expected if they are listed, state), or a typed error."""
    kind, reader = opened(blob, "a collector", {KIND_COLLECTOR, KIND_COLLECTOR_OF_LISTED})
    try:
        plan = reader.take(reader.number("<I")).decode()
        shards = reader.names()
        expected = reader.names() if kind == KIND_COLLECTOR_OF_LISTED else None
        state = reader.take(reader.number("<Q"))
    except UnicodeDecodeError:
        raise BlobError("a collector with text that is not UTF-8.") from None
    if reader.left or (expected is not None and not set(shards) <= set(expected)):
        raise BlobError("a collector that is not in canonical form.")
    return plan, shards, expected, state


def prefix(kind: int) -> bytes:
    """The first 12 bytes."""
    return _PREFIX.pack(MAGIC, VERSION, kind)


def opened(blob: bytes, what: str, kinds: Collection[int]) -> tuple[int, Reader]:
    """The kind, and a reader of what is between the first 12 bytes and the checksum, both checked."""
    if not blob or blob[: len(MAGIC)] != MAGIC[: len(blob)]:
        raise ForeignBlob(f"these {len(blob)} bytes are not {what}: they do not begin as its bytes begin.")
    if len(blob) < _PREFIX.size:
        raise BlobError(f"{what} truncated to {len(blob)} bytes. Fetch it again from where it was stored.")
    _, version, kind = _PREFIX.unpack_from(blob)
    if version > VERSION:
        raise UnsupportedVersion(f"{what} of wire format {version}, and this version reads up to {VERSION}. Upgrade.")
    body, mark = blob[:-CHECKSUM_BYTES], blob[-CHECKSUM_BYTES:]
    if len(body) < _PREFIX.size or mark != checksum(body):
        raise BlobError(f"{what} truncated or corrupted: its checksum does not match. Fetch it again.")
    if version < VERSION:
        raise UnsupportedVersion(
            f"{what} of version {version} of the wire format, and this writes {VERSION}: their entries do not add up. "
            "Merge and release it with the version of stablesketch that wrote it."
        )
    if kind not in kinds:
        raise BlobError(f"a blob of kind {kind} ({_NAMES.get(kind, 'unknown')}), where {what} is needed.")
    return kind, Reader(body, _PREFIX.size)


class Reader:
    """Takes one field after another; running out is an error."""

    def __init__(self, body: bytes, position: int) -> None:
        self._body = body
        self._position = position

    @property
    def left(self) -> int:
        """Bytes not taken yet."""
        return len(self._body) - self._position

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        if count > self.left:
            raise BlobError("a collector that ends too early.")
        raw = self._body[self._position : self._position + count]
        self._position += count
        return raw

    def number(self, form: str) -> int:
        """The next number of this form."""
        (value,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return int(value)

    def names(self) -> list[str]:
        """The names of shards: one at least, none empty, sorted, none twice."""
        names = [self.take(self.number("<H")).decode() for _ in range(self.number("<I"))]
        if not names or not all(names) or names != sorted(set(names)):
            raise BlobError("a collector that is not in canonical form.")
        return names


def _encode_names(names: Iterable[str]) -> bytes:
    raw = [name.encode() for name in sorted(names)]
    return struct.pack("<I", len(raw)) + b"".join(struct.pack("<H", len(name)) + name for name in raw)
