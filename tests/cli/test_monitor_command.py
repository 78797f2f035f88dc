"""`stablesketch monitor`, as it is typed."""

from __future__ import annotations

import gzip
import json
import os
import re
import select
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


def test_epsilon_and_delta_have_a_default_where_a_row_pays_once_and_it_is_said(shell: Shell) -> None:
    path = shell.write("a.jsonl", '{"k":"a","t":1794830400}\n')
    asked = [str(path), "--key", "k", "--time", "t", "--statistic", "distinct", "--every", "1d", *DAY]
    for typed, epsilon, delta in (([], 1, 1e-9), (["--epsilon", "2"], 2, 1e-9), (["--delta", "1e-6"], 1, 1e-6)):
        shown = shell("monitor", *asked, *typed)
        assert shown.code == 0, shown.err
        assert f"ε = {epsilon:g} and δ = {delta:g}: choose others with --epsilon and --delta" in shown.err
        (record,) = [json.loads(line) for line in shown.out.splitlines()]
        assert record["epsilon"] <= epsilon
        assert record["delta"] <= delta
    assert "choose others" not in shell("monitor", *asked, "--epsilon", "1", "--delta", "1e-9").err


def test_out_is_appended_to_and_state_is_gone_on_from(shell: Shell, tmp_path: Path) -> None:
    path = shell.write("a.jsonl", '{"k":"a","t":1794830400}\n')
    asked = [str(path), "--key", "k", "--time", "t", "--statistic", "distinct", "--every", "1d", *PRIVATE, *DAY]
    stored = ["--state", str(tmp_path / "state"), "--out", str(tmp_path / "out.jsonl")]
    for _ in range(2):  # the second time everything has been released
        assert lines(shell, *asked, *stored) == []
        assert values([json.loads(each) for each in (tmp_path / "out.jsonl").read_text().splitlines()]) == [[1.0]]
    shown = shell("monitor", *asked, *stored, "--confidence", "0.9")
    assert shown.code == 5
    assert "which differ in: --confidence" in shown.err


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (
            ["-", "--format", "json", "--key", "k", "--person", "u", "--protect", "person-window"],
            2,
            "--epsilon is required",
        ),
        (
            ["none.jsonl", "--follow", "--key", "k", "--statistic", "shannon", *PRIVATE],
            3,
            "none.jsonl: the file does not exist",
        ),
        (["-", "--follow", "--statistic", "shannon", *PRIVATE], 2, "--follow is for a file"),
        (["-", "--every", "7m", "--statistic", "shannon", *PRIVATE], 2, "divide a day"),
        (["-", "--every", "36500d", "--statistic", "shannon", *PRIVATE], 2, "1 to 31 whole days"),
        (["-", "--also", "kurtosis", "--statistic", "shannon", *PRIVATE], 2, "--also must be one of"),
        (
            ["-", "--also", "distinct:5", "--statistic", "shannon", *PRIVATE],
            2,
            "--also cannot have a value for distinct",
        ),
        (["-", "--also", "hill:x", "--statistic", "shannon", *PRIVATE], 2, "'x' is not an order"),
        (["-", "--statistic", "atkinson", "--order", "0.5", *PRIVATE], 2, "public number of people"),
        (["-", "--format", "json", "--statistic", "shannon", *PRIVATE], 2, "--key must name the field of keys"),
        (["-", "--statistic", "shannon", *PRIVATE, *DAY], 2, "--time must be given for a replay"),
        (["-", "--statistic", "shannon", *PRIVATE, "--out", "no/where"], 2, "cannot be written"),
        (
            ["events.csv", "--key", "k", "--time", "t", *PRIVATE, "--from", "1900-01-01T00:00:00Z", *DAY[2:]],
            2,
            "--from must not be before 1970, got '1900-01-01T00:00:00Z'. Pass 1970-01-01T00:00:00Z, or a later time.",
        ),
    ],
)
def test_wrong_commands(shell: Shell, typed: list[str], code: int, said: str) -> None:
    shown = shell("monitor", *typed)
    assert said in shown.err
    assert shown.code == code


