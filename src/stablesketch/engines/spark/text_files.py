"""CSV, JSON lines and plain lines on a cluster: Spark reads lines, workers split them into cells (`line_formats.py`).

Spark's own CSV and JSON readers are not used: their rules for null, quotes, numbers and skipped lines differ from those
on one machine, and a key that is read differently is another key. As on one machine, all cells are text.

Lines come with a hash of their file, and the position where their block begins. A worker therefore knows the first line
of each file, which may be a header, and the number of each line in its block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

import numpy as np

from ...errors import DataError
from ...reading.columns import Columns, checked_types
from ...reading.files import checked_delimiter
from ...reading.found import Format, Input, usual_delimiter
from ...reading.header import Doubt, cells_of, column_names, first_row
from ...reading.json_files import objects
from ...reading.libraries import need
from ...reading.lines import LONGEST_LINE
from ...text.wording import either
from .frame import DataFrame, TextFrame, back_quoted, quiet
from .line_formats import Cells, Malformed, csv_reader, decoded, json_field, json_reader_of_spark, line_reader
from .work import keep_imports

_SAMPLE = 1000  # lines of JSON that are searched for field names


@dataclass(frozen=True)
class Lines:
    """How lines become cells: everything that workers need to know."""

    kind: Format
    names: tuple[str, ...]  # of the cells of a line
    wanted: tuple[str, ...]  # those of them that are read
    folders: int = 0  # columns that come with the line, from folder names
    header: bool = False
    delimiter: str = ","
    located: bool = False  # whether rows say where they are from

    def schema(self) -> str:
        """The schema of `cells`: cells c0, ..., then what is wrong with the line, if anything."""
        columns = [f"c{i} string" for i in range(len(self.wanted) + self.folders)]
        columns += ["wrong string", "fatal boolean"]
        columns += ["file string", "start bigint", "line bigint"] if self.located else []
        return ", ".join(columns)

    def columns(self) -> list[str]:
        return [column.split(" ")[0] for column in self.schema().split(", ")]

    def cells(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Lines → rows of text. A malformed line is a row without cells, which no collector takes."""
        keep_imports()
        yield from map(_Block(self).rows, batches)

    def reader(self) -> Callable[[str], Cells | None]:
        """A reader of one line."""
        if self.kind == "json":
            return json_reader_of_spark(self.wanted)
        if self.kind == "lines":
            return line_reader
        return csv_reader([self.names.index(name) for name in self.wanted], len(self.names), self.delimiter)


_Row = tuple[int, Cells, str | None, bool, int]
"""The place in its batch of the line that a row was made from, the cells, what is wrong, whether that is fatal, and the
number of the line in its block."""


class _Block:
    """The lines of a file, one block after the other."""

    def __init__(self, how: Lines) -> None:
        self._how, self._read = how, how.reader()
        self._none = [None] * len(how.wanted)
        self._mixed = how.kind == "json"  # JSON accepts any line end
        self._where: tuple[int, int] | None = None
        self._line = 0
        self._returns = self._last = False

    def rows(self, batch: Any) -> Any:
        plain = self._plain(batch) if batch.num_rows else None
        return self._one_by_one(batch) if plain is None else plain

    def _plain(self, batch: Any) -> Any:
        """Like `rows`, for CSV without quotes: by column instead of by line, which is many times faster."""
        pa, compute = need("pyarrow", "spark"), need("pyarrow.compute", "spark")
        how, count, lines = self._how, len(self._how.names), batch.column(0)
        if how.kind not in ("csv", "tsv") or how.located or self._returns or self._where is None:
            return None
        if any(
            ((column.to_numpy() != same).any()) for column, same in zip(batch.columns[1:3], self._where, strict=True)
        ):
            return None
        try:
            lines.validate(full=True)
        except pa.ArrowInvalid:
            return None  # not UTF-8
        if any(compute.any(compute.match_substring(lines, mark)).as_py() for mark in ('"', "\r")):
            return None
        if compute.max(compute.binary_length(lines)).as_py() >= LONGEST_LINE:
            return None
        cells = compute.split_pattern(lines, how.delimiter)
        if compute.any(compute.not_equal(cells.value_lengths(), count)).as_py():
            return None
        self._line += len(lines)
        every = cells.flatten()
        found = [every.take(np.arange(how.names.index(name), len(every), count)) for name in how.wanted]
        found = [compute.if_else(compute.equal(column, ""), None, column) for column in found]
        nothing = [pa.nulls(len(lines), pa.string()), pa.array(np.zeros(len(lines), bool))]
        columns = [*found, *batch.columns[3 : 3 + how.folders], *nothing]
        return pa.RecordBatch.from_arrays(columns, names=how.columns())

    def _one_by_one(self, batch: Any) -> Any:
        texts = _texts(batch.column(0))
        file, start = (batch.column(i).to_numpy() for i in (1, 2))
        changed = np.flatnonzero((file[1:] != file[:-1]) | (start[1:] != start[:-1])) + 1
        ends = [*changed.tolist(), len(texts)]
        made: list[_Row] = []
        first = 0
        for end in ends if texts else ():
            where = (int(file[first]), int(start[first]))
            if where != self._where:
                self._where, self._line, self._last = where, 0, False
                self._returns = texts[first][-1:] in ("\r", b"\r")
            for place in range(first, end):
                self._line += 1
                try:
                    cells = self._cells(texts[place])
                    wrong, fatal = None, False
                except Malformed as bad:
                    cells, wrong, fatal = self._none, bad.problem, not bad.skipped
                if cells is not None:
                    made.append((place, cells, wrong, fatal, self._line))
            first = end
        return self._batch(batch, made)

    def _cells(self, line: str | bytes) -> Cells | None:
        whole = line.encode() if isinstance(line, str) and 4 * len(line) >= LONGEST_LINE else line
        if len(whole) >= LONGEST_LINE:  # in bytes, as for pipes and DuckDB
            raise Malformed(f"the line is longer than {LONGEST_LINE:,} bytes, the maximum")
        text = line if isinstance(line, str) else decoded(line)
        if not self._mixed:
            ended = text.endswith("\r")
            if self._last or ended > self._returns:
                raise Malformed("some lines end with \\r\\n, others with \\n")
            self._last = ended < self._returns  # the last line may have no end
            text = text[:-1] if ended else text
        if self._line == 1 and self._where is not None and self._where[1] == 0:
            text = text.removeprefix("\ufeff")
            if self._how.header:
                if cells_of(text.encode(), self._how.delimiter) != [name.encode() for name in self._how.names]:
                    raise Malformed("the columns differ from those of the other files")
                return None
        return self._read(text)

    def _batch(self, batch: Any, made: list[_Row]) -> Any:
        pa = need("pyarrow", "spark")
        text = pa.string()
        found, cells, wrong, fatal, lines = zip(*made, strict=True) if made else ((),) * 5
        columns = [pa.array(column, text) for column in zip(*cells, strict=True)]
        columns = columns or [pa.array([], text) for _ in self._how.wanted]
        places = pa.array(found, pa.int64())
        columns += [batch.column(3 + i).take(places) for i in range(self._how.folders)]
        columns += [pa.array(wrong, text), pa.array(fatal, pa.bool_())]
        if self._how.located:
            path = batch.column(3 + self._how.folders)
            columns += [path.take(places), batch.column(2).take(places), pa.array(lines, pa.int64())]
        return pa.RecordBatch.from_arrays(columns, names=self._how.columns())


