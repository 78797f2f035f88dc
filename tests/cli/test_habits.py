"""What people expect of every command: versions and help, spelling, pipes that close, Ctrl-C."""

from __future__ import annotations

import contextlib
import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_helpers import SMALL, Shell

import stablesketch as ss

COMMAND = [sys.executable, "-m", "stablesketch"]


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_needs_no_library(flag: str, shell: Shell) -> None:
    code = (
        f"import sys; sys.argv = ['stablesketch', {flag!r}]\n"
        "from stablesketch.cli import main\n"
        "main(); print({'numpy', 'typer', 'rich'} & sys.modules.keys())"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == f"stablesketch {ss.__version__}\nset()\n"
    assert shell(flag).out == f"stablesketch {ss.__version__}\n"


def test_the_list_of_commands_needs_no_numpy() -> None:
    code = (
        "import sys; from stablesketch.cli.app import run\n"
        "assert run(['--help']) == 0; print('numpy' in sys.modules, 'duckdb' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "release" in shown
    assert shown.endswith("False False\n")


def test_python_m_is_the_command() -> None:
    done = subprocess.run([*COMMAND, "help", "release"], capture_output=True, text=True, check=True)
    assert "Usage: stablesketch release" in done.stdout


def test_help_is_a_command_too(shell: Shell) -> None:
    assert shell("help").out == shell("--help").out
    assert shell("help", "plan").out == shell("plan", "--help").out
    assert shell("help", "ledger", "new").out == shell("ledger", "new", "--help").out
    assert "Did you mean 'release'?" in shell("help", "relase").err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["relase", "events.csv"], "'release'"),
        (["ledger", "shwo", "b.db"], "'show'"),
        (["release", "events.csv", "--key", "app", "--statistic", "shanon"], "shannon"),
        (["release", "events.csv", "--key", "app", "--by", "contry", *SMALL], "country"),
        (["release", "events.csv", "--key", "app", "--epsilom", "1"], "--epsilon"),
    ],
)
def test_did_you_mean(shell: Shell, typed: list[str], meant: str) -> None:
    shown = shell(*typed)
    assert shown.code in (2, 3)
    assert f"Did you mean {meant}?" in shown.err


def test_a_file_where_a_command_is_due_is_shown_the_way(shell: Shell) -> None:
    shown = shell("pilot", "events.csv")
    assert (shown.code, shown.out) == (2, "")
    assert "stablesketch pilot private events.csv --person COLUMN --epsilon 0.1" in shown.err
    assert "stablesketch pilot public --people N --rows N" in shown.err
    shown = shell("events.csv", "--key", "app")
    assert "Try: stablesketch release events.csv" in shown.err
    assert "Did you mean 'private'?" in shell("pilot", "privat").err


@pytest.mark.parametrize("command", [("exact",), ("release", "--epsilon", "1", "--delta", "1e-9")])
def test_the_key_that_was_left_out_is_asked_for(shell: Shell, command: tuple[str, ...]) -> None:
    """`exact` said that there is no column `line`, which nobody had asked for."""
    shown = shell(*command, "events.csv", "--by", "country")
    assert (shown.code, shown.out) == (2, "")
    assert "--key is required: the column to measure. If every key has a column of its own, pass --wide" in shown.err
    Path("words.txt.gz").write_bytes(gzip.compress(b"a\nb\nb\n"))
    assert shell(*command, "words.txt.gz", "--statistic", "distinct").code == 0
    Path("words").write_text("a\nb\n")
    assert shell(*command, "words", "--statistic", "distinct").code == 2
    assert shell(*command, "words", "--statistic", "distinct", "--format", "lines").code == 0


def test_names_that_could_be_data_are_not_suggested(shell: Shell) -> None:
    """The first line has none of the requested columns: it may be somebody's row."""
    shell.write("rows.csv", "alice@example.org,3\nbob@example.org,4\n")
    shown = shell("release", "rows.csv", "--key", "alice@exampel.org", *SMALL)
    assert shown.code == 3
    assert "alice@example.org" not in shown.err


@pytest.mark.parametrize(
    "typed",
    [["--help"], ["release", "--help"], ["--version"], ["plan", *SMALL], ["exact", "e.csv", "--key", "a", "--p", "1"]],
)
def test_a_reader_that_left_is_no_error(tmp_path: Path, typed: list[str]) -> None:
    """Like `| head`: the other end of the pipe is closed before anything is written."""
    (tmp_path / "e.csv").write_text("a\n1\n2\n")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, *typed], stdout=write, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    os.close(write)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


FIFO = "pipe.csv"


