"""Sketches in buckets: a key is added to the entries of its bucket alone, exactly, whoever adds it and in what order.

The strongest check needs no code for buckets at all: the entries of a bucket are those of a sketch without buckets that
is given the keys of this bucket and no others. Which keys those are, reference_update.py says by itself.
"""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_update import buckets_of as reference_buckets_of
from reference_update import reference_entries
from sketch_helpers import SECRET, entries_of, native_sums, numbered_secret

from stablesketch import ArgumentError, MergeError, NegativeTotal, Sketch
from stablesketch._native import Accumulator, Entries, aes128_encrypt, buckets_of, tier_names
from stablesketch.engines.local.fold import Fold
from stablesketch.sketch.entropy_sketch import EntropySketch
from stablesketch.sketch.entry_law import ENTROPY, EntryLaw
from stablesketch.sketch.entry_values import integer_entries, log_magnitudes, logs_of
from stablesketch.sketch.estimators.one_sided import log_estimates
from stablesketch.sketch.estimators.power_sum import power_sum
from stablesketch.sketch.workers import TIER

KEY, DOMAIN = bytes(range(50, 66)), 5
TIERS = tier_names()
LAWS = [*(EntryLaw("one-sided", p) for p in (0.05, 0.25, 0.5, 0.9, 0.999)), ENTROPY]
HALF = EntryLaw("one-sided", 0.5)


def random_keys(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)


def random_weights(seed: int, count: int, bits: float = 53.0) -> np.ndarray:
    return (2.0 ** np.random.default_rng(seed).uniform(0.0, bits, count)).astype(np.int64)


def by_bucket(key: bytes, domain: int, keys: np.ndarray, buckets: int) -> np.ndarray:
    return np.array(reference_buckets_of(key, domain, keys.tolist(), buckets), np.int64)


def summed(
    law: EntryLaw,
    size: int,
    buckets: int,
    keys: np.ndarray,
    weights: np.ndarray | None,
    *,
    tier: str = TIER,
    rows: int = 0,
) -> Entries:
    entries, accumulator = Entries(law, size, buckets), Accumulator(law, size, KEY, DOMAIN, rows, tier, buckets)
    accumulator.add(keys, weights, False)
    entries.absorb([accumulator])
    return entries


