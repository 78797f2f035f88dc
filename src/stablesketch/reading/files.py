"""Opens files as a table: Parquet, CSV, JSON, Arrow and ORC, patterns, compressed files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, DataError
from ..text.wording import arg
from .columns import FRAME_CAST, Cast, Columns, OnBad, quoted
from .duckdb import DuckDB, text_literal
from .found import ARROW_STREAM, Format, Input, found_in_file, same_format
from .header import column_names, empty, first_row_of, missing_column, other_columns
from .json_files import BY_LINE, first_names, found_fields, json_reader, of_lines, outermost
from .libraries import need
from .packed import for_duckdb, opened_text, unreadable
from .streams import Stream, csv_stream, joined
from .tables import Table
from .text_lines import line_files
from .whole_lines import check_skipped


def no_file(name: str, problem: str = "the file does not exist") -> DataError:
    """The error about a file that is not there."""
    return DataError(name, problem, f"The current folder is {os.getcwd()}")


def resolved(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files that paths and patterns match, in order, each once; all must exist."""
    found: list[Path] = []
    for given in paths:
        text = os.fspath(given)
        if os.path.exists(text):
            matches = [text]
        else:
            matches = sorted(glob.glob(text, recursive=True))
            if not matches:
                pattern = any(mark in text for mark in "*?[")
                raise no_file(text, "no file matches this pattern" if pattern else "the file does not exist")
        for match in matches:
            if os.path.isdir(match):
                raise DataError(
                    match, "expected a file, got a folder", f"Name its files: '{match.rstrip('/')}/*.parquet'"
                )
            if not os.access(match, os.R_OK):
                raise DataError(
                    match, "permission to read the file is denied", "Ask its owner for permission, or copy it"
                )
            found.append(Path(match))
    check_listed_once((str(path), os.path.realpath(path)) for path in found)
    return found


def check_listed_once(files: Iterable[tuple[str, str]]) -> None:
    """Refuses files of which two, given as (name, real path), are the same."""
    seen: set[str] = set()
    for name, real in files:
        if real in seen:
            raise DataError(name, "this file is listed twice, so its rows would count twice", "List it once")
        seen.add(real)


def open_files(
    duckdb: DuckDB, paths: Sequence[str | os.PathLike[str]], columns: Columns, how: Input, on_bad: OnBad
) -> Table | Stream:
    """The files as a table, with columns checked. Plain lines are a stream that can be read again."""
    files = resolved(paths)
    found = [found_in_file(path, columns, how, skips=on_bad == "skip") for path in files]
    kind, between = same_format([each.format for each in found]), found[0].delimiter
    checked_delimiter(kind, how.delimiter)
    if not columns.key and kind in ("csv", "tsv"):  # a wide table: DuckDB cannot take tens of thousands of columns
        each = [csv_stream(opened_text(path), str(path), header=how.header, delimiter=between) for path in files]
        return joined(each, _name(duckdb, files)).check(columns)
    if kind == "lines":
        return line_files(files, _name(duckdb, files)).check(columns)
    return open_as(duckdb, files, columns, kind, between, header=how.header, on_bad=on_bad)


