"""Bounding people: at most c pairs of each are kept, chosen by their own rows and the secret alone."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.bounding.persons import bounded
from stablesketch.engines.local import run
from stablesketch.reading.columns import Columns
from stablesketch.reading.duckdb import DuckDB

SECRET = bytes(range(32))
Row = tuple[str, str, str]  # person, key, group


def kept(rows: list[Row], pairs: int, groups: int = 1, by: bool = True, secret: bytes = SECRET) -> list[Row]:
    columns = Columns(("k",), None, ("g",) if by else (), "u")
    with DuckDB() as engine:
        engine.connection.register("t", pa.table(list(zip(*rows, strict=True)), names=["u", "k0", "g0"]))
        query = "select * from t" if by else "select u, k0 from t"
        sql = bounded(engine, query, columns, pairs=pairs, groups=groups, secret=ss.Secret.from_bytes(secret))
        shown = "u, k0, g0" if by else "u, k0, ''"
        return sorted(engine.rows(f"select {shown} from ({sql})", "t"))  # type: ignore[type-var]


def rows_of(people: int, seed: int) -> list[Row]:
    random_rows = random.Random(seed)
    return [
        (f"u{u}", f"k{random_rows.randrange(30)}", f"g{random_rows.randrange(6)}")
        for u in range(people)
        for _ in range(random_rows.randrange(1, 40))
    ]


def test_nobody_keeps_more_than_allowed_and_nobody_less_than_they_could() -> None:
    rows = rows_of(40, 1)
    found = kept(rows, 10, groups=2)
    of_person: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        of_person[row[0]].append(row)
    assert not Counter(found) - Counter(rows)  # nothing is made up
    for person in {row[0] for row in rows}:
        own = of_person[person]
        chosen = {row[2] for row in own}
        assert len(own) <= 10
        assert len(chosen) <= 2
        available = Counter(row[2] for row in rows if row[0] == person)
        assert len(own) >= min(10, min(available.values()))


def test_what_is_kept_of_a_person_does_not_depend_on_anybody_else() -> None:
    """The neighbours of add_remove: taking one person out takes at most c pairs out, in at most L groups."""
    rows = rows_of(25, 2)
    everybody = Counter(kept(rows, 7, groups=2))
    for person in ("u0", "u7", "u24"):
        others = Counter(kept([row for row in rows if row[0] != person], 7, groups=2))
        gone = everybody - others
        assert not others - everybody
        assert gone.total() <= 7
        assert len({row[2] for row in gone}) <= 2
        assert {row[0] for row in gone} <= {person}


def test_the_order_of_rows_does_not_matter_and_the_secret_does() -> None:
    rows = rows_of(25, 3)
    shuffled = rows[:]
    random.Random(9).shuffle(shuffled)
    assert kept(rows, 5, by=False) == kept(shuffled, 5, by=False)
    assert kept(rows, 5, by=False) != kept(rows, 5, by=False, secret=bytes(32))


def test_no_key_and_no_group_is_favoured() -> None:
    """Every one of 2,000 people has the same four keys in the same four groups and keeps one: about a quarter each.

    The odds that any of the eight counts is 150 (7.7 standard deviations) off are below 1e-12 under another secret.
    """
    rows = [(f"u{u}", f"k{i}", f"g{i}") for u in range(2000) for i in range(4)]
    for column, found in ((1, kept(rows, 1, by=False)), (2, kept(rows, 1))):
        counts = Counter(row[column] for row in found)
        assert counts.total() == 2000
        assert all(abs(count - 500) < 150 for count in counts.values())


def test_an_error_shows_no_salt() -> None:
    with DuckDB() as engine:
        columns = Columns(("k",), None, (), "u")
        secret = ss.Secret.from_bytes(SECRET)
        salt = secret.derive("bounding persons").hex()
        with pytest.raises(ss.DataError, match=r"^events\.csv: ") as caught:
            bounded(
                engine, "select nope from nowhere", columns, pairs=1, groups=1, secret=secret, source="events.csv"
            )  # fmt: skip
        assert salt not in str(caught.value)


def test_release_of_people(tmp_path: Path) -> None:
    """One person with 5,000 keys counts as 3 pairs. Limits of more than ten deviations: no false alarm."""
    path = tmp_path / "e.csv"
    lines = ["app,user\n", *(f"app{i % 50},u{i}\n" for i in range(20_000)), *(f"rare{i},whale\n" for i in range(5000))]
    path.write_text("".join(lines))
    privacy = ss.Privacy(2.0, 1e-6, 0, relation="add_remove", pairs_per_person=3)
    found = ss.release(path, ss.Moment(0.5), privacy, key="app", person="user", size=50)
    assert isinstance(found, ss.Outcome)
    assert found.pairs is None
    assert found.pairs_per_person == 3
    truth = 50 * 400**0.5
    assert abs(found.value - truth) < 10 * (truth + found.floor) / 6


def test_rows_without_a_person_are_refused_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app,user\n" + "a,u1\n" * 100 + "a,\n" + "a,u2\n" * 100)
    privacy = ss.Privacy(2.0, 1e-6, 0, relation="add_remove", pairs_per_person=100)
    question = ss.question(ss.Moment(0.5), privacy, key="app", person="user", mechanism="exact")
    with pytest.raises(ss.DataError, match=r"row 102, column user: is empty or null"):
        run(question, str(path))
    skipped = ss.release(path, ss.Moment(0.5), privacy, key="app", person="user", on_bad="skip", mechanism="exact")
    assert isinstance(skipped, ss.Outcome)
    assert abs(skipped.value - 200**0.5) < 40 * 100 / 2.0  # Laplace of scale c/ε: odds of more, e^-40