def one_by_one(law: EntryLaw, size: int, buckets: int, keys: np.ndarray, weights: np.ndarray | None) -> bytes:
    """The state of as many sketches of size/buckets entries, without buckets, as there are buckets."""
    where, state = by_bucket(KEY, DOMAIN, keys, buckets), b""
    for bucket in range(buckets):
        own = where == bucket
        state += summed(law, size // buckets, 1, keys[own], None if weights is None else weights[own]).state()
    return state


# --- the bucket of a key ---


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("buckets", [1, 2, 3, 312, 2_000, 2**21])
def test_the_bucket_of_a_key_is_that_of_the_reference(buckets: int, tier: str) -> None:
    keys = np.concatenate([random_keys(buckets, 2_050), np.array([0, 1, 2**63, 2**64 - 1], np.uint64)])
    found = buckets_of(KEY, DOMAIN, keys, buckets, tier)
    assert found.tolist() == reference_buckets_of(KEY, DOMAIN, keys.tolist(), buckets)
    assert found.max() < buckets


def test_buckets_are_equally_full() -> None:
    """χ² of 50,000 keys in 100 buckets: 99 degrees of freedom, so above 180 with probability 1e-6; a fixed seed."""
    counts = np.bincount(buckets_of(KEY, 0, random_keys(1, 50_000), 100, TIER), minlength=100)
    assert np.sum((counts - 500.0) ** 2 / 500.0) < 180.0


def test_the_block_of_a_bucket_is_fingerprint_zero_domain() -> None:
    """Spelt out as docs/wire-format.md says it. The domain has bit 30 turned alone, as no block of an entry has."""
    for fingerprint in (0, 0x0123456789ABCDEF, 2**64 - 1):
        block = fingerprint.to_bytes(8, "little") + bytes(4) + (DOMAIN ^ 0x40000000).to_bytes(4, "little")
        word = int.from_bytes(aes128_encrypt(KEY, block)[:8], "little")
        (bucket,) = buckets_of(KEY, DOMAIN, np.array([fingerprint], np.uint64), 1_000_003, TIER)
        assert bucket == word * 1_000_003 // 2**64


# --- what is in the entries ---


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("law", LAWS)
def test_a_bucket_is_a_sketch_of_its_keys(law: EntryLaw, tier: str) -> None:
    for buckets, each, count in ((2, 2, 40), (7, 4, 300), (300, 2, 60), (3, 16, 2_000)):
        keys, weights = random_keys(each, count), random_weights(buckets, count)
        found = summed(law, buckets * each, buckets, keys, weights, tier=tier)
        assert found.state() == one_by_one(law, buckets * each, buckets, keys, weights)
        ones = summed(law, buckets * each, buckets, keys, None, tier=tier)
        assert ones.state() == one_by_one(law, buckets * each, buckets, keys, None)


@pytest.mark.parametrize("law", [HALF, ENTROPY])
def test_a_long_update_is_summed_on_the_way(law: EntryLaw) -> None:
    """Keys wait, up to 2^17 of them; then they are sorted, and the sums wait. Weights have one to three pieces."""
    keys, weights = random_keys(2, 140_000), random_weights(3, 140_000)
    expected = one_by_one(law, 12, 3, keys, weights)
    for tier in TIERS if law == HALF else TIERS[:1]:
        assert summed(law, 12, 3, keys, weights, tier=tier).state() == expected
    assert summed(law, 12, 3, keys, weights, rows=140_000).state() == expected


@settings(deadline=None, max_examples=25)
@given(
    law=st.sampled_from(LAWS),
    shape=st.tuples(st.integers(2, 20), st.integers(1, 6)),
    pairs=st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(-(2**53), 2**53).filter(bool)), max_size=30),
)
def test_a_sketch_is_its_reference(law: EntryLaw, shape: tuple[int, int], pairs: list[tuple[int, int]]) -> None:
    """From the secret on, updates and deletes; integers below 2^63 are their own fingerprints."""
    buckets, size = shape[0], shape[0] * 2 * shape[1]
    keys = np.array([key for key, _ in pairs], np.uint64)
    sketch = EntropySketch(size, SECRET, buckets) if law == ENTROPY else Sketch(law.p, size, SECRET, buckets=buckets)
    for key, weight in pairs:
        (sketch.update if weight > 0 else sketch.delete)(np.array([key], np.uint64).view(np.int64), abs(weight))
    weights = [weight for _, weight in pairs]
    assert entries_of(sketch) == reference_entries(law, size, SECRET, keys.tolist(), weights, buckets=buckets)
    if isinstance(sketch, EntropySketch):
        where = by_bucket(SECRET.derive(f"entries/p={law.number.hex()}", 16), 0, keys, buckets)
        totals = [sum(w for w, b in zip(weights, where, strict=True) if b == bucket) for bucket in range(buckets)]
        assert sketch.bucket_totals().tolist() == totals


@pytest.mark.parametrize("rows", [(0, 0, 0), (10**5, 10**5), (10, 10**5), (300,) * 9])
@pytest.mark.parametrize("together", [True, False])
def test_accumulators_are_added(rows: tuple[int, ...], together: bool) -> None:
    """Sharing what they sum on the way, or each with sums of its own; they are then empty, and good for more."""
    keys, weights = random_keys(4, 280_000), random_weights(5, 280_000, 30.0)
    first = Accumulator(ENTROPY, 20, KEY, DOMAIN, rows[0], TIER, 5)
    rest = [Accumulator(ENTROPY, 20, KEY, DOMAIN, many, TIER, 5, first if together else None) for many in rows[1:]]
    cuts = [0, 150_000, *np.linspace(150_000, 280_000, len(rows)).astype(int)[1:].tolist()]
    entries = Entries(ENTROPY, 20, 5)
    for accumulator, begin, end in zip([first, *rest], cuts, cuts[1:], strict=False):
        accumulator.add(keys[begin:end], weights[begin:end], False)
    entries.absorb([first, *rest])
    expected = summed(ENTROPY, 20, 5, keys[: cuts[len(rows)]], weights[: cuts[len(rows)]])
    assert (entries.state(), entries.packed_totals()) == (expected.state(), expected.packed_totals())
    entries.absorb([first, *rest])
    assert entries.state() == expected.state()


