"""Merging stored collectors without the secret: byte for byte what merging with it gives."""

from __future__ import annotations

import pytest

import stablesketch as ss
from stablesketch.collector import merge_blobs

BITS = bytes(range(32))


def plan_of(mechanism: str) -> ss.Plan:
    privacy = ss.Privacy(1.0, 1e-6, 3, max_value=10, relation="replace")
    if mechanism == "exact":
        return ss.plan(ss.Moment(0.5), privacy, mechanism="exact")
    return ss.plan(ss.Moment(0.5), privacy, size=20, mechanism=mechanism)  # type: ignore[arg-type]


def shard(plan: ss.Plan, name: str, keys: list[str], values: list[int], bits: bytes = BITS) -> bytes:
    collector = plan.open(ss.Secret.from_bytes(bits), name)
    collector.update(keys, values)
    return collector.to_bytes()


@pytest.mark.parametrize("mechanism", ["sketch", "exact", "bare"])
def test_the_same_bytes_as_with_the_secret(mechanism: str) -> None:
    plan = plan_of(mechanism)
    blobs = [
        shard(plan, "a", ["x", "y", "x"], [1, 2, 3]),
        shard(plan, "b", ["y", "z"], [10, 1]),
        shard(plan, "c", ["w"], [7]),
    ]
    secret = ss.Secret.from_bytes(BITS)
    first, *rest = [ss.Collector.from_bytes(blob, secret) for blob in blobs]
    for other in rest:
        first.merge(other)
    assert merge_blobs(blobs) == first.to_bytes() == merge_blobs(blobs[::-1])
    assert merge_blobs(blobs[:1]) == blobs[0]


@pytest.mark.parametrize("mechanism", ["sketch", "exact", "bare"])
def test_what_does_not_belong_together_is_refused(mechanism: str) -> None:
    plan = plan_of(mechanism)
    other_plan = ss.plan(ss.Moment(0.75), plan.privacy, size=20, mechanism="bare")
    blob = shard(plan, "a", ["x"], [1])
    with pytest.raises(ss.ShardMergedTwice, match="shard 'a' is already included"):
        merge_blobs([blob, blob])
    with pytest.raises(ss.MergeError, match="different plans"):
        merge_blobs([blob, shard(other_plan, "b", ["x"], [1])])
    with pytest.raises(ss.MergeError, match="different secrets"):
        merge_blobs([blob, shard(plan, "b", ["x"], [1], bytes(32))])
    with pytest.raises(ss.BlobError, match="checksum"):
        merge_blobs([blob, blob[:-9]])
    with pytest.raises(ss.ArgumentError, match="must not be empty"):
        merge_blobs([])
    with pytest.raises(ss.ArgumentTypeError, match="must be bytes"):
        merge_blobs(["text"])  # type: ignore[list-item]
