"""What the command line does on one machine, on Spark: groups, people, skipped rows, values found, the ledger."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_streams import BITS, SCHEMA, local_bytes, plan, rows, secret

import stablesketch as ss
from stablesketch.engines.local.release import LocalSource
from stablesketch.engines.spark import release as on_spark
from stablesketch.engines.spark.frame import quiet
from stablesketch.engines.spark.job import fresh_secret
from stablesketch.engines.spark.release import SparkSource
from stablesketch.reading.duckdb import DuckDB
from stablesketch.release.decide import decide
from stablesketch.release.question import Question
from stablesketch.spark import SecretFrom, merged, release, sketch, sketch_by

pytestmark = pytest.mark.slow

ADD_REMOVE = ss.Privacy(2.0, 1e-6, 0, max_value=5, relation="add_remove")


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    return spark.createDataFrame(rows(), SCHEMA).repartition(4).cache()


@pytest.mark.parametrize("parts", [1, 2, 7, 64])
def test_the_same_bytes_over_any_number_of_partitions(frame: Any, secret_file: Path, parts: int) -> None:
    found = sketch(
        frame.repartition(parts), plan(), key="app", value="n", secret=SecretFrom.file(secret_file), shard="x"
    )
    assert found.to_bytes() == local_bytes(rows(), "x", plan())


@pytest.mark.parametrize("key", [["app", "day", "who"], ["day"]])
def test_the_same_bytes_for_every_kind_of_key(frame: Any, secret_file: Path, key: list[str]) -> None:
    collector = plan().open(secret(), "x")
    named = dict(zip(["app", "n", "day", "country", "who"], zip(*rows(), strict=True), strict=True))
    columns = tuple(pa.array(named[name]) for name in key)
    collector.update(columns if len(key) > 1 else columns[0], list(named["n"]))
    found = sketch(frame, plan(), key=key, value="n", secret=SecretFrom.file(secret_file), shard="x")
    assert found.to_bytes() == collector.to_bytes()


def test_zeros_are_left_out_under_add_remove_and_refused_under_replace(
    spark: Any, frame: Any, secret_file: Path
) -> None:
    """The state is that of the rows that are pairs, also of text; docs: reading/columns.py."""
    way, added = SecretFrom.file(secret_file), ss.plan(ss.Moment(0.5), ADD_REMOVE, size=20)
    more = frame.unionByName(
        frame.selectExpr("app", "0 as n", "day", "'XX' as country", "who"), allowMissingColumns=True
    )
    found = sketch(more, added, key="app", value="n", secret=way, shard="x")
    assert found.to_bytes() == local_bytes(rows(), "x", added)
    stored = sketch_by(more, added, key="app", value="n", by="country", secret=way, shard="x")
    assert "XX" not in {row.country for row in stored.collect()}
    stored.unpersist()
    individuals = ss.Privacy(1.0, 1e-6, unit="individual")
    assert release(more, ss.Moment(0.5), individuals, key="app", value="n", size=20).unit == "individual"
    counts = ss.plan(ss.Moment(0.5), individuals, size=20)  # a value is so many pairs
    each = [row[0] for row in rows() for _ in range(row[1])]
    one = counts.open(secret(), "x")
    one.update(each)
    assert sketch(more, counts, key="app", value="n", secret=way, shard="x").to_bytes() == one.to_bytes()
    with pytest.raises(ss.DataError, match="column n is 0: under replace"):
        sketch(more, plan(), key="app", value="n", secret=way, shard="x")
    replaced = ss.Privacy(1.0, 1e-6, max_value=5, relation="replace")
    with pytest.raises(ss.DataError, match="column n is 0: under replace"):
        release(more, ss.Shannon(), replaced, key="app", value="n", by="country", groups=["FR", "XX"], size=64)


def test_what_a_worker_refuses_does_not_show_the_cell(
    frame: Any, secret_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the row is not found again, so that the driver has only what the worker told."""
    monkeypatch.setattr("stablesketch.engines.spark.frame.Pairs.first_bad", lambda self: None)
    with pytest.raises(ss.DataError, match=r"must be at most max_value=5 \(row \d+\)") as refused:
        sketch(
            frame.selectExpr("app", "77777 as n"), plan(), key="app", value="n",
            secret=SecretFrom.file(secret_file), shard="x",
        )  # fmt: skip
    assert "77777" not in str(refused.value)


