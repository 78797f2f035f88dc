"""Turns lines into rows, a block at a time. Python looks at single lines only if their block has an invalid one."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import DataError
from ...reading.duckdb import DuckDB
from ...reading.libraries import need
from ...reading.numpy_arrow import from_numpy, to_numpy
from ...text.visible import visible
from ...text.wording import arg
from ..windows import SECOND
from .bad_line import LinePlaces, first_bad
from .blocks import Block, Rows
from .fields import LineFields
from .texts import column_of_lines, only_utf8, texts_of_json, windows_of

_MARK = b"\xef\xbb\xbf"
_UNSET = ["-", "(empty)"]  # in Zeek's logs


class LineReader:
    """Turns the lines of one input into rows. It remembers the header of the current file, and no line."""

    def __init__(
        self, fields: LineFields, every: int, source: str, duckdb: DuckDB, *, strict: bool = False
    ) -> None:  # fmt: skip
        self._places = LinePlaces() if strict else None
        self._fields, self._every, self._source = fields, every, source
        self._sql = duckdb.for_blocks()
        self._format = fields.format
        self._names: Sequence[str] | None = fields.names

    def rows(self, block: Block) -> Rows:
        """The rows of a block, in order; without a time field, all have the time of the block."""
        lines = block.lines.removeprefix(_MARK) if block.begins else block.lines
        if block.head:
            lines = self._opened(block.head.removeprefix(_MARK), lines, begins=block.begins)
        parts, bad, fault, before = [], block.too_long, "", 0
        for piece in self._pieces(lines):
            _, rows, count = self._read(piece)
            parts.append(rows)
            bad += count - rows.num_rows
            if self._places is not None and not fault and count > rows.num_rows:
                place, reason = first_bad(piece, self._fields, self._format, self._read)
                headers = block.lines.count(b"\n") - lines.count(b"\n")
                named = self._places.named(block, before + place, headers, self._format)
                fault = f"{named} cannot be used as a row: {reason}"
            before += piece.count(b"\n")
        if self._places is not None:
            self._places.passed(block)
        table = need("pyarrow").concat_tables(parts) if parts else None
        if table is None or not table.num_rows:
            return Rows((), np.zeros(0, np.int64), None, bad, fault=fault)
        keys = tuple(table.column(i).combine_chunks() for i in range(len(self._fields.key)))
        now = block.now // SECOND // self._every
        windows = (
            to_numpy(table.column("w").combine_chunks())
            if self._fields.time
            else np.full(table.num_rows, now, np.int64)
        )
        values = to_numpy(table.column("v").combine_chunks()) if self._fields.value else None
        persons = table.column("u").combine_chunks() if self._fields.person else None
        return Rows(keys, windows, values, bad, persons, fault)

    def _read(self, lines: bytes) -> tuple[Any, Any, int]:
        """The texts of lines, with the window w of each if rows have times; the rows made from them; and the number of
        lines.
        """
        texts, count = self._texts(lines)
        if self._fields.time:
            times = texts.column("t").combine_chunks()
            windows = windows_of(times, self._fields.time_unit, self._every, self._sql)
            texts = texts.append_column("w", from_numpy(windows))
        return texts, self._fields.rows(texts), count

    def _opened(self, head: bytes, lines: bytes, *, begins: bool) -> bytes:
        """Reads the beginning of a file; returns the lines without its header, which is not a row."""
        if self._fields.format == "zeek":
            self._format = "json" if head.lstrip()[:1] == b"{" else "zeek"
            self._names = _zeek_names(head) or self._names
        elif self._fields.format in ("csv", "tsv") and self._fields.names is None:
            first = head.partition(b"\n")[0]
            text = first.decode(errors="replace").strip("\r")
            self._names = self._header(text)
            self._check_names()
            return lines.partition(b"\n")[2] if begins else lines
        return lines

    def _header(self, text: str) -> list[str]:
        try:
            return next(csv.reader([text], delimiter=self._fields.delimiter), [])
        except csv.Error:  # a carriage return within, or a field of 128 KiB
            raise DataError(
                self._source,
                "its first line is not a header",
                f"Correct it, or pass the names of all columns if there is none ({arg('fields')})",
            ) from None

    def _pieces(self, lines: bytes) -> Iterator[bytes]:
        """The lines under each header. Zeek may write another header into the same file, before lines of other fields.

        Zeek's lines that begin with # are not rows.
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
                self._source, "no header, so fields have no names",
                f"Pass the names of all columns in their order, {arg('fields', ['ts', 'uid', 'id.orig_h'])} and so on",
            )  # fmt: skip
        for name in self._fields.all:
            if self._names.count(name) != 1:
                # The content of the first line is not shown: without a header it is a row.
                raise DataError(
                    self._source,
                    f"its first line names {'two columns' if name in self._names else 'no column'} {visible(name)!r}",
                    f"Pass names from the header ({arg('key')}, {arg('time')}, {arg('value')}), or of all columns if "
                    f"there is none ({arg('fields')})",
                )

    def _texts(self, lines: bytes) -> tuple[Any, int]:
        """A table of the texts of all fields, null if a line has none, and the number of lines."""
        valid = only_utf8(lines)
        broken = 0 if valid is lines else len(column_of_lines(lines)) - len(column_of_lines(valid))
        if self._format == "json":
            texts, count = texts_of_json(valid, self._fields, self._sql)
            return texts, count + broken
        column = column_of_lines(valid)
        if self._format == "lines":
            ended = need("pyarrow.compute").utf8_rtrim(column, "\r\n")
            return need("pyarrow").table({"k0": ended}), len(column) + broken
        return self._of_columns(valid, column), len(column) + broken

    def _of_columns(self, lines: bytes, column: Any) -> Any:
        """Reads CSV and similar formats. Every line is one row, or invalid. An unterminated quoted field, or a carriage
        return within a line (at which Arrow would begin another row), must not change the number of rows that the lines
        around it make.
        """
        pa, compute, arrow_csv = need("pyarrow"), need("pyarrow.compute"), need("pyarrow.csv")
        assert self._names is not None
        quotes, mark = self._format != "zeek", re.escape(self._fields.delimiter)
        cell = f'(?:[^"\r{mark}]*|"(?:[^"\r]|"")*")' if quotes else "[^\r]*"
        whole = compute.match_substring_regex(column, f"^{cell}(?:{mark}{cell})*\r?\n?$")
        if compute.all(whole).as_py() is False:
            column = column.filter(whole)
            lines = b"".join(column.cast(pa.binary()).to_pylist())
        if not lines.strip(b"\r\n"):
            return pa.table({mark: pa.array([], pa.string()) for mark in self._fields.marks})
        if lines.startswith(_MARK):
            lines = (
                b"\n" + lines
            )  # Arrow would remove it from the first line of a block, wherever the block is in its file
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
        return table.select(list(self._fields.all)).rename_columns(list(self._fields.marks))


def _zeek_names(head: bytes) -> list[str] | None:
    found = re.search(rb"^#fields\t(.*?)\r?$", head, re.MULTILINE)
    return None if found is None else found[1].decode(errors="replace").split("\t")
