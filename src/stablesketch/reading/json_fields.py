"""Fields of JSON by name. A name with dots is the name of a field or a path into objects, whichever a record has.

Both are tried in every record by itself, so no record decides where another has its key. A literal name comes first: in
`{"id.orig_h": "a", "id": {"orig_h": "b"}}`, `id.orig_h` is a, both in files and in a monitored stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .columns import quoted
from .duckdb import text_literal


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
