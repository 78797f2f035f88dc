"""Errors about data are right: the row they name, the reason they give, and the advice, which works."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stablesketch as ss
from stablesketch.engines.local.collect import collected_shard
from stablesketch.errors import in_one_line, sentence
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.reading.found import Input

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=7, relation="replace"), mechanism="exact")
SECRET = bytes(range(32))


def state(
    data: object, key: str = "x", value: str | None = None, how: Input | None = None, on_bad: str = "error"
) -> bytes:
    secret, columns = ss.Secret.from_bytes(SECRET), Columns((key,), value)
    return collected_shard(data, PLAN, secret, "s", Reading(columns, how or Input(), on_bad)).to_bytes()  # type: ignore[arg-type]


def refused(data: object, key: str = "x", value: str | None = None, how: Input | None = None) -> ss.DataError:
    with pytest.raises(ss.DataError) as error:
        state(data, key, value, how)
    return error.value


def counted(keys: object, values: object = None) -> bytes:
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(keys, values)
    return collector.to_bytes()


# Malformed JSON: the object at fault is named, from 1, in every shape.

BAD = {
    "an unfinished object": '{"x": ',
    "a word": '{"x": alice}',
    "bytes": '{"x": "\udce9"}',
    "twice": '{"x": 1, "x": 2}',
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("row", [1, 3, 20_000])
@pytest.mark.parametrize("shape", ["lines", "packed lines", "second file"])
def test_malformed_json_is_told_by_its_row(tmp_path: Path, shape: str, row: int, bad: str) -> None:
    objects = ['{"x": "some key or other"}'] * 20_000
    objects[row - 1] = BAD[bad]
    raw = ("\n".join(objects) + "\n").encode("utf-8", "surrogateescape")
    path = tmp_path / ("e.jsonl.gz" if shape == "packed lines" else "e.jsonl")
    path.write_bytes(gzip.compress(raw, 1) if shape == "packed lines" else raw)
    files = [path]
    if shape == "second file":
        (tmp_path / "a.jsonl").write_text('{"x": "key"}\n' * 5)
        files = [tmp_path / "a.jsonl", path]
    error = refused(files)
    assert "alice" not in str(error)
    if error.row is None:  # the sample that is looked at first is not read as lines if the first is none
        assert row == 1
        return
    assert (error.source, error.row) == (str(path), row)


@pytest.mark.parametrize("row", [1, 3, 700])
def test_malformed_json_in_a_list_is_told_by_its_object(tmp_path: Path, row: int) -> None:
    objects = ['{"x": "k"}'] * 700
    objects[row - 1] = '{"x": alice}'
    path = tmp_path / "e.json"
    for between in (",\n", ","):
        path.write_text("[" + between.join(objects) + "]")
        error = refused(path)
        assert (error.source, error.row) == (str(path), row)
        assert "malformed JSON: unexpected character" in str(error)
        assert "alice" not in str(error)


# Rows are counted from 1 everywhere; a header is row 1 of its file.


def test_rows_are_counted_from_one_everywhere(tmp_path: Path) -> None:
    frame = pa.table({"x": ["a", None, "b"]})
    pq.write_table(frame, tmp_path / "e.parquet")
    (tmp_path / "e.jsonl").write_text('{"x": "a"}\n{"x": null}\n{"x": "b"}\n')
    (tmp_path / "e.csv").write_text("x,y\na,1\n,2\nb,3\n")
    (tmp_path / "e.txt").write_text("a\n\nb\n")
    places = {
        "frame": refused(frame).row,
        "reader": refused(frame.to_reader()).row,
        "parquet": refused(tmp_path / "e.parquet").row,
        "json": refused(tmp_path / "e.jsonl").row,
        "lines": refused(tmp_path / "e.txt", "line").row,
        "pipe": refused("-", "line", how=Input(stdin=io.BytesIO(b"a\n\nb\n"))).row,
        "query": refused(None, how=Input(sql=f"select * from '{tmp_path}/e.parquet'")).row,
    }
    assert set(places.values()) == {2}, places
    headed = Input("csv", stdin=io.BytesIO(b"x,y\na,1\n,2\nb,3\n"))
    assert refused(tmp_path / "e.csv").row == refused("-", how=headed).row == 3
    with pytest.raises(ss.ArgumentError, match=r"must not be null \(row 2\)"):
        PLAN.open().update(["a", None, "b"])
    with pytest.raises(ss.ArgumentError, match=r"must be positive \(row 2\)"):
        PLAN.open().update(["a", "b"], [1, -1])
    with pytest.raises(ss.ArgumentError, match=r"must not be null \(row 2\)"):
        ss.Sketch(0.5, size=10, law="symmetric").update(["a", None, "b"])


def test_rows_of_a_kept_stream_stay_in_their_order() -> None:
    """It is stored before it is checked, by several threads."""
    rows = 400_000
    keys = pa.array([None if i == rows - 3 else f"key {i % 1000}" for i in range(rows)])
    people = pa.array(np.arange(rows) % 5000)
    batches = pa.table({"x": keys, "u": people}).to_batches(max_chunksize=5000)
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    privacy = ss.Privacy(1.0, 1e-6, 0, relation="add_remove", pairs_per_person=2)
    with pytest.raises(ss.DataError) as error:
        ss.release(reader, ss.Moment(0.5), privacy, key="x", person="u", size=20)
    assert error.value.row == rows - 2


def test_lines_of_files_are_those_of_a_pipe(tmp_path: Path) -> None:
    """Empty lines are not keys, a carriage return or a separator is a character, and rows are numbered per file."""
    odd = ["a", "b\rc", "x\x1fy", "\x1e", ' "q', "k" * 1000, "größe"]
    raw = "\ufeff" + "\n".join(odd)
    for end in ("", "\n"):
        (tmp_path / "e.txt").write_bytes(f"{raw}{end}".encode())
        (tmp_path / "e.txt.gz").write_bytes(gzip.compress(f"{raw}{end}".encode()))
        wanted = counted(odd)
        assert state(tmp_path / "e.txt", "line") == state(tmp_path / "e.txt.gz", "line") == wanted
        assert state("-", "line", how=Input(stdin=io.BytesIO(f"{raw}{end}".encode()))) == wanted
    files = []
    for name, text in (("b", "x\r\ny\r\n"), ("a", ""), ("c", "z\n\nw\n"), ("d", "u\n")):
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text(text, newline="")
    error = refused(files, "line")
    assert (error.source, error.row) == (str(files[2]), 2)
    assert state(files, "line", on_bad="skip") == counted(["x", "y", "z", "w", "u"])
    (tmp_path / "l.txt").write_bytes("a\ngrün\n".encode("latin-1"))
    error = refused([files[0], tmp_path / "l.txt"], "line")
    assert (error.source, error.row) == (str(tmp_path / "l.txt"), 2)
    assert "the text is not UTF-8" in str(error)
    found = ss.release(
        [files[0], files[3]], ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, relation="replace"), key="line", count_pairs=True
    )
    assert found.pairs == 3  # type: ignore[union-attr]


# Types that are no keys: why, and a way out that works.

KEYS: dict[str, tuple[pa.Array, str]] = {
    "booleans": (pa.array([True, False, True]), "true equals 1 in some programs and not in others"),
    "lists": (pa.array([["a", "b"], ["c"], ["a", "b"]]), "it holds several values, not one"),
    "structs": (pa.array([{"a": 1}, {"a": 2}, {"a": 1}]), "it holds several values, not one"),
    "floats": (pa.array([1.5, 2.5, 1.5]), "equal values may differ in their bits"),
    "times": (pa.array([1, 2, 1], pa.time64("us")), "which cannot be used as a key. "),
}


@pytest.mark.parametrize("kind", KEYS)
def test_the_way_out_for_a_key_of_another_type_works(tmp_path: Path, kind: str) -> None:
    column, why = KEYS[kind]
    path = tmp_path / "it's.parquet"
    pq.write_table(pa.table({"x": column, "other": [1, 2, 3]}), path)
    message = str(refused(path))
    assert why in message
    assert ("bits" in message) == (kind == "floats")
    query = re.search(r"\(sql=\): (select .*)\.$", message)
    assert query is not None, message
    found = state(None, how=Input(sql=query[1]))
    # Two keys, one of them twice.
    assert found != counted(["a", "b", "c"])
    assert len(found) == len(counted(["a", "b", "a"]))


def test_the_way_out_in_frames_works() -> None:
    frame = pd.DataFrame({"x": [True, False, True], "v": [1.2, 2.0, 3.0]})
    assert "Convert the column x first: astype(str) in pandas" in str(refused(frame))
    assert state(frame.astype({"x": str})) == counted(["True", "False", "True"])
    assert 'cast("string") in polars or pyarrow' in str(refused(pl.DataFrame(frame)))
    assert state(pa.table(frame).set_column(0, "x", pa.array([True, False, True]).cast("string"))) == counted(
        ["true", "false", "true"]
    )
    assert 'round().astype("Int64") in pandas' in str(refused(frame.astype({"x": str}), value="v"))
    rounded = frame.astype({"x": str}).assign(v=frame["v"].round().astype("Int64"))
    assert state(rounded, value="v") == counted(["True", "False", "True"], [1, 2, 3])


def test_the_way_out_for_values_that_are_not_whole_works(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"x": ["a", "b"], "v": [1.2, 2.0]}), path)
    query = re.search(r"\(sql=\): (select .*)\.$", str(refused(path, value="v")))
    assert query is not None
    assert state(None, value="v", how=Input(sql=query[1])) == counted(["a", "b"], [1, 2])


# A value of 0: two ways out, and both work.


def test_the_ways_out_for_a_zero_work(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("x,v\na,1\nb,0\nc,2\n")
    message = str(refused(path, value="v"))
    assert "row 3, column v is 0: under replace" in message
    assert "Pass relation='add_remove', where a 0 is an absent key, or skip such rows (on_bad='skip')." in message
    wanted = counted(["a", "c"], [1, 2])
    assert state(path, value="v", on_bad="skip") == wanted
    assert state(None, value="v", how=Input(sql=f"select * from '{path}' where v >= 1")) == wanted
    keys, values = np.array(["a", "b", "c"]), np.array([1, 0, 2])
    with pytest.raises(ss.ArgumentError, match=r"must be positive \(row 2\)"):
        counted(keys, values)
    assert counted(keys[values > 0], values[values > 0]) == wanted


# What is shortened says so.


def test_dots_stay(tmp_path: Path) -> None:
    for text, wanted in (
        ("a", "a."),
        ("a.", "a."),
        ("a ...", "a ..."),
        ("select x, ...", "select x, ..."),
        ("a…", "a…"),
    ):
        assert sentence(text) == wanted
    assert in_one_line("word " * 1000).endswith("word ...")
    assert in_one_line("a\n  b") == "a b"
    assert str(ss.DataError("e", "p", "select cast(x as bigint), ...")) == "e: p. select cast(x as bigint), ..."
    assert str(ss.ArgumentError("a", 1, "must be 2", "Pass [1, ...].")) == "a must be 2, got 1. Pass [1, ...]."
    assert "..., ." not in str(refused(pa.table({"x": [1.5]})))


def test_values_are_not_shown_where_a_query_cannot_compute_with_them(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("x,d\nalice,alice\nalice,alice\n")
    for expression in ("cast(x as integer)", "cast(d as date)", "strptime(d, '%Y')", "cast(x as json)", "error(x)"):
        error = refused(None, how=Input(sql=f"select {expression} as x from '{path}'"))
        assert "alice" not in str(error), expression
        assert "malformed CSV" not in str(error)
    good = f"select x from '{path}' where try_cast(x as integer) is null"
    assert state(None, how=Input(sql=good)) == counted(["alice", "alice"])
    assert json.dumps(str(refused(None, how=Input(sql="select nothing from nowhere")))).isascii()
