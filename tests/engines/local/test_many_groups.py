"""Many listed groups: a stated limit, and no more collectors in memory than are needed."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.collector import Collector
from stablesketch.collector.releasing import released
from stablesketch.engines.local import group_collectors
from stablesketch.engines.local.group_collectors import ListedGroups
from stablesketch.engines.local.pour import pour_groups

PRIVACY = ss.Privacy(1.0, 1e-6, 0, relation="add_remove")


def table(groups: list[str], data: pa.Table) -> ss.Outcome:
    found = ss.release(data, ss.Moment(0.5), PRIVACY, key="k", by="g", groups=groups, size=20)
    assert isinstance(found, ss.Outcome)
    return found


def test_more_groups_than_there_is_room_for_are_refused_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group_collectors, "MOST_BYTES", 64 * 20 * 50_000)
    unreadable = pa.table({"k": ["a"], "g": pa.array([None], pa.string())})
    with pytest.raises(ss.ArgumentError) as refused:
        table([f"group {i}" for i in range(100_000)], unreadable)
    assert str(refused.value) == (
        "groups must need at most 0.1 GB in memory, got 100,000 names: 100,000 sketches of 1,280 bytes need 0.1 GB. "
        "List at most 50,000 groups at a time, or choose a smaller size (size=)."
    )


def test_the_way_out_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_collectors, "MOST_BYTES", 64 * 20 * 3)
    data = pa.table({"k": ["a", "b", "c", "d"], "g": ["1", "2", "3", "4"]})
    with pytest.raises(ss.ArgumentError, match="List at most 3 groups at a time"):
        table(["1", "2", "3", "4"], data)
    assert len(table(["1", "2", "3"], data)) == 3


def test_one_group_at_a_time_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def counting(collectors: list[Collector], *terms: Any, **how: Any) -> list[ss.Release]:
        seen.append(sum(isinstance(one, Collector) for one in gc.get_objects()))
        return released(collectors, *terms, **how)

    monkeypatch.setattr(sys.modules["stablesketch.release.publish"], "released", counting)
    names = [f"{i}" for i in range(12)]
    found = table(names, pa.table({"k": ["a"] * 12, "g": names}))
    assert [one.group for one in found] == [(name,) for name in names]
    assert max(seen) <= seen[0] + 1


@pytest.mark.parametrize("most", [0, 100, 1 << 22])
def test_pairs_that_wait_are_all_counted(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(group_collectors, "_MOST_WAITING", most)
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=50)
    secret = ss.Secret.from_bytes(bytes(range(32)))
    names = [(str(i),) for i in range(7)]
    listed = ListedGroups(names, plan, lambda _: plan.open(secret, "s"))
    keys = [f"key {i % 90}" for i in range(5_000)]
    groups = [str(i * i % 6) for i in range(5_000)]
    batches = pa.table({"k0": keys, "g0": groups}).to_batches(max_chunksize=300)
    assert not pour_groups(batches, listed, clip=False)
    met = dict(listed.met())
    assert [names[code][0] for code in met] == sorted(set(groups))
    for code, collector in met.items():
        own = plan.open(secret, "s")
        own.update([key for key, group in zip(keys, groups, strict=True) if (group,) == names[code]])
        assert collector.to_bytes() == own.to_bytes()
