"""The texts of fields of JSON lines. A name with dots is the name of a field or a path into objects, whichever a line
has.

Plain lines are read by the compiled core (native/json_lines.hpp), all others by DuckDB, which takes four times as long.
Which of the two reads a line depends on that line alone, and so does whether it is valid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import json_texts
from ..reading.duckdb import BlockQuery, InvalidBlock, text_literal
from ..reading.json_files import pointer, ways
from ..reading.libraries import need
from ..reading.numpy_arrow import from_numpy
from .columns import column_of_lines
from .fields import LineFields


def texts_of_json(lines: bytes, fields: LineFields, query: BlockQuery) -> tuple[Any, int]:
    """A table of the texts of `fields`, null if a line has none, and the number of lines.

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
