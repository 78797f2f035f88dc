"""The default question, and the advice given if another question or mechanism would be better."""

from __future__ import annotations

import json
import math
import re
import sys
import warnings
from pathlib import Path

import pytest
from cli_helpers import Shell

import stablesketch as ss
from stablesketch.cli.in_options import in_options
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
    assert "Use --statistic hill --order 1." in shown.err
    assert "does not compare groups of different sizes" in Path("page.html").read_text()
    with pytest.warns(GroupsNotComparable, match=r"Pass ss\.Hill\(1\)"):
        ss.release("events.csv", ss.Moment(0.5), ss.Privacy(2.0, 1e-6), key="app", by="country", groups=["FR"])


@pytest.mark.parametrize(
    ("statistic", "instead"),
    [(ss.Hill(0.5), "ss.Hill(1)"), (ss.Renyi(0.9), "ss.Renyi(1)"), (ss.Tsallis(0), "ss.Tsallis(1)"),
     (ss.Profile([0, 0.5]), "ss.Hill(1)")], ids=str,
)  # fmt: skip
def test_so_is_comparing_diversity_below_order_1(shell: Shell, statistic: ss.Statistic, instead: str) -> None:
    shell.write("names.txt", NAMES)
    by = ("--by", "country", "--groups", "names.txt", "--size", "64")
    shown = shell(*ASKED, *statistic.as_options().split(), *by, "--report", "page.html")
    assert shown.code == 0, shown.err
    assert shown.err.count("does not compare groups of different sizes") == 1
    assert f"Use {type(statistic.comparable)(1).as_options().replace('1.0', '1')}." in shown.err
    assert "does not compare groups" in shell(*ASKED, *statistic.as_options().split(), *by, "--dry-run").err
    page = Path("page.html").read_text()
    headline = page[page.index('class="said"') : page.index("Who is protected")]
    assert "has the greatest variety" not in page
    assert "does not compare groups of different sizes" in headline
    with pytest.warns(GroupsNotComparable, match=f"Pass {re.escape(instead)}"):
        result = ss.release(
            "events.csv", statistic, ss.Privacy(2.0, 1e-6), key="app", by="country", groups=["FR", "DE"], size=64
        )
    assert str(result).count("does not compare groups") == 1


@pytest.mark.parametrize("statistic", [ss.Hill(1), ss.Renyi(2), ss.Simpson(), ss.Profile([1, 2])], ids=str)
def test_order_1_and_above_compares_groups(shell: Shell, statistic: ss.Statistic) -> None:
    shell.write("names.txt", NAMES)
    by = ("--by", "country", "--groups", "names.txt", "--size", "50")
    shown = shell(*ASKED, *statistic.as_options().split(), *by)
    assert shown.code == 0, shown.err
    assert "does not compare" not in shown.err
    assert statistic.comparable == statistic


def test_a_profile_that_has_order_1_is_noted_and_not_warned_of(shell: Shell) -> None:
    """Its other orders compare groups, so there is nothing else to ask for."""
    shell.write("names.txt", NAMES)
    shown = shell(*ASKED, "--statistic", "profile", "--by", "country", "--groups", "names.txt", "--size", "64")
    assert "The Hill number of order 0 grows with the number of rows too" in shown.err
    assert "Use --" not in shown.err
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.release("events.csv", ss.Profile(), ss.Privacy(2.0, 1e-6), key="app", by="country", groups=["FR"], size=64)


def test_the_exact_mechanism_is_advised_from_the_plan_alone(shell: Shell) -> None:
    shown = shell(*ASKED)
    assert "In a stream of 1,000,000 pairs, for example, --mechanism exact would be" in shown.err
    assert "holds every key in memory" in shown.err
    shell.write("other.csv", "app\na\n")
    dry = shell(*ASKED[:1], "other.csv", *ASKED[2:], "--dry-run")
    said = " ".join(dry.out.split()).split("the exact mechanism would be ")[1]
    assert f"--mechanism exact would be {said}. It holds" in shown.err  # whatever the data
    assert "mechanism exact" not in shell(*ASKED, "--mechanism", "exact").err


