"""What the table of a plan says: entries, noise, and an error that is true of every stream."""

from __future__ import annotations

import math
import re

import pytest

import stablesketch as ss
from stablesketch.plan.mechanism import mechanism_of
from stablesketch.statistic import Derived, Statistic

ANY = ss.Privacy(1.0, 1e-6)
ROWS = ss.Privacy(1.0, 1e-6, relation="replace")
PEOPLE = ss.Privacy(1.0, 1e-6, pairs=100_000, max_value=20, unit="key", relation="replace")
SHORTER = "the noise can be the larger part of the error below"
HELD = "if all keys may be held in memory"


def rows(plan: ss.Plan) -> dict[str, str]:
    """Without the notes below it."""
    _, _, *lines = str(plan).partition("\nnote ")[0].splitlines()
    return dict(re.split(r"  +", line, maxsplit=1) for line in lines)


def test_a_moment() -> None:
    plan = ss.plan(ss.Moment(0.5), ANY, size=200)
    table = rows(plan)
    assert list(table) == ["statistic", "protects", "asked", "reached", "size", "noise", "error", "exact"]
    assert table["protects"] == "adding or removing any one pair"
    assert table["size"].startswith("200 entries, about ")
    assert table["noise"] == f"Laplace of scale b = {plan.noise:.3g}"
    assert table["error"] == f"{100 * plan.error:.3g}% of F_0.5, and ± {math.sqrt(2) * plan.noise:.3g}"
    assert table["exact"] == f"± 1.41, {HELD}"


def test_where_a_value_is_expected_the_error_is_that_of_both() -> None:
    plan = ss.plan(ss.Moment(0.5), ANY, size=200, expected=20.0)
    table = rows(plan)
    assert table["error"] == f"{100 * plan.error:.3g}% at F_0.5 = 20, noise included"
    assert table["exact"] == f"7.07%, {HELD}"


@pytest.mark.parametrize(
    ("privacy", "said"),
    [
        (ROWS, "replacing any one pair; the number of pairs is public"),
        (ss.Privacy(1.0, 1e-6, max_value=1_500), "adding or removing any one pair, values up to 1,500"),
        (ss.Privacy(1.0, 1e-6, pairs_per_person=20), "adding or removing any 20 pairs of one person"),
        (
            ss.Privacy(1.0, 1e-6, pairs_per_person=20, groups=7),
            "adding or removing any 20 pairs of one person, in up to 7 groups",
        ),
        (
            ss.Privacy(1.0, 1e-6, unit="key", max_value=9, relation="replace"),
            "replacing any one key, totals up to 9; the number of keys is public",
        ),
    ],
)
def test_what_is_protected(privacy: ss.Privacy, said: str) -> None:
    assert rows(ss.plan(ss.Moment(0.5), privacy, size=50))["protects"] == said


def test_the_total_is_one_counter() -> None:
    for statistic in (ss.Moment(1.0), ss.Total()):
        table = rows(ss.plan(statistic, ANY))
        assert (table["memory"], table["noise"], table["error"]) == (
            "one counter",
            "Laplace of scale b = 1",
            "± 1.36, whatever the stream",
        )
        assert "exact" not in table


def test_the_exact_mechanism() -> None:
    table = rows(ss.plan(ss.Moment(0.5), ANY, mechanism="exact"))
    assert table["memory"] == "every key of the stream, as a keyed fingerprint"
    assert (table["noise"], table["error"]) == ("Laplace of scale b = 1", "± 1.41, whatever the stream")
    known = rows(ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs=10_000), mechanism="exact"))
    assert known["error"] == "1.41% at F_0.5 = 100, the least that 10,000 pairs can have"


def test_a_hill_number_says_from_which_length_on_its_noise_is_less() -> None:
    plan = ss.plan(ss.Hill(0.5), ANY, size=400)
    table = rows(plan)
    moment, _ = plan.inputs
    assert table["F_0.5"] == f"400 entries, Laplace noise of scale b = {moment.noise:.3g}"
    assert table["total"] == "one counter, Laplace noise of scale b = 10"
    assert table["exact"] == f"the noise alone, {HELD}"
    assert table["error"] == f"{100 * plan.error:.3g}%"
    said = re.fullmatch(r"can be the larger part of the error below ([\d,]+) pairs", table["noise"])
    assert said is not None
    n = float(said[1].replace(",", ""))
    # At n pairs of one key F = n^q; errors of F and N grow by 1/(1-q) and q/(1-q).
    noise = math.hypot(2 * math.sqrt(2) * moment.noise / math.sqrt(n), math.sqrt(2) * 10 / n)
    assert 0.9 * plan.error < noise <= plan.error * (1 + 1e-3)