@pytest.mark.parametrize("together", [True, False])
def test_large_sums_are_shared(together: bool) -> None:
    """Beyond 4 MiB, where workers beside each other have one set of sums; all of them have more keys than can wait."""
    size, buckets = 61_440, 512
    keys, weights = random_keys(6, 210_000), random_weights(7, 210_000, 30.0)
    first = Accumulator(ENTROPY, size, KEY, DOMAIN, 0, TIER, buckets)
    rest = [Accumulator(ENTROPY, size, KEY, DOMAIN, 0, TIER, buckets, first if together else None) for _ in range(2)]
    for i, accumulator in enumerate([first, *rest]):
        part = slice(70_000 * i, 70_000 * (i + 1))
        accumulator.add(keys[part], weights[part], False)
    entries = Entries(ENTROPY, size, buckets)
    assert size * entries.digits > 1 << 19
    entries.absorb([first, *rest])
    expected = summed(ENTROPY, size, buckets, keys, weights)
    assert (entries.state(), entries.packed_totals()) == (expected.state(), expected.packed_totals())


@pytest.mark.parametrize("buckets", [5, 40_000])
@pytest.mark.parametrize("folded", [True, False])
def test_how_many_keys_are_expected_changes_nothing(buckets: int, folded: bool) -> None:
    """It says how many of a bucket wait until they are added: from 16 to a block, and less where buckets are many."""
    law = EntryLaw("one-sided", 0.5)
    keys, weights = random_keys(8, 100_000), random_weights(9, 100_000, 30.0)
    states = set()
    for rows in (0, 200, 100_000, 10**9):
        entries = Entries(law, 2 * buckets, buckets)
        accumulator = Accumulator(law, 2 * buckets, KEY, DOMAIN, rows, TIER, buckets, None, folded)
        accumulator.add(keys, weights, False)
        entries.absorb([accumulator])
        states.add(entries.state())
    assert len(states) == 1


def test_one_key_past_what_64_bits_hold() -> None:
    """The fold lets go of it at 2^61, and the total of its bucket is beyond 2^63."""
    keys, weights = np.full(3_000, 12_345, np.uint64), np.full(3_000, 2**53)
    entries = summed(ENTROPY, 8, 2, keys, weights)
    (bucket,) = reference_buckets_of(KEY, DOMAIN, [12_345], 2)
    high, low = entries.totals()
    assert (int(high[bucket]) << 64) + int(low[bucket]) == 3_000 * 2**53
    assert native_sums(entries) == [
        3_000 * 2**53 * value
        for value in native_sums(summed(ENTROPY, 8, 2, keys[:1], None))
    ]  # fmt: skip


# --- what stays true of sketches ---


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_orders_and_shards_give_the_same_bytes(threads: int) -> None:
    rng = np.random.default_rng(6)
    keys, values = rng.integers(-3_000, 3_000, 150_000), rng.integers(1, 2**30, 150_000)
    whole, parts = Sketch(0.5, 64, SECRET, buckets=8), Sketch(0.5, 64, SECRET, buckets=8)
    whole.update(keys, values, threads=threads)
    order = rng.permutation(len(keys))
    for part in np.array_split(order, 7):
        shard = Sketch(0.5, 64, SECRET, buckets=8)
        shard.update(keys[part], values[part], threads=threads)
        parts.merge(Sketch.from_bytes(shard.to_bytes()))
    assert parts.to_bytes() == whole.to_bytes()
    whole.update(["gone"], [7])
    whole.delete(["gone"], [7])
    whole.delete(keys[:100_000], values[:100_000], threads=threads)
    left = Sketch(0.5, 64, SECRET, buckets=8)
    left.update(keys[100_000:], values[100_000:])
    assert (whole.total, entries_of(whole)) == (left.total, entries_of(left))
    whole.delete(keys[100_000:], values[100_000:])
    assert not any(entries_of(whole))


