"""Data without rows are released like data with one: under add_remove no refusal may tell which there are."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import stablesketch as ss

PRIVACY = ss.Privacy(1.0, 1e-9, max_value=5)
ROW = {"app": ["ape"], "n": [3], "country": ["FR"], "user": ["u1"]}
ASKED: list[dict[str, Any]] = [
    {}, {"person": "user"}, {"by": "country"}, {"by": "country", "groups": ["FR"]}, {"on_bad": "skip"},
    {"person": "user", "by": "country", "on_bad": "skip"},
]  # fmt: skip


def _objects(rows: int) -> Any:
    """Like texts in pandas before version 3, and columns made from no rows: Arrow does not know their type."""
    return pd.DataFrame(ROW).astype({"app": object, "country": object, "user": object})[:rows]


SOURCES: dict[str, Callable[[int], Any]] = {
    "reader": lambda rows: pa.table(ROW).slice(0, rows).to_reader(),
    "relation": lambda rows: duckdb.sql(f"select 'ape' app, 3::bigint n, 'FR' country, 'u1' user limit {rows}"),
    "pandas, objects": _objects,
    "pandas": lambda rows: pd.DataFrame(ROW)[:rows],
    "polars": lambda rows: pl.DataFrame(ROW).head(rows),
    "polars, no types": lambda rows: pl.DataFrame(ROW if rows else {name: [] for name in ROW}),
    "pyarrow, no types": lambda rows: pa.table(ROW if rows else {name: pa.nulls(0) for name in ROW}),
    "reader, no types": lambda rows: pa.table(ROW if rows else {name: pa.nulls(0) for name in ROW}).to_reader(),
}


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("source", SOURCES)
def test_no_row_is_released_as_one_row_is(source: str, asked: dict[str, Any]) -> None:
    for rows in (1, 0):
        ss.release(SOURCES[source](rows), ss.Distinct(), PRIVACY, key="app", value="n", size=64, **asked)


@pytest.mark.parametrize("source", ["reader", "pandas, objects"])
def test_the_largest_value_is_found_without_rows(source: str) -> None:
    found = {"auto_max_value": ss.AutoMaxValue()}
    for rows in (1, 0):
        ss.release(SOURCES[source](rows), ss.Distinct(), ss.Privacy(1.0, 1e-9), key="app", value="n", size=64, **found)


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_no_row_of_sqlite(tmp_path: Path, asked: dict[str, Any]) -> None:
    path = tmp_path / "events.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("create table events (app text, n integer, country text, user text)")
        base.execute("insert into events values ('ape', 3, 'FR', 'u1')")
        base.commit()
    for where in ("true", "false"):
        sql = f"select * from events where {where}"
        ss.release(path, ss.Distinct(), PRIVACY, sql=sql, key="app", value="n", size=64, **asked)


def test_a_column_of_nulls_is_told_row_by_row() -> None:
    """Its type is unknown, so it may be what it should be: its rows are invalid, one by one."""
    frame = pa.table({"app": pa.nulls(3), "n": [1, 2, 3]})
    with pytest.raises(ss.DataError, match="row 1, column app is null"):
        ss.release(frame, ss.Distinct(), PRIVACY, key="app", value="n", size=64)
    ss.release(frame, ss.Distinct(), PRIVACY, key="app", value="n", size=64, on_bad="skip")
    values = pa.table({"app": ["a", "b"], "n": pa.nulls(2)})
    with pytest.raises(ss.DataError, match="row 1, column n is null"):
        ss.release(values, ss.Distinct(), PRIVACY, key="app", value="n", size=64)
