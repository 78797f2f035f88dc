"""Ledgers of older versions: upgraded when they are opened, with all they had, or refused if they are damaged.

tests/data/ledger/version-1.db.gz was written by 0.1.0: five releases, three of them under the budget "team".
version-4.db.gz is from before budgets renewed: four releases, three of them under "team". version-5.db.gz is from
before its cache had a tree of checksums: four releases of November 2026, three of them in two parts of "hours".
"""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.ledger import composition
from stablesketch.ledger.record import Ask, Entry

OLD = Path(__file__).parents[1] / "data" / "ledger" / "version-1.db.gz"


@pytest.fixture
def old(path: Path) -> Path:
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    path.chmod(0o600)
    composition.forget()
    return path


def test_it_has_all_that_it_had(old: Path, plan: ss.Plan) -> None:
    ledger = ss.Ledger(old)
    assert (ledger.epsilon, ledger.delta, ledger.relation, ledger.pairs_per_person) == (3.0, 1e-6, "replace", 1)
    assert [record.label for record in ledger.records()] == ["first", "team 0", "team 1", "team 2", ""]
    assert ledger.spent() == pytest.approx(1.1309805, rel=1e-6)
    assert ledger.budget("team").spent() == pytest.approx(0.3, rel=1e-6)
    ledger.verify()
    ledger.verify(since=ledger.head)
    assert ledger.head.startswith("5:")


def test_it_goes_on(old: Path, plan: ss.Plan) -> None:
    ledger = ss.Ledger(old)
    head = ledger.head
    plan.open().release(ledger=ledger)
    with pytest.raises(ss.SecretSpent, match="number 1 of the ledger"):
        plan.open(ss.Secret.from_bytes(bytes(range(32)))).release(ledger=ledger)
    again = ss.Ledger(old)  # of version 2 by now
    assert len(again) == 6
    again.verify(since=head)
    again.backup(old.with_name("copy.db"))
    ss.Ledger(old.with_name("copy.db")).verify(since=again.head)


def test_one_that_was_changed_stays_as_it_is(old: Path, plan: ss.Plan) -> None:
    with sqlite3.connect(old) as connection:
        connection.execute("UPDATE releases SET label = 'other' WHERE number = 2")
    connection.close()
    before = old.read_bytes()
    with pytest.raises(ss.LedgerCorrupt, match="release 2 was changed"):
        ss.Ledger(old)
    assert old.read_bytes()[96:] == before[96:]  # SQLite counts in the first bytes that it was opened
    with sqlite3.connect(old) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()


def test_an_edited_cache_is_not_taken_over(old: Path, exact: ss.Plan) -> None:
    with sqlite3.connect(old) as connection:
        connection.execute("UPDATE frontier SET key = (SELECT key FROM frontier WHERE budget = 2 AND level = 0)")
    connection.close()
    ledger = ss.Ledger(old)
    assert ledger.spent() == pytest.approx(1.1309805, rel=1e-6)
    ledger.enter([Entry(Ask.of_plan(exact), bytes(8))])
    ledger.verify()


# --- version 4: no budget renewed ---


@pytest.fixture
def fourth(path: Path) -> Path:
    path.write_bytes(gzip.decompress(OLD.with_name("version-4.db.gz").read_bytes()))
    composition.forget()
    return path


def test_the_fourth_version_goes_on_where_it_was(fourth: Path, exact: ss.Plan) -> None:
    ledger = ss.Ledger(fourth)
    assert ledger.head == "4:c574c1c29a3e3abc97d2f34cd023e0058af63677c91ac962b8780f5d86054d90"  # as it wrote it
    assert (ledger.per, ledger.period, ledger.renews) == (None, None, None)
    assert [record.label for record in ledger.records()] == ["first", "team 0", "team 1", "team 2"]
    assert (ledger.spent(), ledger.budget("team").spent()) == (0.5000000000000001, 0.30000000000000004)  # composed now
    head = ledger.head
    ledger.verify()
    ledger.enter([Entry(Ask.of_plan(exact), bytes(8))])
    ss.Ledger(fourth).verify(since=head)


def test_a_damaged_budget_of_the_fourth_version_is_refused(fourth: Path) -> None:
    with sqlite3.connect(fourth) as connection:
        connection.execute("UPDATE budgets SET epsilon = 30.0 WHERE name = ''")
    connection.close()
    with pytest.raises(ss.LedgerCorrupt, match="was changed after it was written"):
        ss.Ledger(fourth)


# --- version 5: one checksum for the whole cache of a budget ---


@pytest.fixture
def fifth(path: Path) -> Path:
    path.write_bytes(gzip.decompress(OLD.with_name("version-5.db.gz").read_bytes()))
    composition.forget()
    return path


def test_the_fifth_version_goes_on_where_it_was(fifth: Path) -> None:
    ledger = ss.Ledger(fifth)
    assert ledger.head == "4:345666ccc3c5d8ea1750e57351785da26e2d97b021f8374d7fd727180cdcda25"  # as it wrote it
    assert [(record.part, record.period) for record in ledger.records()] == [
        (None, "2026-11"), ("0", "2026-11"), ("1", "2026-11"), ("0", "2026-11"),
    ]  # fmt: skip
    assert ledger.spent_in_all(1e-6) == pytest.approx(0.3, rel=1e-6)  # everybody's, and twice the part "0"
    head = ledger.head
    ledger.verify()
    ledger.charge(epsilon=0.1, statistic="a count", relation="add_remove of pairs", part=("hours", "1"))
    assert ledger.spent_in_all(1e-6) == pytest.approx(0.3, rel=1e-6)
    ss.Ledger(fifth).verify(since=head)


def test_an_edited_cache_of_the_fifth_version_is_not_taken_over(fifth: Path) -> None:
    with sqlite3.connect(fifth) as connection:
        connection.execute("DELETE FROM frontier WHERE part = '0'")
    connection.close()
    ledger = ss.Ledger(fifth)
    assert ledger.spent_in_all(1e-6) == pytest.approx(0.3, rel=1e-6)
    ledger.charge(epsilon=0.1, statistic="a count", relation="add_remove of pairs", part=("hours", "0"))
    assert ledger.spent_in_all(1e-6) == pytest.approx(0.4, rel=1e-6)
