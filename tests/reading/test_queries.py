"""A query is one SELECT that reads what it names: nothing is written, attached, loaded, set or fetched by it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import duckdb
import pytest

import stablesketch as ss
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.reading.duckdb import DuckDB
from stablesketch.reading.found import Input

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=7, relation="replace"), mechanism="exact")
SECRET = bytes(range(32))


def state(sql: str, data: object = None, key: str = "a", on_bad: str = "error", value: str | None = None) -> bytes:
    columns = Columns((key,), value)
    return collected_shard(  # type: ignore[arg-type]
        data, PLAN, ss.Secret.from_bytes(SECRET), "s", Reading(columns, Input(sql=sql), on_bad)
    ).to_bytes()


def counted(keys: list[str] | list[int]) -> bytes:
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(keys)
    return collector.to_bytes()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With e.csv, a folder of files, and two databases with a table t of one row."""
    monkeypatch.chdir(tmp_path)
    Path("e.csv").write_text("a,b\nx,1\ny,2\n")
    Path("other.csv").write_text("a,b\nsecret,1\n")
    for name in ("d1", "d2"):
        Path(name).mkdir()
        Path(name, "x.csv").write_text("a,b\nx,1\n")
    with duckdb.connect("e.duckdb") as made:
        made.execute("create table t as select 'x' as a")
    made_too = sqlite3.connect("e.sqlite")
    made_too.execute("create table t as select 'x' as a")
    made_too.commit()
    made_too.close()
    return tmp_path


READ = {
    "select a from 'e.csv'": ["x", "y"],
    'select a from "e.csv"': ["x", "y"],
    "from e.csv": None,
    "from 'e.csv'": ["x", "y"],
    "select a from 'e.csv';": ["x", "y"],
    "select a from 'e.csv' ; ; ": ["x", "y"],
    "select a from 'e.csv' -- and so on": ["x", "y"],
    "select a from 'e.csv'; -- and so on": ["x", "y"],
    "/* first */ select a /* ( */ from 'e.csv' /* ) */": ["x", "y"],
    "(select a from 'e.csv')": ["x", "y"],
    "((select a from 'e.csv') union all (select a from 'e.csv' where a = 'x'))": ["x", "y", "x"],
    "with t as (select * from read_csv('e.csv')) select a from t": ["x", "y"],
    "select a from 'd*/x.csv'": ["x", "x"],
    "select a from '**/x.csv'": ["x", "x"],
    "select a from read_csv(['e.csv', 'd1/x.csv'])": ["x", "y", "x"],
    "select a from read_csv('./e.csv', header = true, all_varchar = true)": ["x", "y"],
    "values ('x')": None,
    "select ';' || a as a from 'e.csv'": [";x", ";y"],
    "select $$;)$$ as a": [";)"],
    "select a from query('select a from ''e.csv''')": None,
    "select a from 'e.csv' where b not in (select b from 'other.csv')": ["y"],
}


@pytest.mark.parametrize("sql", [sql for sql, keys in READ.items() if keys is not None])
def test_queries_that_are_read(folder: Path, sql: str) -> None:
    keys = READ[sql]
    assert keys is not None
    assert state(sql) == counted(keys)


def test_a_file_by_its_whole_path_and_values(folder: Path) -> None:
    assert state(f"select a from '{folder}/e.csv'") == counted(["x", "y"])
    with pytest.raises(ss.DataError, match="the query, row 2, column b is above the promised max_value=7"):
        state("select a, b + 6 as b from 'e.csv' order by a", value="b")


ATTACKS = [
    "select 1 a; select 2 a",
    "select 1 a); copy (select 1) to 'pwned.csv'; select * from (select 1 a",
    "select 1 a; copy (select 1) to 'pwned.csv'",
    "copy (select 1) to 'pwned.csv'",
    "select 1 a) union all (select 2 a",
    "select 1 a /* ",
    "select 1 a ) -- ",
    "attach 'pwned.db' as p",
    "select 1 a; attach 'pwned.db' as p",
    "detach data; attach 'e.duckdb' as data",
    "install httpfs",
    "load httpfs",
    "pragma version",
    "pragma database_list",
    "set enable_external_access = true",
    "reset all",
    "export database 'pwned'",
    "import database 'pwned'",
    "call pragma_version()",
    "call enable_profiling(save_location = 'pwned.json')",
    "create table pwned as select 1 a",
    "create secret pwned (type http)",
    "drop table t",
    "insert into t values ('y')",
    "update t set a = 'y'",
    "delete from t",
    "vacuum",
    "checkpoint",
    "prepare p as select 1",
    "explain analyze select 1",
    "begin; select 1 a",
    "use temp",
    "with w as (insert into t values ('y') returning a) select a from w",
    "select a from enable_profiling(save_location = 'pwned.json')",
    "select a from enable_logging(storage = 'file', storage_config = {'path': 'pwned'})",
    "select filename as a from read_text('oth' || 'er.csv')",
    "select content as a from read_text(concat('/etc/', 'hostname'))",
    "select a from query('select a from ''oth' || 'er.csv''')",
    "select file as a from glob('/etc/' || '*')",
    "select a from 'https://example.com/x.csv'",
    "select a from 's3://bucket/x.parquet'",
    "select a from read_parquet('https://example.com/x.parquet')",
    "select a from no_such_table",
    "select a from keys",
    "select a from self",
    "selec a",
]


