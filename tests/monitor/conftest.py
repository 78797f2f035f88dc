"""A log that is followed."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two lines and a half; looks follow each other at once, and a file that was renamed is left at once."""
    monkeypatch.setattr("stablesketch.monitor.input.followed._LINGER", 0)
    monkeypatch.setattr("stablesketch.monitor.input.followed.POLL", 0.001)
    path = tmp_path / "conn.log"
    path.write_bytes(b"1\n2\n3")
    return path
