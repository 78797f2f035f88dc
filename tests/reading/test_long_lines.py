"""Lines up to the stated length are keys through every door; longer ones are refused, and not shown."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stablesketch as ss
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.reading.found import Input
from stablesketch.reading.lines import LONGEST_LINE, whole_lines

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=7, relation="replace"), mechanism="exact")
SECRET = bytes(range(32))
ROOM = 12  # for the other cells and the end of the line


def state(data: object, how: Input | None = None, on_bad: str = "error", key: str = "line") -> bytes:
    return collected_shard(  # type: ignore[arg-type]
        data, PLAN, ss.Secret.from_bytes(SECRET), "s", Reading(Columns((key,)), how or Input(), on_bad)
    ).to_bytes()


def counted(keys: list[str]) -> bytes:
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(keys)
    return collector.to_bytes()


def of_lines(keys: list[str]) -> bytes:
    return "".join(f"{key}\n" for key in keys).encode()


def of_csv(keys: list[str]) -> bytes:
    return b"line,n\n" + "".join(f"{key},1\n" for key in keys).encode()


DOORS: dict[str, Callable[[Path, list[str]], tuple[object, Input | None]]] = {
    "lines of a pipe": lambda _, keys: ("-", Input(stdin=io.BytesIO(of_lines(keys)))),
    "csv of a pipe": lambda _, keys: ("-", Input("csv", stdin=io.BytesIO(of_csv(keys)))),
    "lines of a file": lambda folder, keys: (written(folder / "e.txt", of_lines(keys)), None),
    "csv of a file": lambda folder, keys: (written(folder / "e.csv", of_csv(keys)), None),
    "csv of a packed file": lambda folder, keys: (written(folder / "e.csv.gz", gzip.compress(of_csv(keys), 1)), None),
}


def written(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("door", DOORS)
def test_the_longest_line_is_a_key_and_a_longer_one_is_refused(tmp_path: Path, door: str) -> None:
    longest = "k" * (LONGEST_LINE - ROOM)
    data, how = DOORS[door](tmp_path, ["a", longest, "b"])
    assert state(data, how) == counted(["a", longest, "b"])
    data, how = DOORS[door](tmp_path, ["a", "b", "secret" * LONGEST_LINE, "c"])
    with pytest.raises(ss.DataError, match=r"longer than the maximum of 2,000,000 bytes\. Shorten it") as refused:
        state(data, how)
    assert "secret" not in str(refused.value)
    first = 1 if "lines" in door else 2
    assert refused.value.row in (first + 2, None)
    assert refused.value.row is not None or door == "csv of a pipe"


def test_the_way_out_works(tmp_path: Path) -> None:
    keys = ["k" * 3_000_000, "a"]
    pq.write_table(pa.table({"line": keys}), tmp_path / "e.parquet")
    assert state(tmp_path / "e.parquet") == state(pa.table({"line": keys})) == counted(keys)


def test_an_object_of_json_has_a_limit_too(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    long = "k" * 15_000_000
    path.write_text(json.dumps({"line": long}) + "\n" + json.dumps({"line": "a"}) + "\n")
    assert state(path) == counted([long, "a"])
    path.write_text(json.dumps({"line": "secret" * 6_000_000}) + "\n")
    with pytest.raises(ss.DataError, match="an object is longer than 16,777,216 bytes, the maximum") as refused:
        state(path)
    assert "secret" not in str(refused.value)


def test_an_endless_line_is_refused_before_it_fills_the_memory() -> None:
    read = 0

    def endless(size: int) -> bytes:
        nonlocal read
        read += size
        return b"x" * size

    tracemalloc.start()
    try:
        with pytest.raises(ss.DataError, match="row 1: the line is longer"):
            list(whole_lines(endless, "pipe"))
        assert tracemalloc.get_traced_memory()[1] < 8 * LONGEST_LINE
    finally:
        tracemalloc.stop()
    assert read < 4 * LONGEST_LINE


def test_lines_are_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the chunks, every byte comes out once, and whole lines at a time."""
    raw = b"a\n\n" + b"long" * 50 + b"\nb\r\nlast"
    for chunk in (1, 2, 7, 50, 1000):
        monkeypatch.setattr("stablesketch.reading.lines._CHUNK", chunk)
        found = list(whole_lines(io.BytesIO(raw).read, "pipe"))
        assert b"".join(found) == raw
        assert all(part.endswith(b"\n") for part in found[:-1])