def checked_delimiter(kind: Format, delimiter: str | None) -> None:
    if delimiter is not None and (kind not in ("csv", "tsv") or len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ArgumentError("delimiter", delimiter, "must be a single character, for CSV", "Leave it out, or pass ';'")


def open_as(
    duckdb: DuckDB, files: Sequence[Path], columns: Columns, kind: Format, between: str, *, header: bool, on_bad: OnBad
) -> Table:
    """Files of this format as a table, with columns checked; `between` separates the cells of CSV."""
    if kind in ("csv", "tsv", "json"):
        files = [for_duckdb(duckdb, path) for path in files]
    if kind == "parquet":
        table = _parquet(duckdb, files, columns)
    elif kind in ("arrow", "orc"):
        table = _arrow(duckdb, files, columns, kind)
    elif kind == "json":
        table = _json(duckdb, files, columns, on_bad)
    elif kind in ("csv", "tsv"):
        table = _csv(duckdb, files, header, between, on_bad)
    else:
        raise AssertionError(f"{kind} is read as lines, by `open_files`")
    table.check(columns)
    if on_bad == "skip" and kind in ("csv", "tsv"):
        check_skipped(table, columns, files, between)
    return table


def _table(duckdb: DuckDB, files: Sequence[Path], reader: str, names: Sequence[str], first_row: int) -> Table:
    """A table of text, read by `reader`, SQL with {} for the files."""
    origin, types = reader.format(_literal(files)), dict.fromkeys(names, "VARCHAR")
    return Table(duckdb, _name(duckdb, files), origin, types, True, _each(duckdb, files, reader), first_row)


def _each(duckdb: DuckDB, files: Sequence[Path], reader: str) -> dict[str, str]:
    """The name of each file, and the SQL that reads it."""
    return {duckdb.named(path): reader.format(_literal([path])) for path in files}


def _csv(duckdb: DuckDB, files: Sequence[Path], header: bool, delimiter: str, on_bad: OnBad) -> Table:
    shown = [duckdb.named(path) for path in files]
    first = first_row_of(files[0], shown[0], delimiter)
    names = column_names(first, shown[0], header=header)
    for path, name in zip(files[1:], shown[1:], strict=True):
        other = first_row_of(path, name, delimiter)
        if (other.cells != first.cells) if header else (len(other.cells) != len(names)):
            raise other_columns(name, shown[0])
    typed = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in names)
    lenient = ", ignore_errors=true, store_rejects=true" if on_bad == "skip" else ""
    reader = (
        f"read_csv({{}}, auto_detect=false, header={str(header).lower()}, delim={text_literal(delimiter)}, quote='\"', "
        f"escape='\"', nullstr='', columns={{{{{typed.replace('{', '{{').replace('}', '}}')}}}}}{lenient})"
    )
    table = _table(duckdb, files, reader, names, 2 if header else 1)
    # Folders such as country=FR are columns too.
    table.types = dict.fromkeys(duckdb.types(f"select * from {table.origin}", table.name), "VARCHAR")
    table.doubt = "header" if header else ""
    return table


def _json(duckdb: DuckDB, files: Sequence[Path], columns: Columns, on_bad: OnBad) -> Table:
    """Columns are read as text, as written, so that a file with numbers and one with texts have the same keys.

    If rows may be skipped, a row is a line, whatever it contains (json_files.py).
    """
    if not any(_begins(path) for path in files):
        raise empty(_name(duckdb, files))
    if on_bad == "skip":
        return _json_lines(duckdb, [of_lines(duckdb, path) for path in files], columns)
    have = _json_kinds(duckdb, files)
    # A key of a wide table may occur only in the last record.
    if not columns.key or len(found_fields(columns.names, have)) < len(columns.names):
        every = (_json_kinds(duckdb, [path], ", sample_size=-1").items() for path in files)
        have = dict(each for one in every for each in one)
    if list(have) == ["json"]:  # some record is not an object: reading them as objects names it
        have = outermost(columns.names)
    names = found_fields(columns.picked(have), have)
    table = _table(duckdb, files, json_reader(names, have), list(dict.fromkeys([*have, *names])), 1)
    table.doubt = "fields"
    return table


def _json_lines(duckdb: DuckDB, files: Sequence[Path], columns: Columns) -> Table:
    """The same, line by line. DuckDB is not asked for the fields: a line that is not an object changes them."""
    reader = json_reader(columns.names, outermost(columns.names), BY_LINE)
    table = _table(duckdb, files, reader, columns.names, 1)
    for name in columns.names:
        if not duckdb.rows(f"select 1 from {table.origin} where {quoted(name)} is not null limit 1", table.name):
            have = sorted(set().union(*map(first_names, files)) - {name})
            raise missing_column(table.name, name, have, columns.names, "fields")
    return table


def _json_kinds(duckdb: DuckDB, files: Sequence[Path], more: str = "") -> dict[str, Any]:
    """The fields of a sample of the records, or of all. Otherwise DuckDB would read more than 200 fields as one MAP."""
    query = f"select * from read_json({_literal(files)}, map_inference_threshold=-1{more})"
    return duckdb.kinds(query, _name(duckdb, files))


def _begins(path: Path) -> bool:
    """Whether a file, unpacked, contains anything."""
    with opened_text(path) as file:
        return bool(file.read(1))


