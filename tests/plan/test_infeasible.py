"""Infeasible plans: what is wrong, and what would work instead."""

from __future__ import annotations

import dataclasses
import math

import pytest

import stablesketch as ss
from stablesketch.mechanism.bare.floor import relative_deviation
from stablesketch.privacy.precision import rounding_delta
from stablesketch.release.decide import decide
from stablesketch.statistic import Statistic

HALF = ss.Moment(0.5)
MILLION = ss.Privacy(epsilon=1.0, delta=1e-9, pairs=1_000_000, relation="replace")
ANY_LENGTH = ss.Privacy(epsilon=1.0, delta=1e-9, pairs=0, relation="add_remove")


def test_an_error_out_of_reach_says_what_would_do() -> None:
    privacy = ss.Privacy(epsilon=0.1, delta=1e-6, pairs=1_000, relation="replace")
    with pytest.raises(ss.PlanInfeasible) as caught:
        ss.plan(HALF, privacy, error=0.01, mechanism="bare")
    for part in (
        "relative error of 0.01",
        "F_0.5 = 31.6228",
        "the best is",
        "a larger ε, about",
        "'exact'",
        "expected=",
    ):
        assert part in str(caught.value)
    # The best is above 100%, which error= does not take; the size that has it is named instead.
    best, size = (float(str(caught.value).split(before)[1].split(",")[0]) for before in ("the best is ", "size="))
    assert ss.plan(HALF, privacy, size=int(size), mechanism="bare").error == pytest.approx(best, rel=0.01)
    assert best > 1.0


def test_the_suggested_error_works() -> None:
    privacy = ss.Privacy(epsilon=1.0, delta=1e-6, pairs=10_000, relation="replace")
    with pytest.raises(ss.PlanInfeasible) as caught:
        ss.plan(HALF, privacy, error=0.001, mechanism="bare")
    suggested = float(str(caught.value).split("Pass error=")[1].split(",")[0])
    assert ss.plan(HALF, privacy, error=suggested, mechanism="bare").error <= suggested


@pytest.mark.parametrize("expected", [None, 1000.0])
@pytest.mark.parametrize("pairs", [0, 100_000])
def test_the_suggested_error_of_a_hill_number_works(expected: float | None, pairs: int) -> None:
    """The error is that of its moment times a factor, and of the total, if something is known of that."""
    privacy = ss.Privacy(1.0, 1e-9, pairs=pairs)
    with pytest.raises(ss.PlanInfeasible, match=r"the best is .* Pass error=.*mechanism='exact'") as caught:
        ss.plan(ss.Hill(0.5), privacy, error=1e-5, expected=expected)
    suggested = float(str(caught.value).split("Pass error=")[1].split(",")[0])
    assert ss.plan(ss.Hill(0.5), privacy, error=suggested, expected=expected).error <= suggested


@pytest.mark.parametrize("statistic", [ss.Hill(0.5), ss.Hill(2), ss.Hill(0), ss.Renyi(0.5), ss.Tsallis(2)])
def test_an_exact_plan_knows_its_error_at_the_expected_value(statistic: ss.Hill | ss.Renyi | ss.Tsallis) -> None:
    """The total is at least as large as the Hill number, here 1,000; its noise has a deviation of sqrt(2) b."""
    privacy, expected = ss.Privacy(1.0, 1e-9), statistic.at_log_hill(math.log(1000))
    plan = ss.plan(statistic, privacy, mechanism="exact", expected=expected, error=0.2)
    assert plan.relative == statistic.relative
    assert plan.expected == pytest.approx(expected)
    counted = [one for one in plan.measurements if one.statistic == ss.Total()]
    noise = math.sqrt(2) * 10.0 / 1000 * statistic.factor(ss.Total()) if counted else 0.0
    assert noise <= plan.error <= 0.2


def test_an_exact_plan_that_knows_no_length_says_what_to_pass() -> None:
    with pytest.raises(ss.PlanInfeasible, match=r"not known\. Pass expected=, the value you expect, or pairs=,"):
        ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-9), mechanism="exact", error=0.05)
    with pytest.raises(ss.PlanInfeasible, match=r"not known\. Pass pairs=, the number of pairs that you expect, or"):
        ss.plan(ss.Hill(1), ss.Privacy(1.0, 1e-9), mechanism="exact", error=0.01, expected=100)


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_a_delta_below_finite_precision_says_what_would_do(epsilon: float) -> None:
    tiny = ss.Privacy(epsilon=epsilon, delta=1e-12, pairs=1_000_000, relation="replace")
    with pytest.raises(ss.PlanInfeasible, match=r"finite precision.*Pass delta=.*mechanism='exact'") as caught:
        ss.plan(HALF, tiny, size=50, mechanism="bare")
    suggested = float(str(caught.value).split("Pass delta=")[1].split(",")[0])
    enough = dataclasses.replace(tiny, delta=suggested)
    assert ss.plan(HALF, enough, size=50, mechanism="bare").delta == suggested
    assert ss.plan(HALF, tiny, mechanism="exact").delta == 0.0


