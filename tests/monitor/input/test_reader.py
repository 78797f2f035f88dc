"""Lines to rows: every format, every way to be bad, and that no line changes what becomes of another."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from monitor_tools import NOON

from stablesketch import ArgumentError, DataError
from stablesketch._native import json_texts
from stablesketch.monitor.input import texts as texts_module
from stablesketch.monitor.input.blocks import Block
from stablesketch.monitor.input.fields import LineFields
from stablesketch.monitor.input.reader import LineReader
from stablesketch.monitor.input.texts import read_by_duckdb, texts_of_json
from stablesketch.monitor.windows import SECOND
from stablesketch.reading.duckdb import DuckDB

MINUTE = NOON // 60


@pytest.fixture(scope="module")
def duckdb() -> Iterator[DuckDB]:
    with DuckDB() as made:
        yield made


Row = tuple[tuple[str, ...], int, int]


def read(duckdb: DuckDB, fields: LineFields, lines: bytes, head: bytes | None = None) -> tuple[list[Row], int]:
    """The rows (keys, window, value) of some lines, and how many lines were bad."""
    reader = LineReader(fields, 60, "test", duckdb)
    if head is not None:
        lines = head + lines
    rows = reader.rows(Block(lines, NOON * SECOND, NOON * SECOND, None, lines, True))
    keys = zip(*(column.to_pylist() for column in rows.keys), strict=True)
    values = rows.values if rows.values is not None else [1] * len(rows.windows)
    return sorted((key, int(w), int(v)) for key, w, v in zip(keys, rows.windows, values, strict=False)), rows.bad


def test_plain_lines_have_the_time_of_arrival(duckdb: DuckDB) -> None:
    found = read(duckdb, LineFields.of(format="lines"), b"a\nb b\r\n\nc")
    assert found == ([(("a",), MINUTE, 1), (("b b",), MINUTE, 1), (("c",), MINUTE, 1)], 1)


@pytest.mark.parametrize(
    ("time", "unit"),
    [
        (NOON, "s"), (str(NOON), "s"), (f"{NOON}.999999999999", "s"), (NOON * 1000 + 999, "ms"),
        (NOON * 10**9 + 59 * 10**9, "ns"), ("2026-11-16T12:00:59.9999999Z", "s"), ("2026-11-16T12:00:00.5+0000", "s"),
        ("2026-11-16t14:00:30+02:00", "s"), ("2026-11-16 12:00:00z", "s"),
        ("2026-11-17T11:00:30+23:00", "s"),
    ],
)  # fmt: skip
def test_times_are_cut_to_their_window(duckdb: DuckDB, time: object, unit: str) -> None:
    fields = LineFields.of(format="json", key=("k",), time="t", time_unit=unit)
    assert read(duckdb, fields, json.dumps({"k": "a", "t": time}).encode()) == ([(("a",), MINUTE, 1)], 0)


@pytest.mark.parametrize(
    "time",
    ["", None, "noon", "-5", -5, "1e9", "nan", "2026-11-16T12:00:00", "2026-11-16", "2026-13-16T12:00:00Z",
     "2026-11-16T12:00:60Z", "2026-11-17T13:00:30+25:00", "2026-11-16T14:00:30+01:60", "9" * 40, {"a": 1}, [1]],
)  # fmt: skip
def test_times_that_are_none(duckdb: DuckDB, time: object) -> None:
    fields = LineFields.of(format="json", key=("k",), time="t")
    assert read(duckdb, fields, json.dumps({"k": "a", "t": time}).encode()) == ([], 1)


def test_json_names_with_dots_are_fields_or_lead_into_objects(duckdb: DuckDB) -> None:
    lines = b'{"dns.q": "flat", "dns": {"q": "deep"}}\n{"dns": {"q": "deep"}}\n{"dns": 5}\n{"dns.q": 7}\n'
    found = read(duckdb, LineFields.of(format="json", key=("dns.q",)), lines)
    assert [key for (key,), _, _ in found[0]] == ["7", "deep", "flat"]
    assert found[1] == 1


def test_values_are_whole_numbers_up_to_the_largest(duckdb: DuckDB) -> None:
    lines = b"".join(
        b'{"k":"a","n":%s}\n' % n for n in (b"1", b'"7"', b"8", b"0", b"-1", b"1.5", b"null", b"99999999999999999")
    )
    asked = {"format": "json", "key": ("k",), "value": "n", "max_value": 7}
    assert read(duckdb, LineFields.of(**asked), lines) == ([(("a",), MINUTE, 1), (("a",), MINUTE, 7)], 6)
    clipped = read(duckdb, LineFields.of(**asked, clip=True), lines)
    assert [value for _, _, value in clipped[0]] == [1, 7, 7]
    assert clipped[1] == 5


ZEEK = (
    b"#separator \\x09\n#set_separator\t,\n#fields\tts\tuid\tid.orig_h\torig_bytes\n#types\ttime\tstring\taddr\tcount\n"
)


def test_zeek_has_its_own_header_and_may_write_another(duckdb: DuckDB) -> None:
    fields = LineFields.of(preset="zeek", max_value=100)
    one, other = b"%d.5\tC1\t10.0.0.1\t7\n" % NOON, b"10.0.0.2\t9\t%d\n" % NOON
    lines = one + b"%d\tC2\t-\t7\n" % NOON + b'%d\tC"3\t10.0.0.3\t(empty)\n' % NOON + b"#close\n"
    again = b"#fields\tid.orig_h\torig_bytes\tts\n" + other
    assert read(duckdb, fields, lines + again, ZEEK) == ([(("10.0.0.1",), MINUTE, 7), (("10.0.0.2",), MINUTE, 9)], 2)
    as_json = b'{"ts": %d.5, "id.orig_h": "10.0.0.1", "orig_bytes": 7}\n' % NOON
    assert read(duckdb, fields, as_json) == ([(("10.0.0.1",), MINUTE, 7)], 0)
    with pytest.raises(DataError, match=r"no header.*fields="):
        read(duckdb, fields, one)


def test_presets_read_what_the_collectors_write(duckdb: DuckDB) -> None:
    eve = {"timestamp": "2026-11-16T12:00:01.5+0000", "src_ip": "10.0.0.1", "flow": {"bytes_toserver": 60}}
    flow = {"time_received_ns": NOON * 10**9, "src_addr": "10.0.0.1", "bytes": 60}
    for preset, line in (("suricata", eve), ("goflow2", flow)):
        found = read(duckdb, LineFields.of(preset=preset, max_value=1500), json.dumps(line).encode())
        assert found == ([(("10.0.0.1",), MINUTE, 60)], 0)


def test_a_preset_keeps_its_unit_for_other_fields_of_time(duckdb: DuckDB) -> None:
    line = json.dumps({"time_flow_start_ns": NOON * 10**9, "time_received_ns": 5, "src_addr": "a"}).encode()
    for time in ("time_flow_start_ns", "time_received_ns"):
        fields = LineFields.of(preset="goflow2", time=time)
        wanted = MINUTE if time == "time_flow_start_ns" else 0
        assert read(duckdb, fields, line) == ([(("a",), wanted, 1)], 0)


def test_csv_has_a_header_or_names(duckdb: DuckDB) -> None:
    lines = b'%d,"a, ""b""",x\r\n%d,c,y\n' % (NOON, NOON)
    wanted = ([(('a, "b"',), MINUTE, 1), (("c",), MINUTE, 1)], 0)
    assert read(duckdb, LineFields.of(format="csv", key=("k",), time="t"), lines, b"\xef\xbb\xbft,k,z\n") == wanted
    assert read(duckdb, LineFields.of(format="csv", key=("k",), time="t", names=("t", "k", "z")), lines) == wanted
    with pytest.raises(DataError, match=r"its first line names no column 'q'.*if there is none \(fields=\)") as caught:
        read(duckdb, LineFields.of(format="csv", key=("q",)), lines, b"10.0.0.7,secret,z\n")
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match=r"two columns 'k'"):
        read(duckdb, LineFields.of(format="csv", key=("k",)), lines, b"k,k,z\n")