def test_a_refused_update_leaves_everything_as_it_was() -> None:
    sketch = EntropySketch(8, SECRET, 2)
    sketch.update(np.arange(10))
    before, values = sketch.to_bytes(), np.ones(300_000, np.int64)
    values[-1] = 0
    with pytest.raises(ArgumentError):
        sketch.update(np.arange(300_000), values)
    assert sketch.to_bytes() == before


def test_memory_that_an_update_leaves_behind_is_wiped_for_the_next() -> None:
    """An update that is never added up leaves its tables full; the next one of this size takes them again."""
    rows, size, buckets = 300_000, 5_824, 364
    left, keys = random_keys(71, rows), random_keys(72, rows)
    for accumulator in [Accumulator(HALF, size, KEY, DOMAIN, rows, TIER, buckets) for _ in range(4)]:
        accumulator.add(left, None, False)
    del accumulator
    at_once = summed(HALF, size, buckets, keys, None, rows=rows)
    piece_by_piece = Entries(HALF, size, buckets)
    for start in range(0, rows, 1_000):  # tables of so few rows are never kept
        piece_by_piece.merge(summed(HALF, size, buckets, keys[start : start + 1_000], None, rows=1_000))
    assert at_once.state() == piece_by_piece.state()


def test_copies_pickles_and_sums_have_buckets() -> None:
    sketch = EntropySketch(24, SECRET, 3)
    sketch.update(["a", "b", "c", "a"], [5, 6, 7, 8])
    for other in (pickle.loads(pickle.dumps(sketch)), EntropySketch.from_bytes(sketch.to_bytes(), SECRET)):
        assert (other.buckets, other.entries_per_key, other.size) == (3, 8, 24)
        assert other.to_bytes() == sketch.to_bytes()
    both = sketch + sketch
    assert isinstance(both, EntropySketch)
    assert both.bucket_totals().tolist() == (2 * sketch.bucket_totals()).tolist()
    assert sketch.bucket_totals().sum() == sketch.total == 26
    assert "size=24 buckets=3" in repr(sketch)


def test_other_buckets_are_not_merged() -> None:
    with pytest.raises(MergeError, match="buckets = 2 and 3"):
        Sketch(0.5, 12, SECRET, buckets=2).merge(Sketch(0.5, 12, SECRET, buckets=3))
    with pytest.raises(MergeError, match="buckets = 1 and 2"):
        Sketch(0.5, 12, SECRET).merge(Sketch(0.5, 12, SECRET, buckets=2))


