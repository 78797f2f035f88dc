"""Every decoder of the library with seeds for its mutants, and what is done with an object that it accepts.

A decoder gives a typed error, or an object that prints in bounds and is written again as it was read.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sqlite3
import struct
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import fuzz_engines
import fuzz_monitor
import fuzz_pages
from fuzz_arrow import arrow_mutant, read_arrow
from fuzz_mutate import NUMBERS, OTHERS, bytes_mutant, json_mutant, sealed, unsealed
from fuzz_seeds import collector_mutant, collectors, plans, same, secret, shown
from plan_texts import first_content, second_content, text_of

import stablesketch as ss
from stablesketch._native import json_texts, seconds
from stablesketch.collector import checkpoint, wire
from stablesketch.collector.wire import merge_blobs
from stablesketch.format.framing import Kind, framed
from stablesketch.ledger.accounting import ComposedCost
from stablesketch.ledger.record import Ask
from stablesketch.ledger.rows import Budget, Head, _checksum
from stablesketch.privacy.charge import Charge
from stablesketch.secret import file as secret_file
from stablesketch.secret.bits import Bits
from stablesketch.sketch.distinct import DistinctRegisters
from stablesketch.sketch.entropy_sketch import EntropySketch


@dataclass(frozen=True)
class Target:
    """`mutant` makes an input of a seed; `decode` raises a StablesketchError or is content.

    One that takes long has a fraction of the inputs of the others, 1/`slow`.
    """

    name: str
    seeds: Callable[[], list[bytes]]
    mutant: Callable[[Random, bytes], bytes]
    decode: Callable[[bytes], None]
    slow: int = 1


FIXTURES = Path(__file__).parents[1] / "data" / "wire" / "v1"


def stored_once(*, entropy: bool) -> list[bytes]:
    """The sketches of entropy, or the others, that earlier versions wrote."""
    paths = (path for path in sorted(FIXTURES.glob("*.ssk")) if "collector" not in path.name)
    return [path.read_bytes() for path in paths if ("entropy" in path.name) == entropy]


@functools.cache
def old_plans() -> list[bytes]:
    """As versions 1 and 2 of the format wrote them."""
    found = []
    for plan in plans():
        for content in (first_content, second_content):
            with contextlib.suppress(ss.StablesketchError):  # not every plan of today could be written then
                text = text_of(content(plan))
                ss.Plan.from_json(text)
                found.append(text.encode())
    return found


@functools.cache
def all_collectors() -> list[bytes]:
    """With today's plans, with those of earlier versions where they can hold the same, and as those wrote them."""
    found = collectors() + [path.read_bytes() for path in sorted(FIXTURES.glob("collector*.ssk"))]
    for plan, blob in zip(plans(), collectors(), strict=True):
        _, shards, expected, state = wire.decode(blob)
        with contextlib.suppress(ss.StablesketchError):
            old = wire.encode(text_of(second_content(plan)), shards, expected, state)
            ss.Collector.from_bytes(old, secret())
            found = [*found, old]
    return found


@functools.cache
def sketches() -> list[bytes]:
    found = []
    for sketch in (
        ss.Sketch(0.5, 4, secret(), law="symmetric"),
        ss.Sketch(0.05, 2, secret(), law="symmetric"),
        ss.Sketch(1.0, 3, secret(), law="symmetric"),
        ss.Sketch(0.5, 4, secret(), law="one-sided"),
        ss.Sketch(0.05, 2, secret(), law="one-sided"),
        ss.Sketch(0.999, 3, secret(), law="one-sided"),
        ss.Sketch(2.0, 3, secret(), law="symmetric"),
        ss.Sketch(0.5, 12, secret(), buckets=3),
        ss.Sketch(0.05, 4, secret(), buckets=2),
    ):
        sketch.update(["ape", "bee", "ape"], [1, 2**53, 3])
        found.append(sketch.to_bytes())
    return [*found, ss.Sketch(0.5, 1, secret(), law="symmetric").to_bytes(), *stored_once(entropy=False)]


