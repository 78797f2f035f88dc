"""Entropy and distinct counts through plan, collector and release: the same bytes, and intervals that hold."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.collector.wire import merge_blobs
from stablesketch.plan.mechanism import charge_of

RNG = np.random.default_rng(21)
KEYS = RNG.zipf(1.4, 4_000) % 400
COUNTED = ss.Privacy(1.0, 1e-9, 4_000, relation="replace")


def secret(number: int = 1) -> ss.Secret:
    return ss.Secret.from_bytes(number.to_bytes(32, "little"))


PLANS = {
    "shannon": ss.plan(ss.Shannon(), COUNTED, size=60, mechanism="bare"),
    "distinct": ss.plan(ss.Distinct(), COUNTED, size=64, mechanism="bare"),
    "exact": ss.plan(ss.Distinct(), COUNTED, mechanism="exact"),
    "profile": ss.plan(ss.Profile([0, 0.5, 1]), COUNTED, size=64, mechanism="bare"),
}


@pytest.mark.parametrize("name", PLANS)
def test_any_sharding_gives_the_same_bytes(name: str) -> None:
    plan = PLANS[name]
    whole = plan.open(secret(), shard="a")
    whole.update(KEYS)
    places = np.arange(len(KEYS)) % 3
    shards = [plan.open(secret(), shard=f"{i}") for i in range(3)]
    for i, shard in enumerate(shards):
        shard.update(KEYS[places == i][::-1], threads=2)
    blobs = [shard.to_bytes() for shard in shards]
    for other in shards[1:]:
        shards[0].merge(other)
    assert shards[0]._held().to_bytes() == whole._held().to_bytes()
    assert merge_blobs(blobs) == shards[0].to_bytes()
    read = ss.Collector.from_bytes(shards[0].to_bytes(), secret())
    assert read.release() == whole.release()


@pytest.mark.parametrize("name", PLANS)
def test_folded_totals_leave_the_state_as_pairs_do(name: str) -> None:
    one, other = PLANS[name].open(secret(), shard="a"), PLANS[name].open(secret(), shard="a")
    one.update(KEYS)
    found, totals = np.unique(KEYS, return_counts=True)
    other.add_folded(other.fingerprint(found), totals.astype(np.int64), len(KEYS))
    assert one.to_bytes() == other.to_bytes()


@pytest.mark.parametrize("name", PLANS)
def test_bad_input_changes_nothing(name: str) -> None:
    collector = PLANS[name].open(secret(), shard="a")
    collector.update(KEYS)
    before = collector.to_bytes()
    for keys, values in (([1, 2], [1, 2]), ([1, None], None), ([1, 2], [1]), ([1.5], None)):
        with pytest.raises(ss.ArgumentError):
            collector.update(keys, values)
        assert collector.to_bytes() == before


def test_entropy_and_counts_are_in_their_intervals_as_often_as_they_say() -> None:
    """95% of 300 secrets: between 270 and 296 but for a chance of 10^-4. The mean error of the entropy is within 5
    standard errors of 0, and its deviation within 17% of what is planned (as many standard errors)."""
    found, counts = np.unique(KEYS, return_counts=True)
    shares = counts / counts.sum()
    truths = {"shannon": float(-np.sum(shares * np.log(shares))), "distinct": float(len(found))}
    for name, truth in truths.items():
        plan, releases = PLANS[name], []
        for number in range(300):
            collector = plan.open(secret(number + 1))
            collector.add_folded(collector.fingerprint(found), counts.astype(np.int64), len(KEYS))
            releases.append(collector.release())
        assert 270 <= sum(one.low <= truth <= one.high for one in releases) <= 296, name
        if name == "shannon":
            errors = np.array([one.value - truth for one in releases])
            assert abs(errors.mean()) < 5.0 * plan.error / math.sqrt(300)
            assert errors.std() == pytest.approx(plan.error, rel=0.17)


def test_the_ledger_charges_what_they_cost(tmp_path: object) -> None:
    for name, plan in PLANS.items():
        epsilon, delta = charge_of(plan).basic()
        assert epsilon <= plan.epsilon * 1.001, name
        assert delta <= 1e-9
        assert charge_of(plan).laws("replace")[0].delta(plan.epsilon) <= 1e-9 * (1.0 + 1e-6) or name == "exact"


def test_entropy_is_refused_where_privacy_cannot_be_reached_and_says_what_would_do() -> None:
    for privacy, says in (
        (ss.Privacy(1.0, 1e-9, 0, relation="replace"), "Pass pairs="),
        (ss.Privacy(0.01, 1e-9, 50, relation="replace"), "Pass epsilon="),
        (ss.Privacy(1.0, 1e-9, 10_000, max_value=5_000, relation="replace"), "It needs 2,000,000 pairs or more"),
    ):
        with pytest.raises(ss.PlanInfeasible, match=says):
            ss.plan(ss.Shannon(), privacy, mechanism="bare")
    with pytest.raises(ss.PlanInfeasible, match="size="):
        ss.plan(ss.Shannon(), ss.Privacy(1.0, 1e-9, 200, relation="replace"), error=0.01, mechanism="bare")
    promised = ss.Privacy(1.0, 1e-9, 10_000, max_value=50, total=10**7, relation="replace")
    plan = ss.plan(ss.Shannon(), promised, mechanism="bare")
    collector = plan.open()
    collector.update(np.arange(10_000) % 7, 50)
    with pytest.raises(ss.StreamTooShort, match="add up to less"):
        collector.release()


def test_distinct_counts_take_no_deletes_and_few_registers_are_refused() -> None:
    with pytest.raises(ss.ArgumentError, match="cannot be used with registers"):
        ss.plan(ss.Distinct(), COUNTED, deletes=True, mechanism="bare")
    with pytest.raises(ss.ArgumentError, match="must be at least 64 for a distinct count"):
        ss.plan(ss.Distinct(), COUNTED, size=20, mechanism="bare")
    with pytest.raises(ss.PlanInfeasible, match="mechanism='exact'"):
        ss.plan(ss.Distinct(), COUNTED, error=0.001, mechanism="bare")


# The first 16 hexadecimal digits of the SHA-256 of the state of 200 pairs: the wire format, on every machine and tier.
GOLDEN = {
    "shannon": "bb3889395e50a97a",
    "distinct": "89dcc45bbe8e1f18",
    "profile": "f2c56e64a784d7c0",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_states_are_the_bytes_they_have_always_been(name: str) -> None:
    collector = PLANS[name].open(secret())
    collector.update([f"key {i * i % 41}" for i in range(200)])
    assert hashlib.sha256(collector._held().to_bytes()).hexdigest()[:16] == GOLDEN[name]
