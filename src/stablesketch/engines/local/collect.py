"""Data into a collector that is stored, merged and released elsewhere; and where a bad row was."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ...collector import Collector
from ...errors import HIDDEN, ArgumentError
from ...plan import Plan
from ...reading.columns import Columns, OnBad
from ...reading.duckdb import DuckDB
from ...reading.opened import Input, opened
from ...reading.streams import Stream
from ...reading.tables import Table
from ...release.source import Progress
from ...secret import Secret
from ...wording import arg
from .pour import BadBatch, pour

Result = TypeVar("Result")


def collect(
    data: object,
    plan: Plan,
    secret: Secret,
    shard: str | None,
    columns: Columns,
    *,
    how: Input | None = None,
    clip: bool = False,
    on_bad: OnBad = "error",
    progress: Progress | None = None,
) -> Collector:
    """A collector of these data, as one shard among others: to be stored, merged and released elsewhere."""
    collector = plan.open(secret, shard)
    poured(
        data, plan, columns,
        lambda read: pour(read, collector, keys=len(columns.key), clip=clip, progress=progress),
        how=how, clip=clip, on_bad=on_bad, progress=progress,
    )  # fmt: skip
    return collector


def poured(
    data: object,
    plan: Plan,
    columns: Columns,
    work: Callable[[Iterator[Any]], Result],
    *,
    how: Input | None = None,
    clip: bool = False,
    on_bad: OnBad = "error",
    progress: Progress | None = None,
) -> Result:
    """Does the work on the batches of these data."""
    check_pairs(plan)
    columns = columns.under(plan.privacy.relation)
    with DuckDB() as duckdb:
        source = opened(duckdb, data, columns, how or Input(), on_bad)
        if isinstance(source, Stream) and on_bad == "skip":
            source = source.kept(duckdb, columns, on_bad)
        batches = (
            source.batches(columns) if isinstance(source, Stream) else source.batches(source.query(columns, on_bad))
        )
        if progress is not None:
            progress.begin("reading", source.known_rows() if isinstance(source, Table) else None)
        largest = None if clip or plan.privacy.unit == "individual" else plan.privacy.max_value
        return naming_bad_rows(source, columns, largest, on_bad, batches, work)


def named_shard(shard: str | None) -> str:
    """The name of what is collected, or a random one."""
    if shard is not None and (not isinstance(shard, str) or not 0 < len(shard) < 1000):
        raise ArgumentError("shard", shard, "must be the name of a shard", 'Pass a text such as "2026-11-15"')
    return shard or f"job-{secrets.token_hex(8)}"


def check_pairs(plan: Plan) -> None:
    """Refuses plans about whole keys: a part of the data cannot know what else its keys have."""
    if plan.privacy.unit == "key":
        raise ArgumentError(
            "plan", HIDDEN, f"cannot have {arg('unit', 'key')} for a part of the data",
            "Release from all of the data at once, or add it up by key and update a collector with the totals: every "
            "key must come once",
        )  # fmt: skip


def naming_bad_rows(
    source: Table | Stream,
    columns: Columns,
    largest: int | None,
    on_bad: OnBad,
    batches: Iterator[Any],
    work: Callable[[Iterator[Any]], Result],
) -> Result:
    """Does the work on the batches; a row that is no pair is looked up, and named by file, row and column."""
    try:
        return work(batches)
    except BadBatch as bad:
        batches.close()  # type: ignore[attr-defined]  # a generator; a table cannot be asked while it is read
        found = source.first_bad(columns, largest, on_bad) if isinstance(source, Table) else None
        if found is None:
            first = source.first_row if isinstance(source, Stream) else 1
            names = [*columns.key, *([columns.value] if columns.value else []), *columns.by]
            found = bad.located(
                source.name, first, names, largest, source.place if isinstance(source, Stream) else None
            )
        raise found from None
