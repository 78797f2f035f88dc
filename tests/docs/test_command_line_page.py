"""The page of the command line runs: every command on it, in order, in one folder; and what it says of tables is so."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from test_snippets import ROOT, blocks, shell_commands

from stablesketch.cli.app import run
from stablesketch.cli.exits import Exit

PAGE = ROOT / "docs" / "command-line.md"


def commands(page: Path) -> list[str]:
    lines = shell_commands(page.relative_to(ROOT).as_posix())
    return [line for line in lines if "stablesketch " in line and not line.startswith("python ")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the page talks of: 40,000 events of some 300 apps."""
    import duckdb

    monkeypatch.chdir(tmp_path)
    rows = (
        "select 'app' || cast(i * i % 911 % 313 as varchar) as app, ['FR', 'DE', 'US'][1 + i % 3] as country, "
        "'u' || cast(i % 3000 as varchar) as user_id, 1 + i % 200 as bytes from range(40000) t(i)"
    )
    (tmp_path / "events").mkdir()
    with duckdb.connect() as connection:
        connection.execute(f"copy ({rows}) to 'events.csv' (header)")
        connection.execute(f"copy ({rows}) to 'events/1.parquet'")
    lines = (tmp_path / "events.csv").read_text().splitlines(keepends=True)
    (tmp_path / "part1.csv").write_text("".join(lines[:20001]))
    (tmp_path / "part2.csv").write_text(lines[0] + "".join(lines[20001:]))
    (tmp_path / "countries.txt").write_text("FR\nDE\n")
    (tmp_path / "access.log").write_text("".join(f"10.0.0.{i % 200} GET /\n" for i in range(20000)))
    return tmp_path


def test_every_command_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in commands(PAGE):
        before, _, program = command.rpartition(" | ")
        if before:
            piped = subprocess.run(before, shell=True, capture_output=True, check=True).stdout
            monkeypatch.setattr(sys, "stdin", type("Standard", (), {"buffer": io.BytesIO(piped)})())
        name, *arguments = shlex.split(program)
        assert name == "stablesketch"
        assert run(arguments) == 0, command


def test_every_exit_code_is_on_the_page() -> None:
    listed = set(map(int, re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)))
    assert listed == set(Exit)


def test_the_release_shown_is_such_as_comes_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Line by line the same names; the value is random, and how large a sketch is planned may change."""
    (shown,) = [block.text for block in blocks(PAGE) if block.language == "text"]
    first = commands(PAGE)[0]
    assert run(shlex.split(first)[1:]) == 0
    out = capsys.readouterr().out
    names = [re.split(r"\s{2,}", line)[0] for line in shown.splitlines()]
    assert names == [re.split(r"\s{2,}", line)[0] for line in out.splitlines()]
    for name in ("Private", "protects", "price", "planned error", "method"):
        (on_page,) = [line for line in shown.splitlines() if line.startswith(name)]
        assert on_page in out
