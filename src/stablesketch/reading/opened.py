"""Whatever somebody passes as data, opened: a table that can be read again, or a stream that cannot."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import ArgumentError, ArgumentTypeError, DataError
from ..wording import arg
from .columns import FRAME_CAST, Columns, OnBad
from .duckdb import DuckDB
from .files import checked_delimiter, open_as, open_files, resolved
from .found import found_in_pipe
from .libraries import need
from .packed import stored
from .queries import open_query
from .sqlite import sqlite_stream
from .streams import Stream, arrow_stream, csv_stream
from .tables import Table
from .text_lines import line_stream
from .wide import long_form, melted, source_columns

_SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Input:
    """How data are to be read that do not say it themselves: the format of files, their header, a query."""

    format: str | None = None
    header: bool = True
    delimiter: str | None = None
    sql: str | None = None
    wide: bool = False
    stdin: BinaryIO | None = None


def opened(duckdb: DuckDB, data: object, columns: Columns, how: Input, on_bad: OnBad) -> Table | Stream:
    """The data: a path, a pattern or several, "-" for standard input, a data frame, a reader, a relation of DuckDB.

    With `how.sql` the data are the database that the query is over, or None where it names files itself.
    """
    if on_bad not in ("error", "skip"):
        raise ArgumentError("on_bad", on_bad, "must be 'error' or 'skip'", "Choose one of them")
    if how.wide:
        if on_bad != "error":
            raise ArgumentError(
                "on_bad",
                on_bad,
                f"cannot be used with {arg('wide')}",
                f"Correct the data, or leave out {arg('wide')}",
                because="one invalid cell would drop all pairs of its row",
            )
        asked = source_columns(columns)
        source = opened(duckdb, data, asked, replace(how, wide=False), on_bad)
        if isinstance(source, Stream) and source.text:
            return melted(duckdb, source, columns)
        table = source.kept(duckdb, asked, on_bad) if isinstance(source, Stream) else source
        return long_form(table, columns)
    if how.sql is not None:
        return _queried(duckdb, data, columns, how.sql)
    if isinstance(data, str | os.PathLike):
        data = [data]
    if _is_paths(data):
        paths = [os.fspath(path) for path in data]  # type: ignore[attr-defined]  # just checked
        if not paths:
            raise ArgumentError(
                "data", data, "must name at least one file", "Name a file, a pattern, or - for standard input"
            )
        if "-" in paths:
            return _standard_input(duckdb, paths, columns, how, on_bad)
        if len(paths) == 1 and os.path.isfile(paths[0]) and _database_kind(Path(paths[0])):
            raise DataError(paths[0], "this is a database", f"Say what to read from it: {arg('sql', 'select ...')}")
        return open_files(
            duckdb, paths, columns, format=how.format, header=how.header, delimiter=how.delimiter, on_bad=on_bad
        )
    return _frame(duckdb, data, columns)


def _is_paths(data: object) -> bool:
    return isinstance(data, Sequence) and all(isinstance(path, str | os.PathLike) for path in data)


def _queried(duckdb: DuckDB, data: object, columns: Columns, sql: str) -> Table | Stream:
    if data is None or (isinstance(data, Sequence) and not data):
        return open_query(duckdb, sql, columns)
    paths = [data] if isinstance(data, str | os.PathLike) else data
    if not _is_paths(paths) or len(paths) != 1:  # type: ignore[arg-type]
        raise ArgumentError("sql", sql, "must be over one database, or name its files itself", "Name one database")
    path = resolved(paths)[0]  # type: ignore[arg-type]
    kind = _database_kind(path)
    if kind is None:
        raise DataError(str(path), "this is no database", f"Name the file in the query: select ... from '{path}'")
    if kind == "sqlite":
        return sqlite_stream(path, sql).check(columns)
    return open_query(duckdb, sql, columns, path)


def _database_kind(path: Path) -> str | None:
    """What the first bytes of a file say it is."""
    with path.open("rb") as file:
        head = file.read(16)
    return "sqlite" if head == _SQLITE else "duckdb" if head[8:12] == b"DUCK" else None


def _standard_input(
    duckdb: DuckDB, paths: Sequence[str], columns: Columns, how: Input, on_bad: OnBad
) -> Table | Stream:
    """Lines and CSV are read as they come; what is not made of lines, and JSON, is stored first, in DuckDB's folder."""
    if len(paths) > 1:
        raise ArgumentError(
            "data", list(paths), "cannot combine standard input with files", "Pass - or files, not both"
        )
    file = how.stdin if how.stdin is not None else sys.stdin.buffer
    name = "standard input"
    read, found = found_in_pipe(
        file, name, columns, how.format, how.delimiter, header=how.header, skips=on_bad == "skip"
    )
    checked_delimiter(found.format, how.delimiter)
    if found.format == "lines":
        return line_stream(read, name).check(columns)
    if found.format in ("csv", "tsv"):
        return csv_stream(read, name, header=how.header, delimiter=found.delimiter).check(columns)
    place = duckdb.place(name, "pipe")
    stored(read, place, name)
    return open_as(duckdb, [place], columns, found.format, found.delimiter, header=how.header, on_bad=on_bad)


def _as_table(pa: Any, frame: Any) -> Any:
    """The frame as an Arrow table, or an error that names the column: Arrow's own would show what stands there."""
    unfit = (pa.ArrowException, OverflowError, UnicodeError)
    try:
        return pa.table(frame)
    except unfit:
        column = None
    for name in getattr(frame, "columns", ()):
        try:
            pa.table(frame[[name]])
        except unfit:
            column = str(name)
            break
    raise DataError(
        "the frame", "cannot be read as an Arrow table: it has values of different types in one column, integers "
        "beyond 64 bits, or invalid text", "Convert the column to one type, to str for example", column=column,
    )  # fmt: skip


def _frame(duckdb: DuckDB, data: Any, columns: Columns) -> Table | Stream:
    """A data frame becomes an Arrow table, mostly without a copy; a reader or a relation stays a stream."""
    pa = need("pyarrow")
    if isinstance(data, pa.RecordBatchReader):
        return arrow_stream(data, "the reader").check(columns)
    if hasattr(data, "to_arrow_reader"):  # a relation of DuckDB, which belongs to another connection
        return arrow_stream(data.to_arrow_reader(1 << 16), "the relation").check(columns)
    if hasattr(data, "collect") and hasattr(data, "lazy"):
        raise ArgumentTypeError("data", type(data), "cannot be a lazy frame", "Pass frame.collect()")
    if not hasattr(data, "__arrow_c_stream__"):
        raise ArgumentTypeError(
            "data", type(data), "must be a path, a data frame or a reader",
            "Pass a path, or a frame of pandas, polars, pyarrow or DuckDB",
        )  # fmt: skip
    frame = data if isinstance(data, pa.Table) else _as_table(pa, data)
    if all(name in frame.column_names for name in columns.names):
        frame = frame.select(columns.picked(frame.column_names))
    duckdb.connection.register("frame", frame)
    types = duckdb.types("select * from frame", "the frame")
    return Table(duckdb, "the frame", "frame", types, cast=FRAME_CAST, counted=True).check(columns)
