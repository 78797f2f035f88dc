"""What people see: tables on standard output, progress and notes on standard error; and files written whole."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from .. import durable
from ..errors import ArgumentError

__all__ = ["console", "fact_table", "note", "number", "plain_table", "print_text", "progress", "write_new"]


def console(error: bool = False) -> Console:
    """Standard output or standard error as they are now; in a pipe as wide as it takes, without colour."""
    file = sys.stderr if error else sys.stdout
    width = None if file.isatty() or os.environ.get("COLUMNS") else 200
    return Console(file=file, width=width, highlight=False, soft_wrap=False)


def print_text(text: str) -> None:
    """Plain text, for JSON and for pipes."""
    print(text, flush=True)


def note(text: str) -> None:
    """A line on standard error."""
    console(error=True).print(Text(text, style="dim"))


def number(value: float) -> str:
    """A number as people read it: four to six digits that mean something."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.5g}"


def fact_table(title: str, facts: Sequence[tuple[str, str]]) -> None:
    """Names and what they are, the first one marked."""
    screen = console()
    width = max(len(name) for name, _ in facts)
    screen.print(Text(title, style="bold"))
    for i, (name, value) in enumerate(facts):
        line = Text.assemble((name.ljust(width), "dim"), "  ", (value, "bold green" if i == 0 else ""))
        screen.print(line, soft_wrap=True)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> None:
    """Rows under a header; the last `numbers` columns are numbers, and stand to the right."""
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        shown = [
            " " * (width - cell_len(cell)) + cell if i >= len(columns) - numbers else set_cell_size(cell, width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(shown).rstrip()

    screen = console()
    screen.print()
    screen.print(Text(line(columns), style="dim"), soft_wrap=True)
    screen.print(Text("─" * (sum(widths) + 2 * len(widths) - 2), style="dim"), soft_wrap=True)
    for row in rows:
        screen.print(Text(line(row)), soft_wrap=True)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{task.completed:,.0f}" + (f", {speed:,.0f}/s" if speed else ""), style="dim")


class _Bar:
    """How far it is, on a terminal."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: TaskID | None = None

    def begin(self, what: str, total: int | None) -> None:
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(what, total=total)

    def advance(self, steps: int) -> None:
        assert self._task is not None
        self._bar.advance(self._task, steps)


@contextlib.contextmanager
def progress() -> Iterator[_Bar | None]:
    """A bar with rate and, where the total is known, time left: on a terminal; nothing in a pipe."""
    screen = console(error=True)
    if not screen.is_terminal:
        yield None
        return
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), _Rate(), TimeRemainingColumn()]
    with Progress(*columns, console=screen, transient=True) as bar:
        yield _Bar(bar)


def write_new(path: Path, content: bytes) -> None:
    """A new file, there whole or not at all; an existing one is never replaced."""
    try:
        durable.write_new(path, content)
    except FileExistsError:
        raise ArgumentError("output", str(path), "there is such a file already", "Choose another name") from None
    except OSError as error:
        raise ArgumentError(
            "output", str(path), f"it cannot be written ({error.strerror})", "Choose another place"
        ) from None
