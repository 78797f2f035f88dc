"""Skipped rows of CSV: checks that each is one line, so that it takes no other row with it.

A quoted field that does not end on its line swallows the rows of other people. If the resulting row is skipped, all of
them are dropped as one: one person more or less could change any number of pairs. These are not neighbours in the sense
of `Privacy`, and no ε would cover them. Before anything is counted, therefore,

- invalid rows must have no line break in any cell: then each was one line;
- if the reader could not parse some line, every line of the files must be complete by itself: its quotes closed,
  nothing after them, and one kind of line end. Then no field continues past the end of a line, wherever reading begins,
  and each dropped line was a row of its own.

A valid row may span several lines. The text between its quotes is one cell, whoever wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import DataError
from .columns import Columns, bad_rows, is_bad, is_zero, quoted, usual_row
from .lines import whole_lines
from .packed import opened_text
from .tables import Table


def check_skipped(table: Table, columns: Columns, files: Sequence[Path], delimiter: str) -> None:
    """Raises if a skipped row spans several lines, or may do so."""
    usual = usual_row(columns, text=True, largest=None)
    bad = is_bad(bad_rows(columns, text=True, largest=None), usual)
    bad += f" or {is_zero(columns, text=True)}"  # zeros are left out too
    cells = ", ".join(quoted(name) for name in table.types)
    breaks = f"regexp_matches(concat_ws(' ', {cells}), '[\\r\\n]')"
    # All rows are counted, so that the reader sees all lines.
    (several,) = table.duckdb.rows(f"select count(*) from {table.origin} where ({bad}) and {breaks}", table.name)[0]
    if not several and not table.rejected():
        return
    path, row = next(_torn(files, _whole_line(delimiter)), (None, None))
    if several or path is not None:
        raise DataError(
            table.name if path is None else table.duckdb.named(path),
            "unterminated quotes or mixed line endings: the following lines could belong to this row",
            "Correct it: rows can be skipped only if each is on one line",
            row=row,
        )


def _torn(files: Sequence[Path], whole: re.Pattern[bytes]) -> Iterator[tuple[Path, int]]:
    """The files and numbers of lines that are not complete by themselves, or whose line end differs from the first."""
    for path in files:
        first: bytes | None = None
        for number, (line, end) in enumerate(_lines(path), start=1):
            first = first or end
            if end not in (first, b"") or ((b'"' in line or b"\r" in line) and not whole.fullmatch(line)):
                yield path, number


def _lines(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """The lines and their ends, whatever bytes they contain; compressed files are unpacked."""
    with opened_text(path) as file:
        for lines in whole_lines(file.read, str(path)):
            *ended, rest = lines.split(b"\n")
            for line in ended:
                yield (line[:-1], b"\r\n") if line.endswith(b"\r") else (line, b"\n")
            if rest:  # the last line of a file may have no end
                yield rest, b""


def _whole_line(delimiter: str) -> re.Pattern[bytes]:
    """Cells without quotes, or with closed quotes. In a cell that does not begin with a quote, quotes are text."""
    d = re.escape(delimiter)
    # The first character distinguishes the cases, so that nothing is tried twice.
    cell = rf'(?:"(?:[^"\r]|"")*"|[^"\s{d}][^\r{d}]*|[^\S\r{d}][^"\r{d}]*|)'
    return re.compile(f"(?:\ufeff)?{cell}(?:{d}{cell})*".encode())
