"""Data on this machine as a `Source`: DuckDB reads and bounds, this process fingerprints and collects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

from ...bounding.groups import Name, group_secret
from ...bounding.max_value import DigitCounts, digit_counts
from ...bounding.persons import bounded
from ...bounding.whole_keys import added_up
from ...collector import Collector
from ...plan import Plan
from ...reading.duckdb import DuckDB
from ...reading.opened import opened
from ...reading.streams import Stream
from ...reading.tables import Table
from ...release.question import Question
from ...release.source import Progress
from ...secret import Secret
from .collect import naming_bad_rows
from .group_collectors import ListedGroups, check_room
from .pour import pour, pour_groups

Result = TypeVar("Result")


class LocalSource:
    """An `AnsweringSource` of anything that `opened` opens. Data that can be read only once, but must be read again,
    are stored first.
    """

    def __init__(self, duckdb: DuckDB, question: Question, data: object, progress: Progress | None = None) -> None:
        self.secret = Secret.generate()
        self._duckdb, self._question, self._progress = duckdb, question, progress
        columns = question.columns
        source = opened(duckdb, data, columns, question.input, question.on_bad)
        if isinstance(source, Stream) and (question.reads_again or question.on_bad == "skip"):
            source = source.kept(duckdb, columns, question.on_bad)
        self._source = source
        if isinstance(source, Table) and question.groups is not None:
            source.check_names(columns, question.groups)
        if isinstance(source, Table) and question.reads_again and question.on_bad == "error":
            # SQL works on these rows before this process sees them, so they are checked first.
            bad = source.first_bad(columns, question.largest)
            if bad is not None:
                raise bad

    @cached_property
    def _query(self) -> str:
        """The pairs as SQL, with people bounded."""
        question, table = self._question, self._table
        query = table.query(question.columns, "skip" if question.reads_again else question.on_bad)
        if question.privacy.unit == "key":
            return added_up(self._duckdb, query, question.columns, question.largest, table.name)
        if question.columns.person is None:
            return query
        if self._progress is not None:
            self._progress.begin("bounding people", None)
        return bounded(
            self._duckdb, query, question.columns, pairs=question.privacy.pairs_per_person,
            groups=question.groups_per_person, secret=self.secret, source=table.name,
        )  # fmt: skip

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def countable(self) -> bool:
        """Whether pairs can be counted: most streams are read only once."""
        return isinstance(self._source, Table) or self._source.rows is not None

    @property
    def _table(self) -> Table:
        assert isinstance(self._source, Table)
        return self._source

    def count(self) -> int:
        if self._question.privacy.unit == "key":
            return int(self._duckdb.rows(f"select count(*) from ({self._query})", self.name)[0][0])
        if isinstance(self._source, Stream):
            assert self._source.rows is not None
            return self._source.rows()
        return self._table.count(self._question.columns, self._question.on_bad)

    def skipped(self) -> int | None:
        return self._source.skipped(self._question.columns) if isinstance(self._source, Table) else None

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
        keys, group_columns = len(question.columns.key), len(question.columns.by)
        if names is None:
            whole = plan.open(self.secret)
            self._poured(lambda read: pour(read, whole, keys=keys, clip=question.clips, progress=self._progress))
            return iter([whole])
        if question.groups is not None:
            check_room(names, plan)
        groups = ListedGroups(names, plan, lambda name: plan.open(group_secret(self.secret, name)))
        if names:
            self._poured(
                lambda read: pour_groups(
                    read,
                    groups,
                    keys=keys,
                    group_columns=group_columns,
                    clip=question.clips,
                    progress=self._progress,
                    zeros=question.columns.zeros,
                )
            )
        return (groups.taken(code) for code in range(len(names)))

    def _poured(self, work: Callable[[Iterator[Any]], Result]) -> Result:
        if self._progress is not None:
            self._progress.begin("reading", self._source.known_rows() if isinstance(self._source, Table) else None)
        return naming_bad_rows(
            self._source, self._question.columns, self._question.largest, self._question.on_bad, self._batches(), work
        )

    def _batches(self) -> Iterator[Any]:
        if isinstance(self._source, Stream):
            return self._source.batches(self._question.columns)
        person = self._question.columns.person
        return self._source.batches(f"select * exclude (u) from ({self._query})" if person else self._query)
