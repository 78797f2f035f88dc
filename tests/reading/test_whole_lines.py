"""A row that is skipped, or broken, takes no other row with it: one person changes their own pairs and no others."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.collector import Collector
from stablesketch.engines.local import run
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.reading.found import Input

SECRET = bytes(range(32))
PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=7, relation="replace"), mechanism="exact")
OTHERS = [f"key {i},1" for i in range(40)]
COLUMNS = Columns(("k",), "n")


def state(data: object, on_bad: str, how: Input | None = None, columns: Columns = COLUMNS) -> bytes:
    secret = ss.Secret.from_bytes(SECRET)
    return collected_shard(data, PLAN, secret, "s", Reading(columns, how or Input(), on_bad)).to_bytes()  # type: ignore[arg-type]


def counted(keys: list[str]) -> bytes:
    collector = PLAN.open(ss.Secret.from_bytes(SECRET), "s")
    collector.update(keys)
    return collector.to_bytes()


def pairs_beside(blob: bytes, others: list[str]) -> int:
    """How many keys there are besides these, all of which must be there."""
    found = Collector.from_bytes(blob, ss.Secret.from_bytes(SECRET))._held()
    wanted = Collector.from_bytes(counted(others), ss.Secret.from_bytes(SECRET))._held()
    assert wanted._totals.items() <= found._totals.items()  # type: ignore[attr-defined]
    return len(found._totals) - len(wanted._totals)  # type: ignore[attr-defined]


ODD = ['"q,1', 'q,"1', '""', '"""', '"q"x"', 'q"q,1', 'q,1"', '  "q,1', '"q" ,1', "q,1,1", "q", "\rq,1", "q,1\r", "q,"]


@pytest.mark.parametrize(("kind", "end"), [("e.csv", "\n"), ("e.csv.gz", "\r\n"), ("pipe", "\n")])
def test_an_odd_row_is_refused_or_changes_nothing_else(tmp_path: Path, kind: str, end: str) -> None:
    keys = [line.split(",")[0] for line in OTHERS]
    for odd in ODD:
        raw = end.join(["k,n", *OTHERS[:20], odd, *OTHERS[20:], ""]).encode()
        data: object = tmp_path / kind
        how = Input("csv", stdin=io.BytesIO(raw)) if kind == "pipe" else None
        if kind == "pipe":
            data = "-"
        else:
            (tmp_path / kind).write_bytes(gzip.compress(raw) if kind.endswith("gz") else raw)
        try:
            found = state(data, "skip", how)
        except ss.DataError:
            continue
        assert pairs_beside(found, keys) <= 1, odd


@pytest.mark.parametrize("raw", [
    "k,n\na,1\n\"q,1\nb,1\nc,1\n",  # a quote that never ends
    "k,n\na,1\nq,\"1\nb,1\nc,1\n",
    "k,n\na,1\n\"q,1\nb,1\nr,1\"\nc,1\n",  # one that ends in a row of somebody else: too few cells
    "k,n\na,1\nq,\"1\nb,1\nr\"\nc,1\n",  # or a value that is none
    "k,n,more\na,1,\n,1,\"q\nb,1,x\nr\"\nc,1,x\n",  # in a column that is not even read
])  # fmt: skip
def test_a_row_that_is_skipped_is_one_line(tmp_path: Path, raw: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(raw)
    with pytest.raises(ss.DataError, match=r"e\.csv, row 3: unterminated quotes or mixed line endings"):
        state(path, "skip")
    with pytest.raises(ss.DataError):
        state(path, "error")
    with pytest.raises(ss.DataError):
        state("-", "skip", Input("csv", stdin=io.BytesIO(raw.encode())))


def test_rows_of_several_lines_that_are_pairs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text('k,n\n"two\nlines",1\n,1\nb,1\n')
    assert state(path, "skip") == counted(["two\nlines", "b"])
    path.write_text('k,n\n"quoted, ""so""",1\nb,1,1\nc,1\n')
    assert state(path, "skip") == counted(['quoted, "so"', "c"])


def test_a_long_file_does_not_lose_rows_to_a_quote(tmp_path: Path) -> None:
    """Several threads read it, and what they report of the line at fault is not always that line."""
    path = tmp_path / "long.csv"
    lines = "".join(f"key {i},1\n" for i in range(300_000))
    path.write_text(f'k,n\n{lines}q,"1\n{lines}')
    with pytest.raises(ss.DataError, match="row 300,002: unterminated quotes"):
        state(path, "skip")
    with pytest.raises(ss.DataError, match="row 300,002: unterminated quoted field") as refused:
        state(path, "error")  # found after the first batches
    assert "key" not in str(refused.value)


@pytest.mark.parametrize("on_bad", ["error", "skip"])
def test_a_pipe_that_ends_within_quotes_is_refused(on_bad: str) -> None:
    """Arrow would silently read all rows after the quote as one cell."""
    raw = b'n,k\n1,a\n1,"q\n1,b\n1,c\n'
    with pytest.raises(ss.DataError, match="unterminated quoted field"):
        state("-", on_bad, Input("csv", stdin=io.BytesIO(raw)))


@pytest.mark.parametrize("on_bad", ["error", "skip"])
@pytest.mark.parametrize(("raw", "keys"), [
    (b"k,n\na,1\nb,1", ["a", "b"]), (b"k,n\na,1\nb,1\n", ["a", "b"]), (b"k,n\r\na,1\r\nb,1\r\n\r\n", ["a", "b"]),
    (b"k,n\n", []), (b"k,n", []), (b'k,n\n"a",1\n"b ""c""",1', ["a", 'b "c"']),
])  # fmt: skip
def test_what_a_pipe_ends_with(on_bad: str, raw: bytes, keys: list[str]) -> None:
    assert state("-", on_bad, Input("csv", stdin=io.BytesIO(raw))) == counted(keys)


def test_a_line_that_ends_otherwise_does_not_change_the_next(tmp_path: Path) -> None:
    path = tmp_path / "e.txt"
    for raw in (b"a\r\nq\r\r\nb\r\n", b"a\r\nq\rq\r\nb\r\n", b"q\r\r\na\nb\n"):
        path.write_bytes(raw)
        assert pairs_beside(state(path, "error", columns=Columns(("line",))), ["a", "b"]) == 1


def test_skipped_rows_of_whole_keys_are_not_counted_out(tmp_path: Path) -> None:
    """Under replace the numbers of valid and invalid rows are public; but a key may have any number of rows."""
    path = tmp_path / "e.csv"
    path.write_text("k,n\na,1\na,\na,\nb,1\n")
    for unit, skipped in (("pair", 2), ("key", None)):
        privacy = ss.Privacy(1.0, 1e-6, 0, max_value=7, unit=unit, relation="replace")  # type: ignore[arg-type]
        question = ss.question(
            ss.Moment(0.5), privacy, key=COLUMNS.key, value=COLUMNS.value, mechanism="exact", on_bad="skip",
            count_pairs=True,
        )  # fmt: skip
        assert run(question, path).skipped == skipped