@functools.cache
def entropy_sketches() -> list[bytes]:
    found = []
    for sketch in (EntropySketch(5, secret()), EntropySketch(12, secret(), 3)):
        sketch.update(["ape", "bee", "ape"], [1, 2, 3])
        found.append(sketch.to_bytes())
    return [*found, *stored_once(entropy=True)]


@functools.cache
def registers() -> list[bytes]:
    held = DistinctRegisters(64, secret())
    held.add(["ape", "bee"])
    return [held.to_bytes()]


@functools.cache
def checkpoints() -> list[bytes]:
    return [
        checkpoint._encode(checkpoint.Checkpoint(3, offset, blob))
        for offset, blob in zip(itertools.cycle((None, 17, {"file": "a", "at": [1, 2]})), collectors(), strict=False)
    ]


def checkpoint_mutant(rng: Random, blob: bytes) -> bytes:
    if rng.random() < 0.4:
        return sealed(bytes_mutant(rng, unsealed(blob)))
    number, offset, collector = 3, '{"file":"a","at":[1,2]}', checkpoint._decode(blob).collector
    which = rng.randrange(3)
    if which == 0:
        number = rng.choice((0, 1, 2**63, 2**64 - 1))
    elif which == 1:
        offset = json_mutant(rng, offset)
    else:
        collector = collector_mutant(rng, collector)
    raw = offset.encode("utf-8", "surrogatepass")
    return framed(
        Kind.CHECKPOINT, struct.pack("<QI", number, len(raw)), raw, struct.pack("<Q", len(collector)), collector
    )


@functools.cache
def releases() -> list[bytes]:
    found = []
    for plan in plans():
        collector = plan.open(secret(), shard="eu-1")
        collector.update([str(i % 300) for i in range(1000)])
        try:
            found.append(collector.release().to_json().encode())
        except ss.StablesketchError:
            continue  # the stream of the seeds is not the one this plan promises
    return found


@functools.cache
def asks() -> list[bytes]:
    return [Ask.of_plan(plan).to_json().encode() for plan in plans()]


@functools.cache
def mechanisms() -> list[bytes]:
    return [Ask.of_plan(plan).charge.to_json().encode() for plan in plans()]


@functools.cache
def costs() -> list[bytes]:
    some = Charge("exact", epsilon=1.0, distance=3)
    return [ComposedCost.of(some, "replace", None).to_bytes(), ComposedCost.of(some, "add_remove", 2.0).to_bytes()]


@functools.cache
def secret_files() -> list[bytes]:
    bits = bytes(range(32))
    checksum = secret_file._checksum(Bits(lambda: bits))
    body = f"{secret_file._SPENT}\n{'ab' * 8}\n2026-01-01T00:00:00+00:00\n"
    fresh = f"{secret_file._FRESH}\n{bits.hex()}\n{checksum}\n"
    return [fresh.encode(), f"{body}{secret_file._digest(body)}\n".encode()]


def secret_mutant(rng: Random, raw: bytes) -> bytes:
    """Any change; of a spent file, with its checksum put right."""
    changed = bytes_mutant(rng, raw)
    lines = changed.decode("latin-1").split("\n")
    if rng.random() < 0.5 and lines[0] == secret_file._SPENT and len(lines) >= 4:
        body = "\n".join(lines[:3]) + "\n"
        return f"{body}{secret_file._digest(body)}\n".encode("latin-1")
    return changed


def _text(decode: Callable[[str], None]) -> Callable[[bytes], None]:
    return lambda raw: decode(raw.decode("utf-8", "surrogateescape"))


def _json_bytes(rng: Random, raw: bytes) -> bytes:
    return json_mutant(rng, raw.decode()).encode("utf-8", "surrogateescape" if rng.random() < 2 else "strict")


def read_sketch(blob: bytes) -> None:
    sketch = ss.Sketch.from_bytes(blob)
    shown(sketch)
    same(sketch.to_bytes(), blob)
    both = sketch + sketch
    shown(both, both.estimate("geometric_mean"))


def read_entropy_sketch(blob: bytes) -> None:
    sketch = EntropySketch.from_bytes(blob)
    shown(sketch)
    same(sketch.to_bytes(), blob)
    sketch.bucket_locations()