@pytest.mark.parametrize("statistic", [HALF, ss.Shannon(), ss.Distinct(), ss.Hill(0.5), ss.Profile([0, 1])])
@pytest.mark.parametrize("mechanism", ["sketch", "exact", "bare"])
@pytest.mark.parametrize("epsilon", [1e-310, 1e-100, 300.0, 1e300])
def test_no_epsilon_overflows(statistic: ss.Statistic, mechanism: str, epsilon: float) -> None:
    """A number, or a typed error that says what to do."""
    try:
        privacy = ss.Privacy(epsilon, 1e-9, 1_000, relation="replace")
        collector = ss.plan(statistic, privacy, mechanism=mechanism).open(ss.Secret.from_bytes(bytes(32)))  # type: ignore[arg-type]
        collector.update(list(range(1_000)))
        release = collector.release()
        assert release.low <= release.value <= release.high
    except (ss.ArgumentError, ss.PlanInfeasible):
        pass


@pytest.mark.parametrize("epsilon", [50.0, 1e3, 1e300])
@pytest.mark.parametrize("way", [{"size": 50}, {"error": 0.2}, {}])
def test_an_epsilon_that_no_precision_supports(epsilon: float, way: dict[str, float]) -> None:
    """(1 + e^ε) times the error of the arithmetic is above every δ; no number overflows on the way to saying so."""
    with pytest.raises(ss.PlanInfeasible, match=r"too large for a sketch.*Pass epsilon=1,.*or mechanism='exact'"):
        ss.plan(HALF, ss.Privacy(epsilon=epsilon, delta=1e-9, pairs=1_000, relation="replace"), **way, mechanism="bare")


def test_a_small_delta_takes_a_coarser_grid() -> None:
    """At ε = 5 and δ = 1e-9 a quarter of the deviation costs more than δ. A coarser grid does; the error has it."""
    asked = ss.Privacy(epsilon=5.0, delta=1e-9, pairs=10**6, relation="replace")
    plan = ss.plan(HALF, asked, mechanism="bare")
    deviation = relative_deviation(0.5, plan.size)
    assert 0.25 * deviation < plan.step <= 2.0 * deviation
    assert rounding_delta(5.0, plan.step) <= 0.75 * plan.delta < rounding_delta(5.0, 0.5 * plan.step)
    assert plan.error == pytest.approx(math.hypot(deviation, plan.step / math.sqrt(12.0)), rel=1e-3)
    assert deviation < plan.error <= 0.05


def test_a_size_too_large_for_the_delta_names_one_that_is_not() -> None:
    asked = ss.Privacy(epsilon=5.0, delta=1e-10, pairs=10**6, relation="replace")
    with pytest.raises(ss.PlanInfeasible, match=r"size=\d+") as caught:
        ss.plan(HALF, asked, size=5_000, mechanism="bare")
    largest = int(str(caught.value).split("size=")[1].split(",")[0])
    assert ss.plan(HALF, asked, size=largest, mechanism="bare").epsilon <= 5.0
    with pytest.raises(ss.PlanInfeasible):
        ss.plan(HALF, asked, size=largest + 1, mechanism="bare")


def test_nothing_to_be_relative_to() -> None:
    """Any F_0.5 is possible: the error is the one before the floor, and the plan names the floor's, which is absolute.

    A release plans in the same way (`decide`), and so does the command line.
    """
    plan = ss.plan(HALF, ANY_LENGTH, error=0.05, mechanism="bare")
    assert relative_deviation(0.5, plan.size) < 0.05 < relative_deviation(0.5, plan.size - 20)
    assert not plan.relative
    assert plan.error > plan.floor * 0.05 * 0.95
    assert plan.asked.error == 0.05
    assert plan.again() == plan
    assert decide(ss.question(HALF, ANY_LENGTH, key="app", error=0.05, mechanism="bare")).plan == plan


def test_nothing_is_known_about_individuals() -> None:
    """Like pairs: a long stream of individuals, which can only be added or removed, decides the size."""
    individuals = ss.Privacy(1.0, 1e-9, unit="individual")
    assert ss.plan(HALF, individuals, mechanism="bare").size == ss.plan(HALF, ANY_LENGTH, mechanism="bare").size


@pytest.mark.parametrize("statistic", [ss.Hill(0.5), ss.Tsallis(0.5), ss.Renyi(0.5)], ids=str)
@pytest.mark.parametrize("pairs", [0, 10**6])
def test_an_exact_plan_at_an_expected_value_is_json(statistic: Statistic, pairs: int) -> None:
    """The total is then expected too, and is a float like every expected value."""
    plan = ss.plan(statistic, ss.Privacy(1.0, 1e-9, pairs, max_value=10), mechanism="exact", expected=5.0)
    assert ss.Plan.from_json(plan.to_json()) == plan
    assert isinstance(plan.inputs[1].expected, float)


