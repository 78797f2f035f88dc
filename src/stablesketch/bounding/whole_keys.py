"""Whole keys, in DuckDB's SQL: every key once, with its total, as unit="key" promises.

The other engines do the same where the data are: engines/spark/release.py, engines/beam/source.py.

With unit="key" everything a key has is protected, and neighbours differ in one key, whatever its pairs. Before anything
else sees them, the pairs of a key therefore become one pair whose value is their total. A total above the promised
`max_value` is refused or, if values are clipped, counts as `max_value`. Totals above 2^53, which no pair can have, are
clipped to it: they exceed every `max_value`, so they occur only where values are clipped anyway.
"""

from __future__ import annotations

from ..reading.columns import Columns, total_above
from ..reading.duckdb import DuckDB
from ..sketch.columns import MAX_WEIGHT


def summed_by_key(duckdb: DuckDB, query: str, columns: Columns, largest: int | None, source: str) -> str:
    """The pairs of `query` (k0, ..., v, g0, ...) added up by key, as SQL. If there are many, DuckDB spills to disk."""
    keys = ", ".join(columns.key_marks)
    names = "".join(f", {name}" for name in columns.group_marks)
    summed = "sum(v)" if columns.value is not None else "count(*)"
    added = f"select {keys}, {summed} as v{names} from ({query}) group by all"
    if largest is not None:
        (most,) = duckdb.rows(f"select max(v) from ({added})", source)[0]
        if most is not None and most > largest:
            raise total_above(source, largest)
    return f"select {keys}, cast(least(v, {MAX_WEIGHT}) as bigint) as v{names} from ({added})"
