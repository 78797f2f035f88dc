"""The audit on statistics that are not moments: sound plans pass, broken ones are caught."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from audit_helpers import Change, caught, opener, passed

import stablesketch as ss
from stablesketch.plan.plan import altered

SHANNON = ss.plan(ss.Shannon(), ss.Privacy(4.0, 1e-6, 30, relation="replace"), mechanism="bare")
DISTINCT = ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-6, 30, relation="replace"), size=64, mechanism="bare")
HILL = ss.plan(ss.Hill(0.5), ss.Privacy(2.0, 1e-6, 20, max_value=4, relation="replace"), size=20, mechanism="bare")


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(SHANNON, id="shannon"),
        pytest.param(DISTINCT, id="distinct", marks=pytest.mark.slow),
        pytest.param(HILL, id="hill", marks=pytest.mark.slow),
    ],
)
def test_sound_plans_pass(plan: ss.Plan) -> None:
    passed(plan, 200, opener(1))


def test_more_entries_of_entropy_than_the_price_allows_are_caught() -> None:
    def larger(plan: ss.Plan) -> ss.Plan:
        return altered(plan, size=40 * plan.size)

    caught(SHANNON, 300, opener(2, larger))


def claiming(epsilon: float) -> Change:
    """The noise of another ε than the one that is claimed."""
    return lambda plan: altered(plan, privacy=dataclasses.replace(plan.privacy, epsilon=epsilon))


@pytest.mark.slow
def test_a_number_of_phantoms_that_does_not_vary_is_caught() -> None:
    caught(DISTINCT, 300, opener(3, claiming(60.0)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "privacy", [ss.Privacy(1.0, 1e-6, 5, relation="replace"), ss.Privacy(1.0, 1e-6, 5, 3, "add_remove")], ids=str
)
@pytest.mark.parametrize(
    ("asked", "buckets", "epsilon"),
    [({"mechanism": "exact"}, 1, 8.0), ({"size": 128, "entries_per_key": 16}, 8, 16.0)],
    ids=["exact", "buckets"],
)
def test_too_little_noise_on_entropy_is_caught(
    asked: dict[str, Any], buckets: int, epsilon: float, privacy: ss.Privacy
) -> None:
    """An eighth of what exact entropy must have, 0.06 of what eight buckets must; the right amount passes. With N
    public, and with N private."""
    plan = ss.plan(ss.Shannon(), privacy, **asked)
    assert plan.buckets == buckets
    passed(plan, 300, opener(5))
    caught(plan, 1_000, opener(4, claiming(epsilon)))
