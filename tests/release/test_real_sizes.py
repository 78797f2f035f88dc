"""Files as large as people have: every format, plain and compressed, over three read buffers, all threads, many times.

Each time the whole state is compared with one that counts the same rows in plain Python.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stablesketch as ss
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.reading.duckdb import DuckDB
from stablesketch.reading.found import Input
from stablesketch.reading.opened import opened

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=9, relation="replace"), mechanism="exact")
SECRET = bytes(range(32))
TIMES = 20
ENOUGH = 100_000_000  # bytes: DuckDB reads 32 MB at a time
Row = tuple[str, str, int]


def rows(count: int, seed: int) -> Iterator[Row]:
    """(app, filler, n): names with delimiters, quotes and letters of several bytes among them."""
    draw = random.Random(seed)
    odd = ["a, b", 'the "app"', "größe", "大", "tab\there", " space "]
    for i in range(count):
        app = odd[i % len(odd)] if i % 997 == 0 else f"app {int(draw.paretovariate(0.7)) % 50_000}"
        yield app, f"person {i:09d} {'x' * 90}", 1 + i % 9


def in_csv(found: list[Row], delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["app", "filler", "n"])
    writer.writerows(found)
    return text.getvalue().encode()


def in_json(found: list[Row]) -> bytes:
    return "".join(json.dumps({"app": a, "filler": f, "n": n}) + "\n" for a, f, n in found).encode()


def zstd(raw: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(raw)
    return sink.getvalue().to_pybytes()


FORMATS: dict[str, Callable[[list[Row]], bytes]] = {
    "csv": lambda found: in_csv(found, ","),
    "tsv": lambda found: in_csv(found, "\t"),
    "jsonl": in_json,
    "txt": lambda found: "".join(f"{app}{filler[-80:]}\n" for app, filler, _ in found).encode(),
}
PACKED: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": lambda raw: gzip.compress(raw, 1), ".zst": zstd}


def counted_here(raw: bytes, kind: str) -> Counter[str]:
    """Totals by key, computed with Python's own readers."""
    totals: Counter[str] = Counter()
    text = io.StringIO(raw.decode(), newline="")
    if kind == "txt":
        totals.update(line.rstrip("\n") for line in text)
    elif kind == "jsonl":
        for line in text:
            one = json.loads(line)
            totals[one["app"]] += one["n"]
    else:
        for row in csv.DictReader(text, delimiter="\t" if kind == "tsv" else ","):
            totals[row["app"]] += int(row["n"])
    return totals


def wanted(totals: Counter[str], pairs: int) -> tuple[dict[int, int], int]:
    collector = PLAN.open(ss.Secret.from_bytes(SECRET))
    prints = collector.fingerprint(list(totals)).tolist()
    return dict(zip(prints, totals.values(), strict=True)), pairs


def found_by(data: object, kind: str, how: Input | None = None) -> tuple[dict[int, int], int]:
    columns = Columns(("line",)) if kind == "txt" else Columns(("app",), "n")
    held = collected_shard(data, PLAN, ss.Secret.from_bytes(SECRET), "s", Reading(columns, how or Input()))._held()
    return dict(held._totals), held.pairs  # type: ignore[attr-defined]


