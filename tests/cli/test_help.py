"""Help on a terminal of 80 columns: nothing is wider, and examples can be copied."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from cli_helpers import Shell

from stablesketch.cli.app import program


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, one in getattr(command, "commands", {}).items():
        if name != "help":
            yield from _commands(one, (*path, name))


COMMANDS = dict(_commands(typer.main.get_command(program())))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_no_line_is_wider_than_a_terminal(shell: Shell, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = shell(*path, "--help")
    assert shown.code == 0
    assert max(map(len, shown.out.splitlines())) <= 80


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_values_are_named_as_readers_would(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]
) -> None:
    """A flag takes no <bool>, a column is no <str>; a list of choices is in one line, not broken within a word."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = shell(*path, "--help").out
    assert not re.search(r"<(bool|str|int|float|path|list)\b", shown)
    assert shown.count("<") == shown.count(">") == len(re.findall(r" <[\w|-]+> ", shown))


@pytest.mark.parametrize("path", ["release", "exact", "sketch", "pilot private"])
def test_files_are_typed_in_any_number(shell: Shell, path: str) -> None:
    """Brackets and dots once: the library of the command line adds them."""
    assert f" Usage: stablesketch {path} [OPTIONS] [FILES]... " in shell(*path.split(), "--help").out


EXAMPLES = {path: command.epilog.split("\n\n")[1:] for path, command in COMMANDS.items() if command.epilog}


@pytest.mark.parametrize("path", EXAMPLES, ids=" ".join)
def test_an_example_is_copied_whole(shell: Shell, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]) -> None:
    """Each appears in the help exactly as written, and is one command to a shell."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = "\n".join(line[1:] for line in shell(*path, "--help").out.splitlines())
    for example in EXAMPLES[path]:
        assert max(map(len, example.split("\n"))) <= 76
        assert f"\n{example}\n" in shown
        assert all(line.endswith(" \\") for line in example.split("\n")[:-1])
        words = shlex.split(example.replace("\\\n", ""))
        assert "stablesketch" in words
        assert "\n" not in words


def test_prose_is_broken_by_the_terminal_alone() -> None:
    """A line break in a paragraph would add to those that the terminal makes."""
    for path, command in COMMANDS.items():
        for paragraph in (command.help or "").split("\n\n")[1:]:
            assert "\n" not in paragraph.strip(), path


def test_the_exit_codes_are_one_paragraph_at_80_columns(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.strip() for line in shell("--help").out.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("Exit codes"))
    assert all(len(line) > 60 for line in lines[start : start + 3])
    assert lines[start + 3] == ""
