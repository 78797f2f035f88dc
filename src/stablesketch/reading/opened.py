"""Opens whatever is passed as data: a table that can be read again, or a stream that cannot."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError, DataError, did_you_mean
from ..text.wording import arg
from .columns import FRAME_CAST, Columns, OnBad, check_on_bad
from .duckdb import DuckDB
from .files import checked_delimiter, open_as, open_files, resolved
from .found import Input, found_in_pipe
from .libraries import need
from .packed import copied
from .queries import open_query, sqlite_stream
from .streams import Stream, arrow_stream, csv_stream, typed
from .tables import Table
from .text_lines import line_stream
from .wide import long_form, melted, source_columns

_SQLITE = b"SQLite format 3\x00"


def opened(duckdb: DuckDB, data: object, columns: Columns, how: Input, on_bad: OnBad) -> Table | Stream:
    """The data: one or more paths or patterns, "-" for standard input, a data frame, a reader, a DuckDB relation.

    With `how.sql`, the data are the database of the query, or None if it names files itself.
    """
    check_on_bad(on_bad)
    if how.wide:
        if on_bad != "error":
            raise ArgumentError(
                "on_bad", on_bad, f"cannot be used with {arg('wide')}",
                f"Correct the data, or leave out {arg('wide')}",
                because="one invalid cell would drop all pairs of its row",
            )  # fmt: skip
        own = source_columns(columns)
        source = opened(duckdb, data, own, replace(how, wide=False), on_bad)
        if isinstance(source, Stream) and source.text:
            return melted(duckdb, source, columns)
        return long_form(source.kept(duckdb, own, on_bad), columns)
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
            raise DataError(paths[0], "a database needs a query", f"Pass {arg('sql', 'select ...')}")
        return open_files(duckdb, paths, columns, how, on_bad)
    return _frame(duckdb, data, columns)


def opened_table(duckdb: DuckDB, data: object, columns: Columns, how: Input, on_bad: OnBad) -> Table:
    """Like `opened`, for SQL that works on all rows before anybody looks at them: a stream is stored first, and the
    first invalid row is raised, unless such rows are skipped.
    """
    table = opened(duckdb, data, columns, how, on_bad).kept(duckdb, columns, on_bad)
    if on_bad == "error" and (bad := table.first_bad(columns, None, on_bad)) is not None:
        raise bad
    return table


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
        raise DataError(str(path), "not a database", f"Name the file in the query: select ... from '{path}'")
    if kind == "sqlite":
        return sqlite_stream(path, sql).check(columns)
    return open_query(duckdb, sql, columns, path)


def _database_kind(path: Path) -> str | None:
    """The kind of database, from the first bytes of a file."""
    with path.open("rb") as file:
        head = file.read(16)
    return "sqlite" if head == _SQLITE else "duckdb" if head[8:12] == b"DUCK" else None


def _standard_input(
    duckdb: DuckDB, paths: Sequence[str], columns: Columns, how: Input, on_bad: OnBad
) -> Table | Stream:
    """Lines and CSV are read as they arrive. JSON, and formats without lines, are first stored in DuckDB's folder."""
    if len(paths) > 1:
        raise ArgumentError(
            "data", list(paths), "cannot combine standard input with files", "Pass - or files, not both"
        )
    file = how.stdin if how.stdin is not None else sys.stdin.buffer
    name = "standard input"
    read, found = found_in_pipe(file, name, columns, how, skips=on_bad == "skip")
    checked_delimiter(found.format, how.delimiter)
    if found.format == "lines":
        return line_stream(read, name).check(columns)
    if found.format in ("csv", "tsv"):
        return csv_stream(read, name, header=how.header, delimiter=found.delimiter).check(columns)
    place = duckdb.place(name, "pipe")
    copied(read, place, name)
    return open_as(duckdb, [place], columns, found.format, found.delimiter, header=how.header, on_bad=on_bad)


