"""Rows that fit into memory are bounded there: the same rows are kept as in SQL."""

from __future__ import annotations

import datetime
import uuid
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.bounding import in_memory, persons
from stablesketch.bounding.persons import bounded_in_sql, pairs_to_keep
from stablesketch.bounding.ranks import Ranks
from stablesketch.reading.columns import Columns
from stablesketch.reading.duckdb import DuckDB

SECRET = ss.Secret.from_bytes(bytes(range(32)))
DICE = np.random.default_rng(7)
ROWS = 3_000
EPOCH = datetime.datetime(1970, 1, 1)


def column(kinds: list[Any], kind: Any = None) -> pa.Array:
    """A column of these cells; many rows are alike."""
    return pa.array(kinds, kind).take(pa.array((len(kinds) * DICE.random(ROWS) ** 2).astype(np.int64)))


KEYS = {
    "text": column([f"k{i}" for i in range(40)] + ["", "é"]),
    "integers": column(list(range(-20, 20))),
    "large integers": column([2**63 + i for i in range(20)], pa.uint64()),
    "days": column([datetime.date(2026, 1, 1 + i) for i in range(30)]),
    "times": column([EPOCH + datetime.timedelta(hours=i) for i in range(30)]),
    "bytes": column([bytes([i, 0]) for i in range(30)]),
    "categories": column([f"k{i}" for i in range(40)]).dictionary_encode(),
}


def both(
    frame: pa.Table, columns: Columns, pairs: int, groups: int, query: str = "select * from frame"
) -> tuple[Counter[Any], Counter[Any], list[Any]]:
    """What is kept in SQL, what is kept in memory, and the types of the columns in both."""
    found, types = [], []
    for way in ("sql", "memory"):
        with DuckDB() as engine:
            engine.register("frame", frame)
            if way == "sql":
                kept = bounded_in_sql(
                    engine, query, columns, pairs=pairs, groups=groups, ranks=Ranks(SECRET), source="test"
                )
            else:
                kept = pairs_to_keep(engine, query, columns, pairs=pairs, groups=groups, secret=SECRET)
                assert "here" in kept
            found.append(Counter(engine.rows(kept, "test")))
            types.append(engine.types(kept, "test"))
    return found[0], found[1], types


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize(("pairs", "groups"), [(1, 1), (3, 2), (1000, 3)])
def test_the_same_rows_as_in_sql_whatever_their_types(kind: str, pairs: int, groups: int) -> None:
    people = pa.array((60 * DICE.random(ROWS) ** 2).astype(np.int64))
    frame = pa.table({"k0": KEYS[kind], "g0": column(["DE", "FR", "IT", ""]), "u": people})
    for own in (frame, frame.rename_columns(["u", "g0", "k0"]).select(["k0", "g0", "u"])):  # as a key, as a person
        wanted, found, (in_sql, here) = both(own, Columns(("app",), None, ("country",), "who"), pairs, groups)
        assert found == wanted
        assert in_sql == here


def test_uuids_and_enums_of_duckdb() -> None:
    """DuckDB hands UUIDs over as text, to fingerprints too."""
    texts = column([str(uuid.UUID(int=i)) for i in range(30)])
    frame = pa.table({"k0": texts, "g0": column(["DE", "FR"]), "u": column([f"u{i}" for i in range(50)])})
    for kind in ("uuid", f"enum({', '.join(repr(one) for one in sorted(set(texts.to_pylist())))})"):
        query = f"select cast(k0 as {kind}) as k0, g0, u from frame"
        wanted, found, _ = both(frame, Columns(("app",), None, ("country",), "who"), 3, 1, query)
        assert found == Counter(tuple(map(str, row)) for row in wanted.elements())


@pytest.mark.parametrize(("pairs", "groups"), [(1, 1), (7, 2)])
@pytest.mark.parametrize("most", [2**62, 5_000])
def test_several_columns_of_keys_and_groups_with_values(
    pairs: int, groups: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the codes of all columns together do not fit into one number, and are numbered again in between."""
    monkeypatch.setattr(in_memory, "_MOST_CODES", most)
    frame = pa.table({
        "k0": KEYS["text"], "k1": KEYS["days"], "v": column(list(range(1, 90))), "g0": column(["DE", "FR", "IT"]),
        "g1": column(["2025", "2026"]), "u": column([f"u{i}" for i in range(70)]),
    })  # fmt: skip
    wanted, found, _ = both(frame, Columns(("app", "day"), "n", ("country", "year"), "who"), pairs, groups)
    assert found == wanted


def test_without_groups_and_with_many_rows_that_are_alike() -> None:
    frame = pa.table({"k0": ["often"] * 5_000 + ["rare"] * 3, "u": ["a"] * 4_000 + ["b"] * 1_003})
    for pairs in (1, 40, 4_500):
        wanted, found, _ = both(frame, Columns(("app",), None, (), "who"), pairs, 1)
        assert found == wanted


class _Alike(Ranks):
    """Ranks of which many are equal."""

    def of_groups(self, person: object, *names: object) -> Any:
        return super().of_groups(person, *names) % np.uint64(2)

    def of_pairs(self, person: object, *columns: object) -> Any:
        return super().of_pairs(person, *columns) % np.uint64(2)


@pytest.mark.parametrize(("pairs", "groups"), [(1, 1), (3, 1), (3, 2)])
def test_equal_ranks_are_left_to_sql(pairs: int, groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persons, "Ranks", _Alike)
    frame = pa.table({"k0": KEYS["text"], "g0": column(["DE", "FR", "IT"]), "u": column(["a", "b", "c"])})
    columns = Columns(("app",), None, ("country",), "who")
    found = []
    for order in (frame, frame.take(pa.array(DICE.permutation(ROWS)))):
        with DuckDB() as engine:
            engine.register("frame", order)
            kept = pairs_to_keep(engine, "select * from frame", columns, pairs=pairs, groups=groups, secret=SECRET)
            assert "here" not in kept
            found.append(Counter(engine.rows(kept, "test")))
    assert found[0] == found[1]


@pytest.mark.parametrize("rows", [0, 100_000])
def test_nothing_and_too_much_are_left_to_sql(rows: int) -> None:
    frame = pa.table({"k0": pa.array(["k"] * rows, pa.string()), "u": pa.array(["u"] * rows, pa.string())})
    with DuckDB() as engine:
        engine.register("frame", frame)
        assert in_memory.held(engine.stream("select * from frame", "test"), most=100_000) is None
        # What was not read to the end does not keep the connection busy.
        assert engine.rows("select count(*) from frame", "test") == [(rows,)]
