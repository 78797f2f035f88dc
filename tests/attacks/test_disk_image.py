"""Power cuts on a real file system, with its journal: what was printed is recorded, what was paid for is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from disk_image import cut

import stablesketch as ss


def test_power_cuts_on_ext4(tmp_path: Path, plan: ss.Plan) -> None:
    found = cut(tmp_path, plan, 12, seed=1)
    assert found["printed"] >= 2


def test_a_release_that_does_not_sync_is_caught_on_ext4(
    tmp_path: Path, plan: ss.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of the test: nothing is synced by the release, and what it printed is not on the disk."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    with pytest.raises(AssertionError):
        cut(tmp_path, plan, 6, seed=2)


@pytest.mark.slow
def test_many_power_cuts_on_ext4(tmp_path: Path, plan: ss.Plan) -> None:
    found = cut(tmp_path, plan, int(os.environ.get("STABLESKETCH_CUTS", "200")), seed=3)
    print(found)
    assert min(found.values()) >= 1