def _texts(column: Any) -> Sequence[str | bytes]:
    """The lines; as bytes if not all of them are text."""
    try:
        found: Sequence[str | bytes] = column.to_pylist()
    except UnicodeDecodeError:
        found = column.cast(need("pyarrow", "spark").binary()).to_pylist()
    return found


def text_frame(name: str, read: DataFrame, kind: Format, how: Input, columns: Columns) -> TextFrame:
    """The requested cells of `read`: the result of Spark's text reader, with columns from folder names."""
    functions = need("pyspark.sql.functions", "spark")
    folders = [one for one in read.columns if one != "value"]
    path = functions.col("_metadata.file_path")
    lines = read.select(
        "value", functions.xxhash64(path).alias("file"), functions.col("_metadata.file_block_start").alias("start"),
        *(functions.col(back_quoted(one)).cast("string").alias(f"f{i}") for i, one in enumerate(folders)),
        path.alias("path"),
    )  # fmt: skip
    checked_delimiter(kind, how.delimiter)
    delimiter = how.delimiter or usual_delimiter(kind)
    names = _names(name, lines, kind, how.header, delimiter, columns.names)
    for one in folders:
        if one in names:
            raise DataError(name, "is a column of the file and also the name of a folder", "Rename one", column=one)
    doubt: Doubt = "fields" if kind == "json" else "header" if kind in ("csv", "tsv") and how.header else ""
    checked_types(name, columns, dict.fromkeys([*names, *folders], "VARCHAR"), text=True, doubt=doubt)
    wanted = tuple(one for one in columns.names if one in names)
    from_folders = [i for i, one in enumerate(folders) if one in columns.names]
    reader = Lines(kind, names, wanted, len(from_folders), kind in ("csv", "tsv") and how.header, delimiter)

    def cells(reader: Lines) -> DataFrame:
        given = ["value", "file", "start", *(f"f{i}" for i in from_folders), *(["path"] if reader.located else [])]
        with quiet():
            return lines.select(*given).mapInArrow(reader.cells, reader.schema())

    spelled = {one: f"c{i}" for i, one in enumerate([*wanted, *(folders[i] for i in from_folders)])}
    return TextFrame(name, cells(reader), spelled, lambda: cells(replace(reader, located=True)))


def _names(
    name: str, lines: DataFrame, kind: Format, header: bool, delimiter: str, asked: Sequence[str]
) -> tuple[str, ...]:
    """The columns: from the header of any file, because all have the same; for JSON, from the first objects."""
    if kind == "lines":
        return ("line",)
    if kind == "json":
        return _json_names(name, lines, asked)
    # Rows of a block keep their order, and this is the first row of a block that begins a file. Workers check the rest.
    found = lines.where("start = 0").select("value").limit(1).collect()
    line = found[0][0].removesuffix("\r") if found else ""
    first = first_row(BytesIO(line.encode()).read, name, delimiter)
    return tuple(column_names(first, name, header=header))


def _json_names(name: str, lines: DataFrame, asked: Sequence[str]) -> tuple[str, ...]:
    """The names in the first lines, as far as they can be read, and those in `asked` that are paths into objects.

    Workers find unreadable lines again and report them.
    """
    names: dict[str, None] = {}
    sample = lines.select("value").limit(_SAMPLE).collect()
    for found in objects(row[0].removeprefix("\ufeff") for row in sample):
        names |= dict.fromkeys(found)
        names |= dict.fromkeys(one for one in asked if json_field(found, one) is not None)
    if not names:
        raise DataError(
            name,
            "no line is a JSON object",
            f"Write one object on each line, or read it on one machine ({either('ss.release', '--engine local')})",
        )
    return tuple(names)
