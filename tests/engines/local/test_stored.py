"""Sketches as values: collected to a table, stored anywhere, merged, and released once."""

from __future__ import annotations

import itertools
import multiprocessing
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stablesketch as ss
from stablesketch.engines.local import stored

RNG = np.random.default_rng(7)
DAYS = ["mon", "tue", "wed", "thu"]
FRAME = pd.DataFrame(
    {
        "app": RNG.zipf(1.5, 4_000).clip(max=300),
        "n": RNG.integers(1, 6, 4_000),
        "day": RNG.choice(DAYS, 4_000),
        "country": RNG.choice(["FR", "DE"], 4_000),
    }
)
PRIVACY = ss.Privacy(1.0, 1e-9, max_value=5)
PLAN = ss.plan(ss.Moment(0.5), PRIVACY, size=64)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "s.key"
    ss.Secret.generate().save(path)
    return path


def collected(secret: ss.Secret, data: Any = FRAME, **more: Any) -> pa.Table:
    return ss.collect(data, PLAN, **{"key": "app", "value": "n", "by": "day", "secret": secret, "shard": "46", **more})


def whole(secret: ss.Secret) -> ss.Collector:
    """One collector of all rows."""
    collector = PLAN.open(secret, "one")
    collector.update(FRAME["app"], FRAME["n"])
    return collector


def test_a_table_of_groups_whose_rows_are_those_of_a_collector_each() -> None:
    secret = ss.Secret.generate()
    table = collected(secret)
    assert table.schema == pa.schema([("day", pa.string()), ("collector", pa.binary())])
    assert table["day"].to_pylist() == sorted(DAYS)
    for row in table.to_pylist():
        own = FRAME[FRAME["day"] == row["day"]]
        one = PLAN.open(secret, f'46/{{"day": "{row["day"]}"}}')
        one.update(own["app"], own["n"])
        assert row["collector"] == one.to_bytes()
    (only,) = collected(secret, by=None).to_pylist()
    one = PLAN.open(secret, "46")
    one.update(FRAME["app"], FRAME["n"])
    assert only == {"collector": one.to_bytes()}


@pytest.mark.parametrize("separate", [False, True])
def test_groups_that_are_stored_in_turns_are_the_same_bytes(monkeypatch: pytest.MonkeyPatch, separate: bool) -> None:
    secret = ss.Secret.generate()
    expected = collected(secret, by=["day", "country"], separate=separate)
    monkeypatch.setattr(stored, "_OPEN_GROUPS", 3)
    batches = pa.Table.from_pandas(FRAME).to_batches(max_chunksize=37)
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    assert collected(secret, reader, by=["day", "country"], separate=separate).equals(expected)


def test_a_bad_row_of_a_stream_is_named_also_after_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_OPEN_GROUPS", 3)
    bad = FRAME.assign(n=FRAME["n"].where(FRAME.index != 2_717, 6))
    for data in (bad, pa.Table.from_pandas(bad).to_reader(max_chunksize=37)):
        with pytest.raises(ss.DataError, match=r"row 2,718, column n is above the promised max_value=5"):
            collected(ss.Secret.generate(), data)
    clipped = collected(ss.Secret.generate(), bad, clip=True)
    assert clipped.num_rows == len(DAYS)


def by_duckdb(table: pa.Table, folder: Path) -> Any:
    connection = duckdb.connect(str(folder / "store.duckdb"))
    connection.register("given", table)
    connection.execute("create table kept as select * from given")
    return connection.sql("select day, collector from kept")


def by_sqlite(table: pa.Table, folder: Path) -> Any:
    connection = sqlite3.connect(folder / "store.sqlite")
    connection.execute("create table kept (day text, collector blob)")
    connection.executemany("insert into kept values (?, ?)", [tuple(row.values()) for row in table.to_pylist()])
    connection.commit()
    return pd.DataFrame(connection.execute("select * from kept").fetchall(), columns=["day", "collector"])


def by_parquet(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table, folder / "store.parquet")
    return folder / "store.parquet"


WAYS: dict[str, Any] = {
    "arrow": lambda table, _: table,
    "reader": lambda table, _: table.to_reader(),
    "pandas": lambda table, _: table.to_pandas(),
    "polars": lambda table, _: pl.from_arrow(table),
    "parquet": by_parquet,
    "duckdb": by_duckdb,
    "sqlite": by_sqlite,
}


@pytest.mark.parametrize("way", WAYS)
def test_stored_anywhere_it_merges_to_what_one_collector_would_be(way: str, tmp_path: Path, kept: Path) -> None:
    secret = ss.Secret.load(kept)
    expected = whole(secret)
    expected.rename("all")
    merged = ss.merge(WAYS[way](collected(secret), tmp_path), secret=secret)
    assert merged.shards == {f'46/{{"day": "{day}"}}' for day in DAYS}
    merged.rename("all")
    assert merged.to_bytes() == expected.to_bytes()


