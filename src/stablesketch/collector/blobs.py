"""Merging stored collectors without the secret: their states add up as integers, whatever key they were made with."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError, ArgumentTypeError, MergeError, ShardMergedTwice
from ..plan import Plan
from ..plan.mechanism import mechanism_of
from . import wire

__all__ = ["merge_blobs"]


def merge_blobs(blobs: Sequence[bytes]) -> bytes:
    """The blob of all these collectors together: what `Collector.merge` and `to_bytes` would give, without the secret.

    They must have the same plan and the same secret, which is known by its fingerprint, and no shard in common.
    """
    if not blobs:
        raise ArgumentError("blobs", [], "nothing to merge", "Pass what Collector.to_bytes() gave, once or more")
    for blob in blobs:
        if not isinstance(blob, bytes):
            raise ArgumentTypeError("blobs", type(blob), "not bytes", "Pass what Collector.to_bytes() gave")
    parts = [wire.decode(blob) for blob in blobs]
    text, _, expected, _ = parts[0]
    plan = Plan.from_json(text)
    shards: set[str] = set()
    for own, names, listed, _ in parts:
        if own != text or listed != expected:
            raise MergeError("collectors of different plans cannot be merged: open every shard from the same plan.")
        again = sorted(shards.intersection(names))
        if again:
            raise ShardMergedTwice(
                f"shard {again[0]!r} is in already: its pairs would count twice. Merge each shard once."
            )
        shards.update(names)
    merged = mechanism_of(plan).state.merged(plan, [state for *_, state in parts])
    return wire.encode(text, shards, expected, merged)
