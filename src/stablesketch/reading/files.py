"""Files to a table: Parquet, CSV, JSON, Arrow and ORC, globs, compressed ones."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import ArgumentError, DataError
from ..wording import arg
from .columns import FRAME_CAST, Cast, Columns, OnBad
from .duckdb import DuckDB, text_literal
from .found import Format, found_in_file, same_format
from .header import column_names, empty, first_row_of
from .libraries import need
from .packed import for_duckdb, opened_text, unreadable
from .streams import Stream, csv_stream, joined
from .tables import File, Table
from .text_lines import line_files
from .whole_lines import check_skipped


def resolved(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files that paths and patterns stand for, in order; each once, and each there."""
    found: list[Path] = []
    for given in paths:
        text = os.fspath(given)
        if os.path.exists(text):
            matches = [text]
        else:
            matches = sorted(glob.glob(text, recursive=True))
            if not matches:
                pattern = any(mark in text for mark in "*?[")
                problem = "no file matches this pattern" if pattern else "there is no such file"
                raise DataError(text, problem, f"The current folder is {os.getcwd()}")
        for match in matches:
            if os.path.isdir(match):
                raise DataError(match, "this is a folder", f"Name its files: '{match.rstrip('/')}/*.parquet'")
            if not os.access(match, os.R_OK):
                raise DataError(match, "this file may not be read", "Ask its owner for permission, or copy it")
            found.append(Path(match))
    seen: set[str] = set()
    for path in found:
        real = os.path.realpath(path)
        if real in seen:
            raise DataError(str(path), "this file is named twice, and its rows would count twice", "Name it once")
        seen.add(real)
    return found


def open_files(
    duckdb: DuckDB,
    paths: Sequence[str | os.PathLike[str]],
    columns: Columns,
    *,
    format: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    on_bad: OnBad = "error",
) -> Table | Stream:
    """The table that these files are, its columns checked; lines are a stream, which can be read again."""
    files = resolved(paths)
    found = [found_in_file(path, columns, format, delimiter, header=header, skips=on_bad == "skip") for path in files]
    kind, between = same_format([each.format for each in found]), found[0].delimiter
    checked_delimiter(kind, delimiter)
    if not columns.key and kind in ("csv", "tsv"):  # a wide table: DuckDB does not take ten thousands of columns
        each = [csv_stream(opened_text(path), str(path), header=header, delimiter=between) for path in files]
        return joined(each, _name(duckdb, files)).check(columns)
    if kind == "lines":
        return line_files(files, _name(duckdb, files)).check(columns)
    return open_as(duckdb, files, columns, kind, between, header=header, on_bad=on_bad)


def checked_delimiter(kind: Format, delimiter: str | None) -> None:
    if delimiter is not None and (kind not in ("csv", "tsv") or len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ArgumentError("delimiter", delimiter, "must be a single character, for CSV", "Leave it out, or pass ';'")


def open_as(
    duckdb: DuckDB, files: Sequence[Path], columns: Columns, kind: Format, between: str, *, header: bool, on_bad: OnBad
) -> Table:
    """The table that files of this format are, its columns checked; `between` separates the cells of CSV."""
    if kind in ("csv", "tsv", "json"):
        files = [for_duckdb(duckdb, path) for path in files]
    if kind == "parquet":
        table = _parquet(duckdb, files, columns)
    elif kind in ("arrow", "orc"):
        table = _arrow(duckdb, files, columns, kind)
    elif kind == "json":
        table = _json(duckdb, files, columns, on_bad)
    else:
        table = _csv(duckdb, files, header, between, on_bad)
    table.check(columns)
    if on_bad == "skip" and kind in ("csv", "tsv"):
        check_skipped(table, columns, files, between)
    return table


def _table(duckdb: DuckDB, files: Sequence[Path], reader: str, names: Sequence[str], first_row: int) -> Table:
    """A table of text, read by `reader`, which has {} for the files."""
    each = [File(duckdb.named(path), reader.format(_literal([path]))) for path in files]
    return Table(
        duckdb,
        _name(duckdb, files),
        reader.format(_literal(files)),
        dict.fromkeys(names, "VARCHAR"),
        True,
        each,
        first_row,
    )


def _csv(duckdb: DuckDB, files: Sequence[Path], header: bool, delimiter: str, on_bad: OnBad) -> Table:
    shown = [duckdb.named(path) for path in files]
    first = first_row_of(files[0], shown[0], delimiter)
    names = column_names(first, shown[0], header=header)
    for path, name in zip(files[1:], shown[1:], strict=True):
        other = first_row_of(path, name, delimiter)
        if (other.cells != first.cells) if header else (len(other.cells) != len(names)):
            raise DataError(
                name, f"its columns are not those of {shown[0]}", "Read files of the same columns in the same order"
            )
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
    """Columns are read as text, as they are written, so that a file of numbers and one of texts have the same keys."""
    if not any(_begins(path) for path in files):
        raise empty(_name(duckdb, files))
    have = _json_names(duckdb, files)
    if not columns.key or not set(columns.names) <= set(have):  # a key of a wide table may be in the last record alone
        have = dict(each for path in files for each in _json_names(duckdb, [path], ", sample_size=-1").items())
    fields = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in columns.picked(have) if name in have)
    lenient = ", ignore_errors=true" if on_bad == "skip" else ""
    shown = fields.replace("{", "{{").replace("}", "}}")
    reader = f"read_json({{}}, columns={{{{{shown}}}}}{lenient})" if fields else "read_json({})"
    table = _table(duckdb, files, reader, list(have), 1)
    table.doubt = "fields"
    return table