def test_one_sketch_needs_no_sum_of_sizes() -> None:
    assert rows(ss.plan(ss.Hill(0.5), ROWS, size=50))["size"].startswith("about ")
    profile = ss.plan(ss.Profile([0, 0.5]), ANY, size=(70, 50, 0))
    table = rows(profile)
    assert table["size"].startswith("120 entries in all, about ")
    assert table["distinct keys"].startswith("70 registers, Laplace noise of scale b = ")
    assert table["error"].endswith("% at most, at each order")
    length = r"can be the larger part of the error below [\d,]+ pairs"
    assert re.fullmatch(rf"{length}; ± 3.14 on the number of keys", table["noise"])


@pytest.mark.parametrize("order", [0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("keys", [1, 20, 312, 1_000])
def test_from_that_length_on_the_noise_adds_less_than_the_sketch(order: float, keys: int) -> None:
    """By the variance of a sketch in buckets, V Σ F_b² / F², for keys that are spread over the buckets evenly."""
    plan = ss.plan(ss.Moment(order), ANY)
    n = mechanism_of(plan).noise_decides_below(plan)
    keys = min(keys, int(n))
    moment = keys * (n / keys) ** order
    shared = math.sqrt(1 / min(keys, plan.buckets))  # Σ (F_b/F)²
    sketch = max(plan.worst_error * shared, plan.error)
    assert math.sqrt(2) * plan.noise / moment <= sketch * (1 + 1e-6)


def test_that_length_is_no_longer_than_it_need_be() -> None:
    plan = ss.plan(ss.Moment(0.5), ANY)
    n = mechanism_of(plan).noise_decides_below(plan)
    assert math.sqrt(2) * plan.noise / math.sqrt(n) == pytest.approx(plan.worst_error, rel=0.02)


@pytest.mark.parametrize(
    ("statistic", "privacy", "error", "exact"),
    [
        (ss.Distinct(), ANY, "4.12% of the number of keys, and ± 1.41", f"± 1.41, {HELD}"),
        (ss.Hill(0), ANY, "4.12%, and ± 1.41 on the number of keys", f"± 1.41 on the number of keys, {HELD}"),
        (ss.Renyi(0.5), ANY, rf"0.1\d+ nats; {SHORTER} [\d,]+ pairs", f"the noise alone, {HELD}"),
        (ss.Simpson(), ANY, rf"1\d.\d%; {SHORTER} [\d,]+ pairs",
         f"the noise alone, {HELD}"),
        (ss.Simpson("gini"), ANY, rf"1\d.\d% of Σ s\^2; {SHORTER} [\d,]+ pairs", f"the noise alone, {HELD}"),
        (ss.Tsallis(0.5), ANY, rf"\d.\d+% of Σ s\^0.5; {SHORTER} [\d,]+ pairs", f"the noise alone, {HELD}"),
        (ss.Tsallis(0), ANY, "4.12% of the number of keys, and ± 1.41 on the number of keys",
         f"± 1.41 on the number of keys, {HELD}"),
        (ss.Tsallis(1), ANY, rf"0.\d+ nats; {SHORTER} [\d,]+ pairs", f"the noise alone, {HELD}"),
        (ss.Profile([0.5, 2]), ANY, rf"\d\d.*% at most, at each order; {SHORTER} [\d,]+ pairs",
         f"the noise alone, {HELD}"),
        (ss.Atkinson(0.5), PEOPLE, rf"0.\d+; {SHORTER} [\d,]+ keys", f"the noise alone, {HELD}"),
    ],
    ids=str,
)  # fmt: skip
def test_the_error_and_the_comparison(statistic: Statistic, privacy: ss.Privacy, error: str, exact: str) -> None:
    table = rows(ss.plan(statistic, privacy, size=70))
    computed = isinstance(statistic, Derived) and "noise" in table
    said = f"{table['error']}; the noise {table['noise']}" if computed else table["error"]
    assert re.fullmatch(error, said), said
    plan = ss.plan(statistic, privacy, size=70)
    assert mechanism_of(plan).error_in_words(plan) == said
    assert table["exact"] == exact


def test_exact_statistics_say_from_which_length_on_they_are_good() -> None:
    hill = rows(ss.plan(ss.Hill(0.5), ANY, mechanism="exact"))
    assert re.fullmatch(r"less than 4% in streams of more than [\d,]+ pairs, even if all have one key", hill["error"])
    entropy = rows(ss.plan(ss.Shannon(), ANY, mechanism="exact"))
    assert re.fullmatch(r"less than 0.04 nats in streams of more than [\d,]+ pairs", entropy["error"])
    assert entropy["noise"] == "Laplace of scale b (set by the total)"


def test_inequality_with_an_expected_mean() -> None:
    table = rows(ss.plan(ss.Atkinson(0.5), PEOPLE, expected=10.0))
    assert table["error"].endswith(" if all have about the same, noise included")


def test_the_noise_of_every_part_is_what_its_plan_adds() -> None:
    """b of exact parts is sensitivity/ε, that of counters likewise; sqrt(2) b is the deviation."""
    privacy = ss.Privacy(0.5, 1e-6, pairs_per_person=3, max_value=4)
    exact = ss.plan(ss.Moment(0.5), privacy, mechanism="exact")
    assert mechanism_of(exact).noise_scale(exact) == pytest.approx(3 * 2 / 0.5)
    assert mechanism_of(exact).noise_deviation(exact) == pytest.approx(exact.error)
    total = ss.plan(ss.Total(), privacy)
    assert mechanism_of(total).noise_scale(total) == pytest.approx(3 * 4 / 0.5)
    distinct = ss.plan(ss.Distinct(), privacy)
    assert mechanism_of(distinct).noise_scale(distinct) == pytest.approx(3 / 0.5)
    bare = ss.plan(ss.Moment(0.5), privacy, size=50, mechanism="bare")
    assert mechanism_of(bare).noise_scale(bare) == mechanism_of(bare).noise_deviation(bare) == 0.0


def test_no_stream_is_long_enough_for_no_error() -> None:
    plan = ss.plan(ss.Hill(0.5), ANY, size=50)
    assert mechanism_of(plan).pairs_for_noise_below(plan, 1e-12) == math.inf
    assert mechanism_of(plan).pairs_for_noise_below(plan, 1e6) == 0.0


# --- entries that are private by themselves ---

BARE_ROWS = ss.Privacy(1.0, 1e-6, pairs=100_000, relation="replace")
NOTHING = "if every moment equals its floor: nothing is promised about the stream"
BARE: list[tuple[Statistic, ss.Privacy, str, str]] = [
    (ss.Renyi(0.5), ANY, NOTHING, "times as accurate, if all keys may be held in memory"),
    (ss.Hill(0.5), ANY, f"% {NOTHING}", "if all keys"),
    (ss.Hill(0.5), BARE_ROWS, "% at Hill number of order 0.5 = 1", "if all keys"),
    (ss.Hill(1), BARE_ROWS, "20.6% for any stream", "times as accurate, if all keys"),
    (ss.Profile([0.5, 1]), BARE_ROWS, "%, reached if every moment is the least possible", "times as accurate"),
    (ss.Shannon(), BARE_ROWS, "0.206 absolute", "times as accurate, if all keys"),
    (ss.Atkinson(0.5), PEOPLE, " absolute, if everyone has the minimum", "if all keys"),
]


@pytest.mark.parametrize(("statistic", "privacy", "error", "exact"), BARE, ids=lambda one: str(one)[:24])
def test_bare_plans_say_what_is_known_of_the_stream(
    statistic: Statistic, privacy: ss.Privacy, error: str, exact: str
) -> None:
    *_, error_line, exact_line = str(ss.plan(statistic, privacy, size=70, mechanism="bare")).splitlines()
    assert error_line.startswith("error ")
    assert error_line.endswith(error)
    assert exact_line.startswith("exact + Laplace ")
    assert exact in exact_line


def test_words_of_bare_plans_stand_there_alone() -> None:
    for statistic in (ss.Moment(0.5), ss.Hill(0.5), ss.Profile([0, 0.25, 0.5]), ss.Distinct(), ss.Tsallis(0.5)):
        for mechanism in ("sketch", "exact"):
            table = str(ss.plan(statistic, ANY, mechanism=mechanism))  # type: ignore[arg-type]
            assert not re.search("floor|phantom|promise|guarantee|pure|absolute", table), table