def split(raw: bytes, kind: str, parts: int) -> list[bytes]:
    """The same rows in this many files, each with the header."""
    head, body = raw.split(b"\n", 1) if kind in ("csv", "tsv") else (b"", raw)
    lines = body.splitlines(keepends=True)
    each = -(-len(lines) // parts)
    head += b"\n" if head else b""
    return [head + b"".join(lines[i : i + each]) for i in range(0, len(lines), each)]


def test_a_middling_file_of_every_format(tmp_path: Path) -> None:
    """The small version, always run: several buffers of threads, files in one, two and five parts."""
    made = list(rows(20_000, 7))
    for kind, write in FORMATS.items():
        raw = write(made)
        expected = wanted(counted_here(raw, kind), len(made))
        for suffix, pack in PACKED.items():
            for parts in (1, 5):
                files = []
                for i, part in enumerate(split(raw, kind, parts)):
                    files.append(tmp_path / f"{parts}-{i}.{kind}{suffix}")
                    files[-1].write_bytes(pack(part))
                assert found_by(files, kind) == expected, (kind, suffix, parts)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_large_files_give_the_same_count_every_time(tmp_path: Path, kind: str) -> None:
    made = list(rows(300_000, 8))
    raw = FORMATS[kind](made)
    repeated = -(-ENOUGH // len(raw))  # the same rows again, so that Python need not count them all
    head, body = raw.split(b"\n", 1) if kind in ("csv", "tsv") else (b"", raw)
    raw = head + b"\n" * bool(head) + body * repeated
    assert len(raw) >= ENOUGH
    once = counted_here(head + b"\n" * bool(head) + body, kind)
    expected = wanted(Counter({key: total * repeated for key, total in once.items()}), len(made) * repeated)
    columns = Columns(("line",)) if kind == "txt" else Columns(("app",), "n")
    for suffix, pack in PACKED.items():
        one = tmp_path / f"one.{kind}{suffix}"
        one.write_bytes(pack(raw))
        for _ in range(3 if suffix else TIMES):  # one thread unpacks a file, so that none can overtake another
            assert found_by(one, kind) == expected, suffix
        for _ in range(TIMES):  # opened by all threads; what the header is must not depend on which is first
            with DuckDB() as engine:
                engine._connection.execute("set threads = 8")
                opened(engine, one, columns, Input(), "error")
        parts = split(raw, kind, 20)
        files = [tmp_path / f"{i}.{kind}{suffix}" for i in range(len(parts))]
        for path, part in zip(files, parts, strict=True):
            path.write_bytes(pack(part))
        for _ in range(TIMES):
            with DuckDB() as engine:
                engine._connection.execute("set threads = 8")
                opened(engine, files, columns, Input(), "error")
        assert found_by(files, kind) == expected, suffix
        halves = [tmp_path / f"half {i}.{kind}{suffix}" for i in range(2)]
        for half, part in zip(halves, split(raw, kind, 2), strict=True):
            half.write_bytes(pack(part))
        assert found_by(halves, kind) == expected, suffix


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
def test_large_parquet_files(tmp_path: Path, codec: str) -> None:
    made = list(rows(1_000_000, 9))
    apps, fillers, ns = (list(column) for column in zip(*made, strict=True))
    table = pa.table({"app": apps, "filler": fillers, "n": ns})
    assert table.nbytes >= ENOUGH
    totals: Counter[str] = Counter()
    for app, n in zip(apps, ns, strict=True):
        totals[app] += n
    expected = wanted(totals, len(made))
    for parts in (1, 2, 20):
        each = -(-len(made) // parts)
        files = []
        for i in range(parts):
            files.append(tmp_path / f"{parts}-{i}.parquet")
            pq.write_table(table.slice(i * each, each), files[-1], compression=codec, row_group_size=30_000)
        for _ in range(TIMES if parts == 1 else 1):
            assert found_by(files, "parquet") == expected, parts


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "tsv", "txt"])
def test_large_pipes(tmp_path: Path, kind: str) -> None:
    """A real pipe from another process, which writes in pieces of its own choosing."""
    made = list(rows(400_000, 10))
    raw = FORMATS[kind](made)
    path = tmp_path / f"e.{kind}"
    path.write_bytes(raw)
    expected = wanted(counted_here(raw, kind), len(made))
    for piece in (4099, 1 << 20):
        code = (
            "import sys; f = open(sys.argv[1], 'rb'); out = sys.stdout.buffer\n"
            f"while piece := f.read({piece}): out.write(piece); out.flush()"
        )
        with subprocess.Popen([sys.executable, "-c", code, os.fspath(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            how = Input(None if kind == "txt" else kind, stdin=writer.stdout)  # type: ignore[arg-type]
            assert found_by("-", kind, how) == expected
        assert writer.returncode == 0
