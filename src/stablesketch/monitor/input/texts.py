"""Lines and the texts of their fields as Arrow columns: JSON fields, and the windows of times.

Common forms are read by the compiled core (native/json_lines.hpp, native/time_texts.hpp), all others by DuckDB, which
takes four times as long. Which of the two reads a line depends on that line alone, and so does whether it is valid.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._native import NO_SECOND, json_texts, seconds
from ...reading.duckdb import BlockQuery, InvalidBlock, text_literal
from ...reading.json_files import pointer, ways
from ...reading.libraries import need
from ...reading.numpy_arrow import from_numpy, text_column, to_numpy
from .fields import NO_WINDOW, PER_SECOND, LineFields, TimeUnit

_RFC_3339 = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):?[0-5]\d)"


def column_of_lines(lines: Any) -> Any:
    """One text for each line, with its line end."""
    data = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(data == 10) + 1
    last = [len(data)] if len(data) and data[-1] != 10 else []
    return text_column(lines, np.concatenate([[0], ends, last]))


def only_utf8(lines: bytes) -> bytes:
    """The lines that are UTF-8."""
    if lines.isascii():
        return lines
    try:
        text_column(lines, np.array([0, len(lines)])).validate(full=True)
        return lines
    except need("pyarrow").ArrowInvalid:
        return b"\n".join(line for line in lines.split(b"\n") if is_text(line))


def is_text(line: bytes) -> bool:
    try:
        line.decode()
        return True
    except UnicodeDecodeError:
        return False


def texts_of_json(lines: bytes, fields: LineFields, query: BlockQuery) -> tuple[Any, int]:
    """A table of the texts of `fields`, null if a line has none, and the number of lines. A name with dots is the name
    of a field or a path into objects, whichever a line has.

    Lines that are not JSON have no row. `lines` must be UTF-8. If people are protected, rows keep the order of their
    lines, because the first rows of each person count.
    """
    pa = need("pyarrow")
    there = [(place, way) for place, name in enumerate(fields.all) for way in ways(name)]
    columns, count, numbers, others = json_texts(lines, len(fields.all), there)
    plain = [
        pa.Array.from_buffers(pa.string(), count - len(numbers), list(map(pa.py_buffer, buffers)))
        for buffers in columns
    ]
    found = pa.table(plain, names=list(fields.marks))
    if not len(numbers):
        return found, count
    block = pa.table({"line": column_of_lines(others), "i": from_numpy(numbers)})
    rest = read_by_duckdb(block, fields, query)
    if fields.person:
        places = np.delete(np.arange(count), numbers)
        found = pa.concat_tables([found.append_column("i", from_numpy(places)), rest]).sort_by("i")
    else:
        found = pa.concat_tables([found, rest.drop_columns("i")])
    return found, count


def read_by_duckdb(block: Any, fields: LineFields, query: BlockQuery) -> Any:
    """The texts of the column `line` of a block, with its number i; lines that are not JSON are missing."""
    paths: list[str] = []
    texts: list[str] = []
    for name, mark in zip(fields.all, fields.marks, strict=True):
        pointers = [pointer(way) for way in ways(name)]
        places = ", ".join(f"x[{len(paths) + 1 + i}]" for i in range(len(pointers)))
        texts.append(f"coalesce({places}) as {mark}")
        paths += pointers
    listed = ", ".join(map(text_literal, paths))
    texts_of = f"select {', '.join(texts)}, i from (select json_extract_string(line, [{listed}]) as x, i from {{}})"
    try:
        return query(texts_of.format("block"), block)
    except InvalidBlock:  # some line is not JSON; the others are
        return query(texts_of.format("(select line, i from block where json_valid(line))"), block)


def windows_of(times: Any, unit: TimeUnit, every: int, query: BlockQuery) -> NDArray[np.int64]:
    """The window of each text in an Arrow array, a number since 1970 or RFC 3339; `NO_WINDOW` if it is not a time.

    Fractions are truncated, never rounded: windows begin at whole seconds, and are half-open.
    """
    ends = np.frombuffer(times.buffers()[1], np.int32, len(times) + 1, 4 * times.offset)
    found = seconds(ends, np.frombuffer(times.buffers()[2] or b"", np.uint8), PER_SECOND[unit])
    if times.null_count:
        found[to_numpy(times.is_null().cast("uint8")) == 1] = NO_SECOND
    unusual = np.flatnonzero((found == NO_SECOND) & (np.diff(ends) > 0))
    if len(unusual):
        block = need("pyarrow").table({"t": times.take(from_numpy(unusual)), "n": from_numpy(unusual)})
        read = query(f"select coalesce({_second(unit)}, {NO_SECOND}) as s from block order by n", block)
        found[unusual] = to_numpy(read.column("s").combine_chunks())
    return np.where(found == NO_SECOND, NO_WINDOW, found // every)


def _second(unit: TimeUnit) -> str:
    """SQL for the whole second of the text t. Null if it is not a time."""
    offset = r"regexp_extract(t, '([Zz]|[+-]\d\d:?\d\d)$')"
    written = f"epoch_us(try_cast(upper(left(t, 19) || {offset}) as timestamptz)) // 1000000"
    counted = f"try_cast(split_part(t, '.', 1) as bigint) // {PER_SECOND[unit]}"
    return (
        f"case when substr(t, 5, 1) = '-' then case when regexp_full_match(t, '{_RFC_3339}') then {written} end "
        rf"when regexp_full_match(t, '\d{{1,19}}(\.\d*)?') then {counted} end"
    )
