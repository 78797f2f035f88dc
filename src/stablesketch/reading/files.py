"""Files to a table: Parquet, CSV and JSON, globs, compressed ones."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..errors import ArgumentError, DataError
from .columns import Cast, Columns, OnBad
from .duckdb import DuckDB, text_literal
from .header import column_names, empty, first_row_of
from .packed import check_file
from .streams import Stream
from .tables import File, Table
from .text_lines import line_files
from .whole_lines import check_skipped

Format = Literal["parquet", "csv", "tsv", "json", "lines"]
FORMATS: tuple[Format, ...] = ("parquet", "csv", "tsv", "json", "lines")

_SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".txt": "lines",
    ".log": "lines",
}
_PACKED = (".gz", ".zst", ".bz2")


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


def file_format(paths: Sequence[Path], given: str | None) -> Format:
    """The format that was stated, or that the suffixes say; all files have the same."""
    if given is not None:
        for known in FORMATS:
            if given == known:
                return known
        raise ArgumentError("format", given, "there is no such format", f"Pass one of: {', '.join(FORMATS)}")
    kinds = {_suffix_format(path) for path in paths}
    if len(kinds) > 1:
        raise ArgumentError(
            "format", sorted(kinds), "files of several formats at once", "Read those of one format, or use --sql"
        )
    return kinds.pop()


def _suffix_format(path: Path) -> Format:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    kind = _SUFFIXES.get(suffixes[-1] if suffixes else "")
    if kind is None:
        raise DataError(
            str(path), "the suffix does not say what is in this file", f"State it: --format {'|'.join(FORMATS)}"
        )
    return kind


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
    kind = file_format(files, format)
    if delimiter is not None and (kind not in ("csv", "tsv") or len(delimiter) != 1):
        raise ArgumentError("delimiter", delimiter, "one character, for CSV", "Leave it out, or pass ';'")
    between = delimiter or ("\t" if kind == "tsv" else ",")
    if kind != "parquet":
        heads = [check_file(path) for path in files]
        if kind == "json" and not any(heads):
            raise empty(_name(files))
    if kind == "lines":
        return line_files(files, _name(files)).check(columns)
    if kind == "parquet":
        table = _parquet(duckdb, files, columns)
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
    each = [File(str(path), reader.format(_literal([path]))) for path in files]
    return Table(
        duckdb, _name(files), reader.format(_literal(files)), dict.fromkeys(names, "VARCHAR"), True, each, first_row
    )


def _csv(duckdb: DuckDB, files: Sequence[Path], header: bool, delimiter: str, on_bad: OnBad) -> Table:
    first = first_row_of(files[0], delimiter)
    names = column_names(first, str(files[0]), header=header)
    for path in files[1:]:
        other = first_row_of(path, delimiter)
        if (other.cells != first.cells) if header else (len(other.cells) != len(names)):
            raise DataError(
                str(path),
                f"its columns are not those of {files[0]}",
                "Read files of the same columns in the same order",
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
    have = duckdb.types(f"select * from read_json({_literal(files)})", _name(files))
    fields = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in columns.names if name in have)
    lenient = ", ignore_errors=true" if on_bad == "skip" else ""
    shown = fields.replace("{", "{{").replace("}", "}}")
    reader = f"read_json({{}}, columns={{{{{shown}}}}}{lenient})" if fields else "read_json({})"
    table = _table(duckdb, files, reader, list(have), 1)
    table.doubt = "fields"
    return table


def _parquet(duckdb: DuckDB, files: Sequence[Path], columns: Columns) -> Table:
    reader = "read_parquet({}, hive_types_autocast=false)"
    origin = reader.format(_literal(files))
    types = duckdb.types(f"select * from {origin}", _name(files))
    if len(files) > 1:
        _same_types(duckdb, files, columns, types)
    each = [File(str(path), reader.format(_literal([path]))) for path in files]
    read = text_literal(str(files[0])).replace("{", "{{").replace("}", "}}") if len(files) == 1 else "..."
    cast = Cast(f"Cast it in a query instead of naming the file (--sql, sql=): select * replace ({{}}) from {read}")
    return Table(duckdb, _name(files), origin, types, False, each, cast=cast, counted=True)


def _same_types(duckdb: DuckDB, files: Sequence[Path], columns: Columns, types: dict[str, str]) -> None:
    """DuckDB would cast all files to the types of the first: then 1 and '1', two keys, become one silently."""
    for path in files[1:]:
        own = duckdb.types(f"select * from read_parquet({_literal([path])}, hive_types_autocast=false)", str(path))
        for name in columns.names:
            if own.get(name) != types.get(name) and not (_is_integer(own.get(name)) and _is_integer(types.get(name))):
                problem = f"is of type {own[name]}" if name in own else "is not there"
                raise DataError(
                    str(path), f"{problem}, and in {files[0]} of type {types.get(name)}",
                    "Read the files apart, or cast in SQL", column=name,
                )  # fmt: skip


def _is_integer(kind: str | None) -> bool:
    return kind is not None and (kind.endswith("INT") or kind in ("INTEGER", "UINTEGER"))


def _name(files: Sequence[Path]) -> str:
    return str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"


def _literal(files: Sequence[Path]) -> str:
    """A list of file names as SQL. Marks of a pattern in a real name are put in brackets, to be taken as they are."""
    return "[" + ", ".join(text_literal(glob.escape(str(path))) for path in files) + "]"
