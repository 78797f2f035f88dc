"""The first row of a CSV, from the bytes of the file: a query has no first row, because DuckDB reads in parallel.

**What an error may show.** A file without a header, read as if it had one, has somebody's row where the names should
be. Names are therefore shown only if they are certainly a header: at least one requested column is among them, spelt
the same except for case (`missing_column`). Otherwise the error says how to look at the line yourself. It shows at most
one name: one that differs by a single slip from what was typed, so that it tells hardly anything new, and only if all
cells look like names of columns. Rows of data mostly have a number, a date or an address among them. Fields of JSON
are never shown so: an object may map people to numbers.

Quotes follow RFC 4180. Unterminated quotes, and text beside quotes, are refused: DuckDB reads them differently, and
could take any number of rows into the header.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import DataError, did_you_mean
from ..text.wording import arg
from .lines import LONGEST_LINE, MARK, too_long
from .packed import compression_of, opened_text, unreadable

_STEP = 1 << 14
_MANY = 20  # columns: perhaps a wide table
_LIKE_A_NAME = re.compile(r"[^\W\d][\w -]*").fullmatch
_QUOTED = re.compile(rb'"((?:[^"]++|"")*+)"')


@dataclass(frozen=True)
class FirstRow:
    """Its cells as bytes, and everything read from the input so far, including the row."""

    cells: list[bytes]
    row: bytes
    rest: bytes

    def decoded(self, source: str) -> list[str]:
        """The cells as text.

        Raises:
            DataError: they are not UTF-8.
        """
        try:
            return [cell.decode() for cell in self.cells]
        except UnicodeDecodeError:
            raise DataError(
                source, "the header is not UTF-8", "Convert the file: iconv -f LATIN1 -t UTF-8, for example", row=1
            ) from None


def first_row_of(path: Path, name: str, delimiter: str) -> FirstRow:
    """The first row of a file, compressed or not."""
    try:
        with opened_text(path) as file:
            return first_row(file.read, name, delimiter)
    except OSError as error:  # from Arrow: a damaged archive
        raise unreadable(name, error) from None


def first_row(read: Callable[[int], bytes], source: str, delimiter: str) -> FirstRow:
    """The first row of what `read` returns: at most as many bytes as requested, none at the end.

    Raises:
        DataError: there is nothing, the first line is empty or too long, or its quotes are wrong.
    """
    held, step = b"", _STEP
    while True:
        more = read(step)
        held += more
        found = _split(held, delimiter.encode(), source, ended=not more)
        if found is not None:
            cells, end = found
            if end > LONGEST_LINE:
                raise too_long(source, 1)
            if cells == [b""]:
                if held.removeprefix(MARK).strip():
                    raise DataError(source, "the first line is empty", "Remove empty lines before the first row", row=1)
                raise empty(source)
            return FirstRow(cells, held[:end], held[end:])
        if len(held) > LONGEST_LINE:
            raise too_long(source, 1)
        step = max(step, len(held))  # doubled, so that a long row is not scanned again and again


def empty(source: str) -> DataError:
    """The error about an input without rows."""
    return DataError(source, "the input is empty", "Check where it comes from, or leave it out")


def other_columns(source: str, first: str) -> DataError:
    """The error about a file whose columns are not those of the first one."""
    way_out = "All files must have the same columns in the same order"
    return DataError(source, f"the columns differ from those of {first}", way_out)


def _split(held: bytes, delimiter: bytes, source: str, *, ended: bool) -> tuple[list[bytes], int] | None:
    """The cells of the first row and where it ends, line end included; None if more must be read to know."""
    between = re.escape(delimiter)  # which may be a tab
    plain = re.compile(rb'(?!(?:(?!%b)[ \t])*+")(?:(?!%b)[^\r\n])*+' % (between, between))
    place = len(MARK) if held.startswith(MARK) else 0
    cells: list[bytes] = []
    while True:
        quoted = held[place : place + 1] == b'"'
        found = (_QUOTED if quoted else plain).match(held, place)
        after = len(held) if found is None else found.end()
        # A quote may be doubled, a \r be followed by \n, a delimiter have several bytes: look past the cell.
        if not ended and (len(held) - after < 4 or found is None):
            return None
        if found is None and quoted:
            raise _misquoted(source, "unterminated quoted field in the first row")
        if found is None:
            raise _misquoted(source, "spaces before the opening quote of a field")
        cells.append(found[1].replace(b'""', b'"') if quoted else found[0])
        if held.startswith(delimiter, after):
            place = after + len(delimiter)
            continue
        end = re.compile(rb"\r\n|\r|\n|\Z").match(held, after)
        if end is None:
            raise _misquoted(source, "text after the closing quote of a field in the first row")
        return cells, end.end()


def _misquoted(source: str, problem: str) -> DataError:
    return DataError(source, problem, f"Correct it, or name the delimiter ({arg('delimiter')})", row=1)


def cells_of(head: bytes, delimiter: str) -> list[bytes]:
    """The cells of the first row, if `head` contains all of it and is CSV; otherwise none."""
    try:
        found = _split(head, delimiter.encode(), "", ended=True)
    except DataError:
        return []
    return found[0] if found else []


def column_names(first: FirstRow, source: str, *, header: bool) -> list[str]:
    """The names in the header, or column0, column1, ... if there is none.

    Raises:
        DataError: two names are the same, or one is empty. The error shows no name.
    """
    if not header:
        return [f"column{i}" for i in range(len(first.cells))]
    names = first.decoded(source)
    if len(set(names)) < len(names) or not all(names):
        raise DataError(
            source, "column names in the header are repeated or empty",
            f"Correct the header, or pass {arg('header', False)} and use column0, column1, ...",
        )  # fmt: skip
    return names


Doubt = Literal["", "header", "fields", "query"]
"""Why column names may be data: a row was read as a header, or objects map people to numbers; "" if they cannot be."""

_DOUBTS = {
    "header": (
        "in a file without a header, the first line is a row",
        f"Look at its first line{{}}; if that is not a header, pass {arg('header', False)}"
        " and use the names column0, column1 and so on",
    ),
    "query": (
        "if a file has no header, a query takes its first row as one",
        "Give the columns names in the query: select ... as ...",
    ),
    "fields": ("an object may use the names of people as fields", "Look at its first object yourself{}"),
}


def missing_column(source: str, name: str, have: Sequence[str], wanted: Iterable[str], doubt: Doubt) -> DataError:
    """The error about a missing column. The others are shown if there is no `doubt`, or if one was requested."""
    letters = {one.strip().casefold() for one in have}
    if not doubt or any(one.strip().casefold() in letters for one in wanted):
        shown = ", ".join(list(have)[:20]) + (f" and {len(have) - 20:,} more" if len(have) > 20 else "")
        near = did_you_mean(name, have)
        way_out = f"{near}{' ' if near else ''}The columns are: {shown}"
        return DataError(source, "no such column", way_out, column=name)
    why, way_out = _DOUBTS[doubt]
    way_out = way_out.replace("{}", _how_to_look(source))
    whole = "query" if doubt == "query" else "file"
    if doubt == "header" and len(have) == 1:
        way_out += f". If the line has several columns, name what is between them ({arg('delimiter')})"
    if len(have) >= _MANY:
        way_out += f". If every key has a column of its own, pass {arg('wide', True)} instead of a key"
    like_names = doubt != "fields" and all(map(_LIKE_A_NAME, have))
    nearest = next((one for one in have if _one_slip(name, one)), None) if like_names else None
    hidden = "Their names" if nearest is None else f"Did you mean {nearest}? The other names"
    return DataError(
        source,
        f"no such column among the {len(have):,} of this {whole}. {hidden} are not shown because they could be data: "
        f"{why}",
        way_out,
        column=name,
    )


def _one_slip(typed: str, there: str) -> bool:
    """Whether the names differ by at most one letter that is added, left out or mistaken, or by two that are swapped;
    case, spaces and punctuation aside. Names of one or two letters are too close to everything.

    >>> _one_slip("user_id", "UserID"), _one_slip("contry", "country"), _one_slip("app", "apple")
    (True, True, False)
    """
    one, other = (re.sub(r"[\W_]", "", name).casefold() for name in (typed, there))
    if min(len(one), len(other)) < 3:
        return False
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1])


def _how_to_look(source: str) -> str:
    """The command that shows the first line of a file; empty if the file does not exist, as for a pipe."""
    path = Path(source)
    try:
        kind = compression_of(path)
    except OSError:
        return ""
    unpacked = {"bzip2": "bzip2 -dc {} | head -n 1", None: "head -n 1 {}"}.get(kind, f"{kind} -dc {{}} | head -n 1")
    return f" ({unpacked.format(shlex.quote(source))})"
