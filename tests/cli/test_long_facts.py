"""Facts on a terminal: a long value goes on under its beginning, between words; in a pipe it stays one line."""

from __future__ import annotations

import io

import pytest

from stablesketch.cli.screen import fact_lines

LONG = "1.24% if every key is rare, 22% if one key holds everything, and so on"
FACTS = [("price", "ε = 1"), ("planned error", LONG)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, columns: int) -> list[str]:
    monkeypatch.setenv("COLUMNS", f"{columns}")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", stream)
    return "\n".join(line.plain for line in fact_lines("A release", FACTS)).splitlines()


def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = lines(monkeypatch, Terminal(), 50)
    assert max(map(len, shown)) <= 50
    assert shown[2].startswith("planned error  1.24% if every key")
    assert all(line.startswith(" " * 15) for line in shown[3:])
    assert " ".join(" ".join(shown[2:]).split()).endswith(LONG)  # no word is broken


def test_in_a_pipe_and_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """In fewer columns than a sentence needs, the terminal breaks it better."""
    assert lines(monkeypatch, io.StringIO(), 50)[2] == f"planned error  {LONG}"
    assert lines(monkeypatch, Terminal(), 30)[2] == f"planned error  {LONG}"
