"""Makes docs/stablesketch.1, the manual page, of what `stablesketch help` says: `make man`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from stablesketch import __version__
from stablesketch.cli.app import program

PAGE = Path(__file__).parents[1] / "stablesketch.1"


def man_page() -> str:
    """All commands with their options, in the order of the help; nothing in it depends on the day."""
    command: Any = typer.main.get_command(program())
    lines = [
        f'.TH STABLESKETCH 1 "" "stablesketch {__version__}" "User Commands"',
        ".SH NAME",
        "stablesketch \\- how varied is a stream: one private number, its uncertainty and its price",
        ".SH SYNOPSIS",
        ".B stablesketch",
        ".I COMMAND",
        "[OPTIONS]",
        ".SH DESCRIPTION",
        *_text(command.help),
        ".SH OPTIONS",
        *_options(command),
    ]
    for name, one in command.commands.items():
        lines += [f'.SH "STABLESKETCH {name.upper()}"', *_command(f"stablesketch {name}", one)]
    return "\n".join(lines) + "\n"


def _command(path: str, command: Any) -> Iterator[str]:
    yield from _text(command.help)
    for name, one in getattr(command, "commands", {}).items():
        yield f'.SS "{path} {name}"'
        yield from _command(f"{path} {name}", one)
    yield from _options(command)
    if command.epilog:
        title, *examples = _paragraphs(command.epilog)
        yield from [".PP", _escaped(title.rstrip(":")) + ":"]
        for example in examples:
            yield from [".PP", ".nf", _escaped(example), ".fi"]


def _options(command: Any) -> Iterator[str]:
    """What is typed after a command: files first, as its help has them."""
    command.get_params(typer.Context(command))  # gives each option a word for its value
    for each in sorted(command.params, key=lambda one: one.param_type_name != "argument"):
        if each.param_type_name == "argument":
            yield from [".TP", f".I {_escaped(each.metavar or each.name.upper())}"]
        else:
            value = "" if each.is_flag else f" {each.metavar or 'VALUE'}"
            named = ", ".join([*each.opts, *each.secondary_opts])
            yield from [".TP", f".B {_escaped(named)}{_escaped(value)}"]
        yield _escaped(_plain(each.help or ""))


def _text(help: str | None) -> Iterator[str]:
    for paragraph in _paragraphs(help or ""):
        yield from [".PP", _escaped(" ".join(paragraph.split()))]


def _paragraphs(text: str) -> list[str]:
    return [each.strip() for each in _plain(text).split("\n\n") if each.strip()]


def _plain(text: str) -> str:
    """Without the marks of bold type."""
    return re.sub(r"\[/?(?:bold)?\]", "", text)


def _escaped(text: str) -> str:
    """For roff: a backslash is written as one, a hyphen is a minus that can be copied, no line begins as a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(man_page(), encoding="utf-8")