BAD = [b"", b"{", b"\xff\xfe", b'"open', b'x"y,"z', b"a\rb", b"[1]", b"{}", b"null", b"a,b,c,d,e", b"\x00", b'{"k":1}x',
       b'{"k":"\\ud800","t":1}', b'"a"b,c,d', b'a,"b\rc",d', b"[" * 3000, b"\t\t", b'{"k":', b"'"]  # fmt: skip
GOOD = {
    "json": [b'{"k":"a","t":%d}', b'{"t":%d,"k":"\xc3\xa9\\n"}', b'{"k":17,"t":"%d.5"}'],
    "csv": [b"%d,a,1", b'%d,"a,""b",2', b"%d,\xc3\xa9,"],
    "tsv": [b"%d\ta\t1", b'%d\t"a\tb"\t2'],
    "zeek": [b"%d\ta\t1", b'%d\t"a\t2'],
    "lines": [b"a %d", b'"%d'],
}


@pytest.mark.parametrize("format", GOOD)
def test_no_line_changes_what_becomes_of_another(duckdb: DuckDB, format: str) -> None:
    """The guarantee rests on it: a block gives just what its lines give one by one, whatever stands between them.

    One reader has the whole block, good and bad lines mixed, with both line ends; another has every line alone.
    """
    draw = random.Random(format)
    fields = LineFields.of(format=format, key=() if format == "lines" else ("k",),
                           time=None if format == "lines" else "t",
                           names=("t", "k", "z") if format in ("csv", "tsv", "zeek") else None)  # fmt: skip
    lines = []
    for i in range(120):
        line = draw.choice(BAD) if draw.random() < 0.3 else draw.choice(GOOD[format]) % (NOON + 60 * (i % 7))
        lines.append(line + draw.choice([b"\n", b"\r\n"]))
    alone = [read(duckdb, fields, line) for line in lines]
    together = read(duckdb, fields, b"".join(lines))
    assert together == (sorted(row for found, _ in alone for row in found), sum(bad for _, bad in alone))
    assert len(together[0]) >= 60
    assert all(len(found) + bad == 1 for found, bad in alone)


