"""kill -9, again and again: every row of a followed file counts once, and no window is released twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def check_kills(folder: Path, kills: int, seed: str, kind: str = "file") -> None:
    """Totals at ε = 50 are off with probability 2e-22 each. Of a pipe rows are lost, and none counts twice."""
    runner = Path(__file__).with_name("kill_runner.py")
    done = subprocess.run(
        [sys.executable, str(runner), str(folder), str(kills), seed, kind], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    written = json.loads(done.stdout.splitlines()[-1])
    records = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [record["number"] for record in records] == list(range(1, len(records) + 1))
    windows = [record for record in records if "releases" in record]
    starts = [record["start"] for record in windows]
    assert starts == sorted(set(starts))
    counted = {record["start"]: n for record in windows if (n := round(record["releases"][0]["value"]))}
    if kind == "file":
        assert len(windows) == len(records)
        assert counted == written
    else:
        assert len(records) - len(windows) <= kills  # some are killed before they have said that they were started
        assert all(count <= written[start] for start, count in counted.items())
        assert sum(counted.values()) > 0


def test_dozens_of_kills(tmp_path: Path) -> None:
    check_kills(tmp_path, 24, "few")


def test_dozens_of_kills_of_a_pipe_that_sends_its_last_lines_again(tmp_path: Path) -> None:
    check_kills(tmp_path, 20, "pipe", "pipe")


@pytest.mark.slow
def test_hundreds_of_kills_of_a_pipe(tmp_path: Path) -> None:
    check_kills(tmp_path, 100, "pipes", "pipe")


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["a", "b"])
def test_hundreds_of_kills(tmp_path: Path, seed: str) -> None:
    check_kills(tmp_path, 100, seed)
