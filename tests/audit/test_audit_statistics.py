"""The audit on statistics that are not moments: sound plans pass, broken ones are caught."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import pytest

import stablesketch as ss

SHANNON = ss.plan(ss.Shannon(), ss.Privacy(4.0, 1e-6, 30, relation="replace"), mechanism="bare")
DISTINCT = ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-6, 30, relation="replace"), size=64, mechanism="bare")
HILL = ss.plan(ss.Hill(0.5), ss.Privacy(2.0, 1e-6, 20, max_value=4, relation="replace"), size=20, mechanism="bare")


def opener(salt: int, change: Callable[[ss.Plan], ss.Plan] = lambda plan: plan) -> Callable[[ss.Plan], ss.Collector]:
    """Collectors under secrets that come out the same each time."""
    numbers = itertools.count(salt << 64)
    return lambda plan: change(plan).open(ss.Secret.from_bytes(next(numbers).to_bytes(32, "little")))


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(SHANNON, id="shannon"),
        pytest.param(DISTINCT, id="distinct", marks=pytest.mark.slow),
        pytest.param(HILL, id="hill", marks=pytest.mark.slow),
    ],
)
def test_sound_plans_pass(plan: ss.Plan) -> None:
    """False alarm: at most 1% each, and the secrets are the same each time."""
    report = ss.audit(plan, 200, open_collector=opener(1), progress=False)
    assert report.passed, str(report)
    assert report.strongest_epsilon <= plan.epsilon


def test_more_entries_of_entropy_than_the_price_allows_are_caught() -> None:
    def larger(plan: ss.Plan) -> ss.Plan:
        return dataclasses.replace(plan, size=40 * plan.size)

    report = ss.audit(SHANNON, 300, open_collector=opener(2, larger), progress=False)
    assert not report.passed, str(report)


@pytest.mark.slow
def test_a_number_of_phantoms_that_does_not_vary_is_caught() -> None:
    def known(plan: ss.Plan) -> ss.Plan:
        return dataclasses.replace(plan, privacy=dataclasses.replace(plan.privacy, epsilon=60.0))

    report = ss.audit(DISTINCT, 300, open_collector=opener(3, known), progress=False)
    assert not report.passed, str(report)


@pytest.mark.slow
@pytest.mark.parametrize(
    "privacy", [ss.Privacy(1.0, 1e-6, 5, relation="replace"), ss.Privacy(1.0, 1e-6, 5, 3, "add_remove")], ids=str
)
def test_too_little_noise_on_exact_entropy_is_caught(privacy: ss.Privacy) -> None:
    """An eighth of what it must be, with N public and with N private; the right amount passes.

    False alarm: at most 1% of the sound one, and the secrets are the same each time.
    """
    plan = ss.plan(ss.Shannon(), privacy, mechanism="exact")

    def quiet(plan: ss.Plan) -> ss.Plan:
        return dataclasses.replace(plan, privacy=dataclasses.replace(plan.privacy, epsilon=8.0 * privacy.epsilon))

    assert ss.audit(plan, 300, open_collector=opener(5), progress=False).passed
    report = ss.audit(plan, 1_000, open_collector=opener(4, quiet), progress=False)
    assert not report.passed, str(report)


@pytest.mark.slow
@pytest.mark.parametrize(
    "privacy", [ss.Privacy(1.0, 1e-6, 5, relation="replace"), ss.Privacy(1.0, 1e-6, 5, 3, "add_remove")], ids=str
)
def test_too_little_noise_on_entropy_in_buckets_is_caught(privacy: ss.Privacy) -> None:
    """As above, from 16 entries a key in eight buckets: 0.06 of the noise is caught, the right amount passes."""
    plan = ss.plan(ss.Shannon(), privacy, size=128, entries_per_key=16)
    assert plan.buckets == 8

    def quiet(plan: ss.Plan) -> ss.Plan:
        return dataclasses.replace(plan, privacy=dataclasses.replace(plan.privacy, epsilon=16.0 * privacy.epsilon))

    assert ss.audit(plan, 300, open_collector=opener(5), progress=False).passed
    report = ss.audit(plan, 1_000, open_collector=opener(4, quiet), progress=False)
    assert not report.passed, str(report)