def read_registers(blob: bytes) -> None:
    held = DistinctRegisters.from_bytes(blob)
    shown(held, held.estimate())
    same(held.to_bytes(), blob)
    held.merge(DistinctRegisters.from_bytes(registers()[0]))


def read_collector(blob: bytes) -> None:
    collector = ss.Collector.from_bytes(blob, secret())
    shown(collector, collector.plan)
    text, shards, expected, state = wire.decode(blob)
    if text != collector.plan.to_json():  # as plans were written once
        assert collector.plan.is_written_as(text)
        blob = wire.encode(collector.plan.to_json(), shards, expected, state)
    same(collector.to_bytes(), blob)
    collector.update(["one more"])
    collector.to_bytes()


def release_collector(blob: bytes) -> None:
    release = ss.Collector.from_bytes(blob, secret()).release()
    shown(release)
    same(ss.Release.from_json(release.to_json()), release)


def merge_collectors(blob: bytes) -> None:
    for other in collectors():
        if wire.decode(other)[0] == wire.decode(blob)[0]:
            text, _, expected, state = wire.decode(other)
            merge_blobs([blob, wire.encode(text, ["us-1"], expected, state)])
    merge_blobs([blob])


def read_checkpoint(blob: bytes) -> None:
    handle, name = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(blob)
        collector = ss.Collector.resume(name, secret())
        shown(collector)
        collector.checkpoint(name, collector.offset)
    finally:
        os.unlink(name)


def read_plan(text: str) -> None:
    plan = ss.Plan.from_json(text)
    shown(plan)
    same(ss.Plan.from_json(plan.to_json()), plan)
    plan.open(secret(), shard="a").to_bytes()


def read_release(text: str) -> None:
    release = ss.Release.from_json(text)
    shown(release)
    same(ss.Release.from_json(release.to_json()), release)


def read_ask(text: str) -> None:
    ask = Ask.from_json(text)
    repr(ask)
    same(ask.to_json(), text)


def read_mechanism(text: str) -> None:
    """A charge as a ledger stores it: within what a release asks for."""
    known = Charge("other")
    ask = Ask.from_json(Ask("a mechanism", known, 1.0, 0.0, "add_remove", 1).to_json().replace(known.to_json(), text))
    shown(ask.charge)
    same(ask.charge.to_json(), text)


def read_cost(blob: bytes) -> None:
    cost = ComposedCost.from_bytes(blob)
    same(cost.to_bytes(), blob)
    assert cost.delta(0.5) >= 0.0
    cost.epsilon(1e-6)


def read_secret(raw: bytes) -> None:
    handle, name = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        shown(secret_file.read(Path(name)))
    finally:
        os.unlink(name)


# A row of a ledger is Head or Budget here; rows of releases are checked by the chain (test_edited_ledgers.py).
HEAD = ["replace", 1, 0, 3, bytes(32), "2026-01-01T00:00:00+00:00", b""]
BUDGET = [1, "", 1.0, 1e-6, None, 3, 0, b"", "", ""]


def row_mutant(rng: Random, raw: bytes) -> bytes:
    """Which row, which column, and what stands there instead: as the numbers that choose it."""
    return rng.randbytes(4)


def read_row(raw: bytes) -> None:
    """A row of the ledger with another value in one column and the checksum that fits it."""
    choice = Random(raw)
    head = choice.random() < 0.5
    row: list[Any] = list(HEAD if head else BUDGET)
    odd = [n for n in NUMBERS if not isinstance(n, int) or abs(n) < 2**63] + [
        o for o in OTHERS if not isinstance(o, list | dict)
    ]
    at = choice.randrange(len(row))
    row[at] = choice.choice([*odd, b"", bytes(31), bytes(32)])
    if row[at] == "\ud800":
        row[at] = "d800"
    path = Path("ledger")
    connection = sqlite3.connect(":memory:")
    try:
        names = (
            "relation, pairs_per_person, adaptive, releases, chain, last_time, spent"
            if head
            else "id, name, epsilon, delta, theta, releases, after, cache, per, period"
        )
        table = "ledger" if head else "budgets"
        connection.execute(f"CREATE TABLE {table} ({names}, checksum)")
        stored = [None if value != value else value for value in row]
        marks = ", ".join("?" * (len(row) + 1))
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", (*stored, _checksum(tuple(stored))))
        if head:
            found = Head.read(connection, path)
            assert type(found.releases) is int
            assert found.releases >= 0
            assert len(found.chain) == 32
        else:
            for budget in Budget.read_all(connection, path):
                assert budget.epsilon > 0.0
                assert 0.0 < budget.delta < 1.0
    finally:
        connection.close()