@pytest.mark.parametrize("format", ["csv", "tsv", "zeek", "lines"])
def test_a_mark_of_byte_order_within_a_file_belongs_to_its_line(duckdb: DuckDB, format: str) -> None:
    """Where a block begins depends on other lines: nothing may be taken off its first one."""
    columns = format != "lines"
    fields = LineFields.of(format=format, key=("k",) if columns else (), names=("k", "z") if columns else None)
    line = b"\xef\xbb\xbfa" + (fields.delimiter.encode() + b"1\n" if columns else b"\n")
    reader = LineReader(fields, 60, "test", duckdb)
    for lines in (line, line + line, b"b" + line):
        rows = reader.rows(Block(lines, NOON * SECOND, NOON * SECOND))
        assert {each.removeprefix("b") for each in rows.keys[0].to_pylist()} == {"\ufeffa"}
        assert rows.bad == 0


ODD_TIMES = [
    "2026-11-16T12:00:0%d.%06d+0000", "2026-11-16T12:0%d:59.%dZ", "179483040%d.%03d", "17948304%02d%03d", "%d.%d", "",
    "2026-11-16T12:00:0%d.%06d+01:30", "2026-13-16T12:00:0%d.%03dZ", "2026-11-16T12:00:0%d,%03dZ", "2026-02-2%d %03d",
    "2026-11-16T12:0%d:60.%03dZ", "1%d.%d.5", "-%d.%d", "x%d.%d", "2026-11-16T12:00:0%d.%03dé",
    "202%d-02-29T00:00:00.%dz", "196%d-11-16T12:00:00.%dZ", "2026-11-16T24:00:0%d.%dZ",
    "2026-11-16T12:00:00-1%d:00%.0d", "%d0000000000000000%03d", "2026-11-16T12:00:0%d.Z%.0d",
    "2026-11-16T12:00:0%d+%04d", "0%d0%d", "2026-11-31T12:00:0%d.%dZ", "9999-12-31T23:59:5%d.%dZ",
]  # fmt: skip


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
def test_the_core_and_duckdb_read_the_same_times(duckdb: DuckDB, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the compiled core reads of a text is what DuckDB reads, which is asked about all others."""
    draw = random.Random(unit)
    texts = [draw.choice(ODD_TIMES) for _ in range(2000)]
    times = [text % (draw.randrange(10), draw.randrange(1000)) if text else text for text in texts]
    lines = "".join(json.dumps({"k": f"{i}", "t": time}) + "\n" for i, time in enumerate(times)).encode()
    fields = LineFields.of(format="json", key=("k",), time="t", time_unit=unit)
    found = read(duckdb, fields, lines)
    assert 500 < len(found[0]) < 1900
    monkeypatch.setattr(texts_module, "seconds", lambda ends, *_: np.full(len(ends) - 1, texts_module.NO_WINDOW))
    assert found == read(duckdb, fields, lines)


VALUES = [
    "1", "0", "-1", "-0", "17", "123456789012345678", "1234567890123456789", "18446744073709551616", "1.5", "1.50",
    "0.5", "1794830400.123456", "2794830400.123456", "1794830400.1234567", "1.0", "100.000001", "0.000001", "1e3",
    "1E-7", "01", "1.", ".5", "+1", "- 1", "--1", "null", "true", "false", "nul", "nan", '""', '"a"',
    '"\u00e9 \U0001f600"', '"a b"', '"a"b', '"\\n"', '"\\/"', '"\\u0041"', '"\\ud800"', '"\\x"', '"tab\there"',
    '"zero\x00"', '"\x7f"', '"long enough to be read in words"', '"long \\" quoted, and on and on"', "[]", "[1, 2]",
    "[1,]", '["a",{"k":"b"}]', "{}", '{"k":1}', '{"q":"deep"}', '{"q":{"r":"deeper"}}', '{"q":null}',
    '{ "q" : 5 , "q" : 6 }', '{"q":5', "[" * 70 + "]" * 70, '{"a":' * 70 + "1" + "}" * 70,
]  # fmt: skip
NAMES = ["k", "a.q", "a", "b", "q", "a.q.r", "", "k ", "\\u006b", "é"]


@pytest.mark.parametrize("key", [("k",), ("a.q",), ("a", "k"), ("a.q.r", "a.q"), ("é", "b")])
def test_the_core_and_duckdb_read_the_same_json(duckdb: DuckDB, key: tuple[str, ...]) -> None:
    """Every text that the compiled core takes out of a line is the one that DuckDB does, which has all other lines."""
    draw, fields = random.Random(str(key)), LineFields.of(format="json", key=key)
    lines = [f'{{"{name}":{value}}}' for name in NAMES for value in VALUES]
    for _ in range(4000):
        members = [
            f'"{draw.choice(NAMES)}"{draw.choice([":", " : "])}{draw.choice(VALUES)}' for _ in range(draw.randrange(5))
        ]
        line = "{" + draw.choice([",", ", ", "\t,"]).join(members) + "}"
        if draw.random() < 0.1:  # something is cut, doubled or put in
            place = draw.randrange(len(line))
            line = (
                line[:place]
                + draw.choice(['"', "\\", ",", "}", "{", "\x01", " ", line[place:]])
                + line[place + draw.randrange(2) :]
            )
        lines.append(draw.choice(["", "", " "]) + line + draw.choice(["", "", " ", "\r", "x"]))
    content = "\n".join(lines).encode()

    query = duckdb.for_blocks()
    _, count, numbers, _ = json_texts(content, 1, [(0, ["no such"])])
    assert count == len(lines)
    plain = np.delete(np.arange(count), numbers)
    assert len(plain) > 1000
    whole = pa.table({"line": pa.array(lines), "i": np.arange(count)})
    wanted = read_by_duckdb(whole, fields, query).sort_by("i").to_pylist()
    by_line = {row.pop("i"): row for row in wanted}
    found, _ = texts_of_json(content, LineFields.of(format="json", key=key, person="k"), query)
    rest = [{mark: row[mark] for mark in fields.marks} for row in found.to_pylist()]
    assert rest == [by_line[i] for i in sorted(by_line)]
    assert set(plain) <= set(by_line)  # no line that is no JSON is plain


@pytest.mark.parametrize("before", range(0, 48))
def test_a_message_that_cuts_a_character_stops_nothing(duckdb: DuckDB, before: int) -> None:
    """DuckDB quotes the line that is no JSON, up to a number of bytes. Python cannot decode half a character, and the
    error that it raises in place of DuckDB's has the line in it."""
    bad = "{" + before * " " + '"k": "' + 200 * "é" + '" x'
    found = read(duckdb, LineFields.of(format="json", key=("k",)), f'{{"k": "good"}}\n{bad}\n'.encode())
    assert found == ([(("good",), MINUTE, 1)], 1)


def test_fields_that_are_none() -> None:
    for asked, said in (
        ({"format": "json"}, "must name the field of keys"),
        ({"format": "xml"}, "format must be one of"),
        ({"preset": "ntop"}, "preset must be one of"),
        ({"format": "lines", "key": ("k",)}, "a plain line is a key"),
        ({"key": ("k",)}, "format must be given: the name of the input does not tell what its lines are"),
        ({"source": "eve.json.1", "time": "t"}, "Pass json, csv, tsv or zeek. To count whole lines, leave out key="),
        ({"format": "json", "key": ("k",), "value": "n"}, "must be given with"),
        ({"format": "json", "key": ("k",), "max_value": 5}, "must be given with"),
        ({"format": "json", "key": ('k"',)}, "cannot be the name of a field"),
        ({"format": "csv", "key": ("k",), "delimiter": "ab"}, "one character"),
        ({"format": "json", "key": ("k",), "time": "t", "time_unit": "h"}, "time_unit must be one of"),
        ({"format": "json", "key": ("k",), "clip": True}, "needs a field of values"),
        ({"format": "json", "key": ("k",), "value": "n", "max_value": 0}, "from 1 to 2"),
        ({"format": "json", "key": ("k",), "time_unit": "ms"}, "time_unit cannot be used without time=, got 'ms'"),
        ({"preset": "goflow2", "time": "arrival", "time_unit": "ns"}, "cannot be used without time="),
        ({"format": "json", "key": ("k",), "delimiter": ";"}, "cannot be used with format='json'"),
        ({"format": "json", "key": ("k",), "names": ("k",)}, "fields cannot be used with format='json'"),
        ({"format": "lines", "max_value": 5}, "max_value cannot be used with format='lines', got 5"),
    ):
        with pytest.raises(ArgumentError, match=said):
            LineFields.of(**asked)
