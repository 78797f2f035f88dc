"""The ledger has every value that was paid for."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.ledger.books import _published_checksum

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(0.5, 1e-9), size=12)


def filled(seed: int = 0) -> ss.Collector:
    collector = PLAN.open(ss.Secret.from_bytes(bytes([seed]) * 32))
    collector.update(range(50))
    return collector


def test_the_value_is_recorded_with_the_payment(tmp_path: Path) -> None:
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=2, delta=1e-6)
    release = filled().release(ledger=ledger)
    assert release.record == 1
    assert ledger.published(1) == release.to_json()
    other = filled(1).release(ledger=ledger)
    assert ledger.published(2) == other.to_json() != release.to_json()
    ledger.charge(epsilon=0.1, statistic="median", relation="add_remove of pairs")
    assert ledger.published(3) is None
    assert ledger.published(4) is None
    with pytest.raises(ss.ArgumentTypeError, match="number"):
        ledger.published("1")  # type: ignore[arg-type]
    ledger.verify()


def test_killed_right_after_the_commit_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ss.Ledger(path, epsilon=2, delta=1e-6)
    child = os.fork()
    if child == 0:
        entered = ss.Ledger.enter

        def killed(*arguments: object) -> None:
            entered(*arguments)  # type: ignore[arg-type]
            os.kill(os.getpid(), signal.SIGKILL)

        ss.Ledger.enter = killed  # type: ignore[method-assign, assignment]
        try:
            filled().release(ledger=ss.Ledger(path))
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    published = ss.Ledger(path).published(1)
    assert published is not None
    release = ss.Release.from_json(published)
    assert release.value == filled().release().value


def test_what_the_budget_refuses_is_not_kept(tmp_path: Path) -> None:
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=0.1, delta=1e-6)
    collector = filled()
    with pytest.raises(ss.BudgetExceeded):
        collector.release(ledger=ledger)
    assert ledger.published(1) is None
    larger = ss.Ledger(tmp_path / "larger.db", epsilon=4, delta=1e-6)
    assert collector.release(ledger=larger).value == filled().release().value


def test_a_changed_value_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger = ss.Ledger(path, epsilon=2, delta=1e-6)
    filled().release(ledger=ledger)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE published SET content = replace(content, 'F_0.5', 'F_0.6')")
    connection.commit()
    connection.close()
    with pytest.raises(ss.LedgerCorrupt, match="value of release 1"):
        ledger.published(1)
    with pytest.raises(ss.LedgerCorrupt, match="value of release 1"):
        ledger.verify(since=ledger.head)


def test_a_value_of_no_release_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger = ss.Ledger(path, epsilon=2, delta=1e-6)
    filled().release(ledger=ledger)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO published VALUES (2, ?, ?)", (b"{}", _published_checksum(2, b"{}")))
    connection.commit()
    connection.close()
    with pytest.raises(ss.LedgerCorrupt, match="value of release 2"):
        ledger.verify()
