"""JSON where rows may be skipped: one object a line, so that a line which is none takes no other with it.

DuckDB then looks at every line by itself and makes an empty row of one that is no object, which is skipped and counted
as every row without a key. An array, or an object of several lines, has no such lines: of it all rows, or all but one,
would be dropped without a word. It is refused.
"""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import DataError
from ..wording import arg
from .duckdb import DuckDB
from .lines import LONGEST_LINE
from .packed import Rest, opened_text, stored

BY_LINE = ", format = 'newline_delimited', ignore_errors = true"
"""Arguments of DuckDB's `read_json`."""
_MARK = b"\xef\xbb\xbf"
_SAMPLE = 1 << 20


def of_lines(duckdb: DuckDB, path: Path) -> Path:
    """The same file, or a copy without a byte order mark, of which the first line would be no JSON.

    Raises:
        DataError: it is an array, or begins with an object that goes on in the next line.
    """
    with opened_text(path) as file:
        head = file.read(1 << 14)
        line = head.removeprefix(_MARK).lstrip()
        while b"\n" not in line and len(line) < LONGEST_LINE and (more := file.read(1 << 14)):
            head, line = head + more, (line + more).lstrip()
        if line.startswith(b"[") or line.partition(b"\n")[0].strip() == b"{":
            raise DataError(
                duckdb.named(path),
                "the file is an array, or its objects span several lines; rows can be skipped only if each is "
                "on one line",
                f"Write one object on each line (jq -c '.[]' FILE, or jq -c . FILE), or leave out "
                f"{arg('on_bad', 'skip')}",
            )
        if not head.startswith(_MARK):
            return path
        place = duckdb.place(duckdb.named(path), "unmarked.jsonl")
        stored(Rest(file, head.removeprefix(_MARK)), place, duckdb.named(path))
        return place


def first_names(path: Path) -> list[str]:
    """The outermost fields of the objects that a file begins with."""
    names: dict[str, None] = {}
    with opened_text(path) as file:
        for line in file.read(_SAMPLE).split(b"\n"):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            names |= dict.fromkeys(found) if isinstance(found, dict) else {}
    return list(names)
