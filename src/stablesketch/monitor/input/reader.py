"""Turns lines into rows, a block at a time. Python looks at single lines only if their block has an invalid one."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import DataError
from ...reading.duckdb import DuckDB
from ...reading.libraries import need
from ...reading.lines import MARK, is_text
from ...reading.numpy_arrow import from_numpy, to_numpy
from ...reading.values import wrong_text
from ...text.visible import visible
from ...text.wording import arg
from ..windows import SECOND
from .blocks import Block, Rows
from .fields import NO_WINDOW, LineFields
from .texts import column_of_lines, only_utf8, texts_of_json, windows_of

_UNSET = ["-", "(empty)"]  # in Zeek's logs
_SHAPES = {"json": "it is not JSON", "lines": "it is empty"}
_SHAPES |= dict.fromkeys(("csv", "tsv", "zeek"), "its columns are not those of the header")


class LinePlaces:
    """The numbers of lines in their input, counted from its beginning (`whole`), or from where reading began."""

    def __init__(self, *, whole: bool) -> None:
        self._before, self._whole = 0, whole

    def named(self, block: Block, place: int, headers: int, kind: str) -> str:
        """A line of the block, given its place after `headers` header lines. Zeek's header lines are found here."""
        lines = block.lines.split(b"\n")
        own = [i for i, line in enumerate(lines) if not (kind == "zeek" and line.startswith(b"#"))]
        number = self._before + own[headers + place] + 1
        return f"line {number:,}" if self._whole else f"line {number:,} of those read in this run"

    def passed(self, block: Block) -> None:
        """All lines of this block have been read."""
        self._before += block.lines.count(b"\n") + block.too_long


class LineReader:
    """Turns the lines of one input into rows. It remembers the header of the current file, and no line."""

    def __init__(self, fields: LineFields, every: int, name: str, duckdb: DuckDB, *, strict: bool = False) -> None:
        self._places = LinePlaces(whole=False) if strict else None
        self._fields, self._every, self._input = fields, every, name
        self._sql = duckdb.for_blocks()
        self._format = fields.format
        self._names: Sequence[str] | None = fields.names

    def rows(self, block: Block) -> Rows:
        """The rows of a block, in order; without a time field, all have the time of the block."""
        lines = block.lines.removeprefix(MARK) if block.begins else block.lines
        if block.head:
            lines = self._opened(block.head.removeprefix(MARK), lines, begins=block.begins)
        if self._places is not None and block.begins:
            self._places = LinePlaces(whole=True)
        parts, bad, fault, before = [], block.too_long, "", 0
        for piece in self._pieces(lines):
            _, rows, count = self._read(piece)
            parts.append(rows)
            bad += count - rows.num_rows
            if self._places is not None and not fault and count > rows.num_rows:
                place, reason = self._first_bad(piece)
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

    def _first_bad(self, lines: bytes) -> tuple[int, str]:
        """The place of the first invalid line, and the reason; not its content. At least one line must be invalid."""
        each = BytesIO(lines).readlines()
        low, high = 0, len(each)
        while high - low > 1:
            middle = (low + high) // 2
            _, rows, count = self._read(b"".join(each[low:middle]))
            low, high = (middle, high) if rows.num_rows == count else (low, middle)
        return low, self._reason(each[low])

    def _reason(self, line: bytes) -> str:
        """Why the line cannot be used."""
        if not is_text(line):
            return "it is not UTF-8"
        texts, _, _ = self._read(line)
        if not texts.num_rows:
            return _SHAPES[self._format]
        row = texts.to_pylist()[0]
        for name, mark in zip(self._fields.all, self._fields.marks, strict=True):
            shown, text = f"field {visible(name)!r}", row[mark]
            if text is None or text == "":
                return f"{shown} is missing or empty" if self._format != "lines" else _SHAPES[self._format]
            if mark == "t" and row["w"] == NO_WINDOW:
                return f"{shown} is not a time, since 1970 or RFC 3339"
            if mark == "v":
                wrong = wrong_text(text, "")
                if wrong is not None:
                    return f"{shown} {wrong[0]}"
                if float(text) < 1.0:
                    return f"{shown} is 0"
                if float(text) > self._fields.max_value:
                    return f"{shown} is above {arg('max_value', self._fields.max_value)}"
        return "it is not a row"

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
                self._input,
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
                self._input, "no header, so fields have no names",
                f"Pass the names of all columns in their order, {arg('fields', ['ts', 'uid', 'id.orig_h'])} and so on",
            )  # fmt: skip
        for name in self._fields.all:
            if self._names.count(name) != 1:
                # The content of the first line is not shown: without a header it is a row.
                raise DataError(
                    self._input,
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
        if lines.startswith(MARK):
            # Arrow would remove it from the first line of a block, wherever the block is in its file.
            lines = b"\n" + lines
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
