"""`stablesketch monitor --listen`, `--textfile` and `--demo`, as they are typed."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_helpers import Shell

COMMAND = [sys.executable, "-c", "from stablesketch.cli import main; main()", "monitor"]
PRIVATE = ["--epsilon", "100", "--delta", "1e-9", "--mechanism", "exact", "--statistic", "distinct"]


@contextlib.contextmanager
def running(*typed: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*COMMAND, *typed], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str], pattern: str) -> str:
    """The first line of standard error that has the pattern in it."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(pattern, line):
            return found[1]
    raise AssertionError(f"it ended, and said nothing like {pattern}")


def fetched(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return str(answer.read().decode())


def test_a_pipe_is_shown_while_it_runs(tmp_path: Path) -> None:
    """Three keys in windows of a second: the file has their number as soon as a window is complete."""
    path = tmp_path / "keys.prom"
    shown = ["--listen", "127.0.0.1:0", "--listen-private", "127.0.0.1:0", "--textfile", str(path)]
    with running("-", "--every", "1s", *PRIVATE, *shown) as process:
        page, exact = said(process, "the live page: (.*/)"), said(process, "not private: (.*/metrics)")
        assert "How many different values of line are there?" in fetched(page)
        assert process.stdin is not None
        while "\nstablesketch_distinct_keys 3.0\n" not in path.read_text():
            process.stdin.write("a\nb\nc\na\n")
            process.stdin.flush()
            time.sleep(0.05)
        assert fetched(page + "readyz") == "ready\n"
        assert "stablesketch_distinct_keys " in fetched(page + "metrics")
        assert "stablesketch_private_rows_total " in fetched(exact)
        process.communicate()
        assert process.returncode == 0
    assert "private" not in path.read_text()


def test_the_demo_plays_until_it_is_stopped() -> None:
    with running("--demo", *PRIVATE, "--alert-drop", "3") as process:
        page = said(process, "the live page: (.*/)")
        while "stablesketch_fall_deviations" not in fetched(page + "metrics"):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate()
        assert process.returncode == 0
        assert shown == ""  # the page shows the windows, and standard error the alerts


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ([], "the source is missing"),
        (["--demo", "a.csv", "--key", "app"], "brings its own stream. Leave out the source, --key."),
        (["--demo", "--epsilon", "0"], "--epsilon must be positive and finite, got 0.0"),
        (["-", *PRIVATE, "--listen", "example.org:80"], "must be an IP address and a port"),
        (["-", *PRIVATE, "--listen-private", "0.0.0.0:9465"], "--listen-private must be on this machine"),
        (["-", *PRIVATE, "--textfile", "metrics.txt"], "end in .prom"),
    ],
)
def test_wrong_commands(shell: Shell, typed: list[str], message: str) -> None:
    shown = shell("monitor", *typed)
    assert message in shown.err
    assert shown.code == 2


def test_a_port_in_use(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        shown = shell("monitor", "-", *PRIVATE, "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert shown.code == 2
    assert "must be a free port" in shown.err
