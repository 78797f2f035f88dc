"""`stablesketch monitor`, as it is typed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_helpers import Shell

PRIVATE = ["--epsilon", "100", "--delta", "1e-9", "--mechanism", "exact"]  # an exact count is off with 4e-22
DAY = ["--from", "2026-11-16T00:00:00Z", "--until", "2026-11-17T00:00:00Z"]
COMMAND = [sys.executable, "-c", "from stablesketch.cli import main; main()", "monitor"]


def lines(shell: Shell, *arguments: str) -> list[dict[str, object]]:
    shown = shell("monitor", *arguments)
    assert shown.code == 0, shown.err
    return [json.loads(line) for line in shown.out.splitlines()]


def values(records: list[dict[str, object]]) -> list[list[float]]:
    return [[release["value"] for release in each["releases"]] for each in records]  # type: ignore[attr-defined]


def test_a_day_is_replayed(shell: Shell) -> None:
    rows = [f"2026-11-16T{hour:02}:30:00Z,app{i % 3}" for hour in range(24) for i in range(hour)]
    path = shell.write("day.csv", "\n".join(["at,app", *rows, "tomorrow,app1"]))
    asked = ["--key", "app", "--time", "at", "--every", "1h", "--statistic", "distinct", "--also", "hill:2"]
    found = lines(shell, str(path), *asked, *PRIVATE, *DAY)
    assert [distinct for distinct, _ in values(found)] == [min(hour, 3) for hour in range(24)]
    assert found[0]["start"] == "2026-11-16T00:00:00Z"
    assert found[-1]["end"] == "2026-11-17T00:00:00Z"


def test_it_says_what_is_protected_before_it_reads(shell: Shell) -> None:
    path = shell.write("a.jsonl", '{"k":"a","t":1794830400}\n')
    shown = shell(
        "monitor", str(path), "--key", "k", "--time", "t", "--statistic", "shannon", "--also", "hill:0.5",
        "--every", "1d", "--epsilon", "1", "--delta", "1e-9", *DAY,
    )  # fmt: skip
    assert "shared by 2 statistics. A single row is protected, over all windows together." in shown.err
    assert "Somebody with rows in many windows is not" in shown.err


def test_out_is_appended_to_and_state_is_gone_on_from(shell: Shell, tmp_path: Path) -> None:
    path = shell.write("a.jsonl", '{"k":"a","t":1794830400}\n')
    asked = [str(path), "--key", "k", "--time", "t", "--statistic", "distinct", "--every", "1d", *PRIVATE, *DAY]
    stored = ["--state", str(tmp_path / "state"), "--out", str(tmp_path / "out.jsonl")]
    for _ in range(2):  # the second time everything has been released
        assert lines(shell, *asked, *stored) == []
        assert values([json.loads(each) for each in (tmp_path / "out.jsonl").read_text().splitlines()]) == [[1.0]]
    shown = shell("monitor", *asked, *stored, "--confidence", "0.9")
    assert shown.code == 5
    assert "was made with other options" in shown.err


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (["-", "--statistic", "shannon"], 2, "--epsilon is needed"),
        (["none.jsonl", "--key", "k", "--statistic", "shannon", *PRIVATE], 3, "none.jsonl: cannot be opened"),
        (["-", "--follow", "--statistic", "shannon", *PRIVATE], 2, "--follow is for a file"),
        (["-", "--every", "7m", "--statistic", "shannon", *PRIVATE], 2, "divide a day"),
        (["-", "--every", "36500d", "--statistic", "shannon", *PRIVATE], 2, "1 to 31 whole days"),
        (["-", "--also", "kurtosis", "--statistic", "shannon", *PRIVATE], 2, "there is no such statistic"),
        (["-", "--also", "distinct:5", "--statistic", "shannon", *PRIVATE], 2, "nothing after a colon"),
        (["-", "--also", "hill:x", "--statistic", "shannon", *PRIVATE], 2, "'x' is not an order"),
        (["-", "--statistic", "atkinson", "--order", "0.5", *PRIVATE], 2, "number of people to be public"),
        (["-", "--format", "json", "--statistic", "shannon", *PRIVATE], 2, "the field of keys is missing"),
        (["-", "--statistic", "shannon", *PRIVATE, *DAY], 2, "a replay needs the time of every row"),
        (["-", "--statistic", "shannon", *PRIVATE, "--out", "no/where"], 2, "cannot be written"),
    ],
)
def test_wrong_commands(shell: Shell, typed: list[str], code: int, said: str) -> None:
    shown = shell("monitor", *typed)
    assert said in shown.err
    assert shown.code == code


def test_a_pipe_that_ends_releases_its_window(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "-", "--statistic", "distinct", "--every", "1d", *PRIVATE],
        input="a\nb\na", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert values([json.loads(line) for line in done.stdout.splitlines()]) == [[2.0]]


def test_a_signal_stops_it_at_a_checkpoint_and_a_second_one_is_refused_meanwhile(tmp_path: Path) -> None:
    log, out = tmp_path / "log.txt", tmp_path / "out.jsonl"
    log.write_text("a\nb\n")
    asked = [*COMMAND, str(log), "--follow", "--statistic", "distinct", "--every", "1s", *PRIVATE]
    asked += ["--state", str(tmp_path / "state"), "--out", str(out)]
    running = subprocess.Popen(asked, stderr=subprocess.PIPE)
    while not (out.exists() and out.read_text().count("\n") >= 2):
        assert running.poll() is None, running.communicate()
        time.sleep(0.1)
    second = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert second.returncode == 5
    assert "another monitor uses the folder" in second.stderr
    running.send_signal(signal.SIGTERM)
    assert running.wait() == 0, running.communicate()
    running.communicate()
    assert sum(value for (value,) in values([json.loads(line) for line in out.read_text().splitlines()])) == 2


def test_alerts_are_said_and_stored(shell: Shell, tmp_path: Path) -> None:
    """Every hour has 50 keys but the last, which has 5: at ε = 100 it is the only alert."""
    rows = [f"2026-11-16T{hour:02}:30:00Z,app{i}" for hour in range(24) for i in range(50 if hour < 23 else 5)]
    path = shell.write("day.csv", "\n".join(["at,app", *rows]))
    asked = [str(path), "--key", "app", "--time", "at", "--every", "1h", "--statistic", "distinct", *PRIVATE, *DAY]
    out = tmp_path / "alerts.jsonl"
    shown = shell("monitor", *asked, "--alert-drop", "3", "--alert-below", "10", "--alert-out", str(out))
    assert shown.code == 0
    assert [json.loads(line)["alert"] for line in out.read_text().splitlines()] == ["below", "drop"]
    assert "alert: 2026-11-16T23:00:00Z: distinct keys = 5 is below 10" in shown.err
    shown = shell("monitor", *asked, "--alert-out", str(out))
    assert shown.code == 2
    assert "nothing is an alert" in shown.err


def test_a_file_that_is_not_followed_needs_a_span(shell: Shell) -> None:
    path = shell.write("a.jsonl", '{"k":"a","t":1794830400}\n')
    shown = shell("monitor", str(path), "--key", "k", "--time", "t", "--statistic", "distinct", *PRIVATE)
    assert shown.code == 2
    assert "needs --from and --until" in shown.err
