"""The header of a CSV is its first row, whatever reads the rest; and no error shows somebody's row as a header."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.reading.duckdb import DuckDB
from stablesketch.reading.found import Input
from stablesketch.reading.header import first_row
from stablesketch.reading.lines import LONGEST_LINE
from stablesketch.reading.opened import opened

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=7, relation="replace"), mechanism="exact")
SECRET = bytes(range(32))


def state(data: object, key: str = "app", how: Input | None = None, value: str | None = None) -> bytes:
    return collected_shard(
        data, PLAN, ss.Secret.from_bytes(SECRET), "s", Reading(Columns((key,), value), how or Input())
    ).to_bytes()


def counted(keys: list[str]) -> bytes:
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(keys)
    return collector.to_bytes()


def zstd(raw: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(raw)
    return sink.getvalue().to_pybytes()


PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": lambda raw: gzip.compress(raw, 1), ".zst": zstd}


def refused(data: object, key: str = "app", how: Input | None = None, value: str | None = None) -> str:
    with pytest.raises(ss.DataError) as error:
        state(data, key, how, value)
    return str(error.value)


@pytest.mark.parametrize("suffix", PACK)
def test_files_that_are_read_in_parallel_have_their_first_row_for_a_header(tmp_path: Path, suffix: str) -> None:
    """Long enough for several threads to share each: any of them may be the first to answer a query."""
    rows = "".join(f"person {i},app{i % 7},{'x' * 80}\n" for i in range(120_000))
    raw = PACK[suffix](f"person,app,more\n{rows}".encode())
    files = [tmp_path / f"{i}.csv{suffix}" for i in range(20)]
    files[0].write_bytes(raw)
    for path in files[1:]:
        os.link(files[0], path)
    for _ in range(3):
        with DuckDB() as engine:
            engine._connection.execute("set threads = 8")
            opened(engine, files, Columns(("app",)), Input(), "error")
    assert state(files[:2]) == counted([f"app{i % 7}" for i in range(120_000)] * 2)


def test_a_file_is_opened_without_a_query_for_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which row a query returns first is chance, even if that rarely shows: this holds on one thread as well."""
    path = tmp_path / "e.csv"
    path.write_text("app,n\na,1\n")
    monkeypatch.setattr(DuckDB, "rows", lambda *_: pytest.fail("rows were asked for"))
    with DuckDB() as engine:
        opened(engine, path, Columns(("app",)), Input(), "error")


HEADERS: dict[str, tuple[str, str]] = {
    "plain": ("app,n\n", "app"),
    "with a byte order mark": ("\ufeffapp,n\n", "app"),
    "ended as on Windows": ("app,n\r\n", "app"),
    "ended as on old machines": ("app,n\r", "app"),
    "in quotes": ('"app","n"\n', "app"),
    "with a delimiter in quotes": ('"app, or so",n\n', "app, or so"),
    "with a line break in quotes": ('"app\nor so",n\n', "app\nor so"),
    "with quotes in quotes": ('"an ""app""",n\n', 'an "app"'),
    "with a quote within": ('a"pp,n\n', 'a"pp'),
    "of other letters": ("größe ñ 大,n\n", "größe ñ 大"),
    "with spaces": (" app ,n\n", " app "),
}


@pytest.mark.parametrize("door", ["file", "gz", "pipe"])
@pytest.mark.parametrize("name", HEADERS)
def test_odd_headers_are_read(tmp_path: Path, name: str, door: str) -> None:
    header, key = HEADERS[name]
    end = "\r\n" if header.endswith("\r\n") else header[-1]
    raw = f"{header}a,1{end}b,2{end}a,3{end}".encode()
    if door == "pipe":
        assert state("-", key, Input("csv", stdin=io.BytesIO(raw))) == counted(["a", "b", "a"])
        return
    path = tmp_path / ("e.csv.gz" if door == "gz" else "e.csv")
    path.write_bytes(gzip.compress(raw) if door == "gz" else raw)
    assert state(path, key) == counted(["a", "b", "a"])


REFUSED: dict[str, tuple[bytes, str]] = {
    "Latin-1": ("größe,app\nalice,1\n".encode("latin-1"), "row 1: the header is not UTF-8"),
    "UTF-16": ("app,n\nalice,1\n".encode("utf-16"), "the text is UTF-16"),
    "an empty first line": (b"\napp,n\nalice,1\n", "row 1: the first line is empty"),
    "nothing": (b"", "the input is empty"),
    "a mark alone": (b"\xef\xbb\xbf", "the input is empty"),
    "a quote that does not end": (b'"app,n\nalice,1\nbob,2\n', "unterminated quoted field in the first row"),
    "text after quotes": (b'"app"x,n\nalice,1\nbob,2\n', "text after the closing quote"),
    "spaces before quotes": (b'app, "n"\nalice,1\nbob,2\n', "spaces before the opening quote"),
    "the same name twice": (b"app,app\nalice,1\n", "repeated or empty"),
    "an empty name": (b"app,\nalice,1\n", "repeated or empty"),
    "a row instead": (b"alice,1\nbob,2\n", "no such column among the 2 of this file"),
    "a long line": (
        b"app," + b"alice" * 400_000 + b"\nalice,1\n",
        f"longer than the maximum of {LONGEST_LINE:,} bytes",
    ),
}


