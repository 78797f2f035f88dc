"""`release`: one call from a file, a query or a data frame to one private number, or one per group.

`LocalSource` answers what a release asks of data: DuckDB reads and bounds, this process fingerprints and collects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from ...bounding.groups import Name, group_secret
from ...bounding.max_value import DigitCounts, digit_counts
from ...bounding.persons import pairs_to_keep
from ...bounding.whole_keys import summed_by_key
from ...collector import Collector
from ...plan import Plan
from ...privacy import Privacy
from ...reading.duckdb import DuckDB
from ...reading.opened import opened
from ...reading.streams import Stream
from ...reading.tables import Table
from ...release.arguments import WhatOfFiles, asks, question, warned
from ...release.outcome import Outcome
from ...release.question import Question
from ...release.run import run_source
from ...release.source import Progress
from ...secret import Secret
from ...secret.paying import until_shown
from ...statistic import Statistic
from .collect import naming_bad_rows
from .group_collectors import ListedGroups, check_room
from .pour import pour, pour_groups

if TYPE_CHECKING:
    from ...ledger import Ledger


@asks(WhatOfFiles)
def release(
    data: object,
    statistic: Statistic | Question | None = None,
    privacy: Privacy | None = None,
    *,
    ledger: Ledger | None = None,
    label: str = "",
    **what: Unpack[WhatOfFiles],
) -> Outcome:
    """One private number from `data`, under a fresh secret; with `by`, one for each group.

    `statistic` is what to release, by default `ss.Hill(0.5)`: the number of equally common keys that would be as
    diverse.

    `data` is a path, a pattern, or several (Parquet, CSV, JSON, compressed or not); a frame of pandas, polars or
    pyarrow; a DuckDB relation or a pyarrow reader, which are read once; or a database for `sql`. Columns of CSV and
    JSON files are text, as written, so that keys are the same in every file. Memory is bounded.

    `format`, `delimiter` and compression are detected from the first bytes unless they are given. With `wide`, a row is
    a sample, every column except those of `by` and `person` is a key, and its cells are the values: numbers of
    individuals, any one of whom is protected, unless `max_value` bounds a cell.

    `key` names the column of keys, or several for a composite key. `value` names the column of values: whole numbers.
    Values above `privacy.max_value` are refused, or clipped with `clip`. A value of 0 means that the key is absent: the
    row is left out, or refused under replace. `auto_max_value` finds the maximum privately. Only bare sketches need the
    number of pairs. Where it is public, under replace, they are counted, unless `privacy.pairs` says how many there
    are or `count_pairs` is False.

    `person` names the column of people, and limits each person to `privacy.pairs_per_person` pairs in
    `groups_per_person` groups (bounding/persons.py). `by` names the columns of groups. `groups` lists the groups if
    their names are public; otherwise names are chosen privately, for `selection_share` of ε and δ. Every group gets all
    the rest (bounding/groups.py); ε and δ of a group's release are those of the whole table.

    The result prints as a table. A single number has `value`, `low` and `high`; `result["FR"]` is the release of a
    group (`Outcome`). `ledger` records what is spent before a value appears. A `Question`, which `ss.question` makes
    from the same arguments, replaces the statistic, the privacy and all other arguments of the question.

    Raises:
        DataError: the data cannot be read, or a row is invalid; it names file, row and column.
        PlanInfeasible, StreamTooShort: the guarantee cannot be given; the message says what can.
    """
    return run(warned(question(statistic, privacy, **what)), data, ledger=ledger, label=label)


def run(
    question: Question, data: object, *, ledger: Ledger | None = None, label: str = "", progress: Progress | None = None
) -> Outcome:
    """Reads data on this machine and releases, under a fresh secret."""
    with until_shown(), DuckDB() as duckdb:
        source = LocalSource(duckdb, question, data, progress)
        return run_source(question, source, ledger=ledger, label=label, progress=progress)


class LocalSource:
    """An `AnsweringSource` of anything that `opened` opens. Data that can be read only once, but must be read again,
    are stored first.
    """

    def __init__(self, duckdb: DuckDB, question: Question, data: object, progress: Progress | None = None) -> None:
        self.secret = Secret.generate()
        self._duckdb, self._question, self._progress = duckdb, question, progress
        columns = question.columns
        source = opened(duckdb, data, columns, question.input, question.on_bad)
        if question.reads_again or question.on_bad == "skip":
            source = source.kept(duckdb, columns, question.on_bad)
        self._data = source
        if isinstance(source, Table) and question.groups is not None:
            source.check_names(columns, question.groups)
        if isinstance(source, Table) and question.reads_again and question.on_bad == "error":
            # SQL works on these rows before this process sees them, so they are checked first.
            bad = source.first_bad(columns, question.largest, question.on_bad)
            if bad is not None:
                raise bad

    @cached_property
    def _query(self) -> str:
        """The pairs as SQL, with people bounded."""
        question, table = self._question, self._table
        query = table.query(question.columns, "skip" if question.reads_again else question.on_bad)
        if question.privacy.unit == "key":
            return summed_by_key(self._duckdb, query, question.columns, question.largest, table.name)
        if question.columns.person is None:
            return query
        if self._progress is not None:
            self._progress.begin("bounding people", None)
        return pairs_to_keep(
            self._duckdb, query, question.columns, pairs=question.privacy.pairs_per_person,
            groups=question.groups_per_person, secret=self.secret, source=table.name,
        )  # fmt: skip

    @property
    def name(self) -> str:
        return self._data.name

    @property
    def countable(self) -> bool:
        """Whether pairs can be counted: most streams are read only once."""
        return isinstance(self._data, Table) or self._data.rows is not None

    @property
    def _table(self) -> Table:
        assert isinstance(self._data, Table)
        return self._data

    def count(self) -> int:
        if self._question.privacy.unit == "key":
            return int(self._duckdb.rows(f"select count(*) from ({self._query})", self.name)[0][0])
        if isinstance(self._data, Stream):
            assert self._data.rows is not None
            return self._data.rows()
        return self._table.count(self._question.columns, self._question.on_bad)

    def skipped(self) -> int | None:
        return self._data.skipped(self._question.columns) if isinstance(self._data, Table) else None

    def digits(self) -> DigitCounts:
        return digit_counts(self._table.batches(f"select v from ({self._query})"))

    def group_counts(self) -> Iterator[tuple[Name, int]]:
        width = len(self._question.columns.by)
        marks = ", ".join(self._question.columns.group_marks)
        counted = "count(distinct u)" if self._question.columns.person else "count(*)"
        if self._question.counts_individuals:
            counted = "sum(cast(v as hugeint))"
        for batch in self._table.batches(f"select {marks}, {counted} from ({self._query}) group by {marks}"):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield tuple(row[:width]), int(row[width])

    def collected(self, plan: Plan, names: Sequence[Name] | None = None) -> Iterator[Collector]:
        question = self._question
        if names is None:
            whole = plan.open(self.secret)
            self._poured(lambda read: pour(read, whole, clip=question.clips, progress=self._progress))
            return iter([whole])
        if question.groups is not None:
            check_room(names, plan)
        groups = ListedGroups(names, plan, lambda name: plan.open(group_secret(self.secret, name)))
        if names:
            self._poured(
                lambda read: pour_groups(
                    read, groups, clip=question.clips, progress=self._progress, zeros=question.columns.zeros
                )
            )
        return (groups.taken(code) for code in range(len(names)))

    def _poured(self, work: Callable[[Iterator[Any]], object]) -> None:
        question, source = self._question, self._data
        columns, largest = question.columns, question.largest
        naming_bad_rows(source, columns, largest, question.on_bad, self._batches(), work, self._progress)

    def _batches(self) -> Iterator[Any]:
        if isinstance(self._data, Stream):
            return self._data.batches(self._question.columns)
        person = self._question.columns.person
        return self._data.batches(f"select * exclude (u) from ({self._query})" if person else self._query)
