"""Values of 0: absent under add_remove, refused under replace, and no group vanishes from `exact`."""

from __future__ import annotations

import functools
import io
import itertools
import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import stablesketch as ss
from stablesketch.engines.beam.elements import ElementReader
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import checked_columns
from stablesketch.reading.found import Input

RNG = np.random.default_rng(5)
ZEROS = pd.DataFrame(
    {
        "species": RNG.integers(0, 40, 3_000).astype(str),
        "n": RNG.integers(0, 5, 3_000),
        "site": RNG.choice(["a", "b"], 3_000),
        "who": RNG.integers(0, 300, 3_000),
    }
)
PAIRS = ZEROS.query("n > 0")
NOTHING = pd.DataFrame({"species": ["1", "2"], "n": [0, 0], "site": ["bare", "bare"], "who": [1, 2]})
ADDED = ss.Privacy(1.0, 1e-6, max_value=4)
REPLACED = ss.Privacy(1.0, 1e-6, max_value=4, relation="replace")
SECRET = bytes(range(32))


def forms(folder: Path, frame: pd.DataFrame) -> Iterator[tuple[str, Any, Input]]:
    """The same rows wherever data are read from."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name, write in (
        ("z.csv", lambda path: frame.to_csv(path, index=False)),
        ("z.jsonl", lambda path: frame.to_json(path, orient="records", lines=True)),
        ("z.parquet", lambda path: pyarrow.parquet.write_table(table, path)),
    ):
        write(folder / name)
        yield name, folder / name, Input()
    yield "pipe", "-", Input(stdin=io.BytesIO((folder / "z.csv").read_bytes()))
    yield (
        "padded",
        "-",
        Input(stdin=io.BytesIO(frame.assign(n="00" + frame["n"].astype(str)).to_csv(index=False).encode())),
    )
    yield "pandas", frame, Input()
    yield "polars", pl.from_pandas(frame), Input()
    yield "reader", table.to_reader(max_chunksize=100), Input()
    yield "relation", duckdb.from_arrow(table), Input()
    yield "query", None, Input(sql=f"select * from '{folder / 'z.parquet'}'")
    (folder / "z.db").unlink(missing_ok=True)
    connection = sqlite3.connect(folder / "z.db")
    frame.to_sql("t", connection, index=False)
    connection.close()
    yield "sqlite", folder / "z.db", Input(sql="select * from t")


def test_rows_of_zero_leave_the_state_as_it_was(tmp_path: Path) -> None:
    """In every form of data, with keys that are text; and a table with only zeros is an empty one."""
    plan = ss.plan(ss.Moment(0.5), ADDED, size=50)

    def state(data: Any, how: Input) -> bytes:
        columns = checked_columns("species", "n")
        return collected_shard(data, plan, ss.Secret.from_bytes(SECRET), "s", Reading(columns, how)).to_bytes()

    expected, empty = (state(frame, Input()) for frame in (PAIRS, PAIRS[:0]))
    for frame, bytes_ in ((pd.concat([ZEROS, NOTHING]), expected), (NOTHING, empty)):
        for name, data, how in forms(tmp_path, frame):
            assert state(data, how) == bytes_, name
    table = ss.collect(
        pd.concat([ZEROS, NOTHING]),
        plan,
        key="species",
        value="n",
        by="site",
        secret=ss.Secret.from_bytes(SECRET),
        shard="s",
    )
    assert table.equals(
        ss.collect(PAIRS, plan, key="species", value="n", by="site", secret=ss.Secret.from_bytes(SECRET), shard="s")
    )


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("by", [None, "site"])
def test_releases_are_those_without_the_zeros(tmp_path: Path, by: str | None, person: str | None) -> None:
    """At ε = 1e6, where noise is far below 1e-3. Groups that are chosen privately need pairs, not zeros."""
    privacy = ss.Privacy(1e6, 1e-6, max_value=4, pairs_per_person=30 if person else 1)
    asked: dict[str, Any] = {"key": "species", "value": "n", "by": by, "person": person, "mechanism": "exact"}
    if by and person:
        asked["groups_per_person"] = 2
    expected = ss.release(PAIRS, ss.Moment(0.5), privacy, **asked)
    many = pd.concat([ZEROS, *[NOTHING.assign(who=NOTHING["who"] + 1_000 * i) for i in range(100)]])
    found = ss.release(many, ss.Moment(0.5), privacy, **asked)
    values = [[getattr(one, "release", one).value for one in each.releases] for each in (found, expected)]
    assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_under_replace_a_zero_is_refused_with_the_reason(tmp_path: Path) -> None:
    frame = PAIRS[:99].assign(n=[1] * 70 + [0] + [1] * 28)
    for name, data, how in forms(tmp_path, frame):
        with pytest.raises(ss.DataError) as error:
            collected_shard(
                data,
                ss.plan(ss.Moment(0.5), REPLACED, size=50),
                ss.Secret.generate(),
                "s",
                Reading(checked_columns("species", "n"), how),
            )
        said = "column n is 0: under replace the number of pairs is public, and a 0 is not a pair. Pass relation="
        assert said in str(error.value), name
        assert any(f"row {row}," in str(error.value) for row in (71, 72)), name
    for more in ({}, {"count_pairs": True}):
        with pytest.raises(ss.DataError, match="is 0: under replace"):
            ss.release(frame, ss.Moment(0.5), REPLACED, key="species", value="n", **more)
    sites = sorted(set(frame["site"]))
    for data in (frame, pa.Table.from_pandas(frame).to_reader()):  # by group, each of which is planned under add_remove
        with pytest.raises(ss.DataError, match=r"row 71, column n is 0: under replace"):
            ss.release(data, ss.Shannon(), REPLACED, key="species", value="n", by="site", groups=sites, size=64)
    assert ss.release(PAIRS, ss.Moment(0.5), REPLACED, key="species", value="n")


def test_what_is_below_zero_is_refused_in_its_row() -> None:
    bad = pa.table({"k": ["a"] * 500, "n": [0, 1] * 249 + [-1, 0]})
    for data in (bad, bad.to_reader(max_chunksize=7)):
        with pytest.raises(ss.DataError, match=r"row 499, column n is (negative|not a whole number)"):
            ss.release(data, ss.Moment(0.5), ADDED, key="k", value="n")
    null = pa.table({"k": ["a", None, None], "n": [1, 0, 2]})
    for call in (
        lambda data: ss.release(data, ss.Moment(0.5), ADDED, key="k", value="n"),
        lambda data: ss.exact(data, ss.Moment(0.5), key="k", value="n"),
    ):
        with pytest.raises(ss.DataError, match="row 3, column k"):
            call(null)
        call(null.slice(0, 2))  # a 0 is left out, whatever else stands in its row


def test_elements_of_a_pipeline() -> None:
    absent = ElementReader(False, False, True, 4)
    refused = ElementReader(False, False, True, 4, zeros="refused")
    for zero in (0, np.int64(0)):
        assert absent.read(("k", zero)) is None
        with pytest.raises(ss.DataError, match="column value is 0: under replace"):
            refused.read(("k", zero))
    for wrong in (False, 0.0, "0"):
        with pytest.raises(ss.DataError, match="values must be whole numbers"):
            absent.read(("k", wrong))
    with pytest.raises(ss.DataError, match="is negative"):
        absent.read(("k", -1))


def test_a_group_of_zeros_alone_is_shown_as_one_without_data(tmp_path: Path) -> None:
    """nan for what is about shares, as scikit-bio says of an empty sample, 0 for counts and sums, as vegan does."""
    frame = pd.concat([ZEROS, NOTHING])
    for name, data, how in forms(tmp_path, frame):
        if how.stdin is None:
            asked: dict[str, Any] = {"key": "species", "value": "n", "by": "site", "sql": how.sql}
            found, plain = (
                ss.exact(data, ss.Hill(1.0), **asked),
                ss.exact(PAIRS, ss.Hill(1.0), **asked | {"sql": None}),
            )
            assert [one.group for one in found] == [("a",), ("b",), ("bare",)], name
            for one, other in zip(list(found)[:2], plain, strict=True):  # sums of floats, in whatever order
                assert one.values == pytest.approx(other.values, rel=1e-12), name
                assert (one.pairs, one.keys) == (other.pairs, other.keys), name
            assert math.isnan(found["bare"].value)
            assert (found["bare"].pairs, found["bare"].keys) == (0, 0)
            if name == "reader":
                continue
            assert ss.exact(data, ss.Distinct(), **asked)["bare"].value == 0
    bounded = ss.exact(
        frame, ss.Hill(1.0), key="species", value="n", by="site", person="who", pairs_per_person=99, groups_per_person=9
    )
    plain = ss.exact(PAIRS, ss.Hill(1.0), key="species", value="n", by="site")
    assert [one.value for one in list(bounded)[:2]] == pytest.approx([one.value for one in plain], rel=1e-12)
    assert math.isnan(bounded["bare"].value)
    wide = pd.DataFrame({"site": ["a", "bare", "a", "bare"], "oak": [1, 0, 2, 0], "ash": [0, 0, 3, 0]})
    wide.to_csv(tmp_path / "w.csv", index=False)
    for data in (wide, tmp_path / "w.csv"):
        found = ss.exact(data, ss.Hill(0.0), by="site", wide=True)
        assert [(one.group, one.pairs, one.keys) for one in found] == [(("a",), 3, 2), (("bare",), 0, 0)]


def test_the_neighbours_of_tables_with_zeros_by_brute_force() -> None:
    """Any table of up to three rows, and the same without any one of them: as streams they differ by one pair at most,
    and by none if the row was a 0."""
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, max_value=2), mechanism="exact")

    @functools.cache
    def stream(table: tuple[tuple[str, int], ...]) -> tuple[int, bytes]:
        data = pa.table(
            {"k": pa.array([k for k, _ in table], pa.string()), "v": pa.array([v for _, v in table], pa.int64())}
        )
        found = collected_shard(data, plan, ss.Secret.from_bytes(SECRET), "s", Reading(checked_columns("k", "v")))
        return found.pairs, found.to_bytes()

    for size in range(1, 4):
        for table in itertools.combinations_with_replacement([*itertools.product("ab", (0, 1, 2))], size):
            for i, (_, value) in enumerate(table):
                pairs, state = stream(table)
                fewer, without = stream((*table[:i], *table[i + 1 :]))
                assert pairs - fewer == (value > 0)
                assert (state == without) == (value == 0)
