"""People on the command line: the rows used of each are announced, shown to the curator, and chosen by a pilot."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from cli_helpers import Shell

import stablesketch as ss
from stablesketch.text.spoken import at_most

PEOPLE = ("release", "events.csv", "--key", "app", "--person", "user", "--epsilon", "2", "--delta", "1e-6")


def test_what_is_used_of_a_person_is_announced(shell: Shell) -> None:
    shown = shell(*PEOPLE, "--size", "50")
    assert shown.code == 0
    assert "1 row of each person is used" in shown.err
    assert "stablesketch pilot" in shown.err
    assert "any one person: all that they did (at most 1 row is used)" in shown.out
    chosen = shell(*PEOPLE, "--size", "50", "--pairs-per-person", "3")
    assert "of each person" not in chosen.err
    assert "any one person: all that they did (at most 3 rows are used)" in chosen.out


def test_python_announces_it_too(shell: Shell) -> None:
    privacy = ss.Privacy(2.0, 1e-6)
    silent = ss.release("events.csv", ss.Hill(0.5), privacy, key="app", person="user")
    assert "At most 1 row of each person is used, drawn at random. Privacy(pairs_per_person=N)" in str(silent)
    assert "At most 1 row of each person is used" in silent._repr_html_()
    assert "protects any one person)" in silent.title
    exact = ss.exact("events.csv", key="app", by="country", person="user", pairs_per_person=3)
    assert "At most 3 rows of each person are used, from 1 group, drawn at random." in str(exact)
    assert "of each person" not in str(ss.exact("events.csv", key="app"))
    assert "of each person" not in str(ss.release("events.csv", ss.Hill(0.5), privacy, key="app"))


@pytest.mark.parametrize("command", ["release", "exact"])
def test_people_are_not_the_keys(shell: Shell, command: str) -> None:
    """Bounding them would cut every key."""
    price = ("--epsilon", "2", "--delta", "1e-6") if command == "release" else ()
    shown = shell(command, "events.csv", "--key", "user", "--person", "user", *price)
    assert (shown.code, shown.out) == (2, "")
    assert "--unit key" in shown.err
    ask = ss.exact if command == "exact" else lambda *data, **what: ss.release(*data, None, ss.Privacy(1, 1e-6), **what)
    with pytest.raises(ss.ArgumentError, match="unit='key'"):
        ask("events.csv", key="user", person="user")
    assert shell(command, "events.csv", "--key", "user,app", "--person", "user", *price).code == 0


def test_exact_by_group_shows_each_group_by_itself(shell: Shell) -> None:
    shown = shell("exact", "events.csv", "--key", "app", "--by", "country", "--person", "user").out.splitlines()[3:]
    assert [line.split()[0] for line in shown] == ["DE"] * 8 + ["FR"] * 8
    assert [line.split()[3] for line in shown[:3]] == ["1", "2", "4"]


def test_that_a_person_counts_in_one_group_is_said(shell: Shell) -> None:
    said = "Each person counts in 1 group only, drawn at random: their rows in other groups are left out."
    by = ("--by", "country", "--pairs-per-person", "5")
    shown = shell(*PEOPLE, *by, "--order", "1", "--size", "50", "--report", "page.html")
    assert shown.err.count(said) == 1, shown.err
    assert "--groups-per-person N" in shown.err
    assert said in Path("page.html").read_text()
    assert said in shell(*PEOPLE, *by, "--dry-run").err
    assert "counts in at most 2 groups" in shell(*PEOPLE, *by, "--groups-per-person", "2", "--dry-run").err
    assert "Each person counts" not in shell(*PEOPLE, "--dry-run").err
    exact = shell("exact", "events.csv", "--key", "app", "--person", "user", *by)
    assert said in exact.err
    assert "groups of a person" in exact.out
    assert [line.split()[4] for line in exact.out.splitlines()[3::2]] == ["1", "1"]


def test_exact_shows_the_curator_what_bounding_does(shell: Shell) -> None:
    """Each of 400 people has 5 rows."""
    shown = shell("exact", "events.csv", "--key", "app", "--person", "user")
    assert shown.code == 0
    assert "for the curator only" in shown.err
    assert [line.split()[-2] for line in shown.out.splitlines()[3:]] == ["400", "800", "1,600", *["2,000"] * 5]
    found = json.loads(
        shell("exact", "events.csv", "--key", "app", "--person", "user", "--pairs-per-person", "2", "--json").out
    )
    assert [(one["pairs_per_person"], one["pairs"]) for one in found] == [(2, 800), (None, 2000)]
    plain = json.loads(shell("exact", "events.csv", "--key", "app", "--json").out)
    assert found[1]["value"] == plain["value"]


def test_exact_by_group_bounds_people_to_their_groups(shell: Shell) -> None:
    typed = ("exact", "events.csv", "--key", "app", "--by", "country", "--person", "user", "--pairs-per-person", "5")
    one, two = (json.loads(shell(*typed, "--groups-per-person", n, "--json").out) for n in ("1", "2"))
    assert [(each["group"], each["pairs_per_person"]) for each in one] == [
        ("DE", 5), ("DE", None), ("FR", 5), ("FR", None),
    ]  # fmt: skip
    assert [each["groups_per_person"] for each in two] == [2, None, 2, None]
    assert sum(each["pairs"] for each in two[::2]) == 2000
    assert sum(each["pairs"] for each in one[::2]) < 2000
    assert shell("exact", "events.csv", "--key", "app", "--pairs-per-person", "5").code == 2


def test_a_pilot_from_public_knowledge(shell: Shell) -> None:
    typed = ("pilot", "public", "--people", "1e5", "--rows", "12", "--epsilon", "1", "--delta", "1e-9")
    shown = shell(*typed)
    assert shown.code == 0, shown.err
    assert "--pairs-per-person 24" in shown.out
    rows = json.loads(shell(*typed, "--json").out)
    assert [row["pairs_per_person"] for row in rows if row["suggested"]] == [24]
    both = {row["pairs_per_person"]: math.hypot(row["error"], 1.0 - row["used"]) for row in rows}
    assert min(both, key=both.__getitem__) == 24
    assert [row["used"] for row in rows] == sorted(row["used"] for row in rows)

    assert "pass --keys" in shown.err
    known = shell(*typed, "--keys", "300")
    assert "--pairs-per-person 64" in known.out
    assert "--keys" not in known.err


@pytest.mark.parametrize("asked", [("--statistic", "distinct"), ("--order", "0"), ("--statistic", "profile")])
def test_a_pilot_does_not_forget_the_noise_on_the_number_of_keys(shell: Shell, asked: tuple[str, ...]) -> None:
    """It said "planned error 0%", whatever the number of rows, and suggested the largest."""
    typed = ("pilot", "public", "--people", "5000", "--rows", "5", "--epsilon", "1", "--delta", "1e-9", *asked)
    refused = shell(*typed)
    assert (refused.code, refused.out) == (2, "")
    assert "--keys is required" in refused.err
    rows = json.loads(shell(*typed, "--mechanism", "exact", "--keys", "2000", "--json").out)
    errors = [row["error"] for row in rows]
    assert errors == sorted(errors)
    assert 0.0 < errors[0] < errors[-1]
    assert not rows[-1]["suggested"]


def test_a_pilot_says_when_most_rows_are_dropped_whatever_is_chosen(shell: Shell) -> None:
    typed = ("pilot", "public", "--people", "8800", "--rows", "136", "--epsilon", "1", "--delta", "1e-9")
    assert "96% of the rows are dropped" in shell(*typed, "--order", "1", "--spread", "heavy").err
    assert "of the rows are dropped" not in shell(*typed, "--order", "1", "--mechanism", "exact").err


def test_a_pilot_suggests_nothing_where_noise_drowns_every_answer(shell: Shell) -> None:
    typed = ("pilot", "public", "--people", "1e5", "--rows", "16", "--epsilon", "0.01", "--delta", "1e-9")
    shown = shell(*typed, "--order", "2")
    assert shown.code == 0
    assert "over 100%" in shown.out
    assert not re.findall(r" [\d,]{3,}%", shown.out.replace("over 100%", ""))
    assert "--pairs-per-person" not in shown.out
    assert not any(row["suggested"] for row in json.loads(shell(*typed, "--order", "2", "--json").out))
    assert "no useful answer can be expected, however many rows of each person are used" in shown.err


def test_a_private_pilot_is_paid_for(shell: Shell) -> None:
    assert shell("ledger", "new", "b.db", "--epsilon", "1", "--delta", "1e-6", "--people", "--adaptive").code == 0
    typed = ("pilot", "private", "events.csv", "--person", "user", "--epsilon", "0.5", "--json")
    price = ss.Ledger("b.db").adaptive_price
    assert price == ss.Ledger("b.db").spent() > 0.0
    shown = shell(*typed, "--ledger", "b.db")
    assert shown.code == 0, shown.err
    assert (
        f"adaptive  ε = {at_most(price)} of what is spent, once: the price of choosing plans after looking"
        in shell("ledger", "show", "b.db").out
    )
    assert price < ss.Ledger("b.db").spent() < price + 0.5  # the pilot itself took less than its ε
    assert json.loads(shown.out) == {"epsilon": 0.5, "pairs_per_person": 7}  # all have 5; noise of 2 in 400
    ledger = json.loads(shell("ledger", "show", "b.db", "--json").out)
    assert ledger["releases"] == 1
    assert 0.5 <= ledger["spent"] <= 1.0  # an adaptive ledger begins with a price of its own
    assert json.loads(shell("ledger", "value", "b.db", "1").out)["pairs_per_person"] == 7
    assert shell(*typed, "--ledger", "b.db", "--label", "again").code == 4  # no room left
    assert shell(*typed).code == 0


def test_a_pilot_takes_an_adaptive_ledger_of_people(shell: Shell) -> None:
    shell("ledger", "new", "fixed.db", "--epsilon", "1", "--delta", "1e-6", "--people")
    shell("ledger", "new", "rows.db", "--epsilon", "1", "--delta", "1e-6", "--relation", "add_remove", "--adaptive")
    typed = ("pilot", "private", "events.csv", "--person", "user", "--epsilon", "0.5", "--ledger")
    fixed = shell(*typed, "fixed.db")
    assert (fixed.code, fixed.out) == (5, "")
    assert "--adaptive" in fixed.err
    assert shell(*typed, "rows.db").code == 5