def test_a_floor_of_too_many_phantoms() -> None:
    greedy = ss.Privacy(epsilon=0.1, delta=1e-6, pairs=0, relation="add_remove", pairs_per_person=10**6)
    with pytest.raises(ss.PlanInfeasible, match=r"phantom keys.*larger ε.*pairs_per_person"):
        ss.plan(ss.Moment(0.05), greedy, size=50, mechanism="bare")


def test_an_error_that_the_exact_mechanism_does_not_reach() -> None:
    privacy = ss.Privacy(epsilon=0.01, delta=1e-6, pairs=100, relation="replace")
    with pytest.raises(ss.PlanInfeasible, match=r"exact mechanism has an error of 14\.1"):
        ss.plan(HALF, privacy, mechanism="exact", error=0.05)
    assert ss.plan(HALF, privacy, mechanism="exact", expected=1e6, error=0.05).error <= 0.05


VALUE, TYPE = ss.ArgumentError, ss.ArgumentTypeError
WRONG: dict[str, tuple[dict[str, object], type[Exception], str]] = {
    "statistic a number": ({"statistic": 0.5}, TYPE, "statistic must be a statistic"),
    "statistic the class": ({"statistic": ss.Moment}, TYPE, "must be a statistic"),
    "privacy a number": ({"privacy": 1.0}, TYPE, "privacy must be a Privacy"),
    "error and size": (
        {"error": 0.1, "size": 50},
        VALUE,
        "error cannot be used together with size=",
    ),
    "error zero and size": ({"error": 0, "size": 50}, VALUE, "error cannot be used together with size="),
    "size and memory": ({"size": 50, "memory": "4K"}, VALUE, "each of them decides the size"),
    "error zero": ({"error": 0.0}, VALUE, "error must be between 0 and 1"),
    "error one": ({"error": 1.0}, VALUE, "error must"),
    "error percent": ({"error": 5}, VALUE, "error must be between 0 and 1"),
    "error negative": ({"error": -0.1}, VALUE, "error must"),
    "error NaN": ({"error": math.nan}, VALUE, "error must .*got nan"),
    "error text": ({"error": "5%"}, TYPE, "error must be a number"),
    "error bool": ({"error": True}, TYPE, "error must .*got True"),
    "size one": ({"size": 1}, VALUE, "size must be between 5 and 4,194,304"),
    "size four": ({"size": 4}, VALUE, "size must .*got 4"),
    "size huge": ({"size": 10_001}, VALUE, "size must be a multiple of 64, the entries that a key touches"),
    "size float": ({"size": 50.0}, TYPE, "size must"),
    "size bool": ({"size": True}, TYPE, "size must .*got True"),
    "size text": ({"size": "50"}, TYPE, "size must .*got '50'"),
    "memory word": ({"memory": "lots"}, VALUE, "memory must be a number of bytes"),
    "memory decimal": ({"memory": "1.5M"}, VALUE, "memory must .*got '1.5M'"),
    "memory empty": ({"memory": ""}, VALUE, "memory must .*got ''"),
    "memory float": ({"memory": 4096.0}, TYPE, "memory must"),
    "memory bool": ({"memory": True}, TYPE, "memory must .*got True"),
    "memory tiny": ({"memory": 100}, VALUE, "memory must be at least 1K"),
    "memory negative": ({"memory": -4096}, VALUE, "memory must .*got -4096"),
    "memory below the least plan": (
        {"memory": "1K", "expected": 1e300},
        VALUE,
        "memory must be at least 1890 bytes for this plan",
    ),
    "expected zero": ({"expected": 0}, VALUE, "expected must be positive"),
    "expected negative": ({"expected": -5.0}, VALUE, "expected must"),
    "expected NaN": ({"expected": math.nan}, VALUE, "expected must .*got nan"),
    "expected infinite": ({"expected": math.inf}, VALUE, "expected must .*got inf"),
    "expected text": ({"expected": "many"}, TYPE, "expected must .*got 'many'"),
    "expected bool": ({"expected": True}, TYPE, "expected must .*got True"),
    "mechanism unknown": (
        {"mechanism": "laplace"},
        VALUE,
        'mechanism must be "sketch", "exact" or "bare"',
    ),
    "exact with a size": ({"mechanism": "exact", "size": 50}, VALUE, "cannot be used with mechanism='exact'"),
    "exact with memory": ({"mechanism": "exact", "memory": "4K"}, VALUE, "cannot be used with mechanism='exact'"),
    "exact with a wrong error": ({"mechanism": "exact", "error": 7}, VALUE, "error must .*got 7"),
    "deletes a word": ({"deletes": "no"}, TYPE, "deletes must be True or False"),
    "deletes a number": ({"deletes": 1}, TYPE, "deletes must .*got 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_say_what_is_wrong(name: str) -> None:
    arguments, error, says = WRONG[name]
    arguments = {"statistic": HALF, "privacy": MILLION, **arguments}
    with pytest.raises(error, match=says) as caught:
        ss.plan(**arguments)  # type: ignore[arg-type]
    assert type(caught.value) is error
