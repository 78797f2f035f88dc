"""Buffered pairs as Arrow batches: each column has one sort, so that Arrow converts nothing on its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import DataError
from ...reading.libraries import need
from .elements import NAME, bad_item, kinds

ColumnsOfPairs = Sequence[Sequence[Any]]


def columns_of(keys: list[Any]) -> ColumnsOfPairs:
    """The parts of keys, each a column."""
    parts = {len(key) if isinstance(key, tuple) else 0 for key in keys}
    if len(parts) > 1:
        raise DataError(
            NAME, "keys have different numbers of parts", "Map them to tuples of the same length first", column="key"
        )
    return [keys] if parts == {0} else list(zip(*keys, strict=True))


def sorts_of(columns: ColumnsOfPairs) -> list[str]:
    """The one sort of each column of keys."""
    found: list[str] = []
    for column in columns:
        sorts = sorted(kinds(column))
        if len(sorts) > 1 or None in column[:1]:
            look_through([column], None, None)
            raise _mixed(*sorts[:2])
        found += sorts
    return found


def same_sorts(known: list[str], others: list[str]) -> list[str]:
    """The sorts of keys, which must be the same for all pairs of a group; None before the first."""
    if known and others and known != others:
        if len(known) != len(others):
            raise DataError(
                NAME,
                "keys have different numbers of parts",
                "Map them to tuples of the same length first",
                column="key",
            )
        raise next(_mixed(*sorted(two)) for two in zip(known, others, strict=True) if two[0] != two[1])
    return known or others


def _mixed(one: str, other: str) -> DataError:
    return DataError(
        NAME, f"has keys of different types, {one} and {other}", "Convert all keys to one type first", column="key"
    )


def batch_of(columns: ColumnsOfPairs, sorts: list[str], values: list[Any] | None) -> Any:
    """The columns k0, ..., v."""
    pa = need("pyarrow", "beam")
    arrays = [_array(column, sort) for column, sort in zip(columns, sorts, strict=True)]
    names = [f"k{i}" for i in range(len(arrays))]
    if values is not None:
        return pa.record_batch([*arrays, pa.array(values, pa.int64())], names=[*names, "v"])
    return pa.record_batch(arrays, names=names)


def _array(column: Sequence[Any], sort: str) -> Any:
    pa = need("pyarrow", "beam")
    if sort != "whole number":
        return pa.array(column)
    try:
        return pa.array(column, pa.int64())
    except OverflowError:
        return pa.array(column, pa.uint64())


def look_through(columns: ColumnsOfPairs, values: Sequence[Any] | None, largest: int | None) -> None:
    """Raises an error about the first item that cannot be a key or a value."""
    named = [*(("key", column) for column in columns), *([] if values is None else [("value", values)])]
    for name, column in named:
        for item in column:
            bad = bad_item(name, item, largest)
            if bad is not None:
                raise bad.error(NAME, None, name)
