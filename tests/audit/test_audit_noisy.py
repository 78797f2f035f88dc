"""The audit of estimates with noise, of one sketch or summed over buckets: sound plans pass; too little noise, an
estimator that is not equivariant, a secret used again, and noise for one pair where several were meant are caught.

Secrets are numbered, and the noise comes from them, so no outcome ever changes.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from audit_helpers import caught, in_turn, opener, passed, quieter, worst_streams

import stablesketch as ss
from stablesketch.plan.mechanism import mechanism_of
from stablesketch.sketch.estimators import one_sided
from stablesketch.sketch.estimators.one_sided import log_estimates

# At this p and size ξ is hardly ever far from 1, so that the claim is nearly attained.
PLAN = ss.plan(ss.Moment(0.9), ss.Privacy(4.0, 1e-6), size=40)
SEVERAL = ss.plan(ss.Moment(0.9), ss.Privacy(2.0, 1e-6, pairs_per_person=3), size=40)
BUCKETS = ss.plan(ss.Moment(0.9), ss.Privacy(4.0, 1e-6), size=160, entries_per_key=40)
SEVERAL_IN_BUCKETS = ss.plan(ss.Moment(0.9), ss.Privacy(2.0, 1e-6, pairs_per_person=3), size=160, entries_per_key=40)


# --- neighbours and claim ---


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize(("c", "most", "unit"), [(1, 1, "pair"), (3, 5, "pair"), (2, 4, "key")])
def test_the_neighbours_are_neighbours_and_differ_by_nearly_all_that_is_possible(
    relation: str, c: int, most: int, unit: str
) -> None:
    privacy = ss.Privacy(1.0, 1e-6, 50, most, relation, c, unit)  # type: ignore[arg-type]
    plan = ss.plan(ss.Moment(0.5), privacy, size=20)
    moments, pairs = [], []
    for keys, values in worst_streams(plan):
        assert values.max(initial=1) <= most
        assert values.min(initial=1) >= 1
        _, where = np.unique(keys, return_inverse=True)
        moments.append(float((np.bincount(where, weights=values) ** 0.5).sum()) if len(keys) else 0.0)
        pairs.append(len(keys))
    change = c * math.sqrt(most)
    if relation == "add_remove":
        assert pairs == [c, 0]
        assert moments[0] - moments[1] == pytest.approx(change)
    else:
        assert pairs[0] == pairs[1]
        assert 0.3 * change < moments[0] - moments[1] <= change


def test_the_claim_is_that_of_the_plan_and_falls() -> None:
    for plan in (PLAN, ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, pairs_per_person=3, groups=2), size=16)):
        curve = mechanism_of(plan).claimed_curve(plan)
        assert curve(plan.epsilon) <= plan.delta * (1.0 + 1e-9)
        assert curve(0.98 * plan.epsilon) > plan.delta
        deltas = [curve(epsilon) for epsilon in (0.0, 0.1, 0.5 * plan.epsilon, plan.epsilon, 2.0 * plan.epsilon)]
        assert deltas == sorted(deltas, reverse=True)
        assert deltas[0] < 1.0
        weaker = mechanism_of(plan).claimed_curve(plan, 0.5)
        assert all(weaker(epsilon) < curve(epsilon) for epsilon in (0.0, 0.1, 0.9 * plan.epsilon))


def test_the_claim_is_above_that_of_an_estimate_that_does_not_err() -> None:
    """1 - e^((ε - Δ/b)/2), nearly attained where ξ is nearly 1."""
    curve = mechanism_of(PLAN).claimed_curve(PLAN)
    for epsilon in (0.0, 1.0, 2.0):
        least = 1.0 - math.exp(0.5 * (epsilon - 1.0 / PLAN.noise))
        assert 0.98 * least < curve(epsilon) < 1.1 * least


# --- what is sound passes ---


SOUND = [
    (PLAN, 400),
    (BUCKETS, 300),
    (ss.plan(ss.Moment(0.5), ss.Privacy(2.0, 1e-6, 0, 3, "replace", 2), size=20), 400),
]
SOUND_TOO = [
    (ss.plan(ss.Moment(0.25), ss.Privacy(1.0, 1e-6, 0, 9, "replace"), size=30), 400),
    (ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, unit="key"), size=8), 400),
    (SEVERAL_IN_BUCKETS, 300),
    (ss.plan(ss.Moment(0.5), ss.Privacy(4.0, 1e-6), size=1_024, entries_per_key=16), 300),
    (ss.plan(ss.Moment(0.5), ss.Privacy(2.0, 1e-6, 0, 3, "replace", 2), size=64, entries_per_key=16), 300),
    (ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, unit="key"), size=32, entries_per_key=8), 300),
]


@pytest.mark.parametrize(
    ("plan", "trials"),
    [*SOUND, *(pytest.param(*each, marks=pytest.mark.slow) for each in SOUND_TOO)],
    ids=lambda given: f"{given.statistic}, {given.privacy}, {given.buckets}" if isinstance(given, ss.Plan) else None,
)
def test_sound_plans_pass(plan: ss.Plan, trials: int) -> None:
    passed(plan, trials, opener(1))


# --- what is not is caught ---

both = pytest.mark.parametrize("plan", [PLAN, BUCKETS], ids=["one estimate", "buckets"])


@both
def test_half_of_the_noise_is_caught(plan: ss.Plan) -> None:
    caught(plan, 200, opener(2, quieter(0.5)))


@pytest.mark.slow
@both
def test_four_fifths_of_the_noise_are_caught(plan: ss.Plan) -> None:
    caught(plan, 2_000, opener(2, quieter(0.8)))


@pytest.mark.parametrize(
    ("plan", "trials"), [(SEVERAL, 300), (SEVERAL_IN_BUCKETS, 200)], ids=["one estimate", "buckets"]
)
def test_noise_for_one_pair_where_three_were_meant_is_caught(plan: ss.Plan, trials: int) -> None:
    """In buckets too, though the three may fall into one, or two, or three."""
    assert caught(plan, trials, opener(3, quieter(1.0 / 3.0))).strongest_epsilon > plan.epsilon


@pytest.mark.parametrize(
    ("plan", "trials", "salt"), [(PLAN, 300, 4), (BUCKETS, 200, 5)], ids=["one estimate", "buckets"]
)
def test_an_estimator_that_is_not_equivariant_is_caught(
    plan: ss.Plan, trials: int, salt: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A constant that a sketch, or a bucket, gets unless it is empty is as good an estimate, and tells whether there
    was anything."""

    def corrected(logs: np.ndarray, p: float) -> np.ndarray:
        found = log_estimates(logs, p)
        return np.where(np.isneginf(found), found, np.logaddexp(found, 0.0))

    monkeypatch.setattr(one_sided, "log_estimates", corrected)
    caught(plan, trials, opener(salt))


@pytest.mark.parametrize(
    ("plan", "secrets", "trials"),
    [(PLAN, 1, 300), (PLAN, 6, 300), (BUCKETS, 1, 200), pytest.param(BUCKETS, 6, 200, marks=pytest.mark.slow)],
    ids=["one", "six", "one, buckets", "six, buckets"],
)
def test_a_secret_used_again_is_caught(plan: ss.Plan, secrets: int, trials: int) -> None:
    """One for all releases, or six in turn: hash, ξ and noise are the same on both streams, and come again."""
    caught(plan, trials, in_turn(secrets))


def test_no_noise_is_caught() -> None:
    caught(PLAN, 200, opener(5, quieter(1e-3)))


def test_an_audit_says_the_same_each_time() -> None:
    """Everything random comes from the secrets."""
    reports = [ss.audit(PLAN, 100, open_collector=opener(6), progress=False) for _ in range(2)]
    assert reports[0] == reports[1]
