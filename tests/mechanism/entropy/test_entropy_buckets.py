"""Entropy from buckets, released: errors as the formula has them, limits that hold, shards that merge."""

from __future__ import annotations

import math

import numpy as np
import pytest
from small_streams import uniform_below

import stablesketch as ss
from stablesketch.law.skewed import SkewedLaw
from stablesketch.mechanism.entropy.noise import entropy_noise, measured_entropy
from stablesketch.privacy.entropy.noise import EntropyNoise

Floats = np.ndarray

LAW = SkewedLaw()
PRIVACY = ss.Privacy(1.0, 1e-9)

STREAMS = {
    "all keys alike": np.full(20_000, 2),
    "Zipf": np.maximum(30_000 / np.arange(1, 5_001) ** 1.1, 1.0).astype(int),
    "half of one key": np.concatenate([[20_000], np.full(2_000, 10)]),
    "six heavy keys": np.concatenate([np.full(6, 5_000), np.full(1_000, 10)]),
    "one key": np.array([50_000]),
    "few pairs": np.full(30, 1),
}


def entropy(totals: Floats) -> float:
    n = int(totals.sum())
    return max(math.log(n) - float((totals * np.log(totals)).sum()) / n, 0.0)


def covered(noise: EntropyNoise, totals: Floats, releases: int) -> tuple[int, float]:
    """How often H is within its limits, and the root of the mean square of its error: hash and R drawn anew."""
    rng = np.random.default_rng([noise.buckets, noise.entries, int(totals.sum())])
    truth, n, inside, errors = entropy(totals), int(totals.sum()), 0, []
    for _ in range(releases):
        home = rng.integers(0, noise.buckets, len(totals))
        own = np.bincount(home, weights=totals, minlength=noise.buckets)
        logs = np.bincount(home, weights=totals * np.log(totals), minlength=noise.buckets)
        of_buckets = np.log(np.maximum(own, 1.0)) - logs / np.maximum(own, 1.0)
        y = LAW.sample((noise.buckets, noise.entries), rng) - of_buckets[:, np.newaxis]
        state = own.astype(np.int64), y
        found = measured_entropy(noise.measure_buckets(n, lambda state=state: state, uniform_below(rng)), noise, 0.95)
        assert found.low <= found.value <= found.high
        inside += found.low <= truth <= found.high
        errors.append(found.value - truth)
    return inside, math.sqrt(float(np.mean(np.square(errors))))


def expected(noise: EntropyNoise, totals: Floats) -> float:
    """sqrt(v (1/B + (1 - 1/B) Σ p²)) and the noise."""
    shares, even = totals / totals.sum(), 1.0 / noise.buckets
    sketched = noise.worst_deviation * math.sqrt(even + (1.0 - even) * float((shares**2).sum()))
    return math.hypot(sketched, noise.noise_deviation(float(totals.sum()), entropy(totals)))


@pytest.mark.parametrize("name", ["Zipf", "half of one key"])
def test_limits_hold_as_often_as_they_say(name: str) -> None:
    """50 releases at 95%: fewer than 40 inside would have a probability below 1e-4."""
    noise = EntropyNoise(PRIVACY, 64 * 60, buckets=60)
    inside, error = covered(noise, STREAMS[name], 50)
    assert inside >= 40
    assert error < 1.45 * expected(noise, STREAMS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(
    ("relation", "entries", "buckets"), [("add_remove", 64, 150), ("replace", 64, 8), ("add_remove", 16, 60)]
)
def test_limits_hold_everywhere(name: str, relation: str, entries: int, buckets: int) -> None:
    """300 releases each: fewer than 268 inside would have a probability below 1e-4 at 95%."""
    noise = EntropyNoise(ss.Privacy(1.0, 1e-9, relation=relation), entries * buckets, buckets=buckets)  # type: ignore[arg-type]
    inside, error = covered(noise, STREAMS[name], 300)
    assert inside >= 268
    assert error < 1.2 * expected(noise, STREAMS[name])


def secret(number: int) -> ss.Secret:
    return ss.Secret.from_bytes(number.to_bytes(32, "little"))


def test_the_default_plan_errs_as_it_says() -> None:
    """40 releases of a Zipf stream, under secrets of their own: the mean square is within 2.2 of the expected one but
    for a probability of 1e-4; of their limits, fewer than 31 would hold as rarely."""
    totals = STREAMS["Zipf"]
    plan = ss.plan(ss.Shannon(), PRIVACY)
    assert (plan.buckets, plan.entries_per_key) == (312, 64)
    truth, errors, inside = entropy(totals), [], 0
    for number in range(40):
        collector = plan.open(secret(number))
        collector.update(np.arange(len(totals)).repeat(totals))
        release = collector.release()
        errors.append(release.value - truth)
        inside += release.low <= truth <= release.high
    found, planned = float(np.mean(np.square(errors))), expected(entropy_noise(plan), totals) ** 2
    assert planned / 2.2 < found < 2.2 * planned
    assert inside >= 31


def test_shards_merge_to_the_same_release() -> None:
    """In any order, through bytes: what one collector of everything releases."""
    keys = np.arange(3_000) % 700
    plan = ss.plan(ss.Shannon(), PRIVACY, size=640, entries_per_key=16)
    whole = plan.open(secret(1))
    whole.update(keys)
    parts = []
    for i in range(3):
        part = plan.open(secret(1), shard=str(i))
        part.update(keys[i::3])
        parts.append(ss.Collector.from_bytes(part.to_bytes(), secret(1)))
    first = parts[2]
    first.merge(parts[0])
    first.merge(parts[1])
    one, other = whole.release(), first.release()
    assert (one.value, one.low, one.high) == (other.value, other.low, other.high)


@pytest.mark.parametrize("statistic", [ss.Shannon(), ss.Hill(1.0)])
def test_an_empty_stream_is_released(statistic: ss.Statistic) -> None:
    release = ss.plan(statistic, PRIVACY).open(secret(2)).release()
    assert release.low <= release.value <= release.high


def test_hill_of_order_one_is_measured_in_buckets() -> None:
    """e^H of 1,000 keys of ten pairs each; a fixed secret, and four times the planned error."""
    plan = ss.plan(ss.Hill(1.0), PRIVACY)
    assert plan.inputs[0].buckets > 1
    collector = plan.open(secret(3))
    collector.update(np.arange(10_000) % 1_000)
    assert collector.release().value == pytest.approx(1_000.0, rel=4.0 * plan.error + 0.02)