@pytest.mark.parametrize("database", [None, "e.duckdb"])
def test_attacks_are_refused_and_leave_nothing(folder: Path, database: str | None) -> None:
    keys = ["a"]  # noqa: F841  # a name in a query is no variable of a program
    there = {path: Path(path).read_bytes() for path in os.listdir() if Path(path).is_file()}
    names = sorted(os.listdir())
    for sql in ATTACKS:
        try:
            state(sql, database)
        except ss.DataError as refused:
            said = str(refused)
        else:
            pytest.fail(sql)
        assert "\n" not in said, sql
        assert sorted(os.listdir()) == names, sql
        assert {path: Path(path).read_bytes() for path in there} == there, sql


@pytest.mark.parametrize("sql", [
    "select 1 a union select load_extension('pwned')", "select writefile('pwned', 'x') a", "select 1 a; select 2 a",
    "attach 'pwned' as p", "pragma journal_mode = delete", "select 1 a) union all select * from (select 2 a",
    "select a from t; attach 'pwned' as p", "select * from pragma_table_info('t')", "vacuum into 'pwned'",
    "explain select 1", "with w as (select 1 a) insert into t select a from w",
])  # fmt: skip
def test_attacks_on_sqlite(folder: Path, sql: str) -> None:
    names = sorted(os.listdir())
    with pytest.raises(ss.DataError, match=r"e\.sqlite: SQLite refuses the query"):
        state(sql, "e.sqlite")
    assert sorted(os.listdir()) == names


@pytest.mark.parametrize("sql", [
    "select a from t", "select a from t;", "select a from t -- so", "with w as (select a from t) select a from w",
    "select a from t /* so */", "select a from (select a from t)",
])  # fmt: skip
@pytest.mark.parametrize("database", ["e.duckdb", "e.sqlite"])
def test_databases_are_read(folder: Path, database: str, sql: str) -> None:
    assert state(sql, database) == counted(["x"])
    if database == "e.duckdb":
        assert state(f"{sql.rstrip(';').partition('--')[0]} union all select a from 'e.csv'", database) == counted(
            ["x", "x", "y"]
        )


def test_a_query_spills_and_counts_people_though_it_is_closed_off(folder: Path) -> None:
    """Temporary files are still written, and invalid rows still found."""
    sql = "select 'k' || (i % 977) as a, i % 5000 as u from range(300000) t(i)"
    privacy = ss.Privacy(1.0, 1e-6, 0, relation="add_remove", pairs_per_person=3)
    found = ss.release(None, ss.Moment(0.5), privacy, key="a", person="u", sql=sql, size=50)
    assert found.value > 0  # type: ignore[union-attr]
    with pytest.raises(ss.DataError, match="the query, row 2, column a is null"):
        state("select * from (values (1, 'x'), (2, null)) t(i, a) order by i")


@pytest.mark.parametrize("name", ["it's", 'a "quote"; $(x)', "größe"])
def test_a_folder_for_temporary_files_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A quote in it used to cause a traceback."""
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with DuckDB() as engine:
        engine._connection.execute("set memory_limit = '40MB'")
        found = engine.rows("select count(*) from (select distinct i, sha256(i::varchar) from range(400000) t(i))", "x")
        assert found == [(400_000,)]
    assert os.listdir(folder) == []


@pytest.mark.parametrize("name", ["it's", "a[b]", "a*b", "a {b}", "größe"])
def test_data_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "e.csv"
    path.parent.mkdir()
    path.write_text(f"a,{name}\nx,1\n")
    columns = Columns(("a",), name)
    found = collected_shard(path, PLAN, ss.Secret.from_bytes(SECRET), "s", Reading(columns)).to_bytes()
    assert found == counted(["x"])


def test_a_row_that_is_taken_for_a_header_is_not_shown(tmp_path: Path) -> None:
    """Neither by our list of the columns nor by what DuckDB proposes instead of a name."""
    path = tmp_path / "rows.csv"
    path.write_text("alice,17\nbob,people\n")
    for sql in (f"select * from '{path}'", f"select alicf from '{path}'", f"select a.bobb from '{path}' a"):
        with pytest.raises(ss.DataError) as caught:
            ss.release(None, ss.Moment(0.5), ss.Privacy(1.0, 1e-9), key="name", sql=sql, size=20)
        for cell in ("alice", "17", "people"):
            assert cell not in str(caught.value), str(caught.value)


@pytest.mark.parametrize("before", range(0, 48, 3))
def test_a_message_that_cannot_be_decoded_shows_no_value(folder: Path, before: int) -> None:
    """DuckDB quotes some bytes of what is not JSON, which may end within a character: Python then raises its own error,
    with the value in it."""
    Path("bad.csv").write_text("a\n{" + before * "x" + 200 * "é" + "\n")
    with pytest.raises(ss.DataError, match="it is not shown, because it may be data") as caught:
        state("select json_extract_string(a, '$.b') as a from 'bad.csv'")
    assert "éé" not in repr(caught.value) + str(caught.value)
    assert caught.value.__suppress_context__
