"""Collects data into a collector that is stored, merged and released elsewhere; finds invalid rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ...collector import Collector
from ...plan import Plan
from ...reading.arguments import Reading
from ...reading.columns import Columns, OnBad
from ...reading.duckdb import DuckDB
from ...reading.opened import opened
from ...reading.streams import Stream
from ...reading.tables import Table
from ...release.question import Question
from ...release.source import Progress
from ...secret import Secret
from ..stored_plan import largest_value, refuse_whole_keys
from .pour import BadBatch, pour


def collected_shard(
    data: object, plan: Plan, secret: Secret, shard: str | None, read: Reading, *, clip: bool = Question.clip,
    progress: Progress | None = None,
) -> Collector:  # fmt: skip
    """A collector of these data, as one shard among others, to be stored, merged and released elsewhere."""
    collector = plan.open(secret, shard)
    work = partial(pour, collector=collector, clip=clip, progress=progress)
    poured(data, plan, read, work, clip=clip, progress=progress)
    return collector


def poured(
    data: object, plan: Plan, read: Reading, work: Callable[[Iterator[Any]], object], *, clip: bool,
    progress: Progress | None = None,
) -> None:  # fmt: skip
    """Runs `work` on the batches of these data."""
    refuse_whole_keys(plan)
    columns, largest, on_bad = read.columns.under(plan.privacy.relation), largest_value(plan, clip), read.on_bad
    with DuckDB() as duckdb:
        source = opened(duckdb, data, columns, read.input, on_bad)
        if on_bad == "skip":
            source = source.kept(duckdb, columns, on_bad)
        batches = (
            source.batches(columns) if isinstance(source, Stream) else source.batches(source.query(columns, on_bad))
        )
        naming_bad_rows(source, columns, largest, on_bad, batches, work, progress)


def naming_bad_rows(
    source: Table | Stream,
    columns: Columns,
    largest: int | None,
    on_bad: OnBad,
    batches: Iterator[Any],
    work: Callable[[Iterator[Any]], object],
    progress: Progress | None,
) -> None:
    """Runs `work` on the batches. If a row is invalid, finds it again and names its file, row and column."""
    if progress is not None:
        progress.begin("reading", None if columns.person else source.known_rows())  # of people, fewer rows come
    try:
        work(batches)
    except BadBatch as bad:
        batches.close()  # type: ignore[attr-defined]  # a generator; a table cannot be queried while it is read
        found = source.first_bad(columns, largest, on_bad) if isinstance(source, Table) else None
        if found is None:
            name, row = source.name, bad.before + 1
            if isinstance(source, Stream):
                name, row = source.place(bad.before + source.first_row)
            names = [one for one, mark in columns.marked if mark != "u"]
            found = bad.located(name, row, names, largest, columns.zeros)
        raise found from None