def test_doubling_ends_before_anything_overflows() -> None:
    """Beyond what any stream can make, merges and updates are refused, and what is there stays as it is."""
    sketch = EntropySketch(8, SECRET, 2)
    sketch.update(["a", "b", "c"], 2**53)
    doublings = iter(lambda: sketch.merge(sketch), 0)
    with pytest.raises(MergeError):
        all(done is None for done in doublings)
    assert EntropySketch.from_bytes(sketch.to_bytes(), SECRET).to_bytes() == sketch.to_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 20, "buckets": 3}, "multiple of 6, such as 18"),
        ({"size": 15, "buckets": 5}, "multiple of 10, such as 20"),
        ({"size": 4, "buckets": 8}, "multiple of 16, such as 16"),
        ({"size": 20, "buckets": 0}, "must be at least 1"),
        ({"size": 20, "buckets": -2}, "must be at least 1"),
        ({"size": 20, "buckets": 2.0}, "must be an integer"),
        ({"size": 20, "buckets": True}, "must be an integer"),
        ({"size": 20, "buckets": 2, "law": "symmetric"}, "cannot be used with symmetric entries"),
        ({"size": 20, "buckets": 2, "p": 1.5}, "cannot be used with symmetric entries"),
        (
            {"size": 2**22 + 2, "buckets": 2**21 + 1},
            r"cannot be used with more than 4,194,304 entries in all \(size is 4,194,306\)",
        ),
    ],
)
def test_shapes_that_cannot_be(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as error:
        Sketch(**{"p": 0.5, **arguments})  # type: ignore[arg-type]
    assert error.value.argument == "buckets"


def test_a_sketch_without_buckets_is_as_it_was() -> None:
    plain, one = Sketch(0.5, 7, SECRET), Sketch(0.5, 7, SECRET, buckets=1)
    assert (one.buckets, one.entries_per_key) == (1, 7)
    assert plain.to_bytes() == one.to_bytes()


# --- what is estimated ---


def test_the_float_of_an_entry_is_the_nearest() -> None:
    """Against Python's exact division, for entries of every length, both signs, and on the verge of rounding."""
    near = [
        2**60 + 128,
        2**60 + 129,
        2**60 + 127,
        2**60 + 384,
        2**200 + 2**147,
        2**200 + 2**147 + 1,
        2**64 - 1,
        2**96 - 1,
    ]
    rng = np.random.default_rng(7)
    more = [int.from_bytes(rng.bytes(1 + i % 40), "little") for i in range(400)]
    values = [0, 1, -1, *near, *(-value for value in near), *more, *(-value for value in more)]
    entries = Entries(HALF, len(values))
    width = 4 * entries.digits
    entries.load(b"".join(value.to_bytes(width, "little", signed=True) for value in values))
    fraction, exponent = entries.split()
    for value, part, power in zip(values, fraction.tolist(), exponent.tolist(), strict=True):
        assert math.ldexp(part, power) == value / 2**entries.resolution
        assert value == 0 or 0.5 <= abs(part) < 1.0


def test_logarithms_are_those_of_the_integers() -> None:
    sketch = Sketch(0.05, 400, SECRET, buckets=20)
    sketch.update(np.arange(500), random_weights(8, 500))
    slow, _ = log_magnitudes(sketch._entries)
    assert np.max(np.abs(logs_of(sketch._entries) - slow)) < 4.0 * np.spacing(max(map(abs, slow)))


def test_an_empty_bucket_estimates_exactly_nothing() -> None:
    sketch = Sketch(0.5, 400, SECRET, buckets=50)
    assert sketch.bucket_estimates().tolist() == [0.0] * 50
    assert (sketch.estimate().value, sketch.estimate().low, sketch.estimate().high) == (0.0, 0.0, 0.0)
    sketch.update(["one"], [16])
    estimates = sketch.bucket_estimates()
    assert np.count_nonzero(estimates) == 1
    rows = np.array(log_magnitudes(sketch._entries)[0]).reshape(50, 8)[np.flatnonzero(estimates)]
    assert estimates.max() == pytest.approx(math.exp(log_estimates(rows, 0.5)[0]), rel=1e-12)
    assert sketch.estimate().value == estimates.max()


def test_an_estimate_is_the_sum_with_the_limits_of_a_normal_law() -> None:
    sketch = Sketch(0.5, 1_600, SECRET, buckets=100)
    sketch.update(np.arange(3_000))
    found, estimates = sketch.estimate(confidence=0.9), sketch.bucket_estimates()
    v = power_sum(0.5, 16).relative_variance
    assert found.value == math.fsum(estimates.tolist())
    reach = 1.6448536 * math.sqrt(v / (1.0 + v)) * float(np.linalg.norm(estimates))
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach), rel=1e-6)
    with pytest.raises(ArgumentError, match='must be "power" for one-sided entries'):
        sketch.estimate("pitman")


