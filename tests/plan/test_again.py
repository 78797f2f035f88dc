"""The same question asked again, whole or changed; the measurements of a plan planned by themselves."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest

import stablesketch as ss

PRIVACY = ss.Privacy(1.0, 1e-9)
WAYS: dict[str, dict[str, Any]] = {
    "usual": {},
    "error": {"error": 0.05},
    "memory": {"memory": "64K"},
    "size": {"size": 600},
    "per key": {"size": 640, "entries_per_key": 32},
    "exact": {"mechanism": "exact"},
    "bare": {"mechanism": "bare", "size": 80},
}
STATISTICS = [ss.Moment(0.5), ss.Hill(0.5), ss.Profile([0.25, 0.5])]
COST = ("epsilon", "delta", "pure_epsilon")
DECIDED = attrgetter(*COST, "size", "sizes", "buckets", "step", "noise", "cap", "phantoms", "sampled", "bytes")


@pytest.fixture(
    scope="module", params=[(each, way) for each in STATISTICS for way in WAYS], ids=lambda at: f"{at[0]}, {at[1]}"
)
def plan(request: pytest.FixtureRequest) -> ss.Plan:
    statistic, way = request.param
    return ss.plan(statistic, PRIVACY, **WAYS[way])


def test_asked_again_it_is_the_same(plan: ss.Plan) -> None:
    assert plan.again() == plan
    assert ss.Plan.from_json(plan.to_json()).again() == plan


def test_of_the_same_size_it_does_the_same(plan: ss.Plan) -> None:
    assert plan.again(same_size=True).sizes == plan.sizes
    assert plan.again(same_size=True, epsilon=0.5).sizes == plan.sizes


def test_a_measurement_by_itself_is_planned_alike(plan: ss.Plan) -> None:
    for one in plan.measurements:
        again = ss.Plan.from_json(one.to_json()).again()
        assert DECIDED(again) == DECIDED(one)


def test_every_entry_that_a_key_touches_is_counted(plan: ss.Plan) -> None:
    assert plan.entries_per_key == sum(one.size // one.buckets for one in plan.measurements)


def test_what_is_changed_takes_the_place_of_what_was_there() -> None:
    plan = ss.plan(ss.Moment(0.5), PRIVACY, memory="64K")
    assert plan.again(error=0.05).size == 203
    assert plan.again(mechanism="exact").mechanism == "exact"
    assert plan.again(privacy=ss.Privacy(0.25, 1e-9), epsilon=0.5).epsilon == 0.5
    assert plan.again(statistic=ss.Moment(0.25)).asked.memory == 1 << 16
    with pytest.raises(ss.ArgumentError, match=r"must be an argument of ss.plan or ss.Privacy"):
        plan.again(sizes=3)


def test_a_schedule_of_a_plan_by_memory(tmp_path: Any) -> None:
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=3.0, delta=1e-6)
    plan = ss.plan(ss.Hill(0.5), PRIVACY, memory="64K")
    assert ledger.schedule(plan, releases=3).plan.sizes == plan.sizes