def _arrow(duckdb: DuckDB, files: Sequence[Path], columns: Columns, kind: Format) -> Table:
    """Arrow (Feather) and ORC, read by pyarrow, which DuckDB asks for the columns it needs."""
    pa, datasets = need("pyarrow"), need("pyarrow.dataset")
    each: dict[str, str] = {}
    types: dict[str, str] = {}
    for i, path in enumerate(files):
        name = duckdb.named(path)
        try:
            if kind == "arrow" and _is_stream(path):
                _keep_stream(duckdb, path, columns, f"file{i}", name)
            else:
                duckdb.register(f"file{i}", datasets.dataset(str(path), format="ipc" if kind == "arrow" else "orc"))
        except (OSError, pa.ArrowInvalid) as error:
            raise unreadable(name, error) from None
        own = duckdb.types(f"select * from file{i}", name)
        types = types or own
        _check_same(name, own, duckdb.named(files[0]), types, columns)
        each[name] = f"file{i}"
    origin = "(" + " union all by name ".join(f"select * from {one}" for one in each.values()) + ")"
    return Table(duckdb, _name(duckdb, files), origin, types, False, each, cast=FRAME_CAST, counted=True)


def _keep_stream(duckdb: DuckDB, path: Path, columns: Columns, table: str, name: str) -> None:
    """Stores a stream, which can be read only once, as a DuckDB table."""
    pa = need("pyarrow")
    damaged: list[Exception] = []

    def batches() -> Iterator[Any]:
        try:
            for batch in reader:
                yield batch.select(wanted)
        except (OSError, pa.ArrowInvalid) as error:  # DuckDB would report it as an error about a value
            damaged.append(error)

    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        have = reader.schema.names
        wanted = columns.picked(have) if set(columns.names) <= set(have) else have
        schema = pa.schema([reader.schema.field(one) for one in wanted])
        duckdb.keep(table, pa.RecordBatchReader.from_batches(schema, batches()), name)
    if damaged:
        raise damaged[0]


def _is_stream(path: Path) -> bool:
    """Whether the Arrow data are a stream, batch after batch, rather than a file with an index at its end."""
    with path.open("rb") as file:
        return file.read(len(ARROW_STREAM)) == ARROW_STREAM


def _parquet(duckdb: DuckDB, files: Sequence[Path], columns: Columns) -> Table:
    reader = "read_parquet({}, hive_types_autocast=false)"
    origin = reader.format(_literal(files))
    types = duckdb.types(f"select * from {origin}", _name(duckdb, files))
    for path in files[1:]:
        own = duckdb.types(f"select * from {reader.format(_literal([path]))}", str(path))
        _check_same(str(path), own, str(files[0]), types, columns)
    each = _each(duckdb, files, reader)
    one = len(files) == 1 and duckdb.named(files[0]) == str(files[0])  # a pipe was stored, and its file is gone
    read = text_literal(str(files[0])).replace("{", "{{").replace("}", "}}") if one else "..."
    cast = Cast(f"Cast it in a query instead of naming the file ({arg('sql')}): select * replace ({{}}) from {read}")
    return Table(duckdb, _name(duckdb, files), origin, types, False, each, cast=cast, counted=True)


def _check_same(path: str, own: dict[str, str], first: str, types: dict[str, str], columns: Columns) -> None:
    """Refuses files of different types. DuckDB would cast all to those of the first, and 1 and '1', two keys, would
    silently become one.
    """
    for name in columns.picked(types | own):
        if own.get(name) != types.get(name) and not (_is_integer(own.get(name)) and _is_integer(types.get(name))):
            problem = f"is of type {own[name]}" if name in own else "is missing"
            raise DataError(
                path, f"{problem} here, but of type {types.get(name)} in {first}",
                "Read the files separately, or cast the column in a query", column=name,
            )  # fmt: skip


def _is_integer(kind: str | None) -> bool:
    return kind is not None and (kind.endswith("INT") or kind in ("INTEGER", "UINTEGER"))


def _name(duckdb: DuckDB, files: Sequence[Path]) -> str:
    first = duckdb.named(files[0])
    return first if len(files) == 1 else f"{first} and {len(files) - 1:,} more"


def _literal(files: Sequence[Path]) -> str:
    """A list of file names as SQL. Pattern characters in a name are put in brackets, so that they match literally."""
    return "[" + ", ".join(text_literal(glob.escape(str(path))) for path in files) + "]"