def test_how_much_better_the_exact_mechanism_is() -> None:
    """By the numbers of both plans: sketch and noise add up in squares; F_0.5 of a million pairs is at least 1,000, if
    all are of one key, and at most a million."""
    sketch = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9))
    one, many = (
        math.hypot(error, 2**0.5 * sketch.noise / moment) / (2**0.5 / moment)
        for error, moment in ((sketch.worst_error, 1e3), (sketch.error, 1e6))
    )
    said = exact_instead(sketch)
    assert f"{one:.0f} times as accurate if one key holds everything" in said
    assert f"{float(f'{many:.2g}'):,.0f} times as accurate if all keys differ" in said
    known = sketch.again(expected=1e6)
    assert f"{known.error / known.exact_error:,.0f}"[:2] in exact_instead(known)
    assert exact_instead(sketch.again(expected=10.0)) == ""


def test_an_end_where_the_exact_mechanism_is_worse_has_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor has one where nothing is known about an error."""
    sketch = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9))
    noise = {"exact": [1.0, 1.0]}
    module = sys.modules[exact_instead.__module__]
    monkeypatch.setattr(module, "errors_at_both_ends", lambda plan, _: noise.get(plan.mechanism, [0.95, 3.0]))
    assert "would be no more accurate if one key holds everything, and 3 times as accurate if" in exact_instead(sketch)
    monkeypatch.setattr(module, "errors_at_both_ends", lambda plan, _: noise.get(plan.mechanism, [math.inf, 3.0]))
    assert "mechanism exact would be 3 times as accurate if all keys differ." in in_options(exact_instead(sketch))


@pytest.mark.parametrize(
    "statistic",
    [ss.Hill(0), ss.Hill(0.5), ss.Hill(1), ss.Hill(2), ss.Profile([0, 1, 2]), ss.Distinct(), ss.Moment(0.9)],
    ids=str,
)
@pytest.mark.parametrize("rows", [1, 20])
def test_the_exact_mechanism_is_advised_however_many_rows_a_person_has(statistic: ss.Statistic, rows: int) -> None:
    """Also where noise outweighs the sketch in every stream of one key: where keys differ it does not."""
    plan = ss.plan(statistic, ss.Privacy(1.0, 1e-9, pairs_per_person=rows))
    assert "would be" in exact_instead(plan)
    assert " ".join(str(plan).split()).count("the exact mechanism would be") == 1
    assert exact_instead(ss.plan(statistic, plan.privacy, mechanism="exact")) == ""


def test_a_dry_run_by_group_with_many_rows_a_person_advises_it_too(shell: Shell) -> None:
    people = ("--person", "user", "--pairs-per-person", "20", "--by", "country")
    dry, done = (shell(*ASKED, *people, *more) for more in (["--dry-run"], ["--groups-per-person", "1"]))
    assert "the exact mechanism would be" in " ".join(dry.out.split())
    assert "--mechanism exact would be" in done.err


def test_a_result_in_python_says_it_as_well(shell: Shell) -> None:
    result = ss.release("events.csv", ss.Hill(0.5), ss.Privacy(2.0, 1e-6), key="app")
    assert "mechanism='exact' would be" in str(result)
    assert "mechanism=&#x27;exact&#x27; would be" in result._repr_html_()
    exact = ss.release("events.csv", ss.Hill(0.5), ss.Privacy(2.0, 1e-6), key="app", mechanism="exact")
    assert "would be" not in str(exact)


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


def test_a_report_without_names_says_how_to_give_them(shell: Shell) -> None:
    assert "to tell readers of the report what the data are, add --dataset" in shell(*ASKED, "--report", "a.html").err
    assert "--dataset" not in shell(*ASKED, "--report", "b.html", "--noun", "apps").err
