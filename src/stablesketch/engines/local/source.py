"""Data on this machine as a `Source`: DuckDB reads and bounds, this process fingerprints and collects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ...bounding.groups import Name, group_secret
from ...bounding.max_value import DigitCounts, digit_counts
from ...bounding.persons import bounded
from ...collector import Collector
from ...plan import Plan
from ...reading.columns import total_above
from ...reading.duckdb_engine import Engine
from ...reading.sources import opened
from ...reading.streams import Stream
from ...reading.tables import Table
from ...release.progress import Progress
from ...release.task import Task
from ...secret import Secret
from ...sketch.columns import MAX_WEIGHT
from .collect import told
from .group_collectors import ListedGroups, check_room
from .pour import pour, pour_groups

__all__ = ["LocalSource"]

Result = TypeVar("Result")


class LocalSource:
    """Whatever `opened` opens. What has to be read more than once and cannot be is kept first; see `Source`."""

    def __init__(self, engine: Engine, task: Task, data: object, progress: Progress | None = None) -> None:
        self.secret = Secret.generate()
        self._engine, self._task, self._progress = engine, task, progress
        columns = task.columns
        source = opened(engine, data, columns, task.input, task.on_bad)
        if isinstance(source, Stream) and (task.reads_again or task.on_bad == "skip"):
            source = source.kept(engine, columns, task.on_bad)
        self._source = source
        self._query = self._pairs(source) if isinstance(source, Table) else ""

    def _pairs(self, table: Table) -> str:
        """The pairs as SQL, people bounded."""
        task = self._task
        if task.reads_again and task.on_bad == "error":
            # SQL works on these rows before this process sees them: they are looked through first.
            bad = table.first_bad(task.columns, task.largest)
            if bad is not None:
                raise bad
        query = table.query(task.columns, "skip" if task.reads_again else task.on_bad)
        if task.privacy.unit == "key":
            return self._added_up(table, query)
        if task.columns.person is None:
            return query
        return bounded(
            self._engine, query, task.columns, pairs=task.privacy.pairs_per_person, groups=task.groups_per_person,
            secret=self.secret,
        )  # fmt: skip

    def _added_up(self, table: Table, query: str) -> str:
        """Every key once, with its whole total: what unit="key" promises. DuckDB spills if they are many."""
        columns, largest = self._task.columns, self._task.largest
        keys = [f"k{i}" for i in range(len(columns.key))]
        groups = [f"g{i}" for i in range(len(columns.by))]
        total = "sum(v)" if columns.value is not None else "count(*)"
        names = "".join(f", {name}" for name in groups)
        added = f"select {', '.join(keys)}, {total} as v{names} from ({query}) group by all"
        if largest is not None:
            (most,) = table.engine.rows(f"select max(v) from ({added})", table.name)[0]
            if most is not None and most > largest:
                raise total_above(table.name, largest)
        return f"select {', '.join(keys)}, cast(least(v, {MAX_WEIGHT}) as bigint) as v{names} from ({added})"

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._source.name

    @property
    def countable(self) -> bool:
        """Most streams are read once."""
        return isinstance(self._source, Table) or self._source.rows is not None

    @property
    def _table(self) -> Table:
        assert isinstance(self._source, Table)
        return self._source

    def count(self) -> int:
        """The number of pairs, or of keys where they are what is protected."""
        if self._task.privacy.unit == "key":
            return int(self._engine.rows(f"select count(*) from ({self._query})", self.name)[0][0])
        if isinstance(self._source, Stream):
            assert self._source.rows is not None
            return self._source.rows()
        return self._table.count(self._task.columns, self._task.on_bad)

    def skipped(self) -> int | None:
        """How many rows are not pairs."""
        return self._source.skipped(self._task.columns) if isinstance(self._source, Table) else None

    def digits(self) -> DigitCounts:
        """How many values have so many binary digits."""
        return digit_counts(self._table.batches(f"select v from ({self._query})"))

    def group_counts(self) -> Iterator[tuple[Name, int]]:
        """How many people, or pairs, each group has."""
        parts = len(self._task.columns.by)
        marks = ", ".join(f"g{i}" for i in range(parts))
        counted = "count(distinct u)" if self._task.columns.person else "count(*)"
        for batch in self._table.batches(f"select {marks}, {counted} from ({self._query}) group by {marks}"):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield tuple(row[:parts]), int(row[parts])

    def collected(self, plan: Plan) -> tuple[Collector, int]:
        """A collector of all pairs, and how many they are."""
        task, collector = self._task, plan.open(self.secret)
        keys = len(task.columns.key)
        pairs = self._poured(lambda read: pour(read, collector, keys=keys, clip=task.clips, progress=self._progress))
        return collector, pairs

    def collected_groups(self, plan: Plan, names: Sequence[Name]) -> Iterator[Collector]:
        """The collectors of these groups."""
        task = self._task
        if task.groups is not None:
            check_room(names, plan)
        groups = ListedGroups(names, plan, lambda name: plan.open(group_secret(self.secret, name)))
        keys, parts = len(task.columns.key), len(task.columns.by)
        if names:
            self._poured(
                lambda read: pour_groups(read, groups, keys=keys, parts=parts, clip=task.clips, progress=self._progress)
            )
        return (groups.taken(code) for code in range(len(names)))

    def _poured(self, work: Callable[[Iterator[Any]], Result]) -> Result:
        if self._progress is not None:
            self._progress.begin("reading", self._source.known_rows() if isinstance(self._source, Table) else None)
        return told(self._source, self._task.columns, self._task.largest, self._task.on_bad, self._batches(), work)

    def _batches(self) -> Iterator[Any]:
        if isinstance(self._source, Stream):
            return self._source.batches(self._task.columns)
        person = self._task.columns.person
        return self._source.batches(f"select * exclude (u) from ({self._query})" if person else self._query)
