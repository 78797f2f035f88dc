"""Collectors that sample: which pairs are kept, that nothing else changes, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from collector_helpers import fresh

import stablesketch as ss
from stablesketch.mechanism.sampled.state import Coins

PAIRS = 3_000


def sampled(per: str, rate: float = 0.25, p: float = 0.5, **more: object) -> ss.Plan:
    wanted: dict[str, object] = {
        "epsilon": 2.0,
        "delta": 1e-8,
        "pairs": PAIRS,
        "max_value": 9,
        "relation": "replace",
        **more,
    }
    return ss.plan(ss.Moment(p), ss.Privacy(**wanted), size=20, sampling=ss.Sampling(rate, per), mechanism="bare")  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=["pair", "entry"])
def plan(request: pytest.FixtureRequest) -> ss.Plan:
    return sampled(request.param)


KEYS = [f"key {i % 40}" for i in range(PAIRS)]
VALUES = [1 + i % 9 for i in range(PAIRS)]


def test_coins_have_the_rate_and_belong_to_their_place() -> None:
    """A million coins at 0.02: more than five deviations off has a chance below 1e-6."""
    coins = Coins(fresh(), 0.02)
    kept = coins.kept("a", 0, 1_000_000)
    assert abs(len(kept) - 20_000) < 5 * math.sqrt(20_000 * 0.98)
    assert np.array_equal(coins.kept("a", 4_000, 5_000), kept[(kept >= 4_000) & (kept < 9_000)] - 4_000)
    assert len(np.intersect1d(kept, coins.kept("b", 0, 1_000_000))) < 600  # 400 expected
    assert len(Coins(fresh(), 0.5).kept("a", 0, 0)) == 0


def test_coins_are_the_words_of_shake() -> None:
    """Once more by hand, so that the sample of a secret never changes unnoticed."""
    import hashlib

    key = fresh().derive("sampling/coins")
    words = []
    for block in range(2):
        message = key + (1).to_bytes(2, "little") + b"a" + block.to_bytes(8, "little")
        digest = hashlib.shake_256(message).digest(8 * 4096)
        words += [int.from_bytes(digest[i : i + 8], "little") for i in range(0, len(digest), 8)]
    expected = [i for i, word in enumerate(words[:6_000]) if word < 0.25 * 2**64]
    assert Coins(fresh(), 0.25).kept("a", 0, 6_000).tolist() == expected


def test_batches_do_not_matter(plan: ss.Plan) -> None:
    whole, parts = plan.open(fresh(), shard="a"), plan.open(fresh(), shard="a")
    whole.update(KEYS, VALUES)
    for start in range(0, PAIRS, 700):
        parts.update(KEYS[start : start + 700], VALUES[start : start + 700])
    assert whole.to_bytes() == parts.to_bytes()
    assert whole.release() == parts.release()


def test_only_the_sample_is_sketched() -> None:
    """Per pair, the entries are those of a plain sketch of what the coins keep."""
    plan = sampled("pair")
    collector = plan.open(fresh(), shard="a")
    collector.update(np.arange(PAIRS) % 40, VALUES)
    kept = Coins(fresh(), 0.25).kept("a", 0, PAIRS)
    sketch = ss.Sketch(0.5, 20, fresh(), law="symmetric")
    sketch.update(np.arange(PAIRS)[kept] % 40, np.array(VALUES)[kept])
    assert collector._held()._sketch.to_bytes() == sketch.to_bytes()  # type: ignore[union-attr]


def test_entries_have_coins_of_their_own() -> None:
    collector = sampled("entry").open(fresh(), shard="a")
    collector.update(KEYS, VALUES)
    counts = [part.pairs for part in collector._held()._sampled_sketches]  # type: ignore[union-attr]
    assert len(set(counts)) > 5
    assert abs(sum(counts) / 20 - 750) < 5 * math.sqrt(750 * 0.75 / 20)


def test_shards_merge_and_survive_as_bytes(plan: ss.Plan) -> None:
    first, second = plan.open(fresh(), shard="a"), plan.open(fresh(), shard="b")
    first.update(KEYS[:1_000], VALUES[:1_000])
    second.update(KEYS[1_000:], VALUES[1_000:])
    restored = ss.Collector.from_bytes(first.to_bytes(), first.secret)
    restored.merge(second)
    assert restored._held().pairs == PAIRS
    more = ss.Collector.from_bytes(restored.to_bytes(), restored.secret)
    more.update(["late"])
    assert more._held().pairs == PAIRS + 1
    assert more.release().pairs == PAIRS + 1


def test_a_merged_shard_never_uses_a_place_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places under one name only grow, whatever is merged, stored or restored in between."""
    asked: list[tuple[str, int, int]] = []
    original = Coins.kept

    def watched(self: Coins, shard: str, start: int, count: int) -> np.ndarray:
        asked.append((shard, start, start + count))
        return original(self, shard, start, count)

    monkeypatch.setattr(Coins, "kept", watched)
    plan = sampled("pair")
    first, second = plan.open(fresh(), shard="b"), plan.open(fresh(), shard="a")
    first.update(range(100))
    second.update(range(50))
    first.merge(second)
    first.update(range(10))
    again = ss.Collector.from_bytes(first.to_bytes(), first.secret)
    again.update(range(5))
    assert asked == [("b", 0, 100), ("a", 0, 50), ("b", 150, 160), ("a", 160, 165)]


