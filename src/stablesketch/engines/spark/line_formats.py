"""One line of text to the cells of a row, as `reading/files.py` has them of the same file on one machine.

There DuckDB reads CSV and JSON; here workers see lines, in no particular order. What both would read alike is read;
whatever they would not, or what only its neighbours could decide, is refused in words. A test holds the two against
each other on thousands of odd lines.

- **Quotes** follow RFC 4180, and within an unquoted cell that does not begin with one a quote is a character. A quoted
  cell must end on its line: one that runs on makes its first line end within quotes, so it is always noticed.
- A line of which no row can be made is *malformed*. Where rows may be skipped, a wrong number of cells and bytes that
  are not UTF-8 may: such a line was one row, and no other is lost with it. What is wrong with quotes, ends of lines and
  JSON may not: what follows such a line could be a part of it, and would be counted as if it were a row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

Cells = Sequence[str | None]
_WHOLE = re.compile(r"-?[1-9][0-9]*|0")


class Malformed(Exception):
    """No row can be made of a line; and whether it may be skipped."""

    def __init__(self, problem: str, *, skipped: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.skipped = problem, skipped


def decoded(line: bytes) -> str:
    """The text of a line that is perhaps not text."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise Malformed("the text is not UTF-8", skipped=b'"' not in line and b"\r" not in line) from None


def csv_reader(wanted: Sequence[int], count: int, delimiter: str) -> Callable[[str], Cells | None]:
    """Reads the `wanted` of `count` cells of a line: None for an empty cell, no cells at all for an empty line.

    Empty lines are no rows, unless there is one column: then they are an empty cell.
    """

    def read(line: str) -> Cells | None:
        _check_returns(line)
        if not line and count > 1:
            return None
        cells: list[str] = line.split(delimiter) if '"' not in line else _quoted(line, delimiter)
        if len(cells) == count + 1 and not cells[-1]:  # ended by a delimiter, as some programs do
            cells.pop()
        if len(cells) != count:
            # More than one delimiter at the end is read by some.
            raise Malformed(f"there are {len(cells)} fields instead of {count}", skipped=any(cells[count:] or [1]))
        return [cells[i] or None for i in wanted]

    return read


def line_reader(line: str) -> Cells:
    """The whole line, as one cell."""
    _check_returns(line)
    return [line or None]


def json_reader(wanted: Sequence[str]) -> Callable[[str], Cells | None]:
    """Reads these fields of an object: text as it is, whole numbers and truth values as they are written."""
    names = frozenset(wanted)

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs) and len([name for name, _ in pairs if name in names]) > len(names & found.keys()):
            raise Malformed("a field is there twice in one object")
        return found

    read_object = json.JSONDecoder(
        object_pairs_hook=fields, parse_int=_Number, parse_float=_Number, parse_constant=_Number
    ).decode

    def read(line: str) -> Cells | None:
        line = line.strip(" \t\r")
        if not line:
            return None
        try:
            found = read_object(line)
        except (ValueError, RecursionError):
            raise Malformed("the line is not JSON: one object a line is read here") from None
        if not isinstance(found, dict):
            raise Malformed("the line is not an object of JSON: one object a line is read here")
        return [_json_cell(name, found.get(name)) for name in wanted]

    return read


class _Number(str):
    """A number, as it is written."""

    __slots__ = ()


def _json_cell(name: str, found: Any) -> str | None:
    if found is None:
        return None
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, _Number):
        if _WHOLE.fullmatch(found) is None:
            raise Malformed(
                f"{name} is a number that is not whole, which readers write in several ways: write it as text"
            )
        return str(found)
    if not isinstance(found, str):
        raise Malformed(f"{name} is an object or a list: write it as text")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise Malformed("the line is not JSON: half a character is escaped in it") from None
    return found


def _check_returns(line: str) -> None:
    """The end of the line is gone, \\n or \\r\\n. Another \\r may end a line or be a part of it."""
    if "\r" in line:
        raise Malformed("there is a carriage return within a line: end lines with \\n or \\r\\n")


def _quoted(line: str, delimiter: str) -> list[str]:
    """The cells of a line with quotes in it."""
    quoted, plain = _cell_patterns(delimiter)
    cells: list[str] = []
    place = 0
    while True:
        found = quoted.match(line, place)
        if found is not None:
            cells.append(found[1].replace('""', '"'))
        else:
            found = plain.match(line, place)
            if found is None:
                raise Malformed("a quoted field is unterminated on its line, or has text outside its quotes")
            cells.append(found[0])
        place = found.end()
        if place == len(line):
            return cells
        if line[place] != delimiter:
            raise Malformed("a quoted field is unterminated on its line, or has text outside its quotes")
        place += 1


@cache
def _cell_patterns(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    escaped = re.escape(delimiter)
    return re.compile('"((?:[^"]++|"")*+)"'), re.compile(rf'(?!\s*+")[^{escaped}]*+')
