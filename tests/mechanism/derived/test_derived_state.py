"""What is computed from several measurements: the same bytes however collected, and intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.collector.wire import merge_blobs

RNG = np.random.default_rng(8)
KEYS = RNG.zipf(1.4, 3_000) % 300
COUNTS = RNG.integers(1, 20, 3_000)
VALUES = ss.Privacy(2.0, 1e-8, 3_000, max_value=20, relation="replace")


def secret(number: int = 1) -> ss.Secret:
    return ss.Secret.from_bytes(number.to_bytes(32, "little"))


PLANS = {
    "hill": ss.plan(ss.Hill(0.5), VALUES, size=30, deletes=True, mechanism="bare"),
    "profile": ss.plan(ss.Profile([0.25, 0.5]), VALUES, size=20, mechanism="bare"),
    "exact": ss.plan(ss.Hill(0.5), VALUES, mechanism="exact"),
    "total": ss.plan(ss.Total(), VALUES, mechanism="bare"),
}


@pytest.mark.parametrize("name", PLANS)
def test_any_sharding_gives_the_same_bytes(name: str) -> None:
    plan = PLANS[name]
    whole = plan.open(secret(), shard="a")
    whole.update(KEYS, COUNTS)
    places = np.arange(len(KEYS)) % 3
    shards = [plan.open(secret(), shard=f"{i}") for i in range(3)]
    for i, shard in enumerate(shards):
        shard.update(KEYS[places == i][::-1], COUNTS[places == i][::-1])
    blobs = [shard.to_bytes() for shard in shards]
    merged = shards[0]
    for other in shards[1:]:
        merged.merge(other)
    assert merged._held().to_bytes() == whole._held().to_bytes()
    assert merge_blobs(blobs) == merged.to_bytes()
    read = ss.Collector.from_bytes(merged.to_bytes(), secret())
    assert read.to_bytes() == merged.to_bytes()


def test_folded_totals_leave_the_state_as_pairs_do() -> None:
    plan = PLANS["profile"]
    one, other = plan.open(secret(), shard="a"), plan.open(secret(), shard="a")
    one.update(KEYS, COUNTS)
    found, where = np.unique(KEYS, return_inverse=True)
    totals = np.bincount(where, weights=COUNTS).astype(np.int64)
    other.add_folded(other.fingerprint(found), totals, len(KEYS))
    assert one.to_bytes() == other.to_bytes()


def test_deletes_undo_updates_in_every_part() -> None:
    plan = PLANS["hill"]
    one, other = plan.open(secret(), shard="a"), plan.open(secret(), shard="a")
    one.update(KEYS, COUNTS)
    other.update(np.concatenate([KEYS, [7, 8]]), np.concatenate([COUNTS, [3, 4]]))
    other.delete([7, 8], [3, 4])
    assert one.to_bytes() == other.to_bytes()


def test_bad_input_changes_nothing_in_any_part() -> None:
    collector = PLANS["profile"].open(secret(), shard="a")
    collector.update(KEYS, COUNTS)
    before = collector.to_bytes()
    for keys, values in (([1, 2], [3, 21]), ([1, None], [1, 1]), ([1, 2], [1]), (["a", "b"], [0, 1])):
        with pytest.raises(ss.ArgumentError):
            collector.update(keys, values)
        assert collector.to_bytes() == before


@pytest.mark.parametrize("name", ["hill", "profile"])
def test_blobs_that_are_cut_or_turned_are_refused(name: str) -> None:
    blob = PLANS[name].open(secret(), shard="a").to_bytes()
    for place in range(0, len(blob), 37):
        with pytest.raises(ss.StablesketchError):
            ss.Collector.from_bytes(blob[:place], secret())
    from stablesketch.mechanism.derived.state import _decode, _encode

    states = [b"one", b"two"]
    assert _decode(_encode(states), 2) == states
    for broken in (_encode(states)[:-1], _encode(states) + b"x", b"", _encode(states[:1])):
        with pytest.raises(ss.BlobError):
            _decode(broken, 2)


def releases(plan: ss.Plan, keys: object, values: object, count: int) -> list[ss.Release]:
    """Under secrets 1, 2, ..., from which the noise comes too."""
    found = []
    for number in range(count):
        collector = plan.open(secret(number + 1))
        collector.update(keys, values)
        found.append(collector.release())
    return found


def covered(found: list[ss.Release], truth: float) -> int:
    return sum(release.low <= truth <= release.high for release in found)


def test_intervals_of_computed_values_hold_the_truth_as_often_as_they_say() -> None:
    """95% of 300: between 270 and 296 but for a chance of 10^-4 (binomial), for a noisy N and for a known one."""
    totals = np.bincount(KEYS, weights=COUNTS)
    shares = totals[totals > 0] / totals.sum()
    truth = np.sum(shares**0.5) ** 2
    varied = releases(ss.plan(ss.Hill(0.5), VALUES, size=40, mechanism="bare"), KEYS, COUNTS, 300)
    assert 270 <= covered(varied, truth) <= 296
    counts = np.bincount(KEYS)
    shares = counts[counts > 0] / counts.sum()
    counted = ss.Privacy(2.0, 1e-8, 3_000, relation="replace")
    alone = releases(ss.plan(ss.Hill(0.5), counted, size=40, mechanism="bare"), KEYS, None, 300)
    assert 270 <= covered(alone, np.sum(shares**0.5) ** 2) <= 296


def test_inequality_of_whole_keys_is_in_its_interval_as_often_as_it_says() -> None:
    """As above; 400 people of totals up to 50, aversion 0.5."""
    wages = np.minimum(RNG.lognormal(2.0, 0.7, 400).astype(np.int64) + 1, 50)
    truth = 1.0 - np.mean((wages / wages.mean()) ** 0.5) ** 2
    plan = ss.plan(
        ss.Atkinson(0.5),
        ss.Privacy(2.0, 1e-8, 400, max_value=50, unit="key", relation="replace"),
        size=400,
        mechanism="bare",
    )
    assert 270 <= covered(releases(plan, np.arange(400), wages, 300), truth) <= 296


def test_a_profile_has_a_point_for_each_order_and_one_price() -> None:
    (release,) = releases(PLANS["profile"], KEYS, COUNTS, 1)
    assert [point.order for point in release.points] == [0.25, 0.5]
    assert (release.value, release.low, release.high) == (
        release.points[0].value, release.points[0].low, release.points[0].high,
    )  # fmt: skip
    assert release.epsilon == PLANS["profile"].epsilon
    assert ss.Release.from_json(release.to_json()) == release


def test_whole_keys_counted_exactly_come_once() -> None:
    plan = ss.plan(
        ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 2, max_value=9, unit="key", relation="replace"), mechanism="exact"
    )
    collector = plan.open(secret())
    collector.update(["a", "b", "a"], [1, 2, 3])
    with pytest.raises(ss.NegativeTotal, match="occurs more than once"):
        collector.release()


def test_parts_of_a_release_use_the_secret_for_different_purposes() -> None:
    """The same u for the grids of two measurements would make their roundings one."""
    plan = PLANS["profile"]
    offsets = {secret().derive(f"grid offset/{one.statistic}", 8) for one in plan.inputs}
    assert len(offsets) == len(plan.inputs)