def test_one_secret_has_one_release_whatever_rows_are_merged(kept: Path, tmp_path: Path) -> None:
    path = by_parquet(collected(ss.Secret.load(kept)), tmp_path)
    table = pq.read_table(path)
    early = ss.merge(table, secret=ss.Secret.load(kept))  # loaded before the release, by another object
    found = ss.merge(path, secret=ss.Secret.load(kept)).release()
    assert found.low <= found.value <= found.high
    assert ss.Secret.inspect(kept).spent
    with pytest.raises(ss.SecretSpent):
        ss.Secret.load(kept)
    with pytest.raises(ss.SecretSpent):
        early.release()


def test_a_part_of_the_table_is_a_release_too_and_the_rest_has_none(kept: Path) -> None:
    secret = ss.Secret.load(kept)
    table = collected(secret)
    rest = ss.merge(table.slice(1), secret=secret)
    ss.merge(table.slice(0, 1), secret=secret).release()
    with pytest.raises(ss.SecretSpent):
        rest.release()
    with pytest.raises(ss.SecretSpent):
        ss.merge(table.slice(1), secret=secret)
    with pytest.raises(ss.SecretSpent):
        collected(secret)


def released_elsewhere(path: Path, key: Path, start: Any, found: Any) -> None:
    """In another process, which loads the secret before any of them releases."""
    merged = ss.merge(path, secret=ss.Secret.load(key))
    start.wait()
    try:
        found.put(merged.release().to_json())
    except ss.SecretSpent:
        found.put(None)


def test_of_many_processes_with_the_same_table_one_releases(kept: Path, tmp_path: Path) -> None:
    path = by_parquet(collected(ss.Secret.load(kept)), tmp_path)
    context = multiprocessing.get_context("spawn")
    start, found = context.Barrier(3), context.Queue()
    processes = [context.Process(target=released_elsewhere, args=(path, kept, start, found)) for _ in range(3)]
    for process in processes:
        process.start()
    told = [found.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    assert sum(one is not None for one in told) == 1


def test_a_secret_of_a_key_service_is_remembered_by_the_ledger(tmp_path: Path) -> None:
    """Made again from its bits, it does not know that it was released; a ledger does."""
    bits = bytes(range(32))
    table = collected(ss.Secret.from_bytes(bits))
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=5.0, delta=1e-6)
    ss.merge(table, secret=ss.Secret.from_bytes(bits)).release(ledger=ledger)
    for again in (table, table.slice(2)):
        with pytest.raises(ss.SecretSpent):
            ss.merge(again, secret=ss.Secret.from_bytes(bits)).release(ledger=ledger)
    assert len(ledger) == 1


def test_separate_groups_are_released_side_by_side_and_once(kept: Path) -> None:
    secret = ss.Secret.load(kept)
    week = [collected(secret, FRAME[FRAME["day"] == day], by="country", shard=day, separate=True) for day in DAYS]
    table = pa.concat_tables(week)
    assert table.num_rows == 2 * len(DAYS)
    with pytest.raises(ss.SecretMismatch):
        ss.merge(table.filter(pa.compute.equal(table["country"], "FR")), secret=secret)
    with pytest.raises(ss.MergeError):
        ss.merge(table, secret=secret.child("FR"))
    merged = [
        ss.merge(table.filter(pa.compute.equal(table["country"], name)), secret=secret.child(name))
        for name in ("FR", "DE")
    ]
    assert sum(one.pairs for one in merged) == len(FRAME)
    assert len(ss.release_all(merged)) == 2
    with pytest.raises(ss.SecretSpent):
        ss.merge(table.slice(0, 1), secret=secret.child(table["country"][0].as_py())).release()


def test_the_same_data_twice_are_refused() -> None:
    secret = ss.Secret.generate()
    twice = pa.concat_tables([collected(secret), collected(secret)])
    with pytest.raises(ss.ShardMergedTwice, match="46/"):
        ss.merge(twice, secret=secret)
    many = pa.concat_tables([collected(secret, FRAME[:50], shard=str(i)) for i in range(40)])  # more than at once
    assert ss.merge(many, secret=secret).pairs == 40 * 50
    with pytest.raises(ss.ShardMergedTwice):
        ss.merge(pa.concat_tables([many, many.slice(0, 1)]), secret=secret)


def test_the_same_rows_collected_by_other_columns_are_refused() -> None:
    """Each would count twice, and the release would cost more than its ε. By the same columns groups add up."""
    secret = ss.Secret.generate()
    cuts = {by: collected(secret, by=by).select(["collector"]) for by in ("day", "country", None)}
    for first, second in itertools.permutations(cuts.values(), 2):
        with pytest.raises(ss.ShardMergedTwice, match=r"shard '46' is already included.*by the same columns \(by=\)"):
            ss.merge(pa.concat_tables([first, second.slice(0, 1)]), secret=secret)
        once = ss.merge(first.slice(0, 1), secret=secret)
        before = once.to_bytes()
        with pytest.raises(ss.ShardMergedTwice):
            once.merge(ss.merge(second, secret=secret))
        assert once.to_bytes() == before
    said = r"collected by 'day'\. If it is merged again, collected by 'day', 'country'"
    both = collected(secret, by=["day", "country"]).select(["collector"])
    with pytest.raises(ss.ShardMergedTwice, match=said):
        ss.merge(pa.concat_tables([cuts["day"], both]), secret=secret)
    other = collected(secret, by="country", shard="47").select(["collector"])
    assert ss.merge(pa.concat_tables([cuts["day"], other]), secret=secret).pairs == 2 * len(FRAME)