def test_a_pipe_that_ends_releases_its_window(tmp_path: Path) -> None:
    """Counting begins with the next whole window: lines come for two seconds, and each counts once or not at all."""
    running = subprocess.Popen(
        [*COMMAND, "-", "--statistic", "distinct", "--every", "1s", *PRIVATE],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stdin is not None
    assert running.stdout is not None
    first = ""
    while not first:
        running.stdin.write("a\n")
        running.stdin.flush()
        first = running.stdout.readline() if select.select([running.stdout], [], [], 0.05)[0] else ""
    rest, said = running.communicate("b\n")
    assert running.returncode == 0, said
    begins = re.search("Counting begins with the next whole window, (.*Z)", said)
    assert begins is not None
    assert json.loads(first)["start"] == begins[1]
    assert "use tail -n 0 -F" in said
    assert sum(value for (value,) in values([json.loads(line) for line in [first, *rest.splitlines()]])) >= 1


def test_a_signal_stops_it_at_a_checkpoint_and_a_second_one_is_refused_meanwhile(tmp_path: Path) -> None:
    log, out = tmp_path / "log.txt", tmp_path / "out.jsonl"
    log.write_text("before\n" * 1000)
    asked = [*COMMAND, str(log), "--follow", "--statistic", "distinct", "--every", "1s", *PRIVATE]
    asked += ["--state", str(tmp_path / "state"), "--out", str(out)]
    running = subprocess.Popen(asked, stderr=subprocess.PIPE)

    def wait_for(records: int) -> None:
        while not (out.exists() and out.read_text().count("\n") >= records):
            assert running.poll() is None, running.communicate()
            time.sleep(0.05)

    wait_for(1)
    with log.open("a") as file:
        file.write("a\nb\n")
    wait_for(3)
    second = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert second.returncode == 5
    assert "another monitor uses the folder" in second.stderr
    other = tmp_path / "other.txt"
    other.write_text("")
    running.send_signal(signal.SIGTERM)
    assert running.wait() == 0, running.communicate()
    running.communicate()
    assert sum(value for (value,) in values([json.loads(line) for line in out.read_text().splitlines()])) == 2
    elsewhere = subprocess.run([*asked[:4], str(other), *asked[5:]], capture_output=True, text=True, check=False)
    assert elsewhere.returncode == 5
    assert "was made with other settings, which differ in: the input" in elsewhere.stderr


def test_standard_output_that_is_closed_ends_it_and_the_rest_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.touch()
    asked = [*COMMAND, str(log), "--follow", "--statistic", "distinct", "--every", "1s", *PRIVATE]
    asked += ["--state", str(tmp_path / "state")]
    running = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stderr is not None
    first = json.loads(running.stdout.readline())
    running.stdout.close()
    said = running.stderr.read()
    running.stderr.close()
    assert running.wait() == 7
    assert " could not be written (Broken pipe). A run on the same --state writes them." in said
    again = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert again.stdout is not None
    # What the pipe had taken before it was closed is gone; what it had not comes now.
    found = re.search(r"(\d+) records? could", said)
    assert found is not None
    kept = int(found[1])
    following = [json.loads(again.stdout.readline())["number"] for _ in range(kept)]
    assert following == list(range(following[0], following[0] + kept))
    assert following[0] > first["number"]
    again.send_signal(signal.SIGTERM)
    again.communicate()


def test_options_that_would_be_ignored_are_refused(shell: Shell, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "a.csv").write_text("10.0.0.7,secret\n")
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"10.0.0.7\n"))
    base = ["--statistic", "shannon", *PRIVATE]
    for typed, code, said in (
        (["-", "--lateness", "5s"], 2, "--lateness has no effect here: without --time no row is late"),
        (["-", "--format", "json", "--key", "k", "--time", "t", "--lateness", "5s", *DAY, "--every", "1d"], 2,
         "--lateness has no effect here: a replay waits for all rows"),
        (["-", "--time-unit", "ms"], 2, "--time-unit cannot be used without --time, got 'ms'"),
        (["-", "--format", "json", "--key", "k", "--fields", "k"], 2, "--fields cannot be used"),
        (["-", "--format", "json", "--key", "k", "--value", "v", "--max-value", "0"], 2, "--max-value"),
        (["-", "--every", "700d"], 2, "got '700d'"),
        ([str(tmp_path / "fifo"), "--follow"], 3, "is not a regular file. Pass it through a pipe"),
        ([str(tmp_path), "--follow"], 3, "is a folder. Name a file in it"),
        ([str(tmp_path / "a.csv"), "--key", "k"], 2, "needs --time, --from and --until"),
        (["-", "--key", "k"], 2, "--format must be given: the name of the input does not tell"),
        ([str(tmp_path / "a.json.gz"), "--follow"], 3, "lines cannot be compressed with gzip here. Unpack them first"),
        (["-", "--listen", "192.0.2.1:9464"], 2, "got '192.0.2.1:9464'. Choose another address"),
    ):  # fmt: skip
        shown = shell("monitor", *typed, *base)
        assert said in shown.err
        assert shown.code == code
    shown = shell("monitor", str(tmp_path / "a.csv"), "--key", "k", "--time", "t", "--every", "1d", *DAY, *base)
    assert shown.code == 3
    assert "secret" not in shown.err


