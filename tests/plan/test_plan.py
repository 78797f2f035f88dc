"""Plans of bare sketches and of the exact mechanism, and what all plans have in common (see test_noisy_plan.py)."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_texts import forged, second_content, text_of

import stablesketch as ss
from stablesketch.mechanism.floor import relative_deviation
from stablesketch.privacy.precision import rounding_delta

HALF = ss.Moment(0.5)
MILLION = ss.Privacy(epsilon=1.0, delta=1e-9, pairs=1_000_000, relation="replace")
ANY_LENGTH = ss.Privacy(epsilon=1.0, delta=1e-9, pairs=0, relation="add_remove")


@pytest.fixture(scope="module")
def million() -> ss.Plan:
    return ss.plan(HALF, MILLION, mechanism="bare")


@pytest.fixture(scope="module")
def any_length() -> ss.Plan:
    return ss.plan(HALF, ANY_LENGTH, size=50, mechanism="bare")


# --- what a plan says ---


def test_a_plan_from_a_statistic_and_what_is_protected(million: ss.Plan) -> None:
    """Without error, size or memory it aims at 5%, at the least F_p that a million pairs can have: one key, 1000."""
    assert million.statistic == HALF
    assert million.privacy == MILLION
    assert million.mechanism == "bare"
    assert (million.noise, million.cap) == (0.0, 0.0)
    assert million.expected == 1_000.0
    assert million.relative
    assert 0.049 < million.error <= 0.05
    # A million pairs hide one of them well: ε comes out far below 1, without a floor.
    assert million.floor == 0.0
    assert million.epsilon < 0.11
    assert million.pure_epsilon == pytest.approx(1.15, abs=0.05)


def test_a_plan_for_streams_of_any_length_has_a_floor(any_length: ss.Plan) -> None:
    """Nothing is promised about the stream, so phantom keys protect it; the error is absolute, of the order of Λ."""
    assert any_length.floor > 30.0
    assert not any_length.relative
    assert any_length.expected == 0.0
    assert any_length.error == pytest.approx(any_length.floor * 0.17, rel=0.05)


def test_what_is_reached_is_never_above_what_was_asked(million: ss.Plan, any_length: ss.Plan) -> None:
    for plan in (million, any_length):
        assert plan.epsilon <= plan.privacy.epsilon
        assert plan.delta <= plan.privacy.delta
    # Where a floor was needed, no more of it than it takes: ε is what was asked, less a percent.
    assert any_length.epsilon > 0.99


def test_delta_includes_what_finite_precision_costs(any_length: ss.Plan) -> None:
    """The certified curve of the entries gives the reached ε at less than δ, by the cost of rounding."""
    rho = ss.sensitivity(0.5, ANY_LENGTH, any_length.floor)
    spent = rounding_delta(any_length.epsilon, any_length.step)
    assert 0.0 < spent < 0.75 * any_length.delta
    curve = ss.PrivacyCurve(0.5, 50, rho)
    assert curve.delta(any_length.epsilon) + spent <= any_length.delta * (1 + 1e-9)


def test_the_grid_is_a_power_of_two_and_fine(million: ss.Plan) -> None:
    """A quarter of the standard deviation of ln T at most, so that rounding hardly adds to the error."""
    assert math.frexp(million.step)[0] == 0.5
    assert 0.05 / 8.5 < million.step <= 0.05 / 4.0


def test_print_it(million: ss.Plan, any_length: ss.Plan) -> None:
    table = str(million)
    assert table.splitlines()[0] == "Plan: F_0.5 by the bare mechanism"
    for part in (
        "replacing up to 1 of at least 1,000,000 pairs",
        "asked",
        "reached",
        "none needed",
        "5% at F_0.5 = 1,000",
    ):
        assert part in table
    assert "times as accurate" in table  # exact + Laplace would be better here, and the plan says so
    assert "any number of pairs" in str(any_length)
    assert "absolute" in str(any_length)


# --- three ways to choose the size ---


def test_by_error(million: ss.Plan) -> None:
    loose = ss.plan(HALF, MILLION, error=0.2, mechanism="bare")
    assert loose.size < million.size
    assert 0.15 < loose.error <= 0.2


def test_by_size() -> None:
    plan = ss.plan(HALF, MILLION, size=50, mechanism="bare")
    assert plan.size == 50
    assert plan.error == pytest.approx(0.172, abs=0.002)  # docs/accuracy.md: 17.2%


@pytest.mark.parametrize("memory", ["4K", "4KiB", "4k", 4096, "4096"])
def test_by_memory(memory: str | int) -> None:
    plan = ss.plan(HALF, MILLION, memory=memory, mechanism="bare")
    assert 3_900 < plan.bytes <= 4_096


def test_the_memory_is_what_a_stored_collector_takes() -> None:
    """For a stream whose F_p is what the plan expects: 10,000 distinct keys."""
    privacy = ss.Privacy(epsilon=1.0, delta=1e-8, pairs=10_000, relation="replace")
    plan = ss.plan(HALF, privacy, memory="8K", expected=10_000.0, mechanism="bare")
    collector = plan.open(secret=ss.Secret.from_bytes(bytes(32)))
    collector.update(np.arange(10_000))
    assert len(collector.to_bytes()) == pytest.approx(plan.bytes, rel=0.05)


def test_expected_says_where_the_error_is_meant() -> None:
    """The (ε, δ) does not depend on it."""
    low, high = (
        ss.plan(HALF, ANY_LENGTH, size=50, expected=expected, mechanism="bare") for expected in (100.0, 10_000.0)
    )
    assert low.relative
    assert low.error > high.error
    assert (low.epsilon, low.delta, low.floor) == (high.epsilon, high.delta, high.floor)
    assert high.error == pytest.approx(0.1725 * (1 + high.floor / 10_000.0), rel=0.01)


def test_deletes_are_a_promise_of_the_plan(million: ss.Plan) -> None:
    assert not million.deletes
    assert ss.plan(HALF, MILLION, size=50, deletes=True, mechanism="bare").deletes


# --- the exact mechanism, for comparison ---


def test_the_exact_mechanism() -> None:
    plan = ss.plan(HALF, MILLION, mechanism="exact")
    assert (plan.epsilon, plan.delta, plan.pure_epsilon) == (1.0, 0.0, 1.0)
    assert plan.error == pytest.approx(math.sqrt(2.0) / 1_000.0)
    assert (plan.size, plan.floor) == (0, 0.0)
    assert "every key of the stream" in str(plan)


def test_the_comparison_with_the_exact_mechanism(million: ss.Plan) -> None:
    exact = ss.plan(HALF, MILLION, mechanism="exact")
    assert million.exact_error == exact.error
    assert f"{million.error / exact.error:,.3g} times as accurate" in str(million)


def test_the_comparison_is_honest_where_the_sketch_is_better() -> None:
    """A long stream hides its pairs so well that the exact mechanism at ε = 0.001 is the worse one."""
    privacy = ss.Privacy(epsilon=0.001, delta=1e-6, pairs=10**9, max_value=1, pairs_per_person=50, relation="replace")
    plan = ss.plan(ss.Moment(0.75), privacy, size=1_000, mechanism="bare")
    assert (plan.exact_error < plan.error) == ("times as accurate" in str(plan))
    assert (plan.exact_error >= plan.error) == ("no better" in str(plan))


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 10.0])
def test_the_grid_of_the_exact_mechanism_adds_next_to_nothing(epsilon: float) -> None:
    """Rounding to the grid adds up to one step to the sensitivity c M^p, and the noise is a thousand steps."""
    privacy = ss.Privacy(epsilon=epsilon, delta=1e-9, pairs=0, max_value=7, pairs_per_person=3, relation="replace")
    plan = ss.plan(HALF, privacy, mechanism="exact")
    assert math.frexp(plan.step)[0] == 0.5
    assert plan.step <= 3 * math.sqrt(7.0) / 1_000.0
    assert plan.step <= plan.error / 1_000.0


# --- JSON, and what cannot be changed ---


@pytest.mark.parametrize("which", ["million", "any_length", "exact"])
def test_json_round_trip(which: str, request: pytest.FixtureRequest) -> None:
    plan = ss.plan(HALF, MILLION, mechanism="exact") if which == "exact" else request.getfixturevalue(which)
    text = plan.to_json()
    again = ss.Plan.from_json(text)
    assert again == plan
    assert again.to_json() == text
    assert json.loads(text)["format"] == "stablesketch-plan/3"


def test_the_same_question_has_the_same_answer(any_length: ss.Plan) -> None:
    """A plan is a function of public numbers alone."""
    assert ss.plan(HALF, ANY_LENGTH, size=50, mechanism="bare").to_json() == any_length.to_json()


def test_a_plan_is_frozen_and_may_be_pickled(million: ss.Plan) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        million.epsilon = 0.0  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(million)) == million
    assert hash(million) == hash(ss.Plan.from_json(million.to_json()))


@pytest.mark.parametrize(
    "fields",
    [
        {"format": "stablesketch-plan/1"},
        {"format": "stablesketch-plan/4"},
        {"noise": 1.0},
        {"cap": 1.0},
        {"mechanism": "sketch"},
        {"format": None},
        {"statistic": {"name": "entropy"}},
        {"statistic": {"name": "moment", "p": 3.0}},
        {"statistic": {"name": "moment"}},
        {"privacy": {"epsilon": 1.0}},
        {"privacy": None},
        {"phantoms": {"count": 1}},
        {"phantoms": {"count": -1, "weight": 1}},
        {"phantoms": {"count": 1, "weight": 1.5}},
        {"phantoms": {"count": 1, "weight": 1, "first": 0}},
        {"phantoms": []},
        {"mechanism": "magic"},
        {"mechanism": 3},
        {"size": "50"},
        {"size": 50.0},
        {"epsilon": None},
        {"deletes": 1},
        {"surprise": 1},
    ],
    ids=str,
)
def test_json_that_no_plan_wrote(million: ss.Plan, fields: dict[str, object]) -> None:
    with pytest.raises(ss.BlobError):
        ss.Plan.from_json(forged(million, **fields))
    with pytest.raises(ss.BlobError):
        ss.Plan.from_json(text_of({**second_content(million), **fields}))


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "3", '{"format": "stablesketch-plan/1"}', "[" * 5_000])
def test_text_that_is_no_plan(text: str) -> None:
    with pytest.raises(ss.BlobError, match="plan"):
        ss.Plan.from_json(text)


# --- what cannot be had, and what would do ---


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
    with pytest.raises(ss.ArgumentError, match=r"needs expected=.*size=500.*expected="):
        ss.plan(HALF, ANY_LENGTH, error=0.05, mechanism="bare")


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
    "size and memory": ({"size": 50, "memory": "4K"}, VALUE, "either decides the size"),
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
    "memory float": ({"memory": 4096.0}, VALUE, "memory must"),
    "memory bool": ({"memory": True}, VALUE, "memory must .*got True"),
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


@given(
    p=st.floats(0.05, 1.0),
    epsilon=st.floats(0.05, 3.0),
    pairs=st.integers(0, 10**6),
    most=st.integers(1, 1_000),
    relation=st.sampled_from(["replace", "add_remove"]),
    persons=st.integers(1, 20),
)
@settings(max_examples=12, deadline=None, derandomize=True)
def test_whatever_is_asked_is_reached(
    p: float, epsilon: float, pairs: int, most: int, relation: str, persons: int
) -> None:
    """Any promise, any relation: (ε, δ) is reached, and the plan is its own text again."""
    privacy = ss.Privacy(epsilon, 1e-8, pairs, max_value=most, relation=relation, pairs_per_person=persons)  # type: ignore[arg-type]
    plan = ss.plan(ss.Moment(p), privacy, size=30, mechanism="bare")
    assert plan.epsilon <= epsilon
    assert plan.delta <= 1e-8
    assert ss.Plan.from_json(plan.to_json()) == plan
    reached = ss.PrivacyCurve(p, 30, ss.sensitivity(p, privacy, plan.floor))
    assert reached.delta(plan.epsilon) + rounding_delta(plan.epsilon, plan.step) <= 1e-8 * (1 + 1e-6)
    assert ss.Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"mechanism": "exact"}, "cannot be used with mechanism='exact'"),
        ({"mechanism": "exact", "size": None}, "question and numbers disagree"),
        ({"sampling": {"rate": 0.1, "per": "pair"}}, "question and numbers disagree"),
        ({"memory": "9" * 5_000, "size": None}, "plan"),
        ({"memory": 10**400, "size": None}, "plan"),
        ({"size": [20] * 100_000}, "plan"),
    ],
    ids=str,
)
def test_a_question_that_the_plan_does_not_answer(asked: dict[str, object], says: str) -> None:
    content = json.loads(ss.plan(HALF, ss.Privacy(1.0, 1e-9), size=30).to_json())
    content["asked"] = {name: value for name, value in {**content["asked"], **asked}.items() if value is not None}
    with pytest.raises(ss.BlobError, match=says):
        ss.Plan.from_json(text_of(content))