@pytest.mark.parametrize("door", ["file", "gz", "pipe"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_header_is_refused_and_not_shown(tmp_path: Path, name: str, door: str) -> None:
    raw, says = REFUSED[name]
    path = tmp_path / ("e.csv.gz" if door == "gz" else "e.csv")
    path.write_bytes(gzip.compress(raw) if door == "gz" else raw)
    message = refused("-", how=Input("csv", stdin=io.BytesIO(raw))) if door == "pipe" else refused(path)
    assert says in message
    assert "alice" not in message
    assert "bob" not in message
    assert len(message) < 600


def test_names_are_shown_where_one_that_was_asked_for_is_among_them(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app,country\nalice,FR\n")
    for key, value in (("app", "n"), ("App", None), ("country ", None)):
        assert "The columns are: app, country." in refused(path, key, value=value)
    assert "country" not in refused(path, "apps")
    for name in ("e.json", "e.jsonl"):
        people = tmp_path / name  # a map from people to numbers
        people.write_text('{"alice": 3, "bob": 4}\n')
        said = refused(people)
        assert "alice" not in said + refused(people, "alise")
        assert "Look at its first object yourself" in said
        assert "header" not in said
        people.write_text("")
        assert "the input is empty" in refused(people)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("apps", "app"), ("user-id", "user_id"), ("UserId", "user_id"), ("contry", "country"), ("coutnry", "country")],
)
def test_a_name_with_one_slip_is_suggested_and_no_other_is_shown(tmp_path: Path, typed: str, meant: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app,user_id,country\nalice,7,FR\n")
    said = refused(path, typed)
    assert f"Did you mean {meant}? The other names are not shown" in said
    assert not any(other in said for other in {"user_id", "country"} - {meant})


@pytest.mark.parametrize("typed", ["al", "alic3x", "lce", "bob"])
def test_a_row_is_not_shown_for_a_name_that_is_further_away(tmp_path: Path, typed: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text("alice,FR\nbob,FR\n")
    said = refused(path, typed)
    assert "alice" not in said
    assert "Did you mean" not in said


@pytest.mark.parametrize("row", ["alice,3", "alice,2026-11-18", "alice,a@b.org", "alice,"])
def test_a_row_with_a_number_a_date_or_an_address_is_never_shown(tmp_path: Path, row: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(f"{row}\nbob,4\n")
    assert "alice" not in refused(path, "alcie")


def test_a_wide_table_without_wide_is_shown_the_way(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("site," + ",".join(f"sp {i}" for i in range(30)) + "\na" + ",1" * 30 + "\n")
    assert "If every key has a column of its own, pass wide=True instead of a key" in refused(path, "species")


def test_without_a_header_the_advice_works(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("alice,FR\nbob,FR\n")
    assert "pass header=False and use the names column0" in refused(path)
    assert state(path, "column0", Input(header=False)) == counted(["alice", "bob"])
    assert "The columns are: column0, column1." in refused(path, "column2", Input(header=False))


def test_a_file_of_several_compressed_parts_is_read_whole(tmp_path: Path) -> None:
    for suffix in (".gz", ".zst"):
        path = tmp_path / f"e.csv{suffix}"
        path.write_bytes(PACK[suffix](b"app,n\na,1\n") + PACK[suffix](b"b,2\n"))
        assert state(path) == counted(["a", "b"])


def test_the_first_row_is_the_same_however_it_is_cut() -> None:
    raw = b'\xef\xbb\xbf"a\r\n""x""",b\xc3\xb6,"",\r\n1,2,3,4\r\n'
    for size in range(1, len(raw) + 1):
        source = io.BytesIO(raw)
        found = first_row(lambda _, source=source, size=size: source.read(size), "x", ",")  # type: ignore[misc]
        assert found.cells == [b'a\r\n"x"', "bö".encode(), b"", b""]
        assert found.row + found.rest + source.read() == raw
        assert found.row.endswith(b"\r\n")


def test_an_empty_cell_between_tabs_is_no_space_before_a_quote() -> None:
    source = io.BytesIO(b'a\t\t"b c"\t "d"\n')
    with pytest.raises(ss.DataError, match="spaces before the opening quote"):  # of d
        first_row(source.read, "x", "\t")
    assert first_row(io.BytesIO(b'a\t\t"b c"\n').read, "x", "\t").cells == [b"a", b"", b"b c"]