def _blob_mutant(rng: Random, blob: bytes) -> bytes:
    return sealed(bytes_mutant(rng, unsealed(blob)))


LINES = [
    b'{"k":"a","t":1794830400.5,"flow":{"k":[1,-2.5,{"x":null}],"q":"long enough to be read in words"}}\n{"k":17}',
    b'{"flow.k":"x\\n","t":"2026-11-16T12:00:00.5+01:00" ,"b":[true]}\r\n\n{"flow":{"k":"y"}}\n{"k":"\xc3\xa9"}\n',
]


def read_lines(raw: bytes) -> None:
    """Every line is plain or not, and the texts and the others are within the lines."""
    fields = [["k"], ["t"], ["flow.k"]]
    ways = [*enumerate(fields), (2, ["flow", "k"])]
    columns, count, numbers, others = json_texts(raw, 3, ways)
    assert count == raw.count(b"\n") + (not raw.endswith(b"\n") and raw != b"")
    for _, ends, texts in columns:
        assert len(ends) == count - len(numbers) + 1
        assert ends[-1] == len(texts) <= len(raw) - len(others)
        seconds(ends, texts, 1)


TARGETS = [
    Target("sketch", sketches, _blob_mutant, read_sketch),
    Target("entropy", entropy_sketches, _blob_mutant, read_entropy_sketch),
    Target("registers", registers, _blob_mutant, read_registers),
    Target("collector", all_collectors, collector_mutant, read_collector),
    Target("released", all_collectors, collector_mutant, release_collector),
    Target("merged", all_collectors, collector_mutant, merge_collectors),
    Target("checkpoint", checkpoints, checkpoint_mutant, read_checkpoint),
    Target("plan", lambda: [plan.to_json().encode() for plan in plans()] + old_plans(), _json_bytes, _text(read_plan)),
    Target("release", releases, _json_bytes, _text(read_release)),
    Target("secret", secret_files, secret_mutant, read_secret),
    Target("ask", asks, _json_bytes, _text(read_ask)),
    Target("mechanism", mechanisms, _json_bytes, _text(read_mechanism)),
    Target("cost", costs, bytes_mutant, read_cost),
    Target("row", lambda: [b""], row_mutant, read_row),
    Target("arrow", lambda: [b""], arrow_mutant, read_arrow),
    Target("lines", lambda: LINES, bytes_mutant, read_lines),
    Target("state", fuzz_monitor.states, fuzz_monitor.state_mutant, fuzz_monitor.read_state, 10),
    Target("database", fuzz_monitor.databases, bytes_mutant, fuzz_monitor.read_database, 10),
    Target("record", fuzz_monitor.records, _json_bytes, _text(fuzz_monitor.read_record), 10),
    Target("log", fuzz_monitor.logs, fuzz_monitor.log_mutant, fuzz_monitor.read_log, 10),
    Target("accumulator", fuzz_engines.accumulators, fuzz_engines.accumulator_mutant, fuzz_engines.read_accumulator),
    Target("spark", fuzz_engines.rows, fuzz_engines.row_mutant, fuzz_engines.merge_rows),
    Target("failure", fuzz_engines.failures, _json_bytes, _text(fuzz_engines.read_failure)),
    Target("table", fuzz_engines.tables, fuzz_engines.table_mutant, fuzz_engines.merge_table),
    Target("question", fuzz_pages.questions, _json_bytes, _text(fuzz_pages.read_question), 10),
    Target("head", fuzz_pages.heads, bytes_mutant, _text(fuzz_pages.read_head)),
]  # fmt: skip
BY_NAME = {target.name: target for target in TARGETS}
