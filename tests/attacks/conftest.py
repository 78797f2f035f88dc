"""Plans with fast releases, and the tools of the attacks in attack_tools.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablesketch as ss


@pytest.fixture(scope="session")
def plan() -> ss.Plan:
    """ε = 1 by a sketch, streams of any length. One release has computed what all later ones need."""
    found = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 0, relation="replace"), size=20, mechanism="bare")
    found.open().release()
    return found


@pytest.fixture(scope="session")
def exact() -> ss.Plan:
    """ε = 0.1 by exact totals and noise."""
    return ss.plan(ss.Moment(0.5), ss.Privacy(0.1, 1e-9, 0, relation="replace"), mechanism="exact")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of its own for the files that are attacked."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder
