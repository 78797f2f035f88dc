"""Statistics by DuckDB's own group-by: exact, unbounded in keys (they spill), and not private."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...bounding.groups import Name
from ...reading.columns import Columns, OnBad
from ...reading.duckdb import DuckDB
from ...reading.opened import Input, opened
from ...reading.streams import Stream
from ...statistic import Statistic


class ExactValues(NamedTuple):
    """One group, or all with an empty name. A profile has several values."""

    group: Name
    values: tuple[float, ...]
    pairs: int
    keys: int


def exact_values(data: object, statistic: Statistic, columns: Columns, how: Input, on_bad: OnBad) -> list[ExactValues]:
    """The statistic of every group, or of all."""
    with DuckDB() as duckdb:
        source = opened(duckdb, data, columns, how, on_bad)
        if isinstance(source, Stream):
            source = source.kept(duckdb, columns, on_bad)
        if on_bad == "error" and (bad := source.first_bad(columns, None)) is not None:
            raise bad
        groups = columns.group_marks
        keys = columns.key_marks
        total = "sum(v)" if columns.value is not None else "count(*)"
        named = "".join(f"{name}, " for name in groups)
        totals = (
            f"select {', '.join([*groups, *keys])}, cast({total} as double) as total, count(*) as pairs "
            f"from ({source.query(columns, 'skip')}) group by all"
        )
        terms = ["total", *(each.sql_term for each in statistic.inputs)]
        sums = ", ".join(f"coalesce(fsum({term}), 0.0)" for term in terms)
        found = duckdb.rows(
            f"select {named}{sums}, cast(coalesce(sum(pairs), 0) as bigint), count(*) "
            f"from ({totals}) {'group by all order by all' if groups else ''}",
            source.name,
        )
        return [_exact(statistic, row, len(groups)) for row in found]


def _exact(statistic: Statistic, row: tuple[Any, ...], groups: int) -> ExactValues:
    total, *sums, pairs, keys = row[groups:]
    found = dict(zip(statistic.inputs, map(float, sums), strict=True))
    values = statistic.exact_of(found, float(total), int(keys))
    return ExactValues(tuple(map(str, row[:groups])), values, int(pairs), int(keys))
