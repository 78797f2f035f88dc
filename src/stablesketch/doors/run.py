"""The way from data to releases: open, bound people, choose max_value, plan, choose groups, pour, release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..collector import Collector
from ..errors import DataError
from ..privacy import Privacy
from ..release import Release
from ..secret import Secret
from .collect import told
from .engine import Engine
from .groups import GroupBudget, Name, selected
from .max_value import chosen_max_value
from .outcome import GroupRelease, Outcome
from .persons import bounded
from .pour import Progress, pour, pour_groups
from .sources import opened
from .streams import Stream
from .tables import Table
from .task import Task

if TYPE_CHECKING:
    from ..ledger import Ledger

__all__ = ["run"]

Result = TypeVar("Result")


def run(
    task: Task, data: object, *, ledger: Ledger | None = None, label: str = "", progress: Progress | None = None
) -> Outcome:
    """Reads the data and releases, under a fresh secret."""
    with Engine() as engine:
        return _Run(task, engine, ledger, label, progress).of(data)


class _Run:
    """One way through: open, bound, choose, plan, pour, release."""

    def __init__(
        self, task: Task, engine: Engine, ledger: Ledger | None, label: str, progress: Progress | None
    ) -> None:
        self._task = task
        self._engine = engine
        self._ledger = ledger
        self._label = label
        self._progress = progress
        self._secret = Secret.generate()

    def of(self, data: object) -> Outcome:
        task, columns = self._task, self._task.columns
        source = opened(self._engine, data, columns, task.input, task.on_bad)
        several = columns.person is not None or task.auto is not None or (columns.by and task.groups is None)
        if isinstance(source, Stream) and (several or task.on_bad == "skip"):
            source = source.kept(self._engine, columns)
        query = self._query(source, checked=bool(several)) if isinstance(source, Table) else ""
        share, privacy = task.shares()
        if task.auto is not None:
            assert isinstance(source, Table)
            # What follows depends on the max_value found, which is a value released: so all of it is charged before, by
            # what it may cost at most, whatever is found.
            self._charge(task.privacy.epsilon, task.privacy.delta, f"max_value, {task.statistic}")
            values = source.batches(f"select v from ({query})")
            privacy = replace(privacy, max_value=chosen_max_value(values, privacy, share, task.auto.quantile))
        outcome = (self._grouped if columns.by else self._single)(source, query, privacy)
        clipped = privacy.max_value if self._clip else None
        public = task.on_bad == "skip" and privacy.relation == "replace" and isinstance(source, Table)
        return replace(outcome, clipped_to=clipped, skipped=source.skipped(columns) if public else None)  # type: ignore[union-attr]

    def _query(self, table: Table, *, checked: bool) -> str:
        task = self._task
        if checked and task.on_bad == "error":
            # SQL works on these rows before this process sees them: they are looked through first.
            bad = table.first_bad(task.columns, self._largest())
            if bad is not None:
                raise bad
        query = table.query(task.columns, "skip" if checked else task.on_bad)
        if task.columns.person is None:
            return query
        return bounded(
            self._engine, query, task.columns, pairs=task.privacy.pairs_per_person, groups=task.groups_per_person,
            secret=self._secret,
        )  # fmt: skip

    def _largest(self) -> int | None:
        return None if self._clip else self._task.privacy.max_value

    def _batches(self, source: Table | Stream, query: str) -> Iterator[Any]:
        if isinstance(source, Stream):
            return source.batches(self._task.columns)
        return source.batches(f"select * exclude (u) from ({query})" if self._task.columns.person else query)

    def _single(self, source: Table | Stream, query: str, privacy: Privacy) -> Outcome:
        task = self._task
        later = task.count_pairs and isinstance(source, Stream)
        if later:
            chosen = task.sizing.long(task.statistic, privacy)
        elif task.count_pairs:
            assert isinstance(source, Table)
            privacy = replace(privacy, pairs=self._some(source.name, source.count(task.columns, task.on_bad)))
            chosen = task.sizing.plan(task.statistic, privacy)
        else:
            chosen = task.sizing.plan(task.statistic, privacy)
        collector = chosen.open(self._secret)
        keys = len(task.columns.key)
        pairs = self._poured(
            source, query, lambda read: pour(read, collector, keys=keys, clip=self._clip, progress=self._progress)
        )
        if later:
            # The number of pairs is public, and known only now; the floor that it needs is added at the release.
            privacy = replace(privacy, pairs=self._some(source.name, pairs))
            chosen = task.sizing.at_size(chosen.size).plan(task.statistic, privacy)
            collector._decide(chosen)
        result = self._release(collector)
        if task.auto is not None:
            result = replace(result, epsilon=task.privacy.epsilon, delta=task.privacy.delta)
        return Outcome(chosen, [result], grouped=False)

    def _some(self, name: str, pairs: int) -> int:
        if not pairs:
            raise DataError(
                name, "there are no pairs", "Check the input; for a stream that may be empty pass --pairs 0"
            )
        return pairs

    def _release(self, collector: Collector) -> Release:
        if self._ledger is None or self._task.auto is not None:
            return collector.release(confidence=self._task.confidence)
        return collector.release(confidence=self._task.confidence, ledger=self._ledger, label=self._label)

    def _grouped(self, source: Table | Stream, query: str, privacy: Privacy) -> Outcome:
        task = self._task
        shares = task.group_budget(privacy)
        chosen = task.sizing.plan(task.statistic, shares.privacy)
        epsilon, delta = shares.spent(chosen.epsilon, chosen.delta)
        if task.auto is not None:
            epsilon, delta = task.privacy.epsilon, task.privacy.delta
        names = list(task.groups) if task.groups is not None else self._selected(source, query, shares)
        collectors = [
            chosen.open(Secret.from_bytes(self._secret.derive(f"group/{json.dumps(name)}"))) for name in names
        ]
        codes = {name: code for code, name in enumerate(names)}
        self._poured(
            source, query,
            lambda read: pour_groups(
                read, collectors, codes, keys=len(task.columns.key), parts=len(task.columns.by), clip=self._clip,
                progress=self._progress,
            ),
        )  # fmt: skip
        if task.auto is None:
            self._charge(epsilon, delta, f"{task.statistic} by {', '.join(task.columns.by)}")
        releases = []
        if self._progress is not None:
            self._progress.begin("releasing", len(names))
        for name, collector in zip(names, collectors, strict=True):
            own = collector.release(confidence=task.confidence)
            own = replace(own, epsilon=epsilon, delta=delta, relation=privacy.relation)
            releases.append(GroupRelease(name, own))
            if self._progress is not None:
                self._progress.advance(1)
        return Outcome(chosen, releases, grouped=True)

    def _selected(self, source: Table | Stream, query: str, shares: GroupBudget) -> list[Name]:
        assert isinstance(source, Table)
        parts = len(self._task.columns.by)
        marks = ", ".join(f"g{i}" for i in range(parts))
        counted = "count(distinct u)" if self._task.columns.person else "count(*)"
        batches = source.batches(f"select {marks}, {counted} from ({query}) group by {marks}")
        counts = (
            (tuple(row[:parts]), int(row[parts]))
            for batch in batches
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        )
        return sorted(selected(counts, shares))

    def _charge(self, epsilon: float, delta: float, what: str) -> None:
        """Records what a table, or a release with a max_value found, costs: before any value appears."""
        if self._ledger is None:
            return
        privacy = self._task.privacy
        self._ledger.charge(
            epsilon=epsilon, delta=delta, statistic=what, relation=privacy.relation,
            pairs_per_person=privacy.pairs_per_person, label=self._label,
        )  # fmt: skip

    @property
    def _clip(self) -> bool:
        return self._task.clip or self._task.auto is not None

    def _poured(self, source: Table | Stream, query: str, work: Callable[[Iterator[Any]], Result]) -> Result:
        if self._progress is not None:
            self._progress.begin("reading", source.known_rows() if isinstance(source, Table) else None)
        return told(source, self._task.columns, self._largest(), self._batches(source, query), work)