def pair_of_sources(
    question: Question, frame: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, engine: DuckDB
) -> tuple[LocalSource, SparkSource]:
    """The same question here and there, under the same secret."""
    path = folder / "rows.parquet"
    pq.write_table(frame.toArrow(), path)
    monkeypatch.setattr("stablesketch.engines.spark.job.secrets.token_hex", lambda count: "0" * 32)
    key = folder / "s.key"
    if not key.exists():
        secret().save(key)
    there = SparkSource(question, frame, SecretFrom.file(key))
    own = there.secret._living()._together()
    monkeypatch.setattr(ss.Secret, "generate", lambda: ss.Secret.from_bytes(own))
    return LocalSource(engine, question, path), there


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")  # toArrow of the test
def test_groups_and_people_are_the_same_as_on_one_machine(
    frame: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, person: str | None
) -> None:
    privacy = ss.Privacy(2.0, 1e-6, 0, max_value=5, relation="add_remove", pairs_per_person=6 if person else 1)
    question = ss.question(
        ss.Moment(0.5), privacy, key="app", value="n", by=["country", "day"], person=person, size=30,
        groups_per_person=3 if person else 1,
    )  # fmt: skip
    with DuckDB() as engine:
        here, there = pair_of_sources(question, frame, tmp_path, monkeypatch, engine)
        counts = dict(here.group_counts())
        assert dict(there.group_counts()) == counts
        assert len(counts) == 14
        names = [*sorted(counts)[:5], ("XX", "2026-11-01"), *sorted(counts)[5:]]
        chosen = decide(question).plan
        for own, other in zip(here.collected(chosen, names), there.collected(chosen, names), strict=True):
            assert own._held().to_bytes() == other._held().to_bytes()
        assert list(here.digits()) == list(there.digits())
        if person is not None:
            assert sum(counts.values()) <= 3 * 101
            single = ss.question(ss.Moment(0.5), privacy, key="app", value="n", person=person, size=30)
            here, there = pair_of_sources(single, frame, tmp_path, monkeypatch, engine)
            first, second = (next(source.collected(decide(single).plan)) for source in (here, there))
            assert first._held().to_bytes() == second._held().to_bytes()
            assert first.pairs == second.pairs == 6 * 101


