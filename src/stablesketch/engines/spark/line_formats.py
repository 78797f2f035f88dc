"""Turns one line of text into the cells of a row, as `reading/files.py` does with the same file on one machine.

There DuckDB reads CSV and JSON; here workers see lines, in no particular order. Lines that both read in the same way
are read. Others, and those that depend on the lines around them, are refused with a message. A test compares the two on
thousands of odd lines.

- **Quotes** follow RFC 4180. In an unquoted cell, a quote after the first character is an ordinary character. A quoted
  cell must end on its line: one that continues makes its first line end within quotes, so it is always noticed.
- A line that cannot become a row is *malformed*. If rows may be skipped, a line with the wrong number of cells, or with
  bytes that are not UTF-8, is skipped: it was one row, and no other is lost with it. A line with wrong quotes, line
  ends or JSON is not skipped: what follows could be part of it, and would be counted as if it were a row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ...reading.json_files import ways
from ...text.visible import writable

Cells = Sequence[str | None]
_WHOLE = re.compile(r"-?[1-9][0-9]*|0")


class Malformed(Exception):
    """A malformed line, and whether it may be skipped."""

    def __init__(self, problem: str, *, skipped: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.skipped = problem, skipped


def decoded(line: bytes) -> str:
    """The text of a line, which may be invalid."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise Malformed("the text is not UTF-8", skipped=b'"' not in line and b"\r" not in line) from None


def csv_reader(wanted: Sequence[int], count: int, delimiter: str) -> Callable[[str], Cells | None]:
    """Reads the `wanted` of `count` cells of a line: None for an empty cell, no cells at all for an empty line.

    An empty line is not a row, unless there is one column: then it is an empty cell.
    """

    def read(line: str) -> Cells | None:
        _check_returns(line)
        if not line and count > 1:
            return None
        cells: list[str] = line.split(delimiter) if '"' not in line else _quoted(line, delimiter)
        if len(cells) == count + 1 and not cells[-1]:  # some programs end lines with a delimiter
            cells.pop()
        if len(cells) != count:
            got = "more" if len(cells) > count else len(cells)  # as DuckDB, which stops counting there
            # Some readers accept more than one delimiter at the end.
            raise Malformed(f"expected {count} fields, got {got}", skipped=any(cells[count:] or [1]))
        return [cells[i] or None for i in wanted]

    return read


def line_reader(line: str) -> Cells:
    """The whole line, as one cell."""
    _check_returns(line)
    return [line or None]


def json_reader_of_spark(wanted: Sequence[str]) -> Callable[[str], Cells | None]:
    """Reads these fields of an object: text as it is, whole numbers and truth values as written."""
    names = frozenset(wanted)

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs) and len([name for name, _ in pairs if name in names]) > len(names & found.keys()):
            raise Malformed("a field occurs twice in one object")
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
            raise Malformed("the line is not JSON: write one object on each line") from None
        if not isinstance(found, dict):
            raise Malformed("the line is not a JSON object: write one object on each line")
        return [_json_cell(name, json_field(found, name)) for name in wanted]

    return read


def json_field(found: dict[str, Any], name: str) -> Any:
    """What an object has under a name, which may be a path into objects (reading/json_files.py); None if nothing."""
    if "." not in name or found.get(name) is not None:
        return found.get(name)
    inner: Any = found
    for part in ways(name)[-1]:
        inner = inner.get(part) if isinstance(inner, dict) else None
    return inner


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
                f"{name} is not a whole number, and readers print such numbers differently: write it as text"
            )
        return str(found)
    if not isinstance(found, str):
        raise Malformed(f"{name} is an object or a list: write it as text")
    if not writable(found):
        raise Malformed("the line is not JSON: it has an unpaired surrogate escape")
    return found


def _check_returns(line: str) -> None:
    """Refuses a \\r within a line, which may end it or be part of it. The line end, \\n or \\r\\n, is gone already."""
    if "\r" in line:
        raise Malformed("carriage return within a line: end lines with \\n or \\r\\n")


def _quoted(line: str, delimiter: str) -> list[str]:
    """The cells of a line that contains quotes."""
    cell, cells, place = _cell_pattern(delimiter), [], 0
    while True:
        found = cell.match(line, place)
        if found is None:
            raise Malformed("a quoted field is unterminated on its line, or has text outside its quotes")
        quoted, plain, follows = found.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        if not follows:
            return cells
        place = found.end()


@cache
def _cell_pattern(delimiter: str) -> re.Pattern[str]:
    """What is between the quotes of a cell, or a cell without quotes; then the delimiter, or the end of the line."""
    escaped = re.escape(delimiter)
    return re.compile(rf'(?:"((?:[^"]++|"")*+)"|((?!(?:(?!{escaped})\s)*+")[^{escaped}]*+))({escaped}|\Z)')
