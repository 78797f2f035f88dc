"""A monitor that is stopped while it releases many windows ends at once, and the next run releases the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from monitor_tools import Time, at, rows, totals, watch

import stablesketch as ss
from stablesketch.monitor import Monitor
from stablesketch.monitor.input.blocks import Block
from stablesketch.monitor.state.state import MonitorState

BACKLOG = 12  # windows that a pause has left to release


def stopped_after(
    most: int, folder: Path, ledger: ss.Ledger, blocks: Sequence[Block], second: float, *, replays: bool
) -> list[dict[str, Any]]:
    """The records of a run that is stopped when it has delivered so many windows."""
    found: list[dict[str, Any]] = []

    def sink(_: int, text: str) -> None:
        found.append(json.loads(text))
        if len(totals(found)) >= most:
            monitor.stop()

    state = MonitorState(folder, watch().to_json())
    monitor = Monitor(
        watch(), "test", lambda *_: iter(blocks), state, [sink], replays=replays, ledger=ledger, clock=Time(second)
    )
    try:
        monitor.run()
    finally:
        state.close()
    return found


@pytest.fixture
def ledger(tmp_path: Path) -> ss.Ledger:
    return ss.Ledger(tmp_path / "b.db", epsilon=200.0, delta=1e-6)


def test_a_file_that_is_read_on(tmp_path: Path, ledger: ss.Ledger) -> None:
    """Twelve windows close at one block. Stopped after three of them, its rows count, and nothing is released twice."""
    now = 60 * BACKLOG + 11
    blocks = [at(1, rows(0, 5)), at(now, rows(now - 1, now))]
    first = stopped_after(3, tmp_path / "s", ledger, blocks, -11, replays=True)
    assert totals(first) == {"12:00:00": 2, "12:01:00": 0, "12:02:00": 0}
    assert len(ledger) == 3
    rest = stopped_after(10**6, tmp_path / "s", ledger, [at(now + 60)], now, replays=True)
    windows = [each["start"] for each in first + rest]
    assert len(windows) == len(set(windows)) == len(ledger)
    assert totals(rest)["12:12:00"] == 2
    assert min(totals(rest)) == "12:03:00"


def test_a_pipe_that_is_started_again(tmp_path: Path, ledger: ss.Ledger) -> None:
    """Windows that an interrupted run had open are released by the next ones, however often these are stopped."""
    now = 60 * BACKLOG + 11
    found = stopped_after(2, tmp_path / "s", ledger, [at(1, rows(0)), at(now, rows(now))], -11, replays=False)
    assert sorted(totals(found)) == ["12:00:00", "12:01:00"]
    for more in (1, 5):
        again = stopped_after(more, tmp_path / "s", ledger, [at(now + 600, rows(now))], now + 600, replays=False)
        assert len(totals(again)) == more
        assert not any("note" in each for each in again)  # it has not begun to read
        found += again
    found += stopped_after(10**6, tmp_path / "s", ledger, [at(now + 700)], now + 700, replays=False)
    windows = [each["start"] for each in found if "start" in each]
    assert len(windows) == len(set(windows)) == len(ledger)
    assert totals(found)["12:12:00"] == 1  # the row of the first run, not the one that came again
    (note,) = [each["note"] for each in found if "note" in each]
    assert "the next one begins at 2026-11-16T12:25:00Z" in note


def test_an_input_that_has_ended(tmp_path: Path, ledger: ss.Ledger) -> None:
    now = 60 * BACKLOG + 11
    assert totals(stopped_after(4, tmp_path / "s", ledger, [at(1, rows(0))], -11, replays=True)) == {}
    found = stopped_after(4, tmp_path / "s", ledger, [at(2, rows(1))], now, replays=True)
    assert len(totals(found)) == 4
    found += stopped_after(10**6, tmp_path / "s", ledger, [], now, replays=True)
    assert len(totals(found)) == len(found) == len(ledger) == BACKLOG + 1
    assert totals(found)["12:00:00"] == 2
