"""Whole keys: every key once, with its whole total, which is what unit="key" promises; in SQL, on Spark and on Beam.

With unit="key" all that a key has is protected, and neighbours differ in one key, whatever its pairs. So the pairs of a
key are one pair of value its total, before anything else sees them; a total above the promised `max_value` is refused
or, where values are clipped, taken for it. Totals above 2^53, which no pair can have, are clipped to it: they are above
every `max_value`, so they can be there only where values are clipped in any case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..reading.columns import Columns, total_above
from ..reading.duckdb import DuckDB
from ..reading.elements import NAME, Pair, kinds
from ..reading.libraries import need
from ..sketch.columns import MAX_WEIGHT
from .in_one_pass import text_of


def added_up(duckdb: DuckDB, query: str, columns: Columns, largest: int | None, source: str) -> str:
    """The pairs of `query` (k0, ..., v, g0, ...) added up by key, as SQL. DuckDB spills if they are many."""
    keys = ", ".join(columns.key_marks)
    names = "".join(f", {name}" for name in columns.group_marks)
    summed = "sum(v)" if columns.value is not None else "count(*)"
    added = f"select {keys}, {summed} as v{names} from ({query}) group by all"
    if largest is not None:
        (most,) = duckdb.rows(f"select max(v) from ({added})", source)[0]
        if most is not None and most > largest:
            raise total_above(source, largest)
    return f"select {keys}, cast(least(v, {MAX_WEIGHT}) as bigint) as v{names} from ({added})"


def added_up_by_spark(rows: Any, columns: Columns, largest: int | None, source: str) -> Any:
    """The same of a DataFrame with these columns: rows of a key meet, as in any group-by."""
    functions = need("pyspark.sql.functions", "spark")
    keys, groups = columns.key_marks, columns.group_marks
    # In decimals, which do not overflow.
    one = functions.col("v").cast("decimal(20,0)") if columns.value is not None else functions.lit(1)
    totals = rows.groupBy(*keys, *groups).agg(functions.sum(one).alias("v"))
    if largest is not None:
        most = totals.agg(functions.max("v")).collect()[0][0]
        if most is not None and most > largest:
            raise total_above(source, largest)
    return totals.selectExpr(*keys, f"cast(least(v, {MAX_WEIGHT}) as bigint) as v", *groups)


def by_key(pair: Pair) -> Any:
    """On Beam: keyed by what the key is and its text, which have the same bytes wherever they are written."""
    parts = pair.key if isinstance(pair.key, tuple) else (pair.key,)
    return json.dumps([[*kinds([part]), text_of(part)] for part in parts]), (pair.key, pair.value)


def total(pairs: Iterable[Any]) -> Any:
    """On Beam: (key, total) of pairs and totals of one key."""
    key, added = None, 0
    for key, value in pairs:  # noqa: B007  # the last one: all are the same
        added += value
    return key, added


class WholeKey:
    """On Beam: a key with its total → a pair for `CollectFn`; a total above what was promised is refused."""

    def __init__(self, largest: int | None) -> None:
        self._largest = largest

    def __call__(self, element: Any) -> Any:
        _, (key, added) = element
        if self._largest is not None and added > self._largest:
            raise total_above(NAME, self._largest)
        return (), ((), key, min(added, MAX_WEIGHT))
