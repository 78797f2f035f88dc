"""Ledgers that were edited with care, or damaged by chance: no budget comes back, no secret is forgotten unnoticed."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.ledger import composition
from stablesketch.ledger.books import Books
from stablesketch.ledger.checksums import Checksums
from stablesketch.ledger.record import Ask, Entry
from stablesketch.ledger.rows import Budget, Head

EPSILON, DELTA = 0.9, 1e-12  # room for nine releases of ε = 0.1
PRINTS = [bytes([i, *range(7)]) for i in range(8)]


@pytest.fixture
def ask(exact: ss.Plan) -> Ask:
    return Ask.of_plan(exact)


@pytest.fixture
def budget(home: Path, ask: Ask) -> Path:
    """Eight of nine releases made."""
    ledger = ss.Ledger(home / "budget.db", epsilon=EPSILON, delta=DELTA)
    for fingerprint in PRINTS:
        ledger.enter([Entry(ask, fingerprint)])
    return home / "budget.db"


@contextlib.contextmanager
def edited(path: Path) -> Iterator[sqlite3.Connection]:
    with sqlite3.connect(path) as connection:
        yield connection
    connection.close()
    composition.forget()


def released_after(path: Path, ask: Ask, most: int = 20) -> int:
    """How many releases are in the ledger, once it gives no more."""
    ledger = ss.Ledger(path)
    with contextlib.suppress(ss.BudgetExceeded):
        for i in range(most):
            ledger.enter([Entry(ask, bytes([100 + i, *range(7)]))])
    return len(ledger)


# --- the cache of what was spent ---

CHEAPER = "UPDATE frontier SET key = (SELECT key FROM costs WHERE key NOT IN (SELECT key FROM frontier))"
FIRST = "(SELECT content, checksum FROM costs ORDER BY key LIMIT 1)"
CACHE = {
    "a frontier of one release": "DELETE FROM frontier WHERE level > 0",
    "no frontier": "DELETE FROM frontier",
    "eight at the price of one": CHEAPER,
    "the cost of another": f"UPDATE costs SET (content, checksum) = {FIRST}",
    "fewer counted": "UPDATE frontier SET level = 0",
}


@pytest.mark.parametrize("name", CACHE)
def test_an_edited_cache_gives_nothing_back(name: str, budget: Path, ask: Ask) -> None:
    with edited(budget) as connection:
        connection.execute(CACHE[name])
    assert released_after(budget, ask) == 9
    ss.Ledger(budget).verify()


def with_all_checksums(path: Path) -> None:
    """What somebody does who has read this project: the checksum of the cache is made right again."""
    with edited(path) as connection:
        for row in Budget.read_all(connection, path):
            checksums = Checksums(connection, row.id, row.cache)
            checksums.update(leaf for (leaf,) in connection.execute("SELECT DISTINCT leaf FROM frontier"))
            row.cache = checksums.root
            row.write(connection)


def test_who_makes_the_checksums_right_is_found_by_verify(budget: Path, ask: Ask) -> None:
    with edited(budget) as connection:
        connection.execute(CHEAPER)
    with_all_checksums(budget)
    ledger = ss.Ledger(budget)
    with pytest.raises(ss.LedgerCorrupt, match="is lower than the records show"):
        ledger.verify()
    for i in range(4):
        ledger.enter([Entry(ask, bytes([100 + i, *range(7)]))])
    composition.forget()
    with pytest.raises(ss.LedgerCorrupt):
        ledger.verify()
    with edited(budget) as connection:  # and puts the cache right afterwards
        Books(connection, budget).rebuild()
    with pytest.raises(ss.LedgerCorrupt, match="cost more than this budget allows"):
        ledger.verify()


# --- budgets and records ---


def larger(connection: sqlite3.Connection, path: Path) -> None:
    (row,) = Budget.read_all(connection, path)
    row.epsilon = 90.0
    row.write(connection)


def shorter(connection: sqlite3.Connection, path: Path) -> None:
    """The last release is taken out of head, budget and records, and all three have good checksums."""
    connection.execute("DELETE FROM releases WHERE number = 8")
    head, (row,) = Head.read(connection, path), Budget.read_all(connection, path)
    head.releases, row.releases = 7, 7
    (head.chain,) = connection.execute("SELECT chain FROM releases WHERE number = 7").fetchone()
    head.write(connection)
    row.write(connection)


def relabelled(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("UPDATE releases SET label = 'x' WHERE number = 8")


@pytest.mark.parametrize("change", [larger, relabelled])
def test_an_edited_budget_or_end_is_not_opened(change: Callable[..., None], budget: Path) -> None:
    with edited(budget) as connection:
        change(connection, budget)
    with pytest.raises(ss.LedgerCorrupt, match="was changed"):
        ss.Ledger(budget)


def test_a_shortened_ledger_is_told_by_its_head(budget: Path) -> None:
    """Nothing in a file can tell that it is an older one; the head that somebody kept elsewhere can."""
    ledger = ss.Ledger(budget)
    kept = ledger.head
    with edited(budget) as connection:
        shorter(connection, budget)
    with pytest.raises(ss.LedgerCorrupt, match="rolled back"):
        ledger.spent()  # by who had it open
    with pytest.raises(ss.LedgerCorrupt):
        ss.Ledger(budget).verify(since=kept)
    for wrong in ("", "8", "8:", "x:" + "0" * 64, "8:" + "0" * 63, 8):
        with pytest.raises(ss.ArgumentError, match="head"):
            ss.Ledger(budget).verify(since=wrong)  # type: ignore[arg-type]


# --- spent secrets ---


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM spent WHERE row = 3",
        "UPDATE spent SET content = x'' WHERE row = 3",
        "UPDATE spent SET (checksum, content) = (SELECT checksum, content FROM spent WHERE row = 99) WHERE row = 3",
        "DROP TABLE spent",
    ],
)
def test_a_forgotten_secret_is_noticed(change: str, budget: Path, ask: Ask) -> None:
    with edited(budget) as connection:
        connection.execute(change)
    with pytest.raises(ss.LedgerCorrupt):
        ss.Ledger(budget).enter([Entry(ask, PRINTS[3])])
    with pytest.raises(ss.LedgerCorrupt):
        ss.Ledger(budget).verify()


MANY = [bytes([i % 256, i // 256, *range(6)]) for i in range(1_000)]


@pytest.fixture
def long(home: Path, ask: Ask) -> Path:
    """A thousand releases, so that a good part of the file is about secrets."""
    ledger = ss.Ledger(home / "budget.db", epsilon=500.0, delta=1e-6)
    ledger.enter([Entry(ask, fingerprint) for fingerprint in MANY])
    return home / "budget.db"


def tried_again(path: Path, ask: Ask, fingerprint: bytes, content: bytes) -> str:
    """What a ledger of this content says to a secret that was recorded."""
    for beside in path.parent.glob("budget.db-*"):
        beside.unlink()
    path.write_bytes(content)
    composition.forget()
    try:
        ss.Ledger(path).enter([Entry(ask, fingerprint)])
    except ss.SecretSpent:
        return "refused as spent"
    except ss.LedgerError:
        return "refused as damaged"
    return "released"


def test_a_secret_that_an_index_has_lost(long: Path, ask: Ask) -> None:
    """One byte is changed, in each place of the file that has the fingerprint: record, index, list of spent ones."""
    good, rng = long.read_bytes(), random.Random(12)
    for fingerprint in rng.sample(MANY, 8):
        places = [at for at in range(len(good)) if good.startswith(fingerprint, at)]
        assert len(places) >= 3
        for at in places:
            bad = bytearray(good)
            bad[at + 5] ^= 0x40
            assert tried_again(long, ask, fingerprint, bytes(bad)) != "released"


def damaged(path: Path, ask: Ask, times: int, seed: int) -> dict[str, int]:
    """Some bytes of the file are overwritten, `times` times; then a recorded secret is tried again."""
    good, rng = path.read_bytes(), random.Random(seed)
    seen = {"refused as spent": 0, "refused as damaged": 0, "released": 0}
    for _ in range(times):
        bad = bytearray(good)
        at = rng.randrange(len(bad))
        length = rng.choice([1, 8, 64, 600, 4096])
        bad[at : at + length] = rng.randbytes(len(bad[at : at + length]))
        seen[tried_again(path, ask, rng.choice(MANY), bytes(bad))] += 1
    return seen


def test_damaged_pages_forget_no_secret(long: Path, ask: Ask) -> None:
    seen = damaged(long, ask, int(os.environ.get("STABLESKETCH_DAMAGES", "60")), seed=11)
    print(seen)
    assert seen["released"] == 0
    assert min(seen["refused as spent"], seen["refused as damaged"]) > 3
