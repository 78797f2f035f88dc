"""The same number of pairs, keys and totals through every interface: the exact state would reveal a difference."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stablesketch as ss
from stablesketch.engines.local import run
from stablesketch.engines.local.collect import collected_shard
from stablesketch.engines.local.exact import exact_values
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.reading.found import Input

SECRET = bytes(range(32))
APPS = [f"app {i * i % 37}" for i in range(3000)]
COUNTS = [1 + i % 7 for i in range(3000)]
COLUMNS = Columns(("app",), "n")
PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 1000, max_value=7, relation="replace"), size=20, mechanism="bare")


def state(data: object, how: Input | None = None, columns: Columns = COLUMNS, on_bad: str = "error") -> bytes:
    collector = collected_shard(
        data, PLAN, ss.Secret.from_bytes(SECRET), "s", Reading(columns, how or Input(), on_bad)  # type: ignore[arg-type]
    )  # fmt: skip
    return collector.to_bytes()


@pytest.fixture(scope="module")
def wanted() -> bytes:
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(APPS, COUNTS)
    return collector.to_bytes()


def written_csv(path: Path, rows: slice = slice(None), delimiter: str = ",") -> Path:
    lines = [f"{app}{delimiter}{n}\n" for app, n in zip(APPS[rows], COUNTS[rows], strict=True)]
    text = f"app{delimiter}n\n" + "".join(lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def written_json(path: Path) -> Path:
    rows = (json.dumps({"n": n, "app": app, "more": [1]}) for app, n in zip(APPS, COUNTS, strict=True))
    path.write_text("\n".join(rows))
    return path


def written_parquet(path: Path) -> Path:
    pq.write_table(pa.table({"app": APPS, "n": COUNTS}), path, row_group_size=700)
    return path


def written_duckdb(path: Path) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.register("rows", pa.table({"app": APPS, "n": COUNTS}))
        connection.execute("create table events as select * from rows")
    return path


def written_sqlite(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.execute("create table events (app text, n integer)")
    connection.executemany("insert into events values (?, ?)", zip(APPS, COUNTS, strict=True))
    connection.commit()
    connection.close()
    return path


FILES: dict[str, Callable[[Path], tuple[object, Input]]] = {
    "csv": lambda f: (written_csv(f / "e.csv"), Input()),
    "csv, packed": lambda f: (written_csv(f / "e.csv.gz"), Input()),
    "csv with semicolons": lambda f: (written_csv(f / "e.csv", delimiter=";"), Input(delimiter=";")),
    "tsv": lambda f: (written_csv(f / "e.tsv", delimiter="\t"), Input()),
    "a pattern": lambda f: (
        [written_csv(f / "1.csv", slice(1000)), written_csv(f / "2.csv", slice(1000, None))] and str(f / "*.csv"),
        Input(),
    ),
    "json lines": lambda f: (written_json(f / "e.ndjson"), Input()),
    "parquet": lambda f: (written_parquet(f / "e.parquet"), Input()),
    "a name with brackets": lambda f: (written_parquet(f / "e[1].parquet"), Input()),
    "a query": lambda f: (None, Input(sql=f"select * from '{written_parquet(f / 'e.parquet')}';")),
    "a DuckDB database": lambda f: (written_duckdb(f / "e.duckdb"), Input(sql="select app, n from events")),
    "an SQLite database": lambda f: (written_sqlite(f / "e.db"), Input(sql="select app, n from events")),
    "standard input": lambda f: (
        "-",
        Input(format="csv", stdin=io.BytesIO(written_csv(f / "e.csv").read_bytes())),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_every_file_gives_the_same_state(name: str, tmp_path: Path, wanted: bytes) -> None:
    data, how = FILES[name](tmp_path)
    assert state(data, how) == wanted


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame({"app": APPS, "n": COUNTS, "other": 1.5}),
    "polars": lambda: pl.DataFrame({"app": APPS, "n": COUNTS}),
    "pyarrow": lambda: pa.table({"n": COUNTS, "app": APPS}),
    "a reader": lambda: pa.table({"app": APPS, "n": COUNTS}).to_reader(500),
}


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_gives_the_same_state(name: str, wanted: bytes) -> None:
    assert state(FRAMES[name]()) == wanted


def test_a_relation_of_duckdb_gives_the_same_state(wanted: bytes) -> None:
    with duckdb.connect() as connection:
        connection.register("events", pa.table({"app": APPS, "n": COUNTS}))
        assert state(connection.sql("select * from events")) == wanted


def test_integers_of_a_parquet_file_are_integers(tmp_path: Path) -> None:
    pq.write_table(pa.table({"app": pa.array(range(50), pa.int16())}), tmp_path / "e.parquet")
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(list(range(50)))
    assert state(tmp_path / "e.parquet", columns=Columns(("app",))) == collector.to_bytes()


def test_numbers_of_csv_and_json_are_text_as_written(tmp_path: Path) -> None:
    """007 and 7 stay two keys, and a file of numbers has the same keys as one with a text among them."""
    (tmp_path / "e.csv").write_text("app\n007\n7\n7\n")
    (tmp_path / "e.json").write_text('{"app": "007"}\n{"app": 7}\n{"app": "7"}\n')
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(["007", "7", "7"])
    for name in ("e.csv", "e.json"):
        assert state(tmp_path / name, columns=Columns(("app",))) == collector.to_bytes()


def test_folders_named_by_a_value_are_a_column(tmp_path: Path) -> None:
    for country in ("FR", "DE"):
        (tmp_path / f"country={country}").mkdir()
        (tmp_path / f"country={country}" / "e.csv").write_text("app\na\n")
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update((["a", "a"], ["FR", "DE"]))
    assert state(str(tmp_path / "*" / "e.csv"), columns=Columns(("app", "country"))) == collector.to_bytes()


LINES: dict[str, tuple[bytes, list[str]]] = {
    "lines": (b"a\nb\na\n", ["a", "b", "a"]),
    "no end": (b"a\nb", ["a", "b"]),
    "of Windows": (b"a\r\nb\r\n", ["a", "b"]),
    "with a return within": (b"a\rb\n", ["a\rb"]),
    "one": (b"a", ["a"]),
    "accents": ("é\nß\n".encode(), ["é", "ß"]),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_of_standard_input(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, keys = LINES[name]
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(keys)
    for chunk in (1, 3, 1 << 20):
        monkeypatch.setattr("stablesketch.reading.lines._CHUNK", chunk)
        assert state("-", Input(stdin=io.BytesIO(raw)), Columns(("line",))) == collector.to_bytes()


def test_one_pass_of_standard_input_has_the_plan_of_its_number_of_pairs() -> None:
    """n is known at the end: the floor of the release is that of a plan for n pairs and the same size."""
    lines = "".join(f"{app}\n" for app in APPS).encode()
    question = ss.question(
        ss.Moment(0.5), ss.Privacy(0.1, 1e-6, relation="replace"), key="line", size=50, mechanism="bare",
        count_pairs=True,
    )  # fmt: skip
    outcome = run(replace(question, input=Input(stdin=io.BytesIO(lines))), "-")
    assert outcome.plan == ss.plan(
        ss.Moment(0.5), ss.Privacy(0.1, 1e-6, 3000, relation="replace"), size=50, mechanism="bare"
    )
    (only,) = outcome.releases
    assert isinstance(only, ss.Release)
    assert only.pairs == 3000
    assert only.floor == outcome.plan.floor > 0


def test_skipping_keeps_the_good_rows_and_says_how_many_only_where_it_is_public(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app,n\na,1\n,2\nb,zero\nc,0\nd,1.5\ne,2,3\nf,7\n" + "g,1\n" * 100)
    kept = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    kept.update(["a", "f", *["g"] * 100], [1, 7, *[1] * 100])
    assert state(path, on_bad="skip") == kept.to_bytes()
    for relation, skipped in (("replace", 5), ("add_remove", None)):
        privacy = ss.Privacy(1.0, 1e-6, 0, max_value=7, relation=relation)  # type: ignore[arg-type]
        question = ss.question(
            ss.Moment(0.5), privacy, key=COLUMNS.key, value=COLUMNS.value, mechanism="exact", on_bad="skip",
            count_pairs=relation == "replace",
        )  # fmt: skip
        assert run(question, path).skipped == skipped


def test_clipping(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app,n\na,5\nb,99999\n")
    clipped = collected_shard(path, PLAN, ss.Secret.from_bytes(SECRET), "s", Reading(COLUMNS), clip=True)
    wanted = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    wanted.update(["a", "b"], [5, 7])
    assert clipped.to_bytes() == wanted.to_bytes()


def test_release_by_one_call(tmp_path: Path) -> None:
    """Ten deviations: no false alarm."""
    path = written_csv(tmp_path / "e.csv")
    found = ss.release(path, ss.Moment(0.5), ss.Privacy(2.0, 1e-6, 3000, relation="replace"), key="app", size=50)
    assert isinstance(found, ss.Outcome)
    ((_, (truth,), pairs, keys, _),) = exact_values(path, ss.Moment(0.5), Reading(Columns(("app",))))
    assert pairs == 3000
    assert keys == len(set(APPS))
    assert truth == pytest.approx(sum(APPS.count(app) ** 0.5 for app in set(APPS)), rel=1e-12)
    assert abs(found.value - truth) < 10 * (truth + found.floor) / 7


def test_a_release_is_recorded_in_the_ledger(tmp_path: Path) -> None:
    path = written_csv(tmp_path / "e.csv")
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=4.0, delta=1e-5)
    privacy = ss.Privacy(1.0, 1e-6, 3000, relation="replace")
    ss.release(path, ss.Moment(0.5), privacy, key="app", size=50, ledger=ledger, label="plain")
    ss.release(
        path, ss.Moment(0.5), privacy, key="app", value="n", auto_max_value=ss.AutoMaxValue(), size=50, ledger=ledger,
        label="auto",
    )  # fmt: skip
    records = list(ledger.records())
    assert [(one.label, one.mechanism) for one in records] == [("plain", "sketch"), ("auto", "other")]
    assert (records[1].epsilon, records[1].delta) == (1.0, 1e-6)


def test_a_table_is_recorded_before_a_value_appears(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app,g\n" + "a,x\nb,y\n" * 300)
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=1.5, delta=1e-5)
    privacy = ss.Privacy(1.0, 1e-6, 0, relation="add_remove")
    found = ss.release(path, ss.Moment(0.5), privacy, key="app", by="g", groups=["x", "y"], size=50, ledger=ledger)
    assert isinstance(found, ss.Outcome)
    (record,) = ledger.records()
    assert record.epsilon == found[0].release.epsilon <= 1.0
    with pytest.raises(ss.BudgetExceeded):
        ss.release(path, ss.Moment(0.5), privacy, key="app", by="g", groups=["x"], size=50, ledger=ledger)
    assert len(ledger) == 1


def test_temporary_files_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    state(written_csv(tmp_path / "e.csv"))
    with pytest.raises(ss.DataError):
        state(tmp_path / "e.csv", columns=Columns(("nope",)))
    assert not list((tmp_path / "temporary").iterdir())


def test_rows_that_are_skipped_do_not_hide_a_value_that_is_not(tmp_path: Path) -> None:
    """A value above the promised maximum is reported even if rows are skipped, and the row number is named."""
    frame = pa.table({"k": [None, 1, 2], "n": [1, 0, 70]})
    privacy = ss.Privacy(1.0, 1e-6, 0, max_value=5, relation="replace")
    with pytest.raises(ss.DataError, match="row 3, column n is above the promised max_value=5"):
        ss.release(frame, ss.Moment(0.5), privacy, key="k", value="n", on_bad="skip", size=20)


def test_an_object_with_a_field_twice_is_told_without_what_stands_there(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"app": "a"}\n{"app": "somebody", "app": "b"}\n')
    with pytest.raises(ss.DataError, match="row 2: a field occurs twice in one object") as caught:
        ss.release(path, ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 2, relation="replace"), key="app", size=20)
    assert "somebody" not in str(caught.value)
