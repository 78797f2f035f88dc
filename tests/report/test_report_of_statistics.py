"""Every statistic has a page: its sentence says what was released, its commands make its plan again."""

from __future__ import annotations

import html
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from outcomes import outcome_of

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.release.outcome import GroupRelease
from stablesketch.report import Context, report_page
from stablesketch.report.commands import commands
from stablesketch.statistic import STATISTICS, Subject

ROWS = ss.Privacy(1.0, 1e-6, pairs=1_000_000, relation="replace")
VALUES = ss.Privacy(1.0, 1e-6, pairs=100_000, max_value=3, relation="replace")
PEOPLE = ss.Privacy(1.0, 1e-6, pairs=100_000, max_value=50, unit="key", relation="replace")
CONTEXT = Context("2026-03-02", "0.1.0", Subject("app", "spend"))


@dataclass(frozen=True)
class Case:
    """A plan, a value that could be released by it, and what the page then has to say."""

    plan: ss.Plan
    value: float
    title: str
    says: tuple[str, ...]


def case(statistic: object, privacy: ss.Privacy, value: float, title: str, *says: str, **how: object) -> Case:
    plan = ss.plan(statistic, privacy, **({"size": 70, "mechanism": "bare"} | how))  # type: ignore[arg-type]
    return Case(plan, value, title, says)


VARIED = "How varied are the values of app?"
CASES = {
    "hill": case(
        ss.Hill(0.5), ROWS, 250.0, VARIED,
        "The 1,000,000 rows are as varied as 250 equally common values of app: "
        "between 200 and 300 at 95% confidence.", "x^2, where x is the sum over all keys of s^0.5",
    ),
    "hill of values": case(
        ss.Hill(0.5), VALUES, 250.0, VARIED, "The 100,000 rows, weighted by spend, are as varied as",
        "One counter held the total of all values", "were computed from the released F_0.5 and total", expected=37.0,
    ),
    "hill of order 0": case(ss.Hill(0), ROWS, 70.0, VARIED, "as varied as 70 equally common", "registers of 32 bits"),
    "renyi": case(
        ss.Renyi(0.5), ROWS, 5.0, VARIED,
        "The Rényi entropy of order 0.5 of values of app is about 5 nats (7.213 bits), as varied as about 148 equally "
        "common values of app: between 4 and 6 at 95% confidence, in nats.", "(ln x)/0.5",
    ),
    "tsallis": case(
        ss.Tsallis(0.5), ROWS, 18.0, VARIED, "is about 18, as varied as about 100 equally common values of app",
        "(x - 1)/0.5",
    ),
    "shannon": case(
        ss.Shannon(), ROWS, 7.72, VARIED,
        "The entropy of values of app is about 7.72 nats (11.14 bits), as varied as about 2,250 equally common",
        "weights of the skewed stable law of order 1", "minus the sum over all keys of s ln s",
    ),
    "distinct": case(
        ss.Distinct(), ROWS, 3_399.4, "How many different values of app are there?",
        "There are about 3,400 different values of app: between 2,720 and 4,080 at 95% confidence.",
        "A secret random number of made-up keys, about",
    ),
    "atkinson": case(
        ss.Atkinson(0.25), PEOPLE, 0.195, "How unequal is spend?",
        "About 19.5% of the total of spend could be given up if the rest were spread evenly, and everyone together "
        "would be as well off (for an aversion to inequality of 0.25): between 15.6% and 23.4% at 95% confidence.",
        "What any one key, which is one person, has: the whole total. It could have been anything from 1 to 50.",
        "How many keys there are (100,000). It is public.", "because of what one key had",
        "1 - x^1.333, where x is the mean over all people of (total/mean total)^0.75", "at least 100,000 keys",
        expected=20.0,
    ),
    "generalised_entropy": case(
        ss.GeneralisedEntropy(0.5), PEOPLE, 0.2, "How unequal is spend?",
        "The inequality of spend, measured as generalised entropy of order 0.5, is about 0.2 (0 if all had the same, "
        "at most 4): between 0.16 and 0.24", "(1 - x)/0.25",
    ),
    "simpson": case(
        ss.Simpson(), ss.Privacy(1.0, 1e-6), 0.04, "How concentrated are the values of app?",
        "Two rows drawn at random have the same values of app with a probability of about 4%: between 3.2% and 4.8%",
        "F_2^(1/2) was estimated from them", "This is private for any stream", mechanism="sketch",
    ),
    "hhi": case(
        ss.HHI(), ss.Privacy(1.0, 1e-6), 0.25, "How concentrated are the values of app?",
        "The Herfindahl-Hirschman index of values of app is about 0.25", mechanism="sketch",
    ),
    "entropy with noise": case(
        ss.Shannon(), ss.Privacy(1.0, 1e-6), 7.72, VARIED, "weights of the skewed stable law of order 1, and into the",
        "First the total was given discrete Laplace noise. Then a number computed from that was subtracted from the "
        "entropy; the difference times the total was rounded to a public grid and given discrete Laplace noise.",
        "is the true entropy plus a random error", mechanism="sketch",
    ),
    "profile": case(
        ss.Profile([0.5, 1]), ROWS, 900.0, VARIED,
        "The 1,000,000 rows have about 900 effectively different values of app at order 0.5 (720 to 1,080), and about "
        "90 at order 1 (72 to 108), where common ones weigh more; each at 95% confidence.",
        '<th scope="row">order 1</th><td class="number">90</td><td class="number">72</td><td class="number">108</td>',
    ),
}  # fmt: skip


