"""Several releases under one secret, and a table of groups, killed at random moments: recorded whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from kill_benches import Table, Together

import stablesketch as ss

# DuckDB and Arrow may have left threads behind. The child makes its own.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture(autouse=True)
def _crashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "ledger"))


def killed(bench: Together | Table, times: int) -> dict[str, int]:
    from test_crashes import killed_at_random

    return {**killed_at_random(bench, times, seed=5), **bench.found}


def test_three_together(tmp_path: Path) -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(0.4, 1e-9, 0, relation="replace"), size=20)
    found = killed(Together(tmp_path / "bench", plan), 25)
    assert found["killed"] >= 5
    assert found["paid and spent"] >= 5


def test_a_table_of_groups(tmp_path: Path) -> None:
    found = killed(Table(tmp_path / "bench"), 15)
    assert found["killed"] >= 2
    assert found["paid"] >= 5
