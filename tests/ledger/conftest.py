"""Small plans that releases are quick with."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablesketch as ss


@pytest.fixture(scope="session")
def plan() -> ss.Plan:
    """ε = 1 by a sketch, streams of any length."""
    return ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 0, relation="replace"), size=20, mechanism="bare")


@pytest.fixture(scope="session")
def exact() -> ss.Plan:
    """ε = 0.1 by exact totals and noise."""
    return ss.plan(ss.Moment(0.5), ss.Privacy(0.1, 1e-9, 0, relation="replace"), mechanism="exact")


@pytest.fixture(scope="session")
def added() -> ss.Plan:
    """ε = 0.5 under add_remove."""
    return ss.plan(ss.Moment(0.5), ss.Privacy(0.5, 1e-9, 0, relation="add_remove"), size=20, mechanism="bare")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(path: Path) -> ss.Ledger:
    return ss.Ledger(path, epsilon=3.0, delta=1e-6)