def test_groups_come_as_a_frame_with_public_names_or_with_chosen_ones(frame: Any) -> None:
    """With odds below 1e-6 a group of hundreds of pairs is not shown, or a name without pairs is."""
    listed = release(
        frame, ss.Moment(0.5), ADD_REMOVE, key="app", value="n", by="country", groups=["FR", "XX"], size=50
    )
    found = [row.asDict() for row in listed.collect()]  # type: ignore[union-attr]
    assert [row["country"] for row in found] == ["FR", "XX"]
    assert found[0]["value"] > found[1]["value"]
    assert found[0]["low"] <= found[0]["value"] <= found[0]["high"]
    assert all(row["epsilon"] <= 2.0 for row in found)
    chosen = release(frame, ss.Moment(0.5), ADD_REMOVE, key="app", value="n", by="country", size=50)
    assert sorted(row.country for row in chosen.collect()) == ["DE", "FR"]  # type: ignore[union-attr]


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")  # toArrow of the test
def test_more_groups_than_a_worker_keeps_open(frame: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker gives away what it has and opens others; and the driver takes many groups one by one."""
    monkeypatch.setattr(on_spark, "_FEW", 0)
    question = ss.question(ss.Moment(0.5), ADD_REMOVE, key="app", value="n", by="who", size=20)
    chosen = decide(question).plan
    names = [(str(who),) for who in range(103)]  # two of them have no pairs
    with DuckDB() as engine:
        here, there = pair_of_sources(question, frame, tmp_path, monkeypatch, engine)
        there._recipe = replace(there._recipe, open_groups=2)
        with there:
            for own, other in zip(here.collected(chosen, names), there.collected(chosen, names), strict=True):
                assert own._held().to_bytes() == other._held().to_bytes()
                # Noise comes from the secret, so what is released is the same number.
                assert own._held().measure(0.95).value == other._held().measure(0.95).value


def test_stored_collectors_merge_once_and_release_once(frame: Any, secret_file: Path) -> None:
    way = SecretFrom.file(secret_file)
    stored = sketch_by(frame, plan(), key="app", value="n", by="day", secret=way, shard="week 46")
    assert stored.columns == ["day", "collector"]
    assert sorted(row.day for row in stored.collect()) == [f"2026-11-0{day}" for day in range(1, 8)]
    (first,) = [bytes(row.collector) for row in stored.collect() if row.day == "2026-11-01"]
    monday = [row for row in rows() if row[2] == datetime.date(2026, 11, 1)]
    assert first == local_bytes(monday, 'week 46/{"day": "2026-11-01"}', plan())
    key = ss.Secret.load(secret_file)
    here = pa.table(dict(zip(["app", "n", "day", "country", "who"], zip(*rows(), strict=True), strict=True)))
    table = ss.collect(here, plan(), key="app", value="n", by="day", secret=key, shard="week 46")
    there = {row.day: bytes(row.collector) for row in stored.collect()}
    assert there == dict(zip(*table.to_pydict().values(), strict=True))
    assert ss.merge(stored.toArrow(), secret=key).to_bytes() == merged(stored, secret=way).to_bytes()
    again = sketch_by(frame, plan(), key="app", value="n", by="day", secret=way, shard="week 46")
    with pytest.raises(ss.errors.ShardMergedTwice, match="week 46"):
        merged(stored.union(again), secret=way)
    other = sketch_by(frame, plan(), key="app", value="n", by="country", secret=way, shard="week 46")
    with pytest.raises(ss.errors.ShardMergedTwice, match=r"week 46.*by the same columns"):
        merged(stored.select("collector").union(other.select("collector")), secret=way)
    whole = merged(stored, secret=way)
    assert whole.shards == {f'week 46/{{"day": "2026-11-0{day}"}}' for day in range(1, 8)}
    with pytest.raises(ss.DataError, match="no such column"):
        merged(stored, secret=way, column="sketch")
    assert whole.release().pairs == 3000
    with pytest.raises(ss.SecretSpent):
        merged(stored, secret=way)
    for each in (stored, again, other):
        each.unpersist()


def test_groups_under_secrets_of_their_own_are_released_side_by_side(frame: Any, secret_file: Path) -> None:
    way = SecretFrom.file(secret_file)
    stored = sketch_by(frame, plan(), key="app", value="n", by="country", secret=way, separate=True, shard="x")
    key = ss.Secret.load(secret_file)
    here = pa.table(dict(zip(["app", "n", "day", "country", "who"], zip(*rows(), strict=True), strict=True)))
    table = ss.collect(here, plan(), key="app", value="n", by="country", secret=key, shard="x", separate=True)
    assert sorted((row[0], bytes(row[1])) for row in stored.collect()) == sorted(map(tuple, table.to_pandas().values))
    collectors = [ss.Collector.from_bytes(bytes(row[1]), key.child(row[0])) for row in stored.collect()]
    released = ss.release_all(collectors)
    assert sum(one.pairs or 0 for one in released) == 3000
    stored.unpersist()


BAD = {
    "null key": ("nullif(id, 777)", "1", "column k is null"),
    "null value": ("id", "nullif(1, if(id = 777, 1, 0))", "column n is null"),
    "too large": ("id", "if(id = 777, 6, 1)", "column n is above the promised max_value=5"),
    "beyond 32 bits": (
        "id", "if(id = 777, 1L << 40, 1L)", "column n is above the promised max_value=5",
    ),
    "negative": ("id", "if(id = 777, -1, 1)", "column n is negative"),
    "a decimal beyond all": (
        "id", "cast(if(id = 777, 1e25, 1) as decimal(30, 0))", "is above 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "by", "parts"), [*((name, None, 4) for name in BAD), ("negative", "g", 4)])
def test_one_bad_row_in_many_partitions_is_named_and_nothing_released(
    spark: Any, tmp_path: Path, name: str, by: str | None, parts: int
) -> None:
    key, value, wanted = BAD[name]
    frame = spark.range(0, 1000, 1, parts).selectExpr(f"{key} as k", f"{value} as n", "'a' as g")
    ledger = ss.Ledger(tmp_path / "ledger.db", epsilon=10.0, delta=1e-3, relation="add_remove")
    with pytest.raises(ss.DataError, match=wanted) as caught:
        release(
            frame, ss.Moment(0.5), ADD_REMOVE, key="k", value="n", by=by, groups=["a"] if by else None, size=20,
            ledger=ledger,
        )  # fmt: skip
    each = 1000 // parts
    assert str(caught.value).startswith(f"the DataFrame, partition {777 // each}, row {777 % each + 1}, column ")
    assert not list(ledger.records())


def test_wrong_types_are_refused_before_anything_runs(spark: Any) -> None:
    frame = spark.range(5).selectExpr("id as k", "id * 0.5 as n", "array(id) as list")
    for key, value, wanted in (
        ("k", "n", "column n is of type DECIMAL"),
        ("list", None, "cannot be used as a key: it holds several values"),
        ("x", None, "no such"),
    ):
        privacy = ss.Privacy(1.0, 1e-6, pairs=5, max_value=5 if value else 1, relation="replace")
        with pytest.raises(ss.DataError, match=wanted):
            release(frame, ss.Moment(0.5), privacy, key=key, value=value)
    with pytest.raises(ss.ArgumentTypeError, match="must be a Spark DataFrame"):
        release([1, 2], ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs=5, relation="replace"), key="k")


def test_a_misspelt_on_bad_is_refused_by_stored_sketches_too(spark: Any, secret_file: Path) -> None:
    plan, frame = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=30), spark.range(5).selectExpr("id as k")
    with pytest.raises(ss.ArgumentError, match="on_bad must be 'error' or 'skip', got 'skp'"):
        sketch(frame, plan, key="k", secret=SecretFrom.file(secret_file), on_bad="skp")  # type: ignore[arg-type]


def test_rows_that_are_no_pairs_are_skipped_and_counted_if_asked(spark: Any) -> None:
    frame = spark.range(0, 1000, 1, 3).selectExpr("nullif(id % 50, 7) as k", "id % 7 as n")
    privacy = ss.Privacy(1.0, 1e-6, 0, max_value=5, relation="replace")
    released = release(
        frame, ss.Moment(0.5), privacy, key="k", value="n", count_pairs=True, clip=True, on_bad="skip", size=30
    )
    rows_left = sum(1 for i in range(1000) if i % 50 != 7 and i % 7 != 0)
    assert isinstance(released, ss.Release)
    assert released.pairs == rows_left
    with pytest.raises(ss.DataError, match="is above the promised"):
        release(frame, ss.Moment(0.5), privacy, key="k", value="n", count_pairs=True, on_bad="skip", size=30)


def test_max_value_is_found_on_the_cluster(spark: Any, tmp_path: Path) -> None:
    """Noise of scale 20 on counts of thousands: odds of another answer are below 1e-6."""
    frame = spark.range(0, 20000, 1, 3).selectExpr("id % 500 as k", "if(id % 1000 = 0, 900, id % 8 + 1) as n")
    ledger = ss.Ledger(tmp_path / "ledger.db", epsilon=10.0, delta=1e-3)
    released = release(
        frame, ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, relation="replace"), key="k", value="n", count_pairs=True,
        auto_max_value=ss.AutoMaxValue(), size=30, ledger=ledger, label="spark",
    )  # fmt: skip
    assert isinstance(released, ss.Release)
    assert released.max_value == 15
    assert [record.label for record in ledger.records()] == ["spark"]


def test_a_secret_in_a_function_is_refused_and_so_is_a_secret_itself(frame: Any) -> None:
    held = bytes(BITS)
    for wrong in (SecretFrom.callable(lambda: held), SecretFrom.callable(lambda: ss.Secret.from_bytes(held))):
        with pytest.raises(ss.ArgumentError, match="holds the secret itself") as caught:
            sketch(frame, plan(), key="app", value="n", secret=wrong)
        assert held.hex() not in str(caught.value)
        with pytest.raises(ss.ArgumentError, match="holds the secret itself"):
            release(frame, ss.Moment(0.5), ADD_REMOVE, key="app", value="n", secret=wrong, size=20)
    kept = secret()
    with pytest.raises(Exception, match="cannot be pickled"):
        sketch(frame, plan(), key="app", value="n", secret=SecretFrom.callable(lambda: kept))
    with pytest.raises(ss.ArgumentTypeError, match=r"SecretFrom\.file"):
        sketch(frame, plan(), key="app", value="n", secret=secret())  # type: ignore[arg-type]


def test_a_secret_that_workers_do_not_find_is_told_once(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLY_HERE", BITS.hex())
    with pytest.raises(ss.SecretMissing, match="ONLY_HERE is not set in this process"):
        sketch(frame, plan(), key="app", value="n", secret=SecretFrom.environment("ONLY_HERE"))


def test_a_broadcast_is_taken_back(frame: Any) -> None:
    reference, forget = fresh_secret(frame, None)
    assert reference.find() == reference.find()
    kept = Path(reference.reference._what._path)
    assert kept.exists()
    forget()
    assert not kept.exists()


def test_retried_tasks_count_once(frame: Any, secret_file: Path) -> None:
    """A worker dies in the middle of a partition, as often as a question may fail but one; the state is the same."""

    def mortal(batches: Any) -> Any:
        import os

        from pyspark import TaskContext

        context = TaskContext.get()
        for batch in batches:
            yield batch.slice(0, batch.num_rows // 2)
            if context.partitionId() == 1 and context.attemptNumber() < 2:
                os._exit(9)
            yield batch.slice(batch.num_rows // 2)

    way = SecretFrom.file(secret_file)
    with quiet():
        dying = frame.mapInArrow(mortal, frame.schema)
    found = sketch(dying, plan(), key="app", value="n", secret=way, shard="x")
    assert found.to_bytes() == local_bytes(rows(), "x", plan())


@pytest.mark.parametrize("statistic", [ss.Shannon(), ss.Distinct(), ss.Hill(0.5)], ids=str)
def test_every_statistic_has_the_same_state(frame: Any, secret_file: Path, statistic: Any) -> None:
    chosen = ss.plan(
        statistic, ss.Privacy(5.0, 1e-6, pairs=100_000, max_value=5, relation="replace"), size=64, mechanism="bare"
    )
    found = sketch(frame, chosen, key="app", value="n", secret=SecretFrom.file(secret_file), shard="x")
    assert found.to_bytes() == local_bytes(rows(), "x", chosen)


def test_settings_of_the_session_are_as_before(frame: Any, secret_file: Path) -> None:
    names = ("spark.sql.execution.arrow.maxBytesPerBatch", "spark.sql.execution.arrow.maxRecordsPerBatch")
    before = [frame.sparkSession.conf.get(name) for name in names]
    sketch(frame, plan(), key="who", value="n", secret=SecretFrom.file(secret_file))
    assert [frame.sparkSession.conf.get(name) for name in names] == before


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")  # toArrow of the test
def test_whole_keys_are_added_up_as_on_one_machine(
    frame: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret_file: Path
) -> None:
    totals: dict[str, int] = {}
    for app, n, *_ in rows():
        totals[app] = totals.get(app, 0) + n
    privacy = ss.Privacy(4.0, 1e-6, 2, max_value=max(totals.values()), unit="key", relation="replace")
    question = ss.question(ss.Atkinson(0.5), privacy, key="app", value="n", size=30)
    with DuckDB() as engine:
        here, there = pair_of_sources(question, frame, tmp_path, monkeypatch, engine)
        chosen = decide(question).plan
        assert here.count() == there.count() == len(totals)
        own, other = (next(source.collected(chosen)) for source in (here, there))
        assert own.pairs == other.pairs == len(totals)
        assert own._held().to_bytes() == other._held().to_bytes()
    low = ss.Privacy(4.0, 1e-6, 2, max_value=5, unit="key", relation="replace")
    with pytest.raises(ss.DataError, match="the total of a key is"):
        release(frame, ss.Atkinson(0.5), low, key="app", value="n", size=30)
    large = frame.selectExpr("app", "if(n = 3, 1L << 40, n) as n")  # more than 32 bits: not to be lost before the sum
    with pytest.raises(ss.DataError, match="the total of a key is"):
        release(large, ss.Atkinson(0.5), privacy, key="app", value="n", size=30, on_bad="skip")
    whole = ss.plan(ss.Atkinson(0.5), privacy, size=30, mechanism="bare")
    with pytest.raises(ss.ArgumentError, match="every key must occur once"):
        sketch(frame, whole, key="app", value="n", secret=SecretFrom.file(secret_file))
