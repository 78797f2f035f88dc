"""JSON where rows may be skipped: one object per line, so that an invalid line affects no other.

DuckDB then reads every line by itself and makes an empty row of a line that is not an object. Like every row without a
key, it is skipped and counted. In an array, or if objects span several lines, all rows or all but one would be dropped
silently, so these are refused.
"""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import DataError
from ..text.wording import arg
from .duckdb import DuckDB
from .lines import LONGEST_LINE
from .packed import Rest, opened_text, stored

BY_LINE = ", format = 'newline_delimited', ignore_errors = true"
"""Arguments of DuckDB's `read_json`."""
_MARK = b"\xef\xbb\xbf"
_SAMPLE = 1 << 20


def of_lines(duckdb: DuckDB, path: Path) -> Path:
    """The same file, or a copy without its byte order mark, which would make the first line invalid.

    Raises:
        DataError: it is an array, or begins with an object that continues on the next line.
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
    """The outermost fields of the first objects of a file."""
    names: dict[str, None] = {}
    with opened_text(path) as file:
        for line in file.read(_SAMPLE).split(b"\n"):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            names |= dict.fromkeys(found) if isinstance(found, dict) else {}
    return list(names)
