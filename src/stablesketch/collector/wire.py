"""A collector as bytes: its plan, shards and state, without the secret. Specified in docs/wire-format.md.

plan: length (4), JSON | shards: count (4), each length (2), UTF-8, sorted | state: length (8), bytes

Kind 2 is a collector that expects no particular shards. In kind 3, the merged shards are followed by the complete list
of expected shards, in the same form. States add up as integers, whatever key they were made with.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from ..errors import ArgumentError, BlobError, MergeError, check_type
from ..format.framing import Kind, Reader, framed, unframed
from ..plan import Plan
from ..plan.mechanism import mechanism_of
from .shards import Shards

_SHORT, _LONG, _LONGEST = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")


def encode(plan: str, shards: Iterable[str], expected: Iterable[str] | None, state: bytes) -> bytes:
    """The canonical bytes: shards sorted, the plan in its canonical JSON."""
    raw = plan.encode()
    return framed(
        Kind.COLLECTOR if expected is None else Kind.COLLECTOR_OF_LISTED,
        _LONG.pack(len(raw)),
        raw,
        encode_names(shards),
        b"" if expected is None else encode_names(expected),
        _LONGEST.pack(len(state)),
        state,
    )


def decode(blob: bytes) -> tuple[str, list[str], list[str] | None, bytes]:
    """(plan JSON, shards, expected shards if they are listed, state), or a typed error."""
    kind, reader = unframed(blob, Kind.COLLECTOR, Kind.COLLECTOR_OF_LISTED)
    try:
        plan = reader.sized(_LONG).decode()
        shards = _names(reader)
        expected = _names(reader) if kind == Kind.COLLECTOR_OF_LISTED else None
    except UnicodeDecodeError:
        raise BlobError("invalid UTF-8 in a collector: corrupt data.") from None
    state = reader.sized(_LONGEST)
    reader.end()
    if expected is not None and not set(shards) <= set(expected):
        raise BlobError("unexpected shard in a collector: corrupt data.")
    return plan, shards, expected, state


def merge_blobs(blobs: Sequence[bytes]) -> bytes:
    """The merged blob of these collectors: what `Collector.merge` and `to_bytes` would return, without the secret.

    They must have the same plan, the same secret (compared by its fingerprint) and no shard in common.
    """
    if not blobs:
        raise ArgumentError("blobs", [], "must not be empty", "Pass one or more results of Collector.to_bytes()")
    for blob in blobs:
        check_type("blobs", blob, bytes, "must be bytes", "Pass results of Collector.to_bytes()")
    parts = [decode(blob) for blob in blobs]
    text, _, expected, _ = parts[0]
    plan = Plan.from_json(text)
    shards = Shards(())
    for own, names, listed, _ in parts:
        if own != text or listed != expected:
            raise MergeError("collectors of different plans cannot be merged: open every shard from the same plan.")
        own_shards = Shards(names)
        shards.check_apart(own_shards)
        shards.add(own_shards)
    merged = mechanism_of(plan).state.merged(plan, [state for *_, state in parts])
    return encode(text, shards.names, expected, merged)


def encode_names(names: Iterable[str]) -> bytes:
    """The names of shards, sorted."""
    raw = [name.encode() for name in sorted(names)]
    return _LONG.pack(len(raw)) + b"".join(_SHORT.pack(len(name)) + name for name in raw)


def _names(reader: Reader) -> list[str]:
    """At least one name, none empty, sorted, without duplicates."""
    (count,) = reader.unpack(_LONG)
    names = [reader.sized(_SHORT).decode() for _ in range(count)]
    if not names or not all(names) or names != sorted(set(names)):
        raise BlobError("invalid shard names in a collector: corrupt data.")
    return names
