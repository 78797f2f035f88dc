"""People are bounded on a cluster as on one machine: the same rows, whatever the batches."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from engine_streams import rows, secret

import stablesketch as ss
from stablesketch.bounding.in_one_pass import Bounding, Candidates, kept_rows
from stablesketch.bounding.persons import bounded_in_sql
from stablesketch.bounding.ranks import Ranks
from stablesketch.reading.columns import Columns
from stablesketch.reading.duckdb import DuckDB

COLUMNS = Columns(("app", "day"), "n", ("country",), "who")


def table() -> pa.Table:
    named = zip(["k0", "v", "k1", "g0", "u"], zip(*rows(), strict=True), strict=True)
    found = pa.table({name: list(column) for name, column in named})
    found = found.select(["k0", "k1", "v", "g0", "u"])
    twice = pa.concat_tables([found, found.slice(0, len(found) // 2), found.slice(0, 99)])  # rows that are alike
    return twice.sort_by([(name, "ascending") for name in ("u", "k0", "k1", "v", "g0")])


def kept_by_sql(pairs: int, groups: int) -> Counter[tuple[object, ...]]:
    """The rule as it is written in SQL, which shares no line with the one under test."""
    with DuckDB() as engine:
        engine.register("frame", table())
        query = bounded_in_sql(
            engine, "select * from frame", COLUMNS, pairs=pairs, groups=groups, ranks=Ranks(secret()), source="test"
        )
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
    for wrong in (0, True, 1.5):
        with pytest.raises(ss.ArgumentError, match=f"groups_per_person must be at least 1, got {wrong}"):
            Bounding(1, wrong, 1)  # type: ignore[arg-type]


def test_there_is_nothing_to_keep_of_nothing(tmp_path: Path) -> None:
    assert list(kept_rows([], Bounding(1, 1, 0), secret())) == []


RANKS = Ranks(secret())


def of_group(group: str) -> int:
    return int(RANKS.of_groups(["me"], [group])[0])


def of_pair(key: str, group: str, number: int = 0) -> int:
    return int(RANKS.of_copies(RANKS.of_pairs(["me"], [key], [group]), np.array([number]))[0])


def test_the_smallest_ranks_of_rows_that_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = int(RANKS.of_pairs(["me"], ["key"], ["group"])[0])
    wanted = sorted(of_pair("key", "group", number) for number in range(50))
    for block in (1, 7, 50, 1000):
        monkeypatch.setattr("stablesketch.bounding.ranks._BLOCK", block)
        assert RANKS.smallest(shared, 50, 9) == wanted[:9]
        assert RANKS.smallest(shared, 3, 9) == sorted(of_pair("key", "group", number) for number in range(3))


def brute_force(rows: list[tuple[str, str]], pairs: int, groups: int) -> list[tuple[str, str]]:
    """The definition: the groups of the smallest ranks, and of their pairs those of the smallest."""
    chosen = sorted({group for group, _ in rows}, key=of_group)[:groups]
    left = [row for row in rows if row[0] in chosen]
    return sorted(left, key=lambda row: of_pair(row[1], row[0]))[:pairs]


def take(rule: Bounding, found: Candidates[tuple[str, str]], group: str, key: str) -> None:
    rule.take(found, (group,), lambda: of_group(group), (of_pair(key, group), (key, group)), (group, key))


@pytest.mark.parametrize(("pairs", "groups"), [(1, 1), (1, 3), (2, 1), (3, 2), (7, 5), (50, 50)])
def test_candidates_of_one_person_merge_in_any_order(pairs: int, groups: int) -> None:
    """Random rows, dealt to random heaps, merged in random order: what is kept is what the definition keeps."""
    dice = random.Random(f"{pairs} {groups}")
    rule = Bounding(pairs, groups)
    for _ in range(60):
        rows = [(f"group {dice.randrange(9)}", f"key {dice.randrange(6)}") for _ in range(dice.randrange(1, 50))]
        heaps: list[Candidates[tuple[str, str]]] = [Candidates() for _ in range(dice.randrange(1, 8))]
        for group, key in rows:
            take(rule, dice.choice(heaps), group, key)
        while len(heaps) > 1:
            taken = heaps.pop(dice.randrange(len(heaps)))
            rule.merge(dice.choice(heaps), taken)
            assert all(len(one.groups) <= groups for one in heaps)
            assert all(len(ones) <= 4 * pairs for one in heaps for _, ones in one.groups.values())
        kept = rule.kept(heaps[0])
        assert kept == brute_force(rows, pairs, groups)
        assert len(kept) <= pairs
        assert len({group for group, _ in kept}) <= groups


def test_merging_leaves_the_other_as_it_was() -> None:
    rule = Bounding(2, 2)
    one, other = Candidates[tuple[str, str]](), Candidates[tuple[str, str]]()
    for i in range(6):
        take(rule, other, "group", f"key {i}")
    before = list(other.rows())
    rule.merge(one, other)
    take(rule, one, "group", "another")
    assert list(other.rows()) == before
