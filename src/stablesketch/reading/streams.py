"""Streams that are read from front to back: CSV from standard input, readers of Arrow batches. Lines: text_lines.py.

**Columns without a type**, since no row has a value in them: text, or whole numbers if they hold values. A frame of
Python's objects has such columns where it has no rows, and so has one that was made of none. Refused for their type,
they would tell an empty frame from one with a row, and under add_remove neighbours are just that. So their type is what
it is said to be (`typed`), and rows in which they are null are invalid, each by itself.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ..errors import DataError
from ..text.wording import arg
from .columns import FRAME_CAST, Cast, Columns, OnBad, checked_types
from .duckdb import DuckDB, prefetched
from .header import Doubt, column_names, first_row, other_columns
from .libraries import need
from .lines import LONGEST_LINE, too_long
from .packed import Readable, Rest, begun, unreadable
from .tables import Table


@dataclass
class Stream:
    """Record batches, with columns under their original names. `text`: all columns are text, as written. `doubt`: why
    the names may be data (header.py). `quotes`: quoted cells may span several lines. The first row of data is row
    `first_row` of the input."""

    name: str
    names: list[str]
    open: Callable[[], Iterator[Any]]
    text: bool = False
    doubt: Doubt = ""
    quotes: bool = False
    first_row: int = 1
    cast: Cast = field(default_factory=Cast)
    rows: Callable[[], int] | None = None  # counts them, if they can be read again
    begins: list[tuple[int, str]] = field(default_factory=list)  # for each file, the number of rows before it
    schema: Any = None  # of the batches, if it is known before any is read

    def place(self, row: int) -> tuple[str, int]:
        """The file of a row of the input, and its number there."""
        begins = (begin for begin in reversed(self.begins) if begin[0] <= row - self.first_row)
        before, name = next(begins, (0, self.name))
        return name, row - before

    def known_rows(self) -> None:
        """The number of rows, if it is known without reading them: it is not."""

    def check(self, columns: Columns) -> Stream:
        """The stream itself; refuses columns that do not exist."""
        checked_types(self.name, columns, dict.fromkeys(self.names, "VARCHAR"), text=True, doubt=self.doubt)
        return self

    def batches(self, columns: Columns) -> Iterator[Any]:
        """The pairs: k0, ..., v, g0, ... as text."""
        pa, compute = need("pyarrow"), need("pyarrow.compute")
        names = {mark: name for name, mark in columns.marked if mark != "u"}
        for read in prefetched(self.open()):
            batch = typed(read, columns)
            cells = {mark: batch.column(name) for mark, name in names.items()}
            cells |= {mark: compute.cast(cells[mark], pa.string()) for mark in columns.group_marks}
            yield pa.RecordBatch.from_pydict(cells)

    def kept(self, duckdb: DuckDB, columns: Columns, on_bad: OnBad) -> Table:
        """The pairs as a table that can be read again, spilled to disk if it does not fit into memory."""
        pa = need("pyarrow")
        rows = _of_one_line(self.open(), self.name) if self.quotes and on_bad == "skip" else self.open()
        names = columns.picked(self.names)
        batches = (typed(batch.select(names), columns) for batch in rows)
        first = next(batches, None)
        if first is not None:
            schema = first.schema
        else:
            unknown = pa.string() if self.text else pa.null()
            fields = [(name, unknown) if self.schema is None else self.schema.field(name) for name in names]
            schema = _typed_schema(pa.schema(fields), columns)
        rest = chain([] if first is None else [first], batches)
        duckdb.keep("kept", pa.RecordBatchReader.from_batches(schema, rest))
        table = Table(duckdb, self.name, "kept", duckdb.types("select * from kept", self.name), self.text)
        table.first_row, table.cast, table.place = self.first_row, self.cast, self.place
        return table.check(columns)


def joined(streams: Sequence[Stream], name: str) -> Stream:
    """Streams of the same columns, one after the other."""
    first = streams[0]
    for other in streams[1:]:
        if other.names != first.names:
            raise other_columns(other.name, first.name)

    def read() -> Iterator[Any]:
        whole.begins = []
        rows = 0
        for one in streams:
            whole.begins.append((rows, one.name))
            for batch in one.open():
                rows += batch.num_rows
                yield batch

    whole = replace(first, name=name, open=read)
    return whole


def _of_one_line(batches: Iterator[Any], name: str) -> Iterator[Any]:
    """The batches of text. If rows are skipped, each must be one line, or it could take others with it
    (whole_lines.py). A pipe is read only once, so this is required of all rows."""
    compute = need("pyarrow.compute")
    for batch in batches:
        for cells in batch.columns:
            if compute.any(compute.match_substring_regex(cells, "[\r\n]")).as_py():
                raise DataError(
                    name, "unterminated quoted field: the following lines could belong to it",
                    "Correct it: rows can be skipped only if each is on one line",
                )  # fmt: skip
        yield batch


def csv_stream(file: Readable, name: str, *, header: bool, delimiter: str) -> Stream:
    """CSV from a pipe, with all columns as text, as written."""
    pa, csv = need("pyarrow"), need("pyarrow.csv")
    file = begun(file, name)
    first = first_row(file.read, name, delimiter)
    names = column_names(first, name, header=header)
    mark = secrets.token_hex(16)

    def read() -> Iterator[Any]:
        end = delimiter.join([mark] * len(names)).encode()
        try:
            batches = csv.open_csv(
                pa.PythonFile(Rest(file, first.rest if header else first.row + first.rest, end), mode="r"),
                read_options=csv.ReadOptions(column_names=names, block_size=LONGEST_LINE, use_threads=False),
                parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
                ),
            )
            yield from _up_to(mark, batches, name)
        except pa.ArrowInvalid as error:
            # The rest of the message is the row itself, which is not shown.
            if "straddl" in str(error):
                raise too_long(name, None) from None
            where = re.search(r"Row #(\d+): (Expected \d+ columns, got \d+)", str(error))
            row = int(where[1]) + header if where else None
            problem = where[2] if where else str(error).split(": ")[0]
            raise DataError(
                name, problem, f"Correct the input, or name the delimiter ({arg('delimiter')})", row=row
            ) from None
        except OSError as error:  # a damaged archive
            raise unreadable(name, error) from None

    return Stream(
        name, names, read, text=True, doubt="header" if header else "", quotes=True, first_row=2 if header else 1
    )


def _up_to(mark: str, batches: Iterator[Any], name: str) -> Iterator[Any]:
    """All rows but the last, which is the mark.

    Arrow ends an unterminated quoted field at the end of the input, so all rows that follow would silently become part
    of it. So would the mark, which is then missing.
    """
    held = None
    for batch in batches:
        if batch.num_rows:
            if held is not None:
                yield held
            held = batch
    if held is None or {column[-1].as_py() for column in held.columns} != {mark}:
        raise DataError(
            name, "unterminated quoted field", f"Correct the input, or name the delimiter ({arg('delimiter')})"
        )
    if held.num_rows > 1:
        yield held.slice(0, held.num_rows - 1)


def arrow_stream(reader: Any, name: str) -> Stream:
    """A pyarrow RecordBatchReader, or any iterator of batches, as a stream."""
    return Stream(name, list(reader.schema.names), lambda: iter(reader), cast=FRAME_CAST, schema=reader.schema)


def typed(batch: Any, columns: Columns) -> Any:
    """An Arrow table or batch without columns of the type null."""
    schema = _typed_schema(batch.schema, columns)
    return batch if schema is batch.schema else batch.cast(schema)


def _typed_schema(schema: Any, columns: Columns) -> Any:
    """The schema without them; itself if it has none. In a wide table all columns but those of groups and people have
    values."""
    pa = need("pyarrow")
    fields = list(schema)
    if not any(pa.types.is_null(field.type) for field in fields):
        return schema
    texts = {*columns.key, *columns.by, columns.person}
    kinds = ((field, pa.string() if field.name in texts else pa.int64()) for field in fields)
    return pa.schema([field.with_type(kind) if pa.types.is_null(field.type) else field for field, kind in kinds])