def released(plan: ss.Plan, value: float) -> ss.Release:
    """What such a plan could release: limits a fifth to either side, or 1 for entropies."""
    privacy, statistic = plan.privacy, plan.statistic
    wide = 1.0 if isinstance(statistic, ss.Renyi) else 0.2 * value
    points: tuple[ss.Point, ...] = ()
    if isinstance(statistic, ss.Profile):
        values = [value * 0.1**k for k in range(len(statistic.orders))]
        points = tuple(ss.Point(q, v, 0.8 * v, 1.2 * v) for q, v in zip(statistic.orders, values, strict=True))
    return ss.Release(
        value, value - wide, value + wide, 0.95, str(statistic), statistic.p, plan.epsilon, plan.delta,
        privacy.relation, privacy.pairs if privacy.relation == "replace" else None, privacy.pairs_per_person,
        privacy.max_value, plan.mechanism, plan.size, plan.floor, points,
    )  # fmt: skip


def test_no_statistic_is_without_a_case() -> None:
    assert {one.plan.statistic.name for one in CASES.values()} == set(STATISTICS) - {
        "moment",
        "total",
    }  # test_report.py


@pytest.mark.parametrize("name", CASES)
def test_the_page_says_what_was_asked_and_what_came_out(name: str) -> None:
    one = CASES[name]
    text = report_page(outcome_of(one.plan, [released(one.plan, one.value)]), CONTEXT)
    assert f"<h1>{one.title}</h1>" in text
    for said in one.says:
        assert said in html.unescape(text)
    assert "<script" not in text


@pytest.mark.parametrize("name", CASES)
def test_the_command_of_the_page_makes_the_same_plan(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = CASES[name].plan
    first, *_ = commands(plan)
    assert run(shlex.split(first)[1:]) == 0
    assert (tmp_path / "plan.json").read_text().strip() == plan.to_json()


def test_plans_of_the_usual_error_and_of_the_exact_mechanism_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several sizes at once, a promise of the total, and none of the pairs."""
    monkeypatch.chdir(tmp_path)
    any_length = ss.Privacy(1.0, 1e-6, pairs=0, relation="add_remove", total=0)
    plans = [
        ss.plan(ss.Atkinson(0.5), replace(PEOPLE, total=150_000), mechanism="bare"),
        ss.plan(ss.Hill(0.5), VALUES, mechanism="exact"),
        ss.plan(ss.Hill(0.5), any_length, size=70, expected=12.5, mechanism="bare"),
        ss.plan(ss.Moment(0.5), any_length, expected=300.0),
        ss.plan(ss.Moment(1.0), any_length),
        ss.plan(ss.Hill(0.5), any_length),
        ss.plan(ss.Hill(0.5), ROWS, expected=250.0),
        ss.plan(ss.Profile([0, 0.5]), any_length),
        ss.plan(ss.Atkinson(0.5), PEOPLE, expected=20.0),
        ss.plan(ss.Moment(0.5), any_length, memory="64K"),
        ss.plan(ss.Shannon(), any_length, error=0.07),
        ss.Plan.from_json(ss.plan(ss.Distinct(), any_length, memory="3K").to_json()),
    ]
    for number, plan in enumerate(plans):
        first, *_ = commands(plan)
        assert run(shlex.split(first.replace("plan.json", f"{number}.json"))[1:]) == 0
        assert (tmp_path / f"{number}.json").read_text().strip() == plan.to_json()


def test_what_the_command_line_cannot_make_it_does_not_claim_to() -> None:
    for plan in (
        ss.plan(ss.Total(), VALUES, mechanism="bare"),
        ss.plan(ss.Moment(0.5), ROWS, size=70, deletes=True, mechanism="bare"),
    ):
        assert not any(command.startswith("stablesketch plan ") for command in commands(plan))


def test_a_total_has_a_sentence_too() -> None:
    plan = ss.plan(ss.Total(), VALUES, mechanism="bare")
    text = report_page(outcome_of(plan, [released(plan, 1_234_567.0)]), CONTEXT)
    assert "The total of spend is about 1.23 million: between 988,000 and 1.48 million at 95% confidence." in text
    assert "How much is there of spend?" in text


def test_what_cannot_be_told_from_the_noise_is_not_made_to_mean_something() -> None:
    for name in ("shannon", "distinct"):
        plan = CASES[name].plan
        low = replace(released(plan, -0.01), low=0.0, high=0.05)
        assert "too small to distinguish from the noise" in report_page(outcome_of(plan, [low]), CONTEXT)


def test_groups_of_every_kind() -> None:
    """The one that leads is spoken of in words that fit; a profile has one row, with all its orders."""
    fit = {
        "distinct": "b has the most different values of app, but the other may be as large. For b, there",
        "atkinson": "b is the most unequal in spend. For b, about",
        "shannon": "b has the greatest variety of values of app",
        "profile": "For b, the",
    }
    for name, said in fit.items():
        plan, value = CASES[name].plan, CASES[name].value
        values = (value, 1.1 * value) if name == "distinct" else (value, 5.0 * value)
        rows = [GroupRelease((group,), released(plan, v)) for group, v in zip("ab", values, strict=True)]
        text = report_page(outcome_of(plan, rows, grouped=True), replace(CONTEXT, by="country"))
        assert said in text
        assert ", by country?</h1>" in text
        assert text.count('<th scope="row">b</th>') == 1


def test_people_are_spoken_of_as_they_are_protected() -> None:
    joined = replace(PEOPLE, relation="add_remove", pairs=0, pairs_per_person=3)
    plan = ss.plan(ss.Hill(0.5), joined, size=70, mechanism="bare")
    text = report_page(outcome_of(plan, [released(plan, 50.0)]), CONTEXT)
    assert "Whether any 3 keys of one person are in the data at all, and with what total." in text
    assert "because of 3 keys of one person being in the data" in text
    assert "How many keys there are" not in text
