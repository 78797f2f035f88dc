"""What is asked where nobody says it, and what is said where another question, or mechanism, would be better."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_helpers import Shell

import stablesketch as ss
from stablesketch.errors import GroupsNotComparable
from stablesketch.plan.exact_instead import exact_instead

ASKED = ("release", "events.csv", "--key", "app", "--epsilon", "2", "--delta", "1e-6")
NAMES = "FR\nDE\n"


def test_a_release_of_nothing_in_particular_is_a_hill_number(shell: Shell) -> None:
    shown = json.loads(shell(*ASKED, "--json").out)
    assert shown["statistic"] == "Hill number of order 0.5"
    released = ss.release("events.csv", privacy=ss.Privacy(2.0, 1e-6), key="app")
    assert json.loads(released.to_json())["statistic"] == shown["statistic"]
    assert ss.question(None, ss.Privacy(2.0, 1e-6), key="app").statistic == ss.Hill() == ss.Hill(0.5)


@pytest.mark.parametrize(
    ("typed", "released"),
    [
        (["--p", "0.5"], "F_0.5"),
        (["--statistic", "moment", "--p", "0.5"], "F_0.5"),
        (["--statistic", "hill"], "Hill number of order 0.5"),
        (["--order", "1"], "Hill number of order 1"),
        (["--statistic", "shannon"], "Shannon entropy"),
    ],
)
def test_which_statistic_is_meant(shell: Shell, typed: list[str], released: str) -> None:
    plan = json.loads(shell("plan", *typed, "--epsilon", "2", "--delta", "1e-6", "--json").out)
    assert str(ss.Plan.from_json(json.dumps(plan)).statistic) == released


def test_comparing_moments_between_groups_is_warned_of(shell: Shell) -> None:
    shell.write("names.txt", NAMES)
    by = ("--by", "country", "--groups", "names.txt", "--size", "50")
    shown = shell(*ASKED, "--p", "0.5", *by, "--report", "page.html")
    assert shown.code == 0, shown.err
    assert shown.err.count("does not compare groups of different sizes") == 1
    assert "Use --statistic hill" in shown.err
    assert "does not compare groups of different sizes" in Path("page.html").read_text()
    assert "does not compare" not in shell(*ASKED, *by[:4]).err
    with pytest.warns(GroupsNotComparable, match=r"Pass ss\.Hill\(0\.5\)"):
        ss.release("events.csv", ss.Moment(0.5), ss.Privacy(2.0, 1e-6), key="app", by="country", groups=["FR"])


def test_the_exact_mechanism_is_advised_from_the_plan_alone(shell: Shell) -> None:
    shown = shell(*ASKED)
    assert "--mechanism exact would be at least" in shown.err
    assert "holds every key in memory" in shown.err
    shell.write("other.csv", "app\na\n")
    dry = shell(*ASKED[:1], "other.csv", *ASKED[2:], "--dry-run")
    assert next(line for line in dry.err.splitlines() if "mechanism exact" in line) in shown.err  # whatever the data
    assert "mechanism exact" not in shell(*ASKED, "--mechanism", "exact").err


def test_how_much_better_the_exact_mechanism_is() -> None:
    """By the numbers of both plans: sketch and noise add up in squares, F_0.5 of a million pairs is at least 1,000."""
    sketch = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9))
    own = (sketch.error**2 + 2 * (sketch.noise / 1000) ** 2) ** 0.5
    assert f"at least {own / (2**0.5 / 1000):.2g} times as accurate in a stream of 1,000,000" in exact_instead(sketch)
    known = sketch.again(expected=1e6)
    assert f"about {known.error / known.exact_error:,.0f}"[:8] in exact_instead(known)
    assert exact_instead(sketch.again(expected=10.0)) == ""


@pytest.mark.parametrize(
    "typed",
    [
        ["--expected", "1"],
        ["--p", "0.5", "--expected", "1"],
        ["--mechanism", "bare", "--pairs-per-person", "20", "--pairs", "10000", "--relation", "replace"],
        ["--order", "2", "--max-value", "1000000", "--pairs", "1000", "--relation", "replace", "--expected", "5"],
    ],
)
def test_where_nothing_useful_can_be_predicted_that_is_said(shell: Shell, typed: list[str]) -> None:
    """As JSON it stays a number."""
    asked = ("plan", *typed, "--epsilon", "1", "--delta", "1e-9")
    shown = shell(*asked)
    assert "over 100%: nothing useful can be predicted" in shown.out
    assert json.loads(shell(*asked, "--json").out)["accuracy"]["error"] > 1.0
