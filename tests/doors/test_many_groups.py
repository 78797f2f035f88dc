"""Many listed groups: a stated limit, and no more collectors in memory than are needed."""

from __future__ import annotations

import gc

import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.collector import Collector
from stablesketch.doors import group_collectors

PRIVACY = ss.Privacy(1.0, 1e-6, 0, relation="add_remove")


def table(groups: list[str], data: pa.Table, size: int = 20) -> list[ss.GroupRelease]:
    found = ss.release(data, ss.Moment(0.5), PRIVACY, key="k", by="g", groups=groups, size=size)
    assert isinstance(found, list)
    return found


def test_more_groups_than_there_is_room_for_are_refused_before_anything_is_read() -> None:
    names = [f"group {i}" for i in range(100_000)]
    with pytest.raises(ss.ArgumentError) as refused:
        table(names, pa.table({"k": ["a"], "g": [None]}, schema=pa.schema({"k": pa.string(), "g": pa.string()})), 1000)
    said = str(refused.value)
    assert said.startswith("groups = <100,000 names>: the sketch of each takes 64,000 bytes while data are read")
    assert "6.4 GB, and at most 4.3 GB are allowed. List at most 67,108 groups at a time" in said


def test_the_way_out_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_collectors, "MOST_BYTES", 64 * 20 * 3)
    data = pa.table({"k": ["a", "b", "c", "d"], "g": ["1", "2", "3", "4"]})
    with pytest.raises(ss.ArgumentError, match="List at most 3 groups at a time, or choose a smaller size"):
        table(["1", "2", "3", "4"], data)
    assert len(table(["1", "2", "3"], data)) == 3
    assert len(table(["1", "2", "3", "4"], data, 15)) == 4


def test_a_group_is_let_go_when_it_has_released(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    release = Collector.release

    def counting(self: Collector, **how: object) -> ss.Release:
        seen.append(sum(isinstance(one, Collector) for one in gc.get_objects()))
        return release(self, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Collector, "release", counting)
    names = [f"{i}" for i in range(40)]
    found = table(names, pa.table({"k": ["a"] * 40, "g": names}))
    assert [one.group for one in found] == [(name,) for name in names]
    assert seen[-1] <= seen[0] - 38
