"""A table of events that SQL can read as often as needed: files, a query, a data frame, or a stored stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import ArgumentError, DataError
from ..text.wording import arg
from .columns import (
    BadRow,
    Cast,
    Columns,
    OnBad,
    bad_rows,
    checked_types,
    is_bad,
    left_out,
    selection,
    usual_row,
    which_bad,
)  # fmt: skip
from .duckdb import DuckDB, text_literal
from .header import Doubt

_COUNTED = "row_number() over ()"


@dataclass
class Table:
    """`origin` is SQL that can follow FROM. `text`: all columns are text, as written (CSV, JSON)."""

    duckdb: DuckDB
    name: str
    origin: str
    types: dict[str, str]
    text: bool = False
    files: dict[str, str] = field(default_factory=dict)  # in which rows are numbered: the names, and SQL for each
    first_row: int = 1  # of data in the files: 2 if there is a header
    doubt: Doubt = ""  # why column names may be data; empty if they cannot be
    cast: Cast = field(default_factory=Cast)
    place: Callable[[int], tuple[str, int]] | None = None  # of a row, if several files became one table
    numbered: str = _COUNTED  # SQL for the number of a row
    cell_of: str = "null"  # SQL for the column a value comes from, if it differs from row to row: wide.py
    way_out: str = ""  # what to do about invalid rows that cannot be dropped or skipped
    counted: bool = False  # whether the number of rows is stored, and known without reading them

    def kept(self, duckdb: DuckDB, columns: Columns, on_bad: OnBad) -> Table:
        """The table itself, which can be read again, unlike a `Stream`."""
        return self

    @property
    def each_file(self) -> dict[str, str]:
        return self.files or {self.name: self.origin}

    def check(self, columns: Columns) -> Table:
        """The table itself; refuses columns that do not exist, or have the wrong type for their role."""
        checked_types(self.name, columns, self.types, text=self.text, doubt=self.doubt, cast=self.cast)
        return self

    def check_names(self, columns: Columns, names: Sequence[Sequence[str]]) -> None:
        """Refuses listed groups that no row can have, because cells of their column's type are written otherwise. Only
        types are looked at: whether there are such rows stays private.

        Raises:
            ArgumentError: a name is written otherwise.
        """
        for place, column in enumerate(columns.by):
            kind = self.types[column]
            if self.text or kind in ("VARCHAR", "BLOB", "JSON") or kind.startswith("ENUM"):
                continue
            listed = ", ".join(text_literal(one) for one in dict.fromkeys(name[place] for name in names))
            wrong = self.duckdb.rows(
                f"select name, written from (select name, cast(try_cast(name as {kind}) as varchar) as written from "
                f"(select unnest([{listed}]) as name)) where written is null or written != name limit 1",
                self.name,
            )
            if wrong:
                name, written = wrong[0]
                way_out = "List names of that type" if written is None else f"Write {written} in the list"
                raise ArgumentError(
                    "groups", name, f"must be written as the cells of column {column}, of type {kind}, are",
                    f"{way_out}, or cast the column to text in a query ({arg('sql')})",
                )  # fmt: skip

    def query(self, columns: Columns, on_bad: OnBad) -> str:
        """The pairs as SQL: k0, ..., v, g0, ..., u; zeros as in `columns`. With "skip", only valid rows."""
        skip, zeros = on_bad == "skip", left_out(columns, text=self.text)
        where = [f"not {zeros}"] * bool(zeros) + [self._good(columns)] * skip
        query = f"select {selection(columns, text=self.text, checked=skip)} from {self.origin}"
        return f"{query} where {' and '.join(where)}" if where else query

    def _good(self, columns: Columns) -> str:
        every = bad_rows(columns, text=self.text, largest=None)
        return f"not {is_bad(every, usual_row(columns, text=self.text, largest=None))}"

    def count(self, columns: Columns, on_bad: OnBad) -> int:
        where = f" where {self._good(columns)}" if on_bad == "skip" else ""
        return int(self.duckdb.rows(f"select count(*) from {self.origin}{where}", self.name)[0][0])

    def known_rows(self) -> int | None:
        """The number of rows, if it is known without reading them."""
        return int(self.duckdb.rows(f"select count(*) from {self.origin}", self.name)[0][0]) if self.counted else None

    def skipped(self, columns: Columns) -> int:
        """The number of invalid rows, including lines that could not be read."""
        every, good = self.count(columns, "error"), self.count(columns, "skip")
        return every - good + self.rejected()

    def rejected(self) -> int:
        """The number of lines read so far that could not be parsed as rows."""
        made = "select count(*) from duckdb_tables() where table_name = 'reject_errors'"
        if not self.duckdb.rows(made, self.name)[0][0]:
            return 0
        lines = (
            "select count(*) from (select distinct file_path, line from reject_errors "
            "join reject_scans using (scan_id, file_id))"
        )
        return int(self.duckdb.rows(lines, self.name)[0][0])

    def batches(self, query: str) -> Iterator[Any]:
        """The result of a query over this table, in Arrow batches."""
        return self.duckdb.stream(query, self.name)

    def first_bad(self, columns: Columns, largest: int | None, on_bad: OnBad) -> DataError | None:
        """The first invalid row, with its file, row and column; None if there is none.

        With "skip", the first that is not skipped: a value above the promised maximum.
        """
        every = bad_rows(columns, text=self.text, largest=largest, way_out=self.way_out)
        bad = [one for one in every if not (on_bad == "skip" and one.skippable)]
        if not bad:
            return None
        usual = usual_row(columns, text=self.text, largest=largest)
        if not self.duckdb.rows(f"select 1 from {self.origin} where {is_bad(bad, usual)} limit 1", self.name):
            return None  # the usual case, without the cost of numbering rows
        # Rows that are counted come in their order, so reading stops at the first. Numbers of their own do not.
        first = "limit 1" if self.numbered == _COUNTED else "order by row limit 1"
        with self.duckdb.in_order():
            for file, origin in self.each_file.items():
                found = self.duckdb.rows(
                    f"select row, bad, cell_of from (select {self.numbered} as row, {which_bad(bad, usual)} as bad, "
                    f"{self.cell_of} as cell_of from {origin}) where bad is not null {first}",
                    file,
                )
                if found:
                    row, which_one, cell_of = found[0]
                    one: BadRow = bad[which_one]
                    row += self.first_row - 1
                    name, row = self.place(row) if self.place is not None else (file, row)
                    return one.error(name, row, (one.column == columns.value and cell_of) or one.column)
        return None
