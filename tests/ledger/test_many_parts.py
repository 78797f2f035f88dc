"""A ledger with very many parts: no release takes longer than the first, and no edit of a part gives budget back."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.ledger import checksums, composition
from stablesketch.ledger.record import Ask, Entry

PARTS = 40


@pytest.fixture
def ask(exact: ss.Plan) -> Ask:
    return Ask.of_plan(exact)


def entry(ask: Ask, number: int, part: int) -> Entry:
    return Entry(ask, number.to_bytes(8, "little"), "", ("days", f"day {part}"))


@pytest.fixture
def full(path: Path, ask: Ask) -> ss.Ledger:
    """Forty parts with one release of ε = 0.1 each; day 3 has two, so 0.2 is spent of 0.35."""
    ledger = ss.Ledger(path, epsilon=0.35, delta=1e-9)
    ledger.enter([entry(ask, part, part) for part in range(PARTS)])
    ledger.enter([entry(ask, 100, 3)])
    assert ledger.spent() == pytest.approx(0.2)
    return ledger


def edit(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()
    composition.forget()


# Each of these would let day 3 be released more than three times, were it believed.
EDITS = {
    "a part without releases": "DELETE FROM frontier WHERE part = 'day 3'",
    "a part with fewer": "UPDATE frontier SET level = 0 WHERE part = 'day 3'",
    "a part that was moved": "UPDATE frontier SET leaf = leaf + 1 WHERE part = 'day 3'",
    "a part under another name": "UPDATE frontier SET part = 'day x' WHERE part = 'day 3'",
    "no checksums": "DELETE FROM checksums",
    "no checksum of its leaf": "DELETE FROM checksums WHERE node IN (SELECT leaf FROM frontier WHERE part = 'day 3')",
    "a partition that costs nothing": "DELETE FROM partitions",
    "another cost of the partition": "UPDATE partitions SET content = x'00'",
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_part_gives_nothing_back(name: str, full: ss.Ledger, path: Path, ask: Ask) -> None:
    edit(path, EDITS[name])
    full.enter([entry(ask, 101, 3)])
    assert full.spent() == pytest.approx(0.3)
    with pytest.raises(ss.BudgetExceeded):
        full.enter([entry(ask, 102, 3)])
    full.verify()


def test_a_state_that_nobody_covered_is_not_believed(full: ss.Ledger, path: Path, ask: Ask) -> None:
    """A part with three releases is said to be covered by the cost of two: found, because its leaf has changed."""
    other = ss.Ledger(path.with_name("other.db"), epsilon=1.0, delta=1e-9)
    other.enter([entry(ask, part, 3) for part in range(3)])
    with sqlite3.connect(path) as connection:
        connection.execute("ATTACH ? AS other", (str(other.path),))
        connection.execute("INSERT OR IGNORE INTO covered SELECT * FROM other.covered")
        connection.execute("INSERT OR IGNORE INTO costs SELECT * FROM other.costs")
    connection.close()
    composition.forget()
    full.enter([entry(ask, 101, 3)])
    assert full.spent() == pytest.approx(0.3)


def test_rows_that_nobody_reads_are_found_by_verify(full: ss.Ledger, path: Path, ask: Ask) -> None:
    """The cost of the others does not depend on them; `verify` composes everything again from the records."""
    before = rows(path)
    edit(path, "DELETE FROM frontier WHERE part = 'day 7'")
    full.enter([entry(ask, 101, 3)])
    assert full.spent() == pytest.approx(0.3)
    full.verify()
    assert len(rows(path)) == len(before) + 1  # day 3 has a cost of two releases, and one of the third
    for number in (102, 103):
        full.enter([entry(ask, number, 7)])
    with pytest.raises(ss.BudgetExceeded):
        full.enter([entry(ask, 104, 7)])


def rows(path: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT partition, part, level FROM frontier").fetchall()
    connection.close()
    return found


# --- what a release costs ---


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each check reads."""
    read: list[int] = []
    hashed = checksums._hash

    def counting(content: Sequence[object]) -> bytes:
        read.append(len(content))
        return hashed(content)

    monkeypatch.setattr(checksums, "_hash", counting)
    return read


def test_a_release_reads_as_many_rows_after_thousands_of_parts(path: Path, ask: Ask, counted: list[int]) -> None:
    """A check reads one leaf and 256 checksums on each level above it, however many parts there are."""
    ledger = ss.Ledger(path, epsilon=0.35, delta=1e-9)
    ledger.enter([entry(ask, part, part) for part in range(5_000)])
    counted.clear()
    ledger.enter([entry(ask, 9_999, 9_999)])
    ledger.left()
    assert max(counted) <= 257  # the nodes below the root, and the partition
    assert sum(counted) < 5_000
    assert ledger.spent() == pytest.approx(0.1)


def test_leaves_are_65536_and_follow_from_the_identity() -> None:
    leaves = [checksums.leaf_of("days", f"day {part}") for part in range(20_000)]
    assert min(leaves) >= 257
    assert max(leaves) <= 256 + 65_536
    assert len(set(leaves)) > 16_000  # expected 17,233
    assert leaves[:2] == [checksums.leaf_of("days", "day 0"), checksums.leaf_of("days", "day 1")]


def test_every_check_refuses_what_does_not_match(full: ss.Ledger, path: Path) -> None:
    with sqlite3.connect(path) as connection:
        (root,) = connection.execute("SELECT cache FROM budgets").fetchone()
        leaf = checksums.leaf_of("days", "day 3")
        checksums.Checksums(connection, 1, root).check(leaf)
        with pytest.raises(checksums.Stale):
            checksums.Checksums(connection, 1, bytes(32)).check(leaf)
        connection.execute("UPDATE frontier SET key = x'00' WHERE part = 'day 3'")
        checksums.Checksums(connection, 1, root).check_root()
        with pytest.raises(checksums.Stale):
            checksums.Checksums(connection, 1, root).check(leaf)
        connection.rollback()
    connection.close()
