"""What is in a file or a pipe is detected from its first bytes, announced, and read; what is stated wins."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import logging
import lzma
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet
import pytest

import stablesketch as ss
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.reading.found import Input

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=7, relation="replace"), mechanism="exact")
SECRET = bytes(range(32))
APPS = [f"app {i % 5}" for i in range(30)]
VALUES = [1 + i % 7 for i in range(30)]
TABLE = pa.table({"app": APPS, "n": VALUES})


def state(data: object, how: Input | None = None, columns: Columns | None = None, on_bad: str = "error") -> bytes:
    columns = columns or Columns(("app",), "n")
    secret = ss.Secret.from_bytes(SECRET)
    return collected_shard(data, PLAN, secret, "s", Reading(columns, how or Input(), on_bad)).to_bytes()  # type: ignore[arg-type]


def counted(keys: list[str], values: list[int] | None = None) -> bytes:
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(keys, values)
    return collector.to_bytes()


WANTED = counted(APPS, VALUES)


def by_arrow(kind: str) -> Callable[[bytes], bytes]:
    def packed(raw: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, kind) as out:
            out.write(raw)
        return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]

    return packed


PACKS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": by_arrow("zstd"),
    "lz4": by_arrow("lz4"),
}  # fmt: skip
SUFFIXES = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst", "lz4": ".lz4", "none": ""}


def separated(by: str) -> bytes:
    return "".join(f"{a}{by}{b}\n" for a, b in [("app", "n"), *zip(APPS, map(str, VALUES), strict=True)]).encode()


ROWS = [{"app": app, "n": value} for app, value in zip(APPS, VALUES, strict=True)]
TEXTS: dict[str, bytes] = {
    "CSV separated by commas": separated(","),
    "CSV separated by tabs": separated("\t"),
    "CSV separated by semicolons": separated(";"),
    "CSV separated by vertical bars": separated("|"),
    "JSON": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
    "JSON array": b" \n" + json.dumps(ROWS, indent=1).encode(),
}


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("text", TEXTS)
def test_text_is_read_whatever_it_is_called(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, pack: str
) -> None:
    caplog.set_level(logging.INFO, "stablesketch")
    raw = PACKS[pack](TEXTS[text])
    says = f"read as {text.removesuffix(' array')}" + ("" if pack == "none" else f", compressed with {pack}")
    for name in ("events", "events.txt", "events.csv.gz", "country=FR/e.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(raw)
        caplog.clear()
        assert state(path) == WANTED, name
        assert [one for one in caplog.messages if says in one] or not caplog.messages, name
        if name == "events":
            (said,) = caplog.messages
            assert said == f"{path}: {says}, by its first bytes. To read it otherwise, pass format= or delimiter="
    caplog.clear()
    assert state("-", Input(stdin=io.BytesIO(raw))) == WANTED
    assert caplog.messages == [
        f"standard input: {says}, by its first bytes. To read it otherwise, pass format= or delimiter="
    ]


@pytest.mark.parametrize("pack", PACKS)
def test_names_that_tell_the_truth_are_read_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, pack: str
) -> None:
    caplog.set_level(logging.INFO, "stablesketch")
    kinds = {"csv": separated(","), "tsv": separated("\t"), "json": TEXTS["JSON"], "jsonl": TEXTS["JSON"]}
    for kind, raw in kinds.items():
        path = tmp_path / f"events.{kind}{SUFFIXES[pack]}"
        path.write_bytes(PACKS[pack](raw))
        assert state(path) == WANTED
    assert not caplog.messages


@pytest.mark.parametrize("pack", PACKS)
def test_files_packed_in_many_parts_and_ways_are_one_stream(tmp_path: Path, pack: str) -> None:
    part = PACKS[pack]
    (tmp_path / "1.csv").write_bytes(part(b"app,n\na,1\n") + (part(b"b,2\n")))
    (tmp_path / "2.csv.gz").write_bytes(b"app,n\nc,3\n")
    assert state(str(tmp_path / "*")) == counted(["a", "b", "c"], [1, 2, 3])
    pipe = Input("csv", stdin=io.BytesIO((tmp_path / "1.csv").read_bytes()))
    assert state("-", pipe) == counted(["a", "b"], [1, 2])


@pytest.mark.parametrize("pack", PACKS)
def test_bad_rows_and_damage_are_named_by_the_file_they_are_in(tmp_path: Path, pack: str) -> None:
    path = tmp_path / "country=FR" / "events"
    path.parent.mkdir()
    for raw in (b"app;n\na;1\nb;x\n", b'{"app": "a", "n": 1}\n{"app": "b", "n": "x"}'):
        path.write_bytes(PACKS[pack](raw))
        row = 3 if raw.startswith(b"app") else 2
        with pytest.raises(ss.DataError, match=f"^{path}, row {row}, column n is not a whole number"):
            state(path)
        with pytest.raises(ss.DataError, match=f"^standard input, row {row}, column n is not a whole number"):
            state("-", Input(stdin=io.BytesIO(PACKS[pack](raw))))
    path.write_bytes(PACKS[pack](b"app;n\na;1\nb;2;3\n"))
    with pytest.raises(ss.DataError, match=f"^{path}, row 3: expected 2 fields, got more"):
        state(path)
    assert state(path, columns=Columns(("app", "country"), "n"), on_bad="skip")
    if pack == "none":
        return
    path.write_bytes(PACKS[pack](b"app;n\n" + bytes(range(32, 127)) * 1000)[:-9])
    for data, how in ((path, None), ("-", Input(stdin=io.BytesIO(path.read_bytes())))):
        with pytest.raises(ss.DataError) as error:
            state(data, how)
        assert str(path if how is None else "standard input") in str(error.value)


def test_lines_are_lines_whatever_is_in_the_first_of_them(tmp_path: Path) -> None:
    """Without a key nothing is looked for: a row must not decide how the others are read."""
    lines = ['{"a": 1}', "a,b", "line;n"]
    raw = "\n".join(lines).encode()
    for pack in PACKS.values():
        (tmp_path / "e.txt").write_bytes(pack(raw))
        (tmp_path / "e").write_bytes(pack(raw))
        for data in (tmp_path / "e.txt", tmp_path / "e", "-"):
            how = Input(stdin=io.BytesIO(pack(raw)))
            assert state(data, how, Columns(("line",))) == counted(lines)


def test_a_pipe_of_lines_says_that_it_is_read_as_lines(caplog: pytest.LogCaptureFixture) -> None:
    """CSV on a pipe without a key gave the variety of whole rows, without a word."""
    caplog.set_level(logging.INFO, "stablesketch")
    state("-", Input(stdin=io.BytesIO(b"user,app\n1,a\n")), Columns(("line",)))
    assert caplog.messages == [
        "standard input: read as lines, each of which is a key. To read a column of CSV or JSON, pass key="
    ]
    caplog.clear()
    state("-", Input(stdin=io.BytesIO(b"a\nb\n"), format="lines"), Columns(("line",)))
    assert caplog.messages == []


def test_without_a_header_nothing_is_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_text("{a;b\nc;d\n")
    assert state(path, Input(header=False), Columns(("column0",))) == counted(["{a;b", "c;d"])
    assert state(path, Input(header=False, delimiter=";"), Columns(("column1",))) == counted(["b", "d"])
    with pytest.raises(ss.DataError, match="no such column"):
        state(path, Input(header=False), Columns(("column1",)))


def test_what_is_stated_wins(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text('app;n,app\n"x,y",z\n')
    assert state(path, columns=Columns(("app",))) == counted(["z"])
    with pytest.raises(ss.DataError, match="row 2"):
        state(path, Input(delimiter=";"), Columns(("n,app",)))
    assert state(path, Input("lines"), Columns(("line",))) == counted(["app;n,app", '"x,y",z'])
    path.write_bytes(TEXTS["JSON"])
    assert state(path, Input("json")) == WANTED
    with pytest.raises(ss.DataError, match="row 1: spaces before the opening quote of a field"):
        state(path, Input("csv"))


def test_a_log_of_zeek_is_not_taken_for_lines(tmp_path: Path) -> None:
    log = tmp_path / "conn.log"
    log.write_bytes(b"#separator \\x09\n#fields\tts\tid.orig_h\n1.5\t10.0.0.1\n")
    privacy = ss.Privacy(1.0, 1e-9)
    with pytest.raises(ss.DataError, match=r"Zeek logs cannot be read.*Cut out one column"):
        ss.release(str(log), ss.Moment(0.5), privacy, key="line")
    assert ss.release(str(log), ss.Moment(0.5), privacy, key="line", format="lines").value >= 0


def test_the_commas_of_a_name_do_not_separate(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app;kind, more\nx;y\n")
    assert state(path, columns=Columns(("app",))) == counted(["x"])
    with pytest.raises(ss.DataError, match="The columns are: app, kind, more"):
        state(path, columns=Columns(("app", "king")))


@pytest.mark.parametrize("kind", ["parquet", "arrow", "orc"])
def test_columns_stored_by_type_are_read_whatever_they_are_called(tmp_path: Path, kind: str) -> None:
    write = {"parquet": pyarrow.parquet.write_table, "arrow": pyarrow.feather.write_feather,
             "orc": pyarrow.orc.write_table}[kind]  # fmt: skip
    for name in (f"e.{kind}", "e", "e.csv", "e.json"):
        write(TABLE, tmp_path / name)
        assert state(tmp_path / name) == WANTED
    raw = (tmp_path / "e").read_bytes()
    assert state("-", Input(stdin=io.BytesIO(raw))) == WANTED
    assert state("-", Input(stdin=io.BytesIO(gzip.compress(raw)))) == WANTED
    write(pa.table({"app": APPS[:2], "n": [1, -1]}), tmp_path / f"f.{kind}")
    with pytest.raises(ss.DataError, match=f"f.{kind}, row 2, column n is negative"):
        state(str(tmp_path / f"*.{kind}"))
    write(pa.table({"app": [1, 2], "n": [1, 1]}), tmp_path / f"f.{kind}")
    with pytest.raises(
        ss.DataError, match=f"f.{kind}, column app is of type BIGINT here, but of type VARCHAR in .*e.{kind}"
    ):
        state([tmp_path / f"e.{kind}", tmp_path / f"f.{kind}"])
    (tmp_path / f"f.{kind}").write_bytes(raw[:100])
    with pytest.raises(ss.DataError, match=f"f.{kind}: (the file cannot be read|not a Parquet file|.*Parquet)"):
        state(tmp_path / f"f.{kind}")


def test_the_command_for_a_spreadsheet_converts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"app": APPS, "n": VALUES}).to_excel("my events.xlsx", index=False)
    with pytest.raises(ss.DataError, match="spreadsheets cannot be read") as error:
        state("my events.xlsx")
    command = shlex.split(str(error.value).split("openpyxl): ")[1].removesuffix("."))
    subprocess.run([sys.executable, *command[1:]], check=True)
    assert state("my events.csv") == WANTED


def test_a_spreadsheet_is_told_from_an_archive_by_its_bytes(tmp_path: Path) -> None:
    pd.DataFrame({"app": APPS, "n": VALUES}).to_excel(tmp_path / "e.xlsx", index=False)
    raw = (tmp_path / "e.xlsx").read_bytes()
    (tmp_path / "e").write_bytes(raw)
    for data in ("-", tmp_path / "e"):
        with pytest.raises(ss.DataError, match=r"spreadsheets cannot be read\. Save it as CSV"):
            state(data, Input(stdin=io.BytesIO(raw)))
    with pytest.raises(ss.DataError, match="spreadsheets cannot be read"):
        state("-", Input(stdin=io.BytesIO(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))))


def _stream(table: pa.Table, rows: int = 7) -> bytes:
    memory = io.BytesIO()
    with pa.ipc.new_stream(memory, table.schema) as stream:
        stream.write_table(table, rows)
    return memory.getvalue()


def test_arrow_is_read_as_a_stream_too(tmp_path: Path) -> None:
    raw = _stream(TABLE.append_column("other", pa.array(APPS).dictionary_encode()))
    path = tmp_path / "e.arrow"
    path.write_bytes(raw)
    assert state(path) == WANTED
    assert state("-", Input(stdin=io.BytesIO(raw))) == WANTED
    assert state("-", Input(stdin=io.BytesIO(gzip.compress(raw)))) == WANTED
    with pytest.raises(ss.DataError, match=r"e.arrow, column apps: no such column\. Did you mean app\?"):
        state(path, columns=Columns(("apps",), "n"))
    path.write_bytes(_stream(pa.table({"app": APPS[:2], "n": [1, -1]})))
    with pytest.raises(ss.DataError, match=r"e.arrow, row 2, column n is negative"):
        state(path)
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ss.DataError, match=r"e.arrow: the file cannot be read: Expected to be able to read"):
        state(path)


@pytest.mark.parametrize(("name", "command"), [("my e.csv", "head -n 1 {}"), ("e.csv.gz", "gzip -dc {} | head -n 1")])
def test_where_names_are_not_shown_the_command_that_shows_them_is(tmp_path: Path, name: str, command: str) -> None:
    path = tmp_path / name
    text = b"app,n\na,1\n"
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    with pytest.raises(ss.DataError) as refused:
        state(path, columns=Columns(("apps",), None))
    shown = command.format(shlex.quote(str(path)))
    assert f"Look at its first line ({shown});" in str(refused.value)
    assert "app," not in str(refused.value)
    assert subprocess.run(shown, shell=True, capture_output=True, check=True).stdout == b"app,n\n"


def test_archives_of_several_files_and_utf_16_are_refused(tmp_path: Path) -> None:
    for raw, says in ((b"PK\x03\x04", "zip archives"), ("app\na\n".encode("utf-16"), "UTF-16, not UTF-8")):
        (tmp_path / "e.csv").write_bytes(raw)
        for data in (tmp_path / "e.csv", "-"):
            with pytest.raises(ss.DataError, match=says):
                state(data, Input(stdin=io.BytesIO(raw)))
    twice = gzip.compress(bz2.compress(b"app\na\n"))
    with pytest.raises(ss.DataError, match="is compressed with bzip2 twice"):
        state("-", Input(stdin=io.BytesIO(twice)))


ROWS = [
    '{"app":"a","n":1,"note":"x|app|n|z"}',
    *(f'{{"app":"{app}","n":{n}}}' for app, n in zip(APPS, VALUES, strict=True)),
]


@pytest.mark.parametrize("name", ["e.jsonl", "e.json", "e", "-"])
def test_no_row_of_json_makes_it_a_table(tmp_path: Path, name: str) -> None:
    """The text of the first row looks like a header; all other rows are read as they would be without it."""
    raw = "\n".join(ROWS).encode()
    path = tmp_path / name
    path.write_bytes(raw)
    data, how = (["-"], Input(stdin=io.BytesIO(raw))) if name == "-" else (path, None)
    assert state(data, how) == counted(["a", *APPS], [1, *VALUES])


def test_json_is_stated_where_rows_may_be_skipped(tmp_path: Path) -> None:
    """An invalid first row, which would be skipped, must not decide how all others are read."""
    (tmp_path / "e").write_text("\n".join(ROWS), encoding="utf-8")
    with pytest.raises(ss.ArgumentError, match="format='json'"):
        state(tmp_path / "e", on_bad="skip")
    assert state(tmp_path / "e", Input("json"), on_bad="skip") == counted(["a", *APPS], [1, *VALUES])
    (tmp_path / "e.jsonl").write_text("\n".join(["x|app|n|z", *ROWS]), encoding="utf-8")
    assert state(tmp_path / "e.jsonl", on_bad="skip") == counted(["a", *APPS], [1, *VALUES])
    with pytest.raises(ss.DataError):
        state(tmp_path / "e.jsonl")