@pytest.mark.parametrize(
    "typed",
    [
        ["release", FIFO, "--key", "a", *SMALL],
        ["exact", FIFO, "--key", "a", "--p", "0.5"],
        ["sketch", FIFO, "--key", "a", "--plan", "p.json", "--secret", "s.key", "--shard", "a", "-o", "a.ssk"],
        ["sketch", "e.csv", "--key", "a", "--plan", FIFO, "--secret", "s.key", "--shard", "a", "-o", "a.ssk"],
        ["merge", FIFO, "-o", "all.ssk"],
        ["inspect", FIFO],
        ["audit", FIFO],
        ["ledger", "plan", "b.db", FIFO],
        ["pilot", "private", FIFO, "--person", "u", "--epsilon", "0.1"],
    ],
    ids=lambda typed: " ".join(typed[:2]),
)
def test_ctrl_c_is_130_while_a_command_reads(shell: Shell, typed: list[str]) -> None:
    """The command waits for what never comes: it has opened the pipe when this test can."""
    for made in (["plan", *SMALL, "-o", "p.json"], ["secret", "new", "s.key"]):
        assert shell(*made).code == 0
    assert shell("ledger", "new", "b.db", "--epsilon", "3", "--delta", "1e-6").code == 0
    os.mkfifo(shell.folder / FIFO)
    before = sorted(os.listdir(shell.folder))
    process = subprocess.Popen([*COMMAND, *typed], cwd=shell.folder, stderr=subprocess.PIPE, text=True)
    with open(shell.folder / FIFO, "w"):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "nothing was released" in err
    assert "Traceback" not in err
    assert sorted(os.listdir(shell.folder)) == before


# Ctrl-C at a certain place: when a function is called, which then does what it does.
STOPPED_AT = """
import importlib, signal, sys
module, _, path = sys.argv.pop(1).partition(":")
owner = importlib.import_module(module)
*owners, name = path.split(".")
for each in owners:
    owner = getattr(owner, each)
real = getattr(owner, name)
def stopped(*args, **kwargs):
    signal.raise_signal(signal.SIGINT)
    return real(*args, **kwargs)
setattr(owner, name, stopped)
from stablesketch.cli import main
main()
"""


@pytest.mark.parametrize(
    ("place", "typed"),
    [
        ("stablesketch.plan.planner:planned", ["plan", "--epsilon", "1", "--delta", "1e-9"]),
        ("os:fsync", ["plan", *SMALL, "-o", "q.json"]),
        ("stablesketch.cli.plan:print_text", ["plan", *SMALL]),
        ("stablesketch.secret.secret:Secret.save", ["secret", "new", "t.key"]),
        ("os:fsync", ["secret", "new", "t.key"]),
        ("sqlite3:connect", ["ledger", "new", "c.db", "--epsilon", "3"]),
        ("stablesketch.ledger.file:add_budget", ["ledger", "new", "c.db", "--epsilon", "3"]),
        ("sqlite3:connect", ["ledger", "show", "b.db"]),
        ("stablesketch.cli.ledger:fact_table", ["ledger", "show", "b.db"]),
        ("stablesketch.ledger:Ledger.to_csv", ["ledger", "export", "b.db", "-o", "b.csv"]),
        ("os:fsync", ["ledger", "export", "b.db", "-o", "b.json"]),
        ("stablesketch.paper.theorems_1_to_3:run", ["paper", "--quick", "-o", "paper"]),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each[:2]),
)
def test_ctrl_c_is_130_in_commands_that_wait_for_nothing(shell: Shell, place: str, typed: list[str]) -> None:
    assert shell("ledger", "new", "b.db", "--epsilon", "3", "--delta", "1e-6").code == 0
    before = sorted(os.listdir(shell.folder))
    command = [sys.executable, "-c", STOPPED_AT, place, *typed]
    done = subprocess.run(command, cwd=shell.folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 130, done.stderr
    assert "nothing was released" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    left = {path.name for path in shell.folder.rglob("*") if path.is_file() and path.stat().st_size}
    assert left == set(before)
    if typed[0] != "paper":
        assert shell(*typed).code == 0  # nothing is in its way


@pytest.mark.parametrize("typed", [["demo"], ["plan", "--serve"]], ids=lambda typed: typed[0])
def test_ctrl_c_is_130_while_a_command_works(tmp_path: Path, typed: list[str]) -> None:
    with subprocess.Popen([*COMMAND, *typed], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()  # it is at work
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert b"Traceback" not in err


@pytest.mark.parametrize(("colours", "bars"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_nothing_moves_under_no_color(tmp_path: Path, colours: dict[str, str], bars: bool) -> None:
    """On a real terminal: a bar hides its cursor."""
    (tmp_path / "e.txt").write_text("a\nb\n" * 50_000, encoding="utf-8")
    left = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    ours, theirs = os.openpty()
    command = [*COMMAND, "release", "e.txt", "--epsilon", "1", "--delta", "1e-9"]
    with subprocess.Popen(
        command, cwd=tmp_path, env={**left, "TERM": "xterm", **colours}, stdout=subprocess.DEVNULL, stderr=theirs
    ) as running:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while more := os.read(ours, 4096):
                seen += more
        assert running.wait() == 0
    os.close(ours)
    assert (b"\x1b[?25l" in seen) is bars