def test_more_deleted_than_there_was_is_no_moment() -> None:
    sketch = Sketch(0.5, 32, SECRET, buckets=4)
    sketch.delete(["a"])
    with pytest.raises(NegativeTotal):
        sketch.estimate()
    sketch.update(["b", "c"])
    with pytest.raises(NegativeTotal, match="not positive"):
        sketch.estimate()
    assert np.isfinite(sketch.bucket_estimates()).all()


def test_the_error_is_that_of_the_formula() -> None:
    """Zipf's law over 1,000 keys, 16 × 20 entries, 400 secrets: relative variance v_g (1/B + S (1 - 1/B)).

    The mean has a standard error of a twentieth of the deviation; five of them are exceeded with probability 6e-7. The
    variance over 400 secrets has a relative deviation of some 0.09 (a kurtosis below 5): 0.45 is exceeded with a
    probability of about 1e-6. Intervals of 95% cover 380 ± 22 times of 400, at five deviations. Secrets are fixed.
    """
    p, entries, buckets, trials = 0.5, 16, 20, 400
    counts = np.maximum(1, (10_000 / np.arange(1, 1_001) ** 1.1).astype(np.int64))
    powers = counts.astype(np.float64) ** p
    moment = float(powers.sum())
    share = float((powers**2).sum()) / moment**2
    expected = power_sum(p, entries).relative_variance * (1 / buckets + share * (1 - 1 / buckets))
    errors, inside = np.empty(trials), 0
    for trial in range(trials):
        sketch = Sketch(p, entries * buckets, numbered_secret(trial), buckets=buckets)
        sketch.update(np.arange(1_000), counts, threads=1)
        found = sketch.estimate()
        errors[trial] = found.value / moment - 1.0
        inside += found.low <= moment <= found.high
    assert abs(errors.mean()) < 5.0 * math.sqrt(expected / trials)
    assert 0.55 < errors.var() / expected < 1.45
    assert 358 <= inside <= 400


def test_locations_of_buckets_are_those_of_their_sketches() -> None:
    """A sketch without buckets of the keys of one bucket has its locations, to two units in the last place."""
    sketch, keys = EntropySketch(60, SECRET, 6), np.arange(5)
    values = random_weights(9, 5, 40.0)
    sketch.update(keys, values)
    where = by_bucket(SECRET.derive(f"entries/p={ENTROPY.number.hex()}", 16), 0, keys.view(np.uint64), 6)
    locations, totals = sketch.bucket_locations(), sketch.bucket_totals()
    assert locations.shape == (6, 10)
    assert np.isfinite(locations).all()
    for bucket in range(6):
        own = where == bucket
        alone = EntropySketch(10, SECRET)
        alone.update(keys[own], values[own])
        assert totals[bucket] == alone.total
        if alone.total:
            np.testing.assert_allclose(locations[bucket], alone.locations(), rtol=2.0**-51)
            np.testing.assert_allclose(alone.bucket_locations()[0], alone.locations(), rtol=2.0**-51)
        else:
            assert not any(integer_entries(alone._entries))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stream_that_was_folded_gives_the_same_bytes(threads: int) -> None:
    """As releases and engines add it: fingerprints with totals, most of them once, some again."""
    rng = np.random.default_rng(10)
    keys, values = rng.integers(0, 60_000, 200_000), rng.integers(1, 2**26, 200_000)
    whole, folded = Sketch(0.5, 120, SECRET, buckets=20), Sketch(0.5, 120, SECRET, buckets=20)
    whole.update(keys, values)

    def sink(code: int, found: np.ndarray, totals: np.ndarray, pairs: int) -> None:
        folded.add_folded(found, totals, pairs, threads=threads)

    fold = Fold(sink, grouped=False, lines=10)
    fold.add(keys.view(np.uint64), values)
    fold.finish()
    assert folded.to_bytes() == whole.to_bytes()