def _as_table(pa: Any, frame: Any, columns: Columns) -> Any:
    """The frame as an Arrow table, or an error that names the column: Arrow's error would show the value."""
    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):
        key = columns.key[0] if columns.key else "app"
        raise ArgumentTypeError(
            "data", type(frame), "must be a frame, not one column of it",
            f"Pass series.to_frame({key!r})"
            + (f"; of counts by key, series.rename_axis({key!r}).reset_index(name='n')" if _index(frame) else ""),
        )  # fmt: skip
    named = Counter(map(str, getattr(frame, "columns", ())))
    if twice := [name for name, count in named.items() if count > 1]:
        raise DataError("the frame", "several columns have this name", "Rename all but one", column=twice[0])
    unfit = (pa.ArrowException, OverflowError, UnicodeError)
    try:
        made = pa.table(frame)
        index = set(_index(frame)) - set(named) - set(columns.names)
        return made.drop_columns([name for name in made.column_names if name in index])  # names of rows, not a column
    except unfit:
        column = None
    for name in getattr(frame, "columns", ()):
        try:
            pa.table(frame[[name]])
        except unfit:
            column = str(name)
            break
    raise DataError(
        "the frame", "cannot be read as an Arrow table: a column has values of different types, integers "
        "beyond 64 bits, or invalid text", "Convert the column to one type, to str for example", column=column,
    )  # fmt: skip


def _collected(lazy: Any, columns: Columns) -> Any:
    """A polars lazy frame as a frame with only the requested columns."""
    try:
        have = lazy.collect_schema().names()
        picked = columns.picked(have)
        return (lazy.select(picked) if set(picked) <= set(have) else lazy).collect()
    except Exception as error:  # polars errors have no common class, and their messages may show a value
        kind = type(error).__name__
    raise DataError("the frame", f"cannot be collected ({kind})", "To see why, call frame.collect() yourself")


def with_usual_types(data: Any, columns: Columns) -> Any:
    """Gives a frame without rows text and whole-number columns: it has no keys that could be of a wrong type.

    Only for values that are not private: in a release, whether there are rows must not decide what is refused.
    """
    shape = getattr(data, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[0] != 0:
        return data
    pa = need("pyarrow")
    have = list(data.column_names if isinstance(data, pa.Table) else getattr(data, "columns", []))
    if len(set(have)) < len(have) or not set(columns.names) <= set(have):
        return data
    untyped = pa.schema([(name, pa.null()) for name in columns.picked(have)])
    return typed(untyped.empty_table(), columns)


def _index(frame: Any) -> list[str]:
    """The column names that the index of a pandas frame gets in Arrow; none for other frames."""
    names = getattr(getattr(frame, "index", None), "names", None)
    return [f"__index_level_{i}__" if name is None else str(name) for i, name in enumerate(names or ())]


def _frame(duckdb: DuckDB, data: Any, columns: Columns) -> Table | Stream:
    """A data frame becomes an Arrow table, mostly without a copy; a reader or a relation stays a stream."""
    pa = need("pyarrow")
    if isinstance(data, pa.RecordBatchReader):
        return arrow_stream(data, "the reader").check(columns)
    if hasattr(data, "to_arrow_reader"):  # a DuckDB relation, which belongs to another connection
        return arrow_stream(data.to_arrow_reader(1 << 16), "the relation").check(columns)
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        data = _collected(data, columns)
    if not hasattr(data, "__arrow_c_stream__"):
        raise ArgumentTypeError(
            "data", type(data), "must be a path, a data frame or a reader",
            "Pass a path, or a frame of pandas, polars, pyarrow or DuckDB",
        )  # fmt: skip
    frame = data if isinstance(data, pa.Table) else _as_table(pa, data, columns)
    missing = next((name for name in columns.names if name not in frame.column_names), None)
    unnamed = missing is not None and "__index_level_0__" in _index(data)
    numbers_rows = unnamed and type(data.index).__name__ == "RangeIndex"
    if unnamed and not numbers_rows and not did_you_mean(str(missing), frame.column_names):
        raise DataError(
            "the frame", "no such column, and the index has no name",
            f"The columns are: {', '.join(frame.column_names[:20])}. To turn the index into a column: "
            f"frame.reset_index(names={missing!r})", column=missing,
        )  # fmt: skip
    if all(name in frame.column_names for name in columns.names):
        frame = frame.select(columns.picked(frame.column_names))
    frame = typed(frame, columns)
    duckdb.register("frame", frame)
    types = duckdb.types("select * from frame", "the frame")
    return Table(duckdb, "the frame", "frame", types, cast=FRAME_CAST, counted=True).check(columns)
