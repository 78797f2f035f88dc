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
        "groups = <100,000 names>: the sketch of each takes 1,280 bytes while data are read, all of them 0.1 GB, and "
        "at most 0.1 GB are allowed. List at most 50,000 groups at a time, or choose a smaller size (--size, size=)."
    )


def test_the_way_out_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_collectors, "MOST_BYTES", 64 * 20 * 3)
    data = pa.table({"k": ["a", "b", "c", "d"], "g": ["1", "2", "3", "4"]})
    with pytest.raises(ss.ArgumentError, match="List at most 3 groups at a time"):
        table(["1", "2", "3", "4"], data)
    assert len(table(["1", "2", "3"], data)) == 3


def test_a_group_is_let_go_when_it_has_released(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def counting(collectors: list[Collector], *terms: Any, **how: Any) -> list[ss.Release]:
        seen.append(sum(isinstance(one, Collector) for one in gc.get_objects()))
        return released(collectors, *terms, **how)

    monkeypatch.setattr(sys.modules["stablesketch.release.publish"], "released", counting)
    names = [f"{i}" for i in range(12)]
    found = table(names, pa.table({"k": ["a"] * 12, "g": names}))
    assert [one.group for one in found] == [(name,) for name in names]
    assert seen[-1] <= seen[0] - 10
