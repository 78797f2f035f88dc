"""Plans of bare sketches and of the exact mechanism, and what all plans share. Plans with noise:
tests/mechanism/noisy/test_noisy_plan.py.
"""

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
        ({"mechanism": "exact", "size": None}, "numbers that do not match what was asked"),
        ({"sampling": {"rate": 0.1, "per": "pair"}}, "numbers that do not match what was asked"),
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


@pytest.mark.parametrize(
    ("group", "field", "value", "says"),
    [
        ("", "pure_epsilon", 5.0, "unknown or missing fields in a plan: .?pure_epsilon"),
        ("numbers", "size", 2, "must have between 5 and"),
    ],
)
def test_a_plan_of_entropy_with_something_else_in_it(group: str, field: str, value: object, says: str) -> None:
    content = json.loads(ss.plan(ss.Shannon(), ss.Privacy(1.0, 1e-9), size=30).to_json())
    (content[group] if group else content)[field] = value
    with pytest.raises(ss.BlobError, match=says):
        ss.Plan.from_json(text_of(content))
