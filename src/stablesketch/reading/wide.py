"""Wide tables, as ecologists have them: a row is a sample, a column a key (a species), a cell its value.

Columns that name groups or people stay; every other column is a key. A pair is a cell: (name of the column, its
content). A cell of 0 says that a key is absent, and is left out or refused like every value of 0 (columns.py). A cell
of n can also be n pairs of value 1: individuals, each of whom is protected (engines/local/pour.py).

Rows of a wide table are never skipped: one invalid cell would take all pairs of its sample with it, and neighbours
differ by one pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ArgumentError, DataError
from ..text.wording import arg
from .columns import Columns, checked_columns, has_only_integers, listed, no_value, quoted
from .duckdb import DuckDB, text_literal
from .libraries import need
from .streams import Stream
from .tables import Table

KEY, VALUE = "column", "cell"
"""The names of the key and value columns in the long form."""
_PLACE = '"(row)"'
_INDEX = re.compile("__index_level_[0-9]+__")  # how pandas stores an unnamed index: not a key
_AT_ONCE = 500  # columns: DuckDB holds some thousands of rows of them in memory, several times over


def long_columns(key: object = None, value: object = None, by: object = None, person: object = None) -> Columns:
    """The columns of the long form. A wide table has no `key` and `value`: these must be None."""
    for name, given in (("key", key), ("value", value)):
        if given is not None:
            raise ArgumentError(
                name, listed(given), f"cannot be used with {arg('wide')}",
                "Leave out one of them",
                because=f"then every column not named by {arg('by')} or {arg('person')} is a key",
            )  # fmt: skip
    for name, given in (("by", by), ("person", person)):
        if {KEY, VALUE} & set([given] if isinstance(given, str) else given if isinstance(given, Sequence) else ()):
            raise ArgumentError(
                name, given, f"must not be named {KEY!r} or {VALUE!r}", "Rename it",
                because="these names are reserved for the keys and values of a wide table",
            )  # fmt: skip
    return checked_columns(KEY, VALUE, by, person)


def source_columns(columns: Columns) -> Columns:
    """The columns to read from the wide table itself: groups and people, and everything else."""
    return replace(columns, key=(), value=None)


def long_form(table: Table, columns: Columns) -> Table:
    """The table with a row for each cell.

    Raises:
        DataError: a key column does not hold whole numbers, or there is no key column.
    """
    kept, keys = _parted(table.name, table.types, columns)
    for name in keys:
        if not table.text and not has_only_integers(table.types[name]):
            raise DataError(
                table.name,
                f"{no_value(table.types[name])}; every column not named by {arg('by')} or {arg('person')} is a key",
                f"{table.cast.whole(name)}; or leave the column out", column=name,
            )  # fmt: skip

    def long(origin: str, *, numbered: bool = False) -> str:
        parts = [keys[i : i + _AT_ONCE] for i in range(0, len(keys), _AT_ONCE)]
        every = " union all ".join(_cells(origin, kept, part, text=table.text, numbered=numbered) for part in parts)
        return f"(select * from ({every}))"

    kinds = {KEY: "VARCHAR", VALUE: "VARCHAR" if table.text else "HUGEINT"}
    return replace(
        table,
        origin=long(table.origin),
        types={name: table.types[name] for name in kept} | kinds,
        files={name: long(origin, numbered=True) for name, origin in table.each_file.items()},
        counted=False,
        **_SAID,
    ).check(columns)


def melted(duckdb: DuckDB, stream: Stream, columns: Columns) -> Table:
    """Like `long_form`, for a stream of text, stored cell by cell: it may have more columns than DuckDB can take.

    Most cells are 0. If zeros are left out later they are not stored, except those of the first key, so that `exact`
    shows samples that have nothing else.
    """
    pa, compute = need("pyarrow"), need("pyarrow.compute")
    kept, keys = _parted(stream.name, stream.names, columns)
    schema = pa.schema([*((name, pa.string()) for name in (*kept, KEY, VALUE)), ("(row)", pa.int64())])
    names = pa.array(keys, pa.string())

    def read() -> Iterator[Any]:
        before = 1
        for batch in stream.open():
            rows = batch.num_rows
            cells = pa.concat_arrays([batch.column(name) for name in keys])
            stored = compute.fill_null(compute.not_equal(cells, "0"), True).to_numpy(zero_copy_only=False).copy()
            stored[: len(cells) if columns.zeros == "refused" else rows] = True
            place = np.flatnonzero(stored)
            row = pa.array(place % rows)
            beside = [batch.column(name).take(row) for name in kept]
            cells, key = cells.take(pa.array(place)), names.take(pa.array(place // rows))
            yield pa.RecordBatch.from_arrays([*beside, key, cells, pa.array(place % rows + before)], schema=schema)
            before += rows

    duckdb.keep("kept", pa.RecordBatchReader.from_batches(schema, read()))
    types = duckdb.types("select * from kept", stream.name)
    return Table(
        duckdb, stream.name, "kept", types, True, first_row=stream.first_row, place=stream.place,
        **_SAID,
    ).check(columns)  # fmt: skip


def _parted(source: str, names: Iterable[str], columns: Columns) -> tuple[tuple[str, ...], list[str]]:
    """The columns that stay, and those that are keys."""
    kept = source_columns(columns).names
    keys = [name for name in names if name not in kept and not _INDEX.fullmatch(name)]
    if not keys:
        raise DataError(source, "no column is left for keys", "A wide table has one column for each key")
    return kept, keys


_SAID: dict[str, Any] = {
    "numbered": _PLACE,
    "cell_of": quoted(KEY),
    "way_out": f"Correct it. A column that is not a key must be named by {arg('by')} or {arg('person')}, or "
    f"left out in a query ({arg('sql')})",
}
"""How an invalid cell of the long form is named, and what to do about it."""


def _cells(origin: str, kept: Sequence[str], keys: Sequence[str], *, text: bool, numbered: bool) -> str:
    """SQL for the cells of some columns, each with the kept columns of its row and, if asked for, the row number."""
    beside = "".join(f"{quoted(name)}, " for name in kept)
    named, own = ", ".join(map(text_literal, keys)), [quoted(name) for name in keys]
    values = ", ".join(own if text else [f"cast({name} as hugeint)" for name in own])
    rows = f"select {beside}{', '.join(own)}{f', row_number() over () as {_PLACE}' if numbered else ''} from {origin}"
    return (
        f"select {beside}{f'{_PLACE}, ' if numbered else ''}unnest([{named}]) as {quoted(KEY)}, "
        f"unnest([{values}]) as {quoted(VALUE)} from ({rows})"
    )