def test_names_of_before_that_do_not_tell_their_columns_are_not_added_up() -> None:
    secret = ss.Secret.generate()
    old = []
    for row in collected(secret).to_pylist():
        collector = ss.Collector.from_bytes(row["collector"], secret)
        collector.rename(f'46/["{row["day"]}"]')
        old.append({"collector": collector.to_bytes()})
    assert ss.merge(pa.Table.from_pylist(old[:1]), secret=secret).pairs == sum(FRAME["day"] == "mon")
    said = "by columns that its name does not state.*collect it again"
    for rows in (old, [old[0], *collected(secret).select(["collector"]).to_pylist()]):
        with pytest.raises(ss.ShardMergedTwice, match=said):
            ss.merge(pa.Table.from_pylist(rows), secret=secret)


def test_what_is_wrong_is_said() -> None:
    secret = ss.Secret.generate()
    table = collected(secret)
    broken = table.to_pylist()
    broken[2]["collector"] = broken[2]["collector"][:-1]
    other = collected(ss.Secret.generate(), shard="47")
    wrong: list[tuple[Any, type[Exception], str]] = [
        (lambda: ss.merge(table, secret=secret, column="sketch"), ss.DataError, "no such column.*day, collector"),
        (lambda: ss.merge(table, secret=secret, column="day"), ss.DataError, "is of type string, not binary"),
        (lambda: ss.merge(table.slice(0, 0), secret=secret), ss.DataError, "the table of collectors is empty"),
        (lambda: ss.merge(pa.Table.from_pylist(broken), secret=secret), ss.BlobError, "row 3, column collector"),
        (lambda: ss.merge(pa.table({"collector": [None, b"x"]}), secret=secret), ss.DataError, "row 1.*is null"),
        (lambda: ss.merge(table, secret=ss.Secret.generate()), ss.SecretMismatch, "secret"),
        (lambda: ss.merge(pa.concat_tables([table, other]), secret=secret), ss.MergeError, "secret"),
        (lambda: ss.merge([1, 2], secret=secret), ss.ArgumentTypeError, "must be a table of collectors"),
        (lambda: ss.merge("nothing.parquet", secret=secret), ss.DataError, "cannot be read as Parquet"),
        (lambda: ss.merge(table, secret=None), ss.ArgumentTypeError, "must be a Secret"),  # type: ignore[arg-type]
        (lambda: collected(None), ss.ArgumentTypeError, "must be a Secret"),  # type: ignore[arg-type]
        (lambda: collected(secret, shard=""), ss.ArgumentError, "must be the name of a shard"),
        (lambda: collected(secret, key="apps"), ss.DataError, "column apps"),
        (lambda: ss.collect(FRAME, PRIVACY, key="app", secret=secret), ss.ArgumentTypeError, "must be a Plan"),  # type: ignore[arg-type]
    ]
    for call, kind, said in wrong:
        with pytest.raises(kind, match=said) as stopped:
            call()
        assert secret.derive("identity").hex() not in str(stopped.value)
    keyed = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, unit="key"), size=64)
    with pytest.raises(ss.ArgumentError, match="every key must occur once"):
        ss.collect(FRAME, keyed, key="app", secret=secret)
    counts = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, unit="individual"), size=64)
    with pytest.raises(ss.ArgumentError, match=r"clip cannot be used .*a value is then a number of pairs"):
        ss.collect(FRAME, counts, key="app", value="n", secret=secret, clip=True)


def test_every_statistic_can_be_stored(tmp_path: Path) -> None:
    for statistic in (ss.Hill(1), ss.Profile([0, 1, 2]), ss.Distinct(), ss.Shannon(), ss.Moment(1.5)):
        plan, secret = ss.plan(statistic, PRIVACY, memory="16K"), ss.Secret.generate()
        table = ss.collect(FRAME, plan, key="app", value="n", by="day", secret=secret)
        found = ss.merge(by_parquet(table, tmp_path), secret=secret)
        assert found.pairs == len(FRAME)
        assert found.release().statistic == str(statistic)


def test_without_a_secret_the_way_to_one_is_said(kept: Path) -> None:
    with pytest.raises(ss.ArgumentTypeError, match=r"secret must be a Secret, got None\. .*ss.Secret.generate\(\)"):
        ss.collect(FRAME, PLAN, key="app", value="n")
    table = collected(ss.Secret.load(kept))
    with pytest.raises(ss.ArgumentTypeError, match=r"Pass the secret they were collected with: ss.Secret.load"):
        ss.merge(table)