def _json_names(duckdb: DuckDB, files: Sequence[Path], sampled: str = "") -> dict[str, str]:
    """The fields of a sample of the records, or of all. DuckDB would take more than 200 of them for one MAP."""
    query = f"select * from read_json({_literal(files)}, map_inference_threshold=-1{sampled})"
    return duckdb.types(query, _name(duckdb, files))


def _begins(path: Path) -> bool:
    """Whether there is anything in a file, unpacked."""
    with opened_text(path) as file:
        return bool(file.read(1))


def _arrow(duckdb: DuckDB, files: Sequence[Path], columns: Columns, kind: Format) -> Table:
    """Arrow (Feather) and ORC, read by pyarrow; DuckDB asks that for the columns it needs."""
    pa, datasets = need("pyarrow"), need("pyarrow.dataset")
    each: list[File] = []
    types: dict[str, str] = {}
    for i, path in enumerate(files):
        name = duckdb.named(path)
        try:
            rows = datasets.dataset(str(path), format="ipc" if kind == "arrow" else "orc")
        except (OSError, pa.ArrowInvalid) as error:
            raise unreadable(name, error) from None
        duckdb.connection.register(f"file{i}", rows)
        own = duckdb.types(f"select * from file{i}", name)
        types = types or own
        _check_same(name, own, duckdb.named(files[0]), types, columns)
        each.append(File(name, f"file{i}"))
    origin = "(" + " union all by name ".join(f"select * from {one.origin}" for one in each) + ")"
    return Table(duckdb, _name(duckdb, files), origin, types, False, each, cast=FRAME_CAST, counted=True)


def _parquet(duckdb: DuckDB, files: Sequence[Path], columns: Columns) -> Table:
    reader = "read_parquet({}, hive_types_autocast=false)"
    origin = reader.format(_literal(files))
    types = duckdb.types(f"select * from {origin}", _name(duckdb, files))
    if len(files) > 1:
        _same_types(duckdb, files, columns, types)
    each = [File(duckdb.named(path), reader.format(_literal([path]))) for path in files]
    read = text_literal(str(files[0])).replace("{", "{{").replace("}", "}}") if len(files) == 1 else "..."
    cast = Cast(f"Cast it in a query instead of naming the file ({arg('sql')}): select * replace ({{}}) from {read}")
    return Table(duckdb, _name(duckdb, files), origin, types, False, each, cast=cast, counted=True)


def _same_types(duckdb: DuckDB, files: Sequence[Path], columns: Columns, types: dict[str, str]) -> None:
    for path in files[1:]:
        own = duckdb.types(f"select * from read_parquet({_literal([path])}, hive_types_autocast=false)", str(path))
        _check_same(str(path), own, str(files[0]), types, columns)


def _check_same(path: str, own: dict[str, str], first: str, types: dict[str, str], columns: Columns) -> None:
    """DuckDB would cast all files to the types of the first: then 1 and '1', two keys, become one silently."""
    for name in columns.picked(types | own):
        if own.get(name) != types.get(name) and not (_is_integer(own.get(name)) and _is_integer(types.get(name))):
            problem = f"is of type {own[name]}" if name in own else "is not there"
            raise DataError(
                path, f"{problem}, and in {first} of type {types.get(name)}",
                "Read the files apart, or cast in SQL", column=name,
            )  # fmt: skip


def _is_integer(kind: str | None) -> bool:
    return kind is not None and (kind.endswith("INT") or kind in ("INTEGER", "UINTEGER"))


def _name(duckdb: DuckDB, files: Sequence[Path]) -> str:
    first = duckdb.named(files[0])
    return first if len(files) == 1 else f"{first} and {len(files) - 1:,} more"


def _literal(files: Sequence[Path]) -> str:
    """A list of file names as SQL. Marks of a pattern in a real name are put in brackets, to be taken as they are."""
    return "[" + ", ".join(text_literal(glob.escape(str(path))) for path in files) + "]"
