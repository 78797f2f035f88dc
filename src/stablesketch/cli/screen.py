"""The screen: tables on standard output, notes on standard error; and files written as a whole."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from ..files import durable
from ..text.visible import json_visible, visible
from .in_options import in_options

_LEAST_ROOM = 24  # columns; in fewer a value is better broken by the terminal


def console(error: bool = False) -> Console:
    """Standard output or standard error as they are now; in a pipe as wide as it takes, without colour."""
    file = sys.stderr if error else sys.stdout
    width = None if file.isatty() or os.environ.get("COLUMNS") else 200
    return Console(file=file, width=width, highlight=False, soft_wrap=False)


def rendered(lines: Sequence[Text], error: bool = False) -> str:
    """The lines as the current screen would show them: with colours on a terminal, without in a pipe.

    Nothing is written: rich would end the process if a pipe has no reader, and a paid value must be shown.
    """
    screen = console(error)
    memory = io.StringIO()
    like = Console(
        file=memory, force_terminal=screen.is_terminal, width=screen.width, highlight=False,
        color_system=screen.color_system,  # type: ignore[arg-type]  # the name of one, as it takes it
    )  # fmt: skip
    for line in lines:
        if line.style or line.spans:
            like.print(line, soft_wrap=True)
        else:  # rich takes a tenth of a millisecond for a line, and tables may have thousands
            memory.write(f"{line.plain}\n")
    return memory.getvalue()


def json_text(content: object) -> str:
    """JSON in one line, with exact names and nothing that a terminal would obey."""
    return json_visible(json.dumps(content, sort_keys=True, ensure_ascii=False))


def print_text(text: str) -> None:
    """Plain text, for JSON and for pipes."""
    print(text, flush=True)


def show(lines: Sequence[Text]) -> None:
    """Lines on standard output, all at once."""
    sys.stdout.write(rendered(lines))
    sys.stdout.flush()


def tell(text: str) -> bool:
    """Writes text to standard error, as it is; False if that fails."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
        return True
    except (OSError, ValueError):
        drop(sys.stderr)
        return False


def note(text: str) -> None:
    """A note on standard error, with arguments spelt as options (text/wording.py)."""
    tell(rendered([Text(visible(in_options(text)), style="dim")], error=True))


def drop(stream: TextIO) -> None:
    """Discards what a stream could not take, so that it is not tried again at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def number(value: float) -> str:
    """A number as people read it: with four to six significant digits."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.5g}"


def fact_lines(title: str, facts: Sequence[tuple[str, str]]) -> list[Text]:
    """Names with their values, the first one marked. On a terminal a long value goes on under its beginning."""
    width = max(len(visible(name)) for name, _ in facts)
    screen = console()
    room = screen.width - width - 2 if screen.is_terminal else sys.maxsize
    lines = [Text(visible(title), style="bold")]
    for i, (name, value) in enumerate((visible(name), visible(value)) for name, value in facts):
        if " " in value and _LEAST_ROOM <= room < cell_len(value):
            value = f"\n{' ' * (width + 2)}".join(part.plain.rstrip() for part in Text(value).wrap(screen, room))
        lines.append(Text.assemble((name.ljust(width), "dim"), "  ", (value, "bold green" if i == 0 else "")))
    return lines


def fact_table(title: str, facts: Sequence[tuple[str, str]]) -> None:
    show(fact_lines(title, facts))


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> list[Text]:
    """Rows under a header. The last `numbers` columns are numbers, aligned to the right."""
    columns, rows = [visible(name) for name in columns], [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        shown = [
            " " * (width - cell_len(cell)) + cell if i >= len(columns) - numbers else set_cell_size(cell, width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(shown).rstrip()

    rule = "─" * (sum(widths) + 2 * len(widths) - 2)
    return [Text(), Text(line(columns), style="dim"), Text(rule, style="dim"), *(Text(line(row)) for row in rows)]


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> None:
    show(table_lines(columns, rows, numbers=numbers))


def write_and_note(path: Path, content: bytes, more: str = "", *, public: bool = False) -> None:
    """Writes a new file, whole or not at all, and notes that, with `more` about it; an existing one is never replaced.
    A `public` file has the permissions of the umask; others are the owner's alone.
    """
    durable.write_named("output", path, content, public=public)
    note(f"written to {path}{more}")
