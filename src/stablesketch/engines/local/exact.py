"""Statistics by DuckDB's own group-by: exact, unbounded in keys (they spill), and not private."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ...bounding.groups import Name
from ...privacy import Privacy
from ...reading.columns import Columns, OnBad
from ...reading.duckdb import DuckDB
from ...reading.opened import Input, opened
from ...reading.streams import Stream
from ...statistic import Array, Derived, Distinct, Moment, Profile, Shannon, Statistic, Total

__all__ = ["Exact", "exact_values"]


class Exact(NamedTuple):
    """One group, or all with an empty name. A profile has several values."""

    group: Name
    values: tuple[float, ...]
    pairs: int
    keys: int


def exact_values(data: object, statistic: Statistic, columns: Columns, how: Input, on_bad: OnBad) -> list[Exact]:
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
        needed = _needed(statistic)
        sums = ", ".join(f"coalesce(fsum({_term(each)}), 0.0)" for each in needed)
        found = duckdb.rows(
            f"select {named}{sums}, cast(coalesce(sum(pairs), 0) as bigint), count(*) "
            f"from ({totals}) {'group by all order by all' if groups else ''}",
            source.name,
        )
        return [_exact(statistic, needed, row, len(groups)) for row in found]


def _needed(statistic: Statistic) -> list[Statistic]:
    """What has to be summed up: all that it may be computed from, and N for entropy."""
    # The privacy that makes it take the most measurements there are: N is private.
    whole_keys = Privacy(1.0, 0.5, max_value=2, relation="replace", unit="key")
    needs = statistic.needs(whole_keys if statistic.of_people else Privacy(1.0, 0.5, max_value=2))
    return [*needs, *([Total()] if Total() not in needs else [])]


def _term(measured: Statistic) -> str:
    """What is added up over keys; for entropy f ln f."""
    if isinstance(measured, Shannon):
        return "total * ln(total)"
    return f"pow(total, {measured.p!r})"


def _exact(statistic: Statistic, needed: list[Statistic], row: tuple[object, ...], groups: int) -> Exact:
    *sums, pairs, keys = row[groups:]
    found = {each: float(value) for each, value in zip(needed, sums, strict=True)}  # type: ignore[arg-type]
    if Shannon() in found:
        n = found[Total()]
        found[Shannon()] = float(np.log(n) - found[Shannon()] / n) if n else 0.0
    # The number of people is the number of keys, whatever they have.
    count = int(keys) if statistic.of_people else int(pairs)  # type: ignore[call-overload]
    values = tuple(_values(statistic, {part: np.array(value) for part, value in found.items()}, count))
    return Exact(tuple(map(str, row[:groups])), values, int(pairs), int(keys))  # type: ignore[call-overload]


def _values(statistic: Statistic, found: Mapping[Statistic, Array], count: int) -> Iterator[float]:
    if isinstance(statistic, Profile):
        for point in statistic.points:
            yield from _values(point, found, count)
    elif isinstance(statistic, Derived):
        yield float(statistic.of(found, count))
    else:
        assert isinstance(statistic, Moment | Distinct | Shannon | Total)
        yield float(found[statistic])