def test_values_that_are_not_kept_are_checked_too(plan: ss.Plan) -> None:
    collector = plan.open(fresh(), shard="a")
    blob = collector.to_bytes()
    for bad in ([*VALUES[:-1], 10], [*VALUES[:-1], 0], VALUES[:-1]):
        with pytest.raises(ss.ArgumentError):
            collector.update(KEYS, bad)
    assert collector.to_bytes() == blob


def test_what_sampling_cannot_do(plan: ss.Plan) -> None:
    collector = plan.open(fresh(), shard="a")
    with pytest.raises(ss.ArgumentError, match="needs a plan for streams with deletions"):
        collector.delete(["x"])
    with pytest.raises(ss.ArgumentError, match="every pair is a row"):
        collector.add_folded(np.zeros(1, np.uint64), np.ones(1, np.int64), 2)
    with pytest.raises(ss.StreamTooShort):
        collector.release()


def test_damaged_bytes_are_refused(plan: ss.Plan) -> None:
    from stablesketch.mechanism.sampled.state import SampledState

    collector = plan.open(fresh(), shard="a")
    collector.update(KEYS, VALUES)
    state = collector._held().to_bytes()
    for cut in (state[:10], state[:30], state[:-5], state + b"x"):
        with pytest.raises(ss.BlobError):
            SampledState.from_bytes(plan, cut, fresh())


@pytest.mark.parametrize("per", ["pair", "entry"])
def test_the_value_has_the_predicted_bias_and_the_limits_hold(per: str) -> None:
    """600 keys seen 5 times, q = 0.25, M = 1: 40 releases. Five standard errors of the mean: below 1e-6."""
    plan = sampled(per, p=0.25, max_value=1, epsilon=4.0)
    assert plan.sampled is not None
    keys, exact = np.arange(PAIRS) % 600, 600 * 5**0.25
    expected = ss.plan(
        ss.Moment(0.25), plan.privacy, size=20, sampling=plan.sampled.sampling, expected=exact, mechanism="bare"
    ).sampled
    assert expected is not None
    releases = []
    for number in range(40):
        collector = plan.open(ss.Secret.from_bytes(number.to_bytes(32, "big")), shard="a")
        collector.update(keys)
        releases.append(collector.release())
    ratios = np.array([release.value / exact for release in releases])
    assert releases[0].mechanism == f"sketch, 25% sampled per {per}"
    assert abs(ratios.mean() - 1.0 - expected.bias) < 5.0 * ratios.std() / math.sqrt(40)
    assert -0.4 < expected.bias < -0.1
    assert all(release.low <= exact <= release.high for release in releases[:30])
