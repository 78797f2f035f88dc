"""Plans of entropy: buckets where there are many entries, one sketch where there are few, both errors told."""

from __future__ import annotations

import math

import pytest

import stablesketch as ss
from stablesketch.mechanism.entropy.noise import entropy_noise
from stablesketch.sketch.estimators.entropy_mean import entropy_mean_deviation

PRIVACY = ss.Privacy(1.0, 1e-9)


def entropy(**asked: object) -> ss.Plan:
    return ss.plan(ss.Shannon(), PRIVACY, **asked)  # type: ignore[arg-type]


def test_by_default_a_key_touches_64_entries_of_256_kilobytes() -> None:
    plan = entropy()
    assert (plan.size, plan.buckets, plan.entries_per_key) == (19_968, 312, 64)
    assert plan.bytes <= 256 * 1024
    assert plan.error == pytest.approx(entropy_mean_deviation(64) / math.sqrt(312))
    assert plan.worst_error == pytest.approx(entropy_mean_deviation(64))
    assert ss.plan(ss.Shannon(), ss.Privacy(1.0, 1e-9, pairs=10**9, max_value=1_000)).bytes <= 256 * 1024


@pytest.mark.parametrize("error", [0.05, 0.04, 0.01, 0.002])
def test_an_error_is_reached_by_as_few_buckets_as_do(error: float) -> None:
    plan = entropy(error=error)
    one = entropy_mean_deviation(plan.entries_per_key)
    assert plan.error <= error < one / math.sqrt(plan.buckets - 1)
    assert plan.entries_per_key == 64


def test_few_entries_are_in_one_bucket() -> None:
    plan = entropy(error=0.15)
    assert plan.buckets == 1
    assert plan.size == plan.entries_per_key < 256
    assert plan.worst_error == plan.error <= 0.15
    assert entropy(memory="2K").buckets == 1
    assert entropy(size=500).buckets == 1  # a size that comes alone


def test_sizes_and_memory_are_kept_to() -> None:
    plan = entropy(size=1_600, entries_per_key=16)
    assert (plan.size, plan.buckets, plan.entries_per_key) == (1_600, 100, 16)
    assert entropy(size=64_000).buckets == 1_000
    for memory in (8_192, 65_536, 10**7):
        found = entropy(memory=memory)
        assert found.entries_per_key == 64
        assert found.bytes <= memory
        assert found.bytes + 1_200 > memory  # one more bucket would not fit
    assert entropy(memory=65_536, entries_per_key=128).entries_per_key == 128


def test_what_cannot_be_is_refused() -> None:
    for asked, message in (
        ({"size": 10_001}, "size must be a multiple of 64, the entries that a key touches"),
        ({"size": 6}, "size must be at least 16 to estimate entropy"),
        ({"size": 80, "entries_per_key": 8}, "entries_per_key must be at least 16 to estimate entropy, got 8"),
        ({"memory": 1_100, "entries_per_key": 64}, "memory must be at least"),
    ):
        with pytest.raises(ss.ArgumentError, match=message):
            entropy(**asked)
    with pytest.raises(ss.PlanInfeasible, match=r"the best is 0\.000858"):
        entropy(error=0.0005)


def test_plans_are_written_and_read() -> None:
    plan = entropy(error=0.02)
    assert plan.buckets > 1
    assert ss.Plan.from_json(plan.to_json()) == plan
    flat = entropy(error=0.15)
    assert "buckets" not in flat.to_json()
    assert ss.Plan.from_json(flat.to_json()) == flat


def test_both_errors_and_the_layout_are_printed() -> None:
    text = str(entropy())
    assert "19,968 entries in 312 buckets, 64 per key" in text
    assert "0.0124 nats if every key is rare, 0.22 nats if one key holds everything" in text


def test_a_promised_length_has_the_noise_in_its_error() -> None:
    plan = ss.plan(ss.Shannon(), ss.Privacy(1.0, 1e-9, pairs=2_000))
    noise = entropy_noise(plan)
    assert plan.error == pytest.approx(math.hypot(noise.sketch_deviation, noise.noise_deviation(2_000)))
    assert plan.error > noise.sketch_deviation * 1.2


@pytest.mark.parametrize("statistic", [ss.Hill(1.0), ss.Profile()])
def test_what_is_computed_from_entropy_has_it_in_buckets(statistic: ss.Statistic) -> None:
    plan = ss.plan(statistic, PRIVACY)
    (one,) = (one for one in plan.inputs if isinstance(one.statistic, ss.Shannon))
    assert (one.buckets > 1, one.entries_per_key) == (True, 64)
    assert plan.worst_error > plan.error
    assert plan.epsilon <= 1.0
