"""From lines to rows, a block at a time: no line is looked at by Python unless something is wrong with its block."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import DataError
from ..reading.duckdb import DuckDB, text_literal
from ..reading.libraries import need
from ..visible import visible
from .alike import runs_of
from .arrow import to_arrow, to_numpy
from .block import Block, Rows
from .fields import LineFields
from .windows import SECOND

_MARK = b"\xef\xbb\xbf"
_UNSET = ["-", "(empty)"]  # of Zeek


class LineReader:
    """Makes rows of the lines of one input. It remembers the header of the file that it is in, and no line."""

    def __init__(self, fields: LineFields, every: int, source: str, duckdb: DuckDB) -> None:
        self._fields, self._every, self._source = fields, every, source
        self._connection = duckdb.connection.cursor()
        self._format = fields.format
        self._names: Sequence[str] | None = fields.names

    def rows(self, block: Block) -> Rows:
        """The rows of a block, in their order; without a field of time all have that of the block."""
        lines = block.lines.removeprefix(_MARK) if block.begins else block.lines
        if block.head:
            lines = self._opened(block.head.removeprefix(_MARK), lines, begins=block.begins)
        parts, bad = [], block.too_long
        for piece in self._pieces(lines):
            table, count = self._table(piece)
            parts.append(table)
            bad += count - table.num_rows
        table = need("pyarrow").concat_tables(parts) if parts else None
        if table is None or not table.num_rows:
            return Rows((), np.zeros(0, np.int64), None, bad)
        keys = tuple(table.column(i).combine_chunks() for i in range(len(self._fields.key)))
        now = block.now // SECOND // self._every
        windows = (
            to_numpy(table.column("w").combine_chunks())
            if self._fields.time
            else np.full(table.num_rows, now, np.int64)
        )
        values = to_numpy(table.column("v").combine_chunks()) if self._fields.value else None
        persons = table.column("u").combine_chunks() if self._fields.person else None
        return Rows(keys, windows, values, bad, persons)

    def _opened(self, head: bytes, lines: bytes, *, begins: bool) -> bytes:
        """Learns how a file begins; the lines without its header, which is no row."""
        if self._fields.format == "zeek":
            self._format = "json" if head.lstrip()[:1] == b"{" else "zeek"
            self._names = _zeek_names(head) or self._names
        elif self._fields.format in ("csv", "tsv") and self._fields.names is None:
            first = head.partition(b"\n")[0]
            text = first.decode(errors="replace").strip("\r")
            self._names = next(csv.reader([text], delimiter=self._fields.delimiter), [])
            self._check_names()
            return lines.partition(b"\n")[2] if begins else lines
        return lines

    def _pieces(self, lines: bytes) -> Iterator[bytes]:
        """The lines that have one header. Zeek may write another one into the same file, before lines of other fields.

        Its lines that begin with # are no rows.
        """
        if self._format != "zeek":
            if lines:
                yield lines
            return
        places = [0, *(found.start() for found in re.finditer(rb"^#fields\t", lines, re.MULTILINE)), len(lines)]
        for start, end in pairwise(places):
            piece = lines[start:end]
            self._names = _zeek_names(piece) or self._names
            rows = re.sub(rb"^#.*\n?", b"", piece, flags=re.MULTILINE)
            if rows:
                self._check_names()
                yield rows

    def _check_names(self) -> None:
        if self._names is None:
            raise DataError(
                self._source, "there is no header, so fields have no names",
                "Pass the names of all columns in their order: --fields ts,uid,id.orig_h,...",
            )  # fmt: skip
        for name in self._fields.all:
            if self._names.count(name) != 1:
                # What its first line has is not shown: without a header that is a row.
                raise DataError(
                    self._source,
                    f"its first line names {'two columns' if name in self._names else 'no column'} {visible(name)!r}",
                    "Pass names from the header (--key, --time, --value), or of all columns if there is none: --fields",
                )

    def _table(self, lines: bytes) -> tuple[Any, int]:
        """The rows as a table, and how many lines there were."""
        pa = need("pyarrow")
        column = _column(lines)
        count = len(column)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:  # some line is not UTF-8: the others are
            lines = b"\n".join(line for line in lines.split(b"\n") if _is_text(line))
            column = _column(lines)
        if self._format == "json":
            return self._of_json(pa.table({"line": column})), count
        if self._format == "lines":
            ended = "select rtrim(line, chr(13) || chr(10)) as k0 from block"
            return self._queried(ended, pa.table({"line": column})), count
        return self._of_columns(lines, column), count

    def _of_json(self, block: Any) -> Any:
        """A name with dots is that of a field, or leads into objects, whichever a line has."""
        paths: list[str] = []
        texts: list[str] = []
        for name, mark in zip(self._fields.all, self._fields.marks, strict=True):
            pointer = "/" + name.replace("~", "~0").replace("/", "~1")
            ways = [pointer, *([pointer.replace(".", "/")] if "." in name else [])]
            places = ", ".join(f"x[{len(paths) + 1 + i}]" for i in range(len(ways)))
            texts.append(f"coalesce({places}) as {mark}" if len(ways) > 1 else f"{places} as {mark}")
            paths += ways
        listed = ", ".join(map(text_literal, paths))
        own = self._order
        query = (
            f"select {', '.join(texts)}{own} from (select json_extract_string(line, [{listed}]) as x{own} from {{}})"
        )
        try:
            return self._queried(query.format("block"), block)
        except need("duckdb").InvalidInputException:  # some line is no JSON: the others are
            return self._queried(query.format(f"(select line{own} from block where json_valid(line))"), block)

    def _of_columns(self, lines: bytes, column: Any) -> Any:
        """CSV and the like. Every line is one row, or bad: a quoted field that does not end on it, or a carriage return
        within it, at which Arrow would begin another row, must not make more or fewer rows of the lines around it."""
        pa, compute, arrow_csv = need("pyarrow"), need("pyarrow.compute"), need("pyarrow.csv")
        assert self._names is not None
        quotes, mark = self._format != "zeek", re.escape(self._fields.delimiter)
        cell = f'(?:[^"\r{mark}]*|"(?:[^"\r]|"")*")' if quotes else "[^\r]*"
        whole = compute.match_substring_regex(column, f"^{cell}(?:{mark}{cell})*\r?\n?$")
        if compute.all(whole).as_py() is False:
            column = column.filter(whole)
            lines = b"".join(column.cast(pa.binary()).to_pylist())
        if not lines.strip(b"\r\n"):
            return self._queried(self._selected(), _no_texts(self._names))
        table = arrow_csv.read_csv(
            pa.BufferReader(lines),
            read_options=arrow_csv.ReadOptions(
                column_names=list(self._names), use_threads=False, block_size=len(lines) + 1
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self._fields.delimiter, quote_char='"' if quotes else False,
                double_quote=quotes, invalid_row_handler=lambda _: "skip",
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(dict.fromkeys(self._fields.all)), strings_can_be_null=not quotes,
                column_types=dict.fromkeys(self._fields.all, pa.string()), null_values=[] if quotes else _UNSET,
            ),
        )  # fmt: skip
        assert table.num_rows <= len(column)
        return self._queried(self._selected(), table)

    def _selected(self) -> str:
        named = [f'"{name}" as {mark}' for name, mark in zip(self._fields.all, self._fields.marks, strict=True)]
        return f"select {', '.join(named)}{self._order} from block"

    @property
    def _order(self) -> str:
        """The column that says where a row stands, which DuckDB does not keep by itself; needed for people alone."""
        return ", i" if self._fields.person else ""

    def _queried(self, texts: str, block: Any) -> Any:
        if self._order:
            block = block.append_column("i", to_arrow(np.arange(block.num_rows)))
        window = self._fields.window(self._every)
        if self._fields.time:
            block, texts = self._sql(texts, block), "select * from block"
            times = block.column("t").combine_chunks()
            starts = runs_of(times)
            if starts is not None:
                firsts = need("pyarrow").table(
                    {"t": times.take(to_arrow(starts)), "n": to_arrow(np.arange(len(starts)))}
                )
                found = self._sql(f"select {window} as w from block order by n", firsts).column("w").combine_chunks()
                each = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(times))))
                block, window = block.append_column("w", found.take(to_arrow(each))), "w"
        table = self._sql(self._fields.rows(texts, window), block)
        return table.sort_by("i") if self._order else table

    def _sql(self, query: str, block: Any) -> Any:
        self._connection.register("block", block)
        try:
            return self._connection.sql(query).to_arrow_table()
        finally:
            self._connection.unregister("block")


def _column(lines: bytes) -> Any:
    """The lines as an Arrow column over the same bytes, each with its end."""
    pa = need("pyarrow")
    data = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(data == 10) + 1
    last = [] if lines.endswith(b"\n") or not lines else [len(data)]
    offsets = np.concatenate([[0], ends, last]).astype(np.int32)
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(lines)])


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
        return True
    except UnicodeDecodeError:
        return False


def _zeek_names(head: bytes) -> list[str] | None:
    found = re.search(rb"^#fields\t(.*?)\r?$", head, re.MULTILINE)
    return None if found is None else found[1].decode(errors="replace").split("\t")


def _no_texts(names: Sequence[str]) -> Any:
    pa = need("pyarrow")
    return pa.table({name: pa.array([], pa.string()) for name in names})
