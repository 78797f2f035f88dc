"""People are bounded on a cluster as on one machine: the same rows, whatever the batches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from engine_streams import rows, secret

import stablesketch as ss
from stablesketch.doors.columns import Columns
from stablesketch.doors.engine import Engine
from stablesketch.doors.persons import bounded
from stablesketch.engines.bounding import Bounding, kept_rows

COLUMNS = Columns(("app", "day"), "n", ("country",), "who")


def table() -> pa.Table:
    named = zip(["k0", "v", "k1", "g0", "u"], zip(*rows(), strict=True), strict=True)
    found = pa.table({name: list(column) for name, column in named})
    return found.select(["k0", "k1", "v", "g0", "u"]).sort_by("u")


def kept_by_sql(pairs: int, groups: int) -> Counter[tuple[object, ...]]:
    """The rule as it is written in SQL, which shares no line with the one under test."""
    with Engine() as engine:
        engine.connection.register("frame", table())
        query = bounded(engine, "select * from frame", COLUMNS, pairs=pairs, groups=groups, secret=secret())
        return Counter(engine.rows(query, "test"))


def kept_here(batch: int, pairs: int, groups: int, key: ss.Secret) -> Counter[tuple[object, ...]]:
    batches = table().to_batches(max_chunksize=batch)
    found = kept_rows(batches, Bounding(pairs, groups, 1), key)
    return Counter(tuple(row.values()) for one in found for row in one.to_pylist())


@pytest.mark.parametrize(("pairs", "groups"), [(1, 1), (5, 1), (5, 2), (1000, 2)])
def test_the_same_rows_as_on_one_machine(pairs: int, groups: int) -> None:
    wanted = kept_by_sql(pairs, groups)
    for batch in (1, 7, 64, 10_000):
        assert kept_here(batch, pairs, groups, secret()) == wanted


def test_nobody_has_more_than_allowed_and_the_secret_decides() -> None:
    first = kept_here(50, 4, 1, secret())
    for person in {row[-1] for row in first}:
        own = [row for row in first.elements() if row[-1] == person]
        assert len(own) == 4
        assert len({row[3] for row in own}) == 1
    assert kept_here(50, 4, 1, ss.Secret.from_bytes(bytes(32))) != first


def test_one_person_does_not_depend_on_others() -> None:
    alone = table().filter(pa.compute.equal(table()["u"], 17)).to_batches(max_chunksize=3)
    own = Counter(
        tuple(row.values()) for one in kept_rows(alone, Bounding(3, 1, 1), secret()) for row in one.to_pylist()
    )
    everybody = kept_here(64, 3, 1, secret())
    assert own == Counter(row for row in everybody.elements() if row[-1] == 17)


def test_groups_per_person_is_checked() -> None:
    with pytest.raises(ss.ArgumentError, match="groups_per_person = 0"):
        Bounding(1, 0, 1)


def test_there_is_nothing_to_keep_of_nothing(tmp_path: Path) -> None:
    assert list(kept_rows([], Bounding(1, 1, 0), secret())) == []