def test_people_are_protected_in_each_window_and_a_ledger_stops_it(shell: Shell, tmp_path: Path) -> None:
    rows = [f"2026-11-16T{hour:02}:30:00Z,app{i % 3},u{i % 7}" for hour in range(24) for i in range(30)]
    path = shell.write("day.csv", "\n".join(["at,app,user", *rows]))
    asked = [str(path), "--key", "app", "--time", "at", "--every", "1h", "--statistic", "shannon", *DAY]
    asked += ["--epsilon", "1", "--delta", "1e-9", "--protect", "person-window", "--person", "user"]
    asked += ["--pairs-per-person", "2", "--ledger", str(tmp_path / "b.db"), "--budget-per", "day"]
    shown = shell("monitor", *asked)
    assert shown.code == 5
    made = "stablesketch ledger new b.db --epsilon 10 --people --per day"
    assert f"ledger {tmp_path}/b.db does not exist. Create one: {made}" in shown.err
    assert shell("ledger", "new", str(tmp_path / "b.db"), "--people", "--per", "month", "--epsilon", "4").code == 0
    shown = shell("monitor", *asked)
    assert shown.code == 5
    assert "renews each month, but --budget-per is day" in shown.err
    assert "stablesketch ledger new b-day.db --epsilon 10 --people --per day" in shown.err  # b.db exists
    asked[-1] = "month"
    shown = shell("monitor", *asked)
    assert shown.code == 0, shown.err
    assert "Everything one person did in a window is protected; 2 of their rows count. Each window spends" in shown.err
    assert "up to ε = 24 in a day for somebody who is in all 24 windows" in shown.err
    records = [json.loads(line) for line in shown.out.splitlines()]
    assert 1 <= sum("releases" in each for each in records) < 24
    assert "the budget of the ledger is spent" in records[-1]["note"]
    assert "It renews on" in records[-1]["note"]
    assert records[-1]["note"] in shown.err.replace("\n", " ")  # who writes records to a file must know too
    for typed, said in (
        (["--person", "user"], "must be given together"),
        (["--protect", "person-window"], "--protect needs --person, the field of people, got 'person-window'"),
        (["--budget-per", "day"], "--budget-per needs --ledger"),
        (["--pairs-per-person", "3"], "cannot be used without"),
    ):  # fmt: skip
        shown = shell("monitor", *asked[: asked.index("--epsilon")], "--epsilon", "1", "--delta", "1e-9", *typed)
        assert shown.code == 2, typed
        assert said in shown.err


def test_a_ledger_of_another_unit_is_refused_before_anything_is_read(shell: Shell, tmp_path: Path) -> None:
    events = str(shell.write("events.jsonl", ""))
    asked = [events, "--follow", "--key", "k", "--statistic", "shannon", "--epsilon", "1", "--delta", "1e-9"]
    people = ["--protect", "person-window", "--person", "u"]
    for made, typed, said in (
        (["--people"], [], "this ledger is for people, but the release protects pairs"),
        (["--relation", "add_remove"], people, "this ledger is for pairs, but the release protects people"),
    ):
        path = tmp_path / f"{len(made)}.db"
        assert shell("ledger", "new", str(path), *made, "--epsilon", "4").code == 0
        shown = shell("monitor", *asked, *typed, "--ledger", str(path))
        assert said in shown.err
        assert shown.code == 5


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
    assert "no alert is defined" in shown.err


