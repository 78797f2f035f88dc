"""What a monitor reads: its state in a folder, the records in it, and the lines of logs in every format.

A state is described as JSON, and made anew for each input: a copied folder is refused before anything in it is read.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from fuzz_mutate import NUMBERS, OTHERS, bytes_mutant, json_mutant
from fuzz_seeds import collector_mutant

import stablesketch as ss
from stablesketch.monitor import Monitor, Watch
from stablesketch.monitor.input.blocks import Block, Rows
from stablesketch.monitor.input.fields import LineFields
from stablesketch.monitor.input.reader import LineReader
from stablesketch.monitor.shown.alerts import Judge
from stablesketch.monitor.shown.board import Board
from stablesketch.monitor.shown.metrics import ReleasedMetrics, exposed
from stablesketch.monitor.shown.outputs import live_page
from stablesketch.monitor.state.outbox import JsonLinesFile
from stablesketch.monitor.state.records import is_record
from stablesketch.monitor.state.state import MonitorState
from stablesketch.monitor.windows import SECOND, Windows
from stablesketch.reading.duckdb import DuckDB

NOON = 1_794_830_400
FACTS = ("clock", "next", "position", "counters", "delivered", "id", "seal", "asked")
TABLES = {"windows": 2, "collectors": 3, "people": 3, "records": 2}


@functools.cache
def watch() -> Watch:
    fields = LineFields.of(format="json", key=("k",), time="t", person="u")
    return Watch.of([ss.Total(), ss.Hill(0.5)], 50.0, 1e-6, fields, Windows(60, 10), protect="person-window")


def blocks(*seconds: int) -> Iterator[Block]:
    for second in seconds:
        line = json.dumps({"k": f"key {second}", "u": f"person {second % 3}", "t": NOON + second}).encode() + b"\n"
        now = (NOON + second) * SECOND
        yield Block(line, now, now)


def run(state: MonitorState, *seconds: int) -> dict[int, str]:
    """What a monitor on this state delivers for rows at these seconds; then it is stopped."""
    told: dict[int, str] = {}
    clock = (NOON + seconds[0]) * SECOND
    monitor = Monitor(
        watch(), "test", lambda *_: blocks(*seconds), state, [lambda number, text: told.update({number: text})],
        replays=True, clock=lambda: clock,
    )  # fmt: skip
    take, left = monitor._take, [*seconds]

    def taken(block: Block, rows: Rows) -> None:
        """Blocks are read ahead, so it is stopped when the last one is taken, not when it is read."""
        take(block, rows)
        left.pop()
        if not left:
            monitor.stop()

    monitor._take = taken  # type: ignore[method-assign]
    monitor.run()
    return told


@functools.cache
def states() -> list[bytes]:
    """A state with two open windows, and records of which one is not delivered."""
    with tempfile.TemporaryDirectory() as name:
        state = MonitorState(Path(name), watch().to_json())
        run(state, -70, 1, 30, 65, 80, 140)
        state.close()
        found: dict[str, Any] = {"facts": _facts(Path(name)), "lock": (Path(name) / "lock").read_text()}
        with contextlib.closing(sqlite3.connect(Path(name) / "monitor.db")) as base:
            for table in TABLES:
                found[table] = [[_plain(cell) for cell in row] for row in base.execute(f"select * from {table}")]
    assert found["windows"]
    assert found["people"]
    assert found["records"]
    waiting = {**found, "facts": {**found["facts"], "delivered": "0"}}
    return [json.dumps(each).encode() for each in (found, waiting)]


def _plain(cell: Any) -> Any:
    return {"hex": cell.hex()} if isinstance(cell, bytes) else cell


def _cell(cell: Any) -> Any:
    """What SQLite can hold of it."""
    if isinstance(cell, dict):
        return bytes.fromhex(cell["hex"]) if isinstance(cell.get("hex"), str) else json.dumps(cell)
    if isinstance(cell, list) or (isinstance(cell, int) and abs(cell) >= 2**63):
        return json.dumps(cell)
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell


def state_mutant(rng: Random, raw: bytes) -> bytes:
    """One fact, one cell, one collector within, one record, or the number in `lock` changed."""
    held = json.loads(raw)
    which = rng.randrange(5)
    if which == 0:
        name = rng.choice(FACTS)
        held["facts"][name] = json_mutant(rng, held["facts"][name])
    elif which == 1:
        row = rng.choice(held[rng.choice(list(TABLES))])
        row[rng.randrange(len(row))] = rng.choice(
            [*NUMBERS, *OTHERS, {"hex": ""}, {"hex": "00" * 31}, {"hex": "00" * 33}]
        )
    elif which == 2:
        row = rng.choice(held["collectors"])
        row[2] = {"hex": collector_mutant(rng, bytes.fromhex(row[2]["hex"])).hex()}
    elif which == 3:
        row = rng.choice(held["records"])
        row[1] = json_mutant(rng, row[1])
    elif rng.random() < 0.5:
        held["lock"] = rng.choice(("", "-1", "9" * 99, "é", "00000000000000000001\n", "x" * 200))
    else:
        table = rng.choice(list(TABLES))
        held[table] = rng.choice(([], held[table][:-1]))
    return json.dumps(held).encode("utf-8", "surrogatepass")


def read_state(raw: bytes) -> None:
    """A monitor that goes on with it, and what its page and its metrics show."""
    held = json.loads(raw)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        MonitorState(folder, watch().to_json()).close()
        with contextlib.closing(sqlite3.connect(folder / "monitor.db")) as base:
            base.execute("pragma synchronous = off")
            own = dict(base.execute("select name, value from facts"))
            for fact, value in held["facts"].items():
                # The seal and the place are those of this folder, unless the seal was changed.
                kept = fact == "place" or (fact == "seal" and json.loads(states()[0])["facts"]["seal"] == value)
                base.execute("insert or replace into facts values (?, ?)", (fact, own[fact] if kept else _cell(value)))
            with contextlib.suppress(sqlite3.IntegrityError):  # two rows of one window
                for table, width in TABLES.items():
                    marks = ", ".join("?" * width)
                    for row in held[table]:
                        base.execute(f"insert into {table} values ({marks})", [_cell(cell) for cell in row])
            base.commit()
        if held["lock"] != json.loads(states()[0])["lock"]:
            (folder / "lock").write_text(held["lock"], encoding="utf-8")
        _go_on(folder)


def _go_on(folder: Path) -> None:
    state = MonitorState(folder, watch().to_json())
    try:
        board = Board(watch(), Judge(drop=3.0), state.delivered())
        told = run(state, 150, 200, 260)
        for number, text in told.items():
            assert is_record(number, text, state.id)
            board(number, text)
        live_page(board)
        exposed(ReleasedMetrics(board), "")
    finally:
        state.close()


@functools.cache
def databases() -> list[bytes]:
    """The bytes of the file itself."""
    with tempfile.TemporaryDirectory() as name:
        state = MonitorState(Path(name), watch().to_json())
        run(state, -70, 1, 65)
        state.close()
        return [(Path(name) / "monitor.db").read_bytes()]


def read_database(raw: bytes) -> None:
    """In place of the file of a new folder, with the seal and the place of that folder where it can hold them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        MonitorState(folder, watch().to_json()).close()
        own = _facts(folder)
        (folder / "monitor.db").write_bytes(raw)
        with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
            _with_facts(folder, {fact: own[fact] for fact in ("place", "seal")})
        _go_on(folder)


