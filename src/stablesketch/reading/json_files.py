"""JSON: fields by name, and files with one object on each line.

**Fields.** A name with dots is the name of a field or a path into objects, whichever a record has. Both are tried in
every record by itself, so no record decides where another has its key. A literal name comes first: in
`{"id.orig_h": "a", "id": {"orig_h": "b"}}`, `id.orig_h` is a, both in files and in a monitored stream.

**Lines.** Where rows may be skipped, each object must be on one line, so that an invalid line affects no other. DuckDB
then reads every line by itself and makes an empty row of a line that is not an object. Like every row without a key, it
is skipped and counted. In an array, or if objects span several lines, all rows or all but one would be dropped
silently, so these are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..text.wording import arg
from .columns import quoted
from .duckdb import DuckDB, text_literal
from .lines import LONGEST_LINE, MARK
from .packed import Rest, copied, opened_text

BY_LINE = ", format = 'newline_delimited', ignore_errors = true"
"""Arguments of DuckDB's `read_json`."""
_SAMPLE = 1 << 20


def ways(name: str) -> list[list[str]]:
    """The paths that may lead to a field, in order of preference: the first one that gives a text counts.

    >>> ways("flow.bytes"), ways("app")
    ([['flow.bytes'], ['flow', 'bytes']], [['app']])
    """
    return [[name], *([name.split(".")] if "." in name else [])]


def pointer(way: Sequence[str]) -> str:
    """A path into an object, as a JSON Pointer.

    >>> pointer(["flow", "bytes/s"])
    '/flow/bytes~1s'
    """
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in way)


def found_fields(names: Iterable[str], have: Mapping[str, Any]) -> list[str]:
    """Those of the names that are fields, or lead to one. `have` maps the outermost fields to DuckDB's types."""
    return [name for name in names if any(_leads(way, have) for way in ways(name))]


def outermost(names: Iterable[str]) -> dict[str, Any]:
    """Every outermost field that could hold one of these names, if it is not known which fields exist."""
    return dict.fromkeys((way[0] for name in names for way in ways(name)), "JSON")


def json_reader(names: Sequence[str], have: Mapping[str, Any], more: str = "") -> str:
    """SQL that reads these fields as text, with {} for the files; `more` are arguments of `read_json`.

    For a path into objects, the outermost field is read and searched row by row.
    """
    outer = dict.fromkeys(way[0] for name in names for way in ways(name) if way[0] in have)
    if not outer:
        return "read_json({})"
    inner = {name: way for name in names for way in ways(name)[1:] if way[0] in have}
    entered = {way[0] for way in inner.values()}  # as JSON: a text in place of an object is not an error
    kinds = {name: "JSON" if name in entered else "VARCHAR" for name in outer}
    fields = ", ".join(f"{text_literal(name)}: '{kind}'" for name, kind in kinds.items())
    # With records=true DuckDB refuses everything but objects; otherwise it may guess that a whole record is one field.
    read = f"read_json({{}}, columns={{{{{_in_format(fields)}}}}}, records=true{more})"
    if not inner:
        return read
    texts = {name: f"json_extract_string({quoted(name)}, '')" if name in entered else quoted(name) for name in outer}
    for name, way in inner.items():
        found = f"json_extract_string({quoted(way[0])}, {text_literal(pointer(way[1:]))})"
        texts[name] = f"coalesce({texts[name]}, {found})" if name in outer else found
    changed = [f"{texts[name]} as {quoted(name)}" for name in outer if texts[name] != quoted(name)]
    added = [f"{text} as {quoted(name)}" for name, text in texts.items() if name not in outer]
    replaced = f" replace ({', '.join(changed)})" if changed else ""
    return f"(select {_in_format(', '.join([f'*{replaced}', *added]))} from {read})"


def _leads(way: Sequence[str], have: Mapping[str, Any]) -> bool:
    """Whether some record has such a field, as far as types show: DuckDB describes mixed types only as JSON."""
    kind = have.get(way[0])
    if kind is None:
        return False
    if len(way) == 1 or str(kind) == "JSON":
        return True
    return kind.id == "struct" and _leads(way[1:], dict(kind.children))


def _in_format(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def of_lines(duckdb: DuckDB, path: Path) -> Path:
    """The same file, or a copy without its byte order mark, which would make the first line invalid.

    Raises:
        DataError: it is an array, or begins with an object that continues on the next line.
    """
    with opened_text(path) as file:
        head = file.read(1 << 14)
        line = head.removeprefix(MARK).lstrip()
        while b"\n" not in line and len(line) < LONGEST_LINE and (more := file.read(1 << 14)):
            head, line = head + more, (line + more).lstrip()
        if line.startswith(b"[") or line.partition(b"\n")[0].strip() == b"{":
            raise DataError(
                duckdb.named(path),
                "the file is an array, or its objects span several lines; rows can be skipped only if each is on one "
                "line",
                "Write one object on each line (jq -c '.[]' FILE, or jq -c . FILE), or leave out "
                f"{arg('on_bad', 'skip')}",
            )
        if not head.startswith(MARK):
            return path
        place = duckdb.place(duckdb.named(path), "unmarked.jsonl")
        copied(Rest(file, head.removeprefix(MARK)), place, duckdb.named(path))
        return place


def first_names(path: Path) -> set[str]:
    """The outermost fields of the first objects of a file."""
    with opened_text(path) as file:
        return set().union(*objects(file.read(_SAMPLE).split(b"\n")))


def objects(lines: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
    """The lines that are objects. Others are left out: whoever reads the lines finds them again."""
    for line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
