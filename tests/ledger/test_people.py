"""People and pairs in a ledger: different neighbours, so their ε is never added up, whatever pairs_per_person is."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import stablesketch as ss

ONE = ss.Privacy(0.4, 1e-9)
THREE = ss.Privacy(0.4, 1e-9, pairs_per_person=3)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    rows = [f"u{i % 40},k{i % 7},{'FR' if i % 2 else 'DE'},{1 + i % 3}" for i in range(400)]
    path = tmp_path / "visits.csv"
    path.write_text("user,key,country,value\n" + "\n".join(rows) + "\n")
    return path


def released(path: Path, ledger: ss.Ledger, privacy: ss.Privacy = ONE, **how: Any) -> Any:
    return ss.release(path, ss.Moment(0.5), privacy, key="key", size=50, ledger=ledger, **how)


WAYS: list[dict[str, Any]] = [
    {},
    {"by": "country", "groups": ["FR", "DE"]},
    {"value": "value", "auto_max_value": ss.AutoMaxValue()},
]


@pytest.mark.parametrize("way", WAYS, ids=["one number", "groups", "auto"])
def test_people_and_pairs_do_not_share_a_ledger(visits: Path, ledger: ss.Ledger, way: dict[str, Any]) -> None:
    released(visits, ledger, person="user", **way)
    assert ledger.relation == "add_remove of people"
    before = ledger.spent()
    with pytest.raises(ss.UnitMismatch, match=r"Name the column of people in this release too \(person=\)"):
        released(visits, ledger, **way)
    with pytest.raises(ss.UnitMismatch):
        ledger.charge(epsilon=0.1, statistic="x", relation="add_remove of pairs")
    assert (len(ledger), ledger.spent()) == (1, before)
    ledger.verify()


def test_nor_do_they_the_other_way_round(visits: Path, ledger: ss.Ledger) -> None:
    released(visits, ledger)
    assert (ledger.relation, ledger.pairs_per_person) == ("add_remove", 1)
    with pytest.raises(ss.UnitMismatch, match="Create a ledger for people"):
        released(visits, ledger, person="user")
    assert len(ledger) == 1


def test_a_person_is_a_person_however_many_pairs_are_used(visits: Path, path: Path) -> None:
    """And costs as much as added and removed pairs: both directions are composed separately."""
    people = ss.Ledger(path, epsilon=3.0, delta=1e-6)
    for privacy in (ONE, THREE, ONE):
        released(visits, people, privacy, person="user")
    assert people.pairs_per_person is None
    assert [record.pairs_per_person for record in people.records()] == [1, 3, 1]
    people.verify()
    pairs = ss.Ledger(path.with_name("pairs.db"), epsilon=3.0, delta=1e-6)
    for _ in range(3):
        released(visits, pairs)
    assert people.spent() == pytest.approx(pairs.spent(), rel=1e-3)


def test_a_plan_is_previewed_as_what_the_ledger_protects(visits: Path, ledger: ss.Ledger) -> None:
    chosen = ss.plan(ss.Moment(0.5), THREE, size=50)
    released(visits, ledger, person="user")
    assert ledger.preview(chosen).fits
    assert ledger.schedule(chosen, releases=3).epsilon > 0.4
    with pytest.raises(ss.UnitMismatch):
        ledger.preview(ss.plan(ss.Moment(0.5), ss.Privacy(0.4, 1e-9, relation="replace"), size=50))


def test_a_collector_can_declare_it(ledger: ss.Ledger) -> None:
    collector = ss.plan(ss.Moment(0.5), THREE, size=50).open()
    collector.update(range(50))
    release = collector.release(ledger=ledger, person=True, part=("country", "FR"))
    assert release.person
    (record,) = ledger.records()
    assert (record.relation, record.pairs_per_person) == ("add_remove of people", 3)
    replaced = ss.plan(ss.Moment(0.5), ss.Privacy(0.4, 1e-9, relation="replace"), size=50).open()
    with pytest.raises(ss.ArgumentError, match="needs a plan that protects added and removed pairs, not 'replace'"):
        replaced.release(person=True)
    assert replaced.release().relation == "replace"  # nothing was lost


def test_a_ledger_can_be_made_for_people(visits: Path, path: Path) -> None:
    ledger = ss.Ledger(path, epsilon=3.0, delta=1e-6, relation="add_remove of people", pairs_per_person=3)
    with pytest.raises(
        ss.UnitMismatch, match="for people with up to 3 pairs each, but the release uses up to 1 of each"
    ):
        released(visits, ledger, person="user")
    released(visits, ledger, THREE, person="user")
    ledger.verify()


def test_an_older_ledger_is_read_and_refuses_people(visits: Path, path: Path) -> None:
    path.write_bytes(gzip.decompress((Path(__file__).parents[1] / "data" / "ledger" / "version-4.db.gz").read_bytes()))
    with sqlite3.connect(path) as connection:  # as version 3 wrote it
        connection.execute("PRAGMA user_version = 3")
    connection.close()
    ledger = ss.Ledger(path)
    ledger.verify()
    with pytest.raises(ss.UnitMismatch, match="Create a ledger for people"):
        released(visits, ledger, person="user")
    fresh = ss.Ledger(path.with_name("fresh.db"), epsilon=3.0, delta=1e-6)
    fresh.charge(epsilon=ledger.spent(), delta=1e-6 / 2, statistic="before", relation="add_remove of people")
    released(visits, fresh, person="user")
