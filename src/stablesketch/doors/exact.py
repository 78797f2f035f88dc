"""F_p by the engine's own group-by: exact, unbounded in keys (they spill), and not private."""

from __future__ import annotations

from .columns import Columns, OnBad
from .engine import Engine
from .groups import Name
from .sources import Input, opened
from .streams import Stream

__all__ = ["exact_moments"]


def exact_moments(
    data: object, p: float, columns: Columns, how: Input, on_bad: OnBad
) -> list[tuple[Name, float, int, int]]:
    """(group, F_p, pairs, keys) of every group, or of all with an empty name."""
    with Engine() as engine:
        source = opened(engine, data, columns, how, on_bad)
        if isinstance(source, Stream):
            source = source.kept(engine, columns)
        if on_bad == "error" and (bad := source.first_bad(columns, None)) is not None:
            raise bad
        groups = [f"g{i}" for i in range(len(columns.by))]
        keys = [f"k{i}" for i in range(len(columns.key))]
        total = "sum(v)" if columns.value is not None else "count(*)"
        named = "".join(f"{name}, " for name in groups)
        totals = (
            f"select {', '.join([*groups, *keys])}, cast({total} as double) as total, count(*) as pairs "
            f"from ({source.query(columns, 'skip')}) group by all"
        )
        found = engine.rows(
            f"select {named}coalesce(fsum(pow(total, {p!r})), 0.0), cast(coalesce(sum(pairs), 0) as bigint), count(*) "
            f"from ({totals}) {'group by all order by all' if groups else ''}",
            source.name,
        )
        return [(tuple(row[: len(groups)]), float(row[-3]), int(row[-2]), int(row[-1])) for row in found]
