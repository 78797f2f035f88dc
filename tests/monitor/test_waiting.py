"""A disk without room while windows are paid from a ledger: they wait, and nothing is paid, lost or told twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from monitor_tools import at, rows, run, totals, watch

import stablesketch as ss
from stablesketch.errors import CheckpointError, LedgerCorrupt, LedgerError
from stablesketch.ledger import Ledger
from stablesketch.monitor import Monitor
from stablesketch.monitor import monitor as monitor_module
from stablesketch.monitor.state.state import MonitorState

BLOCKS = [at(1, rows(0)), at(71, rows(70)), at(72, rows(5, 71)), at(73, rows(72)), at(132), at(140)]


@pytest.fixture(autouse=True)
def every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits is tried again at every block, not once a second."""
    monkeypatch.setattr(monitor_module, "_CHECKPOINT", 0.0)


def stopped(state: MonitorState, ledger: Ledger) -> tuple[list[dict[str, Any]], Monitor, list[str]]:
    """A run over the blocks, which is stopped at the last: records, monitor, what it said."""
    said: list[str] = []
    records, monitor = run(watch(), BLOCKS, state, replays=True, ends=False, ledger=ledger, say=said.append)
    return records, monitor, said


def test_windows_wait_while_the_state_cannot_be_written(tmp_path: Path) -> None:
    """The disk is full when the first window closes. A row of it that comes meanwhile is late, as it would be else."""
    ledger = ss.Ledger(tmp_path / "b.db", epsilon=200.0, delta=1e-6)
    state = MonitorState(None, watch().to_json())
    commit, calls = state.commit, []

    def failing(*arguments: Any, **named: Any) -> None:
        calls.append(1)
        if 4 <= len(calls) <= 7:
            raise CheckpointError("the state cannot be written (database or disk is full).")
        commit(*arguments, **named)

    state.commit = failing  # type: ignore[method-assign]
    records, monitor, said = stopped(state, ledger)
    assert said == ["the state cannot be written (database or disk is full)."]
    assert totals(records) == {"12:00:00": 1, "12:01:00": 3}
    assert monitor.counters["late"] == 1
    assert len(ledger) == 2


def test_windows_wait_while_the_ledger_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = ss.Ledger(tmp_path / "b.db", epsilon=200.0, delta=1e-6)
    enter, calls, ready = Ledger.enter, [], []
    state = MonitorState(tmp_path / "s", watch().to_json())
    take = Monitor._take

    def failing(self: Ledger, *arguments: Any) -> Any:
        calls.append(1)
        if len(calls) <= 2:
            raise LedgerError("the ledger b.db cannot be used (database or disk is full): the disk is full.")
        return enter(self, *arguments)

    def taken(self: Monitor, *arguments: Any) -> None:
        take(self, *arguments)
        ready.append(self.ready)

    monkeypatch.setattr(Ledger, "enter", failing)
    monkeypatch.setattr(Monitor, "_take", taken)
    records, monitor, said = stopped(state, ledger)
    assert said == ["the ledger b.db cannot be used (database or disk is full): the disk is full."]
    assert totals(records) == {"12:00:00": 1, "12:01:00": 3}
    assert ready == [True, False, False, True, True, True]
    assert monitor.counters["late"] == 1
    assert len(ledger) == 2
    state.close()


def test_a_ledger_that_is_damaged_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = ss.Ledger(tmp_path / "b.db", epsilon=200.0, delta=1e-6)

    def damaged(*_: object) -> None:
        raise LedgerCorrupt("the ledger b.db is damaged.")

    monkeypatch.setattr(Ledger, "enter", damaged)
    with pytest.raises(LedgerCorrupt, match="damaged"):
        stopped(MonitorState(None, watch().to_json()), ledger)
