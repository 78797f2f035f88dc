"""kill -9, again and again: every row of a followed file counts once, and no window is released twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def check_kills(folder: Path, kills: int, seed: str) -> None:
    """Totals at ε = 50 are off with probability 2e-22 each."""
    runner = Path(__file__).with_name("kill_runner.py")
    done = subprocess.run(
        [sys.executable, str(runner), str(folder), str(kills), seed], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    written = json.loads(done.stdout.splitlines()[-1])
    records = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [record["number"] for record in records] == list(range(1, len(records) + 1))
    assert [record["note"] for record in records if "note" in record] == []
    starts = [record["start"] for record in records]
    assert starts == sorted(set(starts))
    assert {record["start"]: n for record in records if (n := round(record["releases"][0]["value"]))} == written


def test_dozens_of_kills(tmp_path: Path) -> None:
    check_kills(tmp_path, 24, "few")


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["a", "b"])
def test_hundreds_of_kills(tmp_path: Path, seed: str) -> None:
    check_kills(tmp_path, 250, seed)
