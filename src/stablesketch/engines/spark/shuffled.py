"""Brings the rows of one person, or of one key, together on one worker, to bound people or add up keys there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...reading.columns import Columns, total_above
from ...reading.libraries import need
from ...sketch.columns import MAX_WEIGHT


def bounded(rows: Any, kept: Callable[[Iterator[Any]], Iterator[Any]]) -> Any:
    """The rows of a DataFrame that `kept` keeps. The rows of a person must come together, with identical rows adjacent,
    so they are shuffled and sorted.
    """
    others = [name for name in rows.columns if name != "u"]
    together = rows.repartition("u").sortWithinPartitions("u", *others)
    return together.mapInArrow(kept, together.schema)


def added_up(rows: Any, columns: Columns, largest: int | None, source: str) -> Any:
    """The pairs of a DataFrame (k0, ..., v, g0, ...) added up by key. bounding/whole_keys.py says why."""
    functions = need("pyspark.sql.functions", "spark")
    keys, groups = columns.key_marks, columns.group_marks
    # As decimals, which do not overflow.
    one = functions.col("v").cast("decimal(20,0)") if columns.value is not None else functions.lit(1)
    totals = rows.groupBy(*keys, *groups).agg(functions.sum(one).alias("v"))
    if largest is not None:
        most = totals.agg(functions.max("v")).collect()[0][0]
        if most is not None and most > largest:
            raise total_above(source, largest)
    return totals.selectExpr(*keys, f"cast(least(v, {MAX_WEIGHT}) as bigint) as v", *groups)