def test_a_file_that_is_not_followed_needs_a_span(shell: Shell) -> None:
    path = shell.write("a.jsonl", '{"k":"a","t":1794830400}\n')
    shown = shell("monitor", str(path), "--key", "k", "--time", "t", "--statistic", "distinct", *PRIVATE)
    assert shown.code == 2
    assert "needs --time, --from and --until" in shown.err


def test_a_pipe_that_ends_at_once_says_that_nothing_was_released(shell: Shell) -> None:
    typed = [*COMMAND, "-", "--statistic", "distinct", "--every", "1h", *PRIVATE]
    done = subprocess.run(typed, input="a\n", capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert "the input ended before the first whole window, so nothing was released" in done.stderr


def test_a_pipe_of_old_rows_says_how_to_replay_them(shell: Shell) -> None:
    typed = [*COMMAND, "-", "--statistic", "distinct", "--every", "1h", *PRIVATE, "--preset", "suricata"]
    old = '{"src_ip":"10.0.0.1","timestamp":"2020-01-01T00:00:00Z"}\n'
    done = subprocess.run(typed, input=old, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert "no row was counted: all are older than the first whole window, which begins at 20" in done.stderr
    assert "pass --from and --until" in done.stderr


def test_the_first_line_that_cannot_be_used_is_named_and_not_shown(shell: Shell) -> None:
    good = '{"k":"a","t":"2026-11-16T12:00:05Z","v":3.0}\n'
    for bad, said in (
        ("secret\n", "it is not JSON"),
        ('{"k":"secret","v":1}\n', "field 't' is missing or empty"),
        ('{"k":"secret","t":"soon","v":1}\n', "field 't' is not a time"),
        ('{"k":"secret","t":"2026-11-16T12:00:05Z","v":"1.5"}\n', "field 'v' is a number with decimals"),
        ('{"k":"secret","t":"2026-11-16T12:00:05Z","v":0}\n', "field 'v' is 0"),
        ('{"k":"secret","t":"2026-11-16T12:00:05Z","v":11}\n', "field 'v' is above --max-value 10"),
    ):
        path = shell.write("a.jsonl", 6 * good + bad + good + bad)
        asked = [str(path), "--key", "k", "--time", "t", "--value", "v", "--max-value", "10", "--on-bad", "error"]
        shown = shell("monitor", *asked, "--statistic", "distinct", "--every", "1h", *PRIVATE, *DAY)
        assert shown.code == 3
        assert f"a.jsonl: line 7 cannot be used as a row: {said}" in shown.err.replace("\n", " ")
        assert "secret" not in shown.err


def test_a_replay_of_another_day_says_so(shell: Shell, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("t,k\n2026-11-16T10:00:00Z,a\n2026-11-16T10:00:01Z,b\n")
    day = ["--from", "2026-11-15T10:00:00Z", "--until", "2026-11-15T11:00:00Z"]
    shown = shell(
        "monitor", str(log), "--key", "k", "--time", "t", "--statistic", "distinct", "--every", "1h", *PRIVATE, *day
    )
    assert shown.code == 0
    assert "no row is within --from and --until. Check both (this is not private: for your eyes only)" in shown.err


def test_a_state_that_is_a_file_is_refused(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    shown = shell("monitor", "-", "--statistic", "distinct", *PRIVATE, "--state", str(tmp_path / "file"))
    assert shown.code == 5
    assert "Name a folder" in shown.err


def test_signals_do_afterwards_what_they_did_before(shell: Shell) -> None:
    kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(kind) for kind in kinds]
    path = shell.write("a.jsonl", '{"k":"a","t":1794830400}\n')
    asked = ["--key", "k", "--time", "t", "--every", "1h", "--statistic", "distinct"]
    assert len(lines(shell, str(path), *asked, *PRIVATE, *DAY)) == 24
    assert [signal.getsignal(kind) for kind in kinds] == before
