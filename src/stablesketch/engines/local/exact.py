"""Statistics by DuckDB's own group-by: exact, unbounded in keys (they spill), and not private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...bounding.groups import Name
from ...bounding.persons import bounded
from ...reading.columns import Columns, OnBad
from ...reading.duckdb import DuckDB
from ...reading.opened import Input, opened
from ...reading.streams import Stream
from ...secret import Secret
from ...statistic import Statistic


class Exact(NamedTuple):
    """One group, or all with an empty name. A profile has several values."""

    group: Name
    values: tuple[float, ...]
    pairs: int
    keys: int


def exact_values(data: object, statistic: Statistic, columns: Columns, how: Input, on_bad: OnBad) -> list[Exact]:
    """The statistic of every group, or of all."""
    return exact_by_bound(data, statistic, columns, how, on_bad, [None])[0]


def exact_by_bound(
    data: object, statistic: Statistic, columns: Columns, how: Input, on_bad: OnBad,
    pairs_per_person: Sequence[int | None], groups_per_person: int = 1,
) -> list[list[Exact]]:  # fmt: skip
    """The same for each of `pairs_per_person`: how many rows of a person are used, None for all.

    Which rows those are is drawn as a release draws them, under a secret of its own.
    """
    with DuckDB() as duckdb:
        source = opened(duckdb, data, columns, how, on_bad)
        if isinstance(source, Stream):
            source = source.kept(duckdb, columns, on_bad)
        if on_bad == "error" and (bad := source.first_bad(columns, None)) is not None:
            raise bad
        query, secret = source.query(columns, "skip"), Secret.generate()

        def used(most: int | None) -> str:
            if most is None:
                return query
            return bounded(duckdb, query, columns, pairs=most, groups=groups_per_person, secret=secret)

        return [_values(duckdb, statistic, columns, source.name, used(most)) for most in pairs_per_person]


def _values(duckdb: DuckDB, statistic: Statistic, columns: Columns, name: str, query: str) -> list[Exact]:
    """The statistic of every group, or of all, of pairs that are read by this query."""
    groups = columns.group_marks
    keys = columns.key_marks
    total = "sum(v)" if columns.value is not None else "count(*)"
    named = "".join(f"{name}, " for name in groups)
    totals = (
        f"select {', '.join([*groups, *keys])}, cast({total} as double) as total, count(*) as pairs "
        f"from ({query}) group by all"
    )
    terms = ["total", *(each.sql_term for each in statistic.inputs)]
    sums = ", ".join(f"coalesce(fsum({term}), 0.0)" for term in terms)
    found = duckdb.rows(
        f"select {named}{sums}, cast(coalesce(sum(pairs), 0) as bigint), count(*) "
        f"from ({totals}) {'group by all order by all' if groups else ''}",
        name,
    )
    return [_exact(statistic, row, len(groups)) for row in found]


def _exact(statistic: Statistic, row: tuple[Any, ...], groups: int) -> Exact:
    total, *sums, pairs, keys = row[groups:]
    found = dict(zip(statistic.inputs, map(float, sums), strict=True))
    values = statistic.exact_of(found, float(total), int(keys))
    return Exact(tuple(map(str, row[:groups])), values, int(pairs), int(keys))