def _facts(folder: Path) -> dict[str, str]:
    with contextlib.closing(sqlite3.connect(folder / "monitor.db")) as base:
        return dict(base.execute("select name, value from facts"))


def _with_facts(folder: Path, facts: dict[str, str]) -> None:
    with contextlib.closing(sqlite3.connect(folder / "monitor.db")) as base:
        for fact in facts.items():
            base.execute("insert or replace into facts values (?, ?)", fact)
        base.commit()


# --- records, and the file that they are written to ---


@functools.cache
def records() -> list[bytes]:
    return [row[1].encode() for row in json.loads(states()[0])["records"]]


def read_record(text: str) -> None:
    """As a line that is in the file already; a damaged one is nobody's record, and the next one follows it."""
    known = [each.decode() for each in records()]
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "out.jsonl"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        out = JsonLinesFile(path)
        for each in known:
            out(json.loads(each)["number"], each)
        assert path.read_bytes().startswith(text.encode("utf-8", "surrogateescape"))
    for each in known:
        content = json.loads(each)
        is_record(content["number"], text, content["monitor"])


# --- lines of logs ---

_ZEEK = b"#separator \\x09\n#fields\tts\tuid\tquery\torig_bytes\n"
_ZEEK += b"1794830400.5\tC1\texample.org\t17\n1794830401\t-\t(empty)\t-\n"
_LOGS = {
    "zeek": _ZEEK + b"#fields\tquery\tts\torig_bytes\nx.org\t1794830402.25\t3\n",
    "json": b'{"query":"a","ts":"2026-11-16T12:00:00.5+01:00","orig_bytes":3}\n{"query":"b","ts":1794830400}\nno\n',
    "csv": b'query,ts,orig_bytes\n"a ""b"",c",1794830400,3\nx,2026-11-16 12:00:00Z,1\nunterminated",1,1\n',
    "tsv": b"query\tts\torig_bytes\na\t1794830400\t3\n\xef\xbb\xbfx\t9999-12-31T23:59:59Z\t2\n",
    "lines": b"one\ntwo words\n\xff\xfe\n\n",
}
_TIMES = [b"1794830400", b"-1", b"99999999999999999999", b"2026-02-30T00:00:00Z", b"0001-01-01T00:00:00Z", b"1e9", b"."]


def logs() -> list[bytes]:
    return [name.encode() + b"\n" + content for name, content in _LOGS.items()]


def log_mutant(rng: Random, raw: bytes) -> bytes:
    """Bytes or whole cells of the content changed; the format stays."""
    name, _, content = raw.partition(b"\n")
    if rng.random() < 0.3:
        content = content.replace(b"1794830400", rng.choice(_TIMES), 1)
    lines = content.split(b"\n")
    if rng.random() < 0.3:
        at = rng.randrange(len(lines))
        lines[at:at] = [rng.choice(lines)] * rng.choice((1, 2))
    return name + b"\n" + bytes_mutant(rng, b"\n".join(lines))


def read_log(raw: bytes) -> None:
    """Every line is a row or a bad line, whatever the others are, and both ways to read find the same."""
    name, _, content = raw.partition(b"\n")
    format = name.decode()
    if format == "lines":
        fields = LineFields.of(format=format)
    else:
        fields = LineFields.of(format=format, key=("query",), time="ts", value="orig_bytes", max_value=100)
    found = []
    with DuckDB() as duckdb:
        for strict in (False, True):
            reader = LineReader(fields, 60, "log", duckdb, strict=strict)
            now = NOON * SECOND
            rows = reader.rows(Block(content, now, now, head=content[:4096], begins=True))
            assert rows.bad >= 0
            assert len(rows.windows) + rows.bad <= content.count(b"\n") + 1
            assert all(len(key) == len(rows.windows) for key in rows.keys)
            found.append((rows.windows.tolist(), rows.bad))
    assert found[0] == found[1], "named faults change what is counted"
