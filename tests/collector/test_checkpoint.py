"""Checkpoints: a collector and how far it has read, in one file, whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from collector_helpers import filled, fresh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stablesketch as ss


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.ssk"


def test_state_and_offset_of_one_moment(plan: ss.Plan, path: Path) -> None:
    collector = plan.open(fresh(), shard="eu-1")
    assert collector.offset is None
    collector.update(["a", "b"], [3, 4])
    collector.checkpoint(path, offset=2)
    assert collector.offset == 2
    before = collector.to_bytes()
    collector.update(["c"])  # counted, and then the process is killed
    resumed = ss.Collector.resume(path, fresh())
    assert resumed.offset == 2
    assert resumed.to_bytes() == before
    assert resumed.shards == {"eu-1"}
    resumed.update(["c"])
    resumed.checkpoint(path, offset=3)
    assert ss.Collector.resume(path, fresh()).to_bytes() == collector.to_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    offset=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_any_offset_that_json_can_hold(
    sketch_plan: ss.Plan, tmp_path_factory: pytest.TempPathFactory, offset: Any
) -> None:
    path = tmp_path_factory.mktemp("states") / "one"
    try:
        sketch_plan.open(fresh()).checkpoint(path, offset=offset)
    except ss.ArgumentError:
        assert not path.exists()  # text that UTF-8 cannot write
        return
    assert ss.Collector.resume(path, fresh()).offset == offset


@pytest.mark.parametrize("offset", [float("nan"), {1: 2}, (1, 2), b"x", object(), {"a": {2, 3}}])
def test_offsets_that_would_come_back_otherwise(plan: ss.Plan, path: Path, offset: object) -> None:
    collector = filled(plan)
    with pytest.raises(ss.ArgumentError, match="must survive a round trip through JSON"):
        collector.checkpoint(path, offset=offset)
    assert not path.exists()
    assert collector.offset is None


def test_a_file_that_somebody_else_wrote_is_not_replaced(plan: ss.Plan, path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(ss.CheckpointError, match="was not written by this collector"):
        filled(plan).checkpoint(path, offset=1)
    assert path.read_text() == "mine"
    other = path.with_name("other")
    filled(plan).checkpoint(other, offset=1)
    with pytest.raises(ss.CheckpointError, match=r"Collector\.resume"):
        filled(plan).checkpoint(other, offset=1)
    assert ss.Collector.resume(other, fresh()).offset == 1


def test_of_two_that_resumed_one_checkpoint_the_second_is_refused(plan: ss.Plan, path: Path) -> None:
    filled(plan).checkpoint(path, offset=1)
    one, other = (ss.Collector.resume(path, fresh()) for _ in range(2))
    one.checkpoint(path, offset=2)
    with pytest.raises(
        ss.CheckpointError, match="is checkpoint 2, but this collector continues from 1: another process"
    ):
        other.checkpoint(path, offset=5)
    one.checkpoint(path, offset=3)
    assert ss.Collector.resume(path, fresh()).offset == 3


def test_a_checkpoint_that_went_away_is_noticed(plan: ss.Plan, path: Path) -> None:
    collector = filled(plan)
    collector.checkpoint(path, offset=1)
    path.unlink()
    with pytest.raises(ss.CheckpointError, match="no longer exists"):
        collector.checkpoint(path, offset=2)
    path.write_bytes(b"something else")
    with pytest.raises(ss.CheckpointError, match="no longer a valid checkpoint"):
        collector.checkpoint(path, offset=2)
    assert path.read_bytes() == b"something else"


def test_files_that_are_no_checkpoint(plan: ss.Plan, path: Path) -> None:
    with pytest.raises(ss.CheckpointError, match="No such file"):
        ss.Collector.resume(path, fresh())
    filled(plan).checkpoint(path, offset=1)
    good = path.read_bytes()
    for length in range(0, len(good), 7):
        path.write_bytes(good[:length])
        with pytest.raises(ss.BlobError):
            ss.Collector.resume(path, fresh())
    for at in range(0, len(good), 11):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        with pytest.raises(ss.BlobError):
            ss.Collector.resume(path, fresh())
    path.write_bytes(filled(plan).to_bytes())
    with pytest.raises(ss.BlobError, match=r"expected a checkpoint, got .*a collector"):
        ss.Collector.resume(path, fresh())
    path.write_bytes(good)
    with pytest.raises(ss.BlobError, match=r"expected a collector, got .*a checkpoint"):
        ss.Collector.from_bytes(good, fresh())
    with pytest.raises(ss.SecretMismatch):
        ss.Collector.resume(path, ss.Secret.generate())


def test_a_checkpoint_of_a_spent_secret_is_not_resumed(plan: ss.Plan, path: Path) -> None:
    secret = ss.Secret.generate()
    collector = filled(plan, secret)
    collector.checkpoint(path, offset=20)
    collector.release()
    with pytest.raises(ss.SecretSpent):
        ss.Collector.resume(path, secret)


def test_a_resumed_shard_is_the_same_shard(plan: ss.Plan, path: Path) -> None:
    collector = filled(plan, shard="eu-1")
    collector.checkpoint(path, offset=20)
    total = filled(plan, shard="sum")
    total.merge(collector)
    with pytest.raises(ss.ShardMergedTwice):
        total.merge(ss.Collector.resume(path, fresh()))


def test_the_secret_is_not_in_the_file(plan: ss.Plan, path: Path) -> None:
    filled(plan).checkpoint(path, offset={"partition": 3, "offset": 17})
    content = path.read_bytes()
    assert bytes(range(32)) not in content
    assert bytes(range(32)).hex().encode() not in content


def test_a_folder_that_is_not_there(plan: ss.Plan, tmp_path: Path) -> None:
    collector = filled(plan)
    with pytest.raises(ss.CheckpointError, match="or its folder no longer exists"):
        collector.checkpoint(tmp_path / "no" / "state", offset=1)
    collector.checkpoint(tmp_path / "state", offset=1)
    assert os.listdir(tmp_path) == ["state"]
