"""One-sided sketches: the same interface and exactness, a law of its own, and bits that go down to the smallest t."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from reference_update import ReferenceTable, reference_entries, sum_entries, uniforms, variates
from sketch_helpers import SECRET, compiled, entries_of, numbered_secret

import stablesketch as ss
from stablesketch._native import tier_names
from stablesketch.law.one_sided import one_sided_law
from stablesketch.sketch import wire
from stablesketch.sketch.entry_law import EntryLaw

ORDERS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999]


def one_sided(p: float = 0.5, size: int = 20, secret: ss.Secret = SECRET) -> ss.Sketch:
    return ss.Sketch(p, size, secret, law="one-sided")


@pytest.mark.parametrize("p", ORDERS)
def test_a_sketch_is_the_reference(p: float) -> None:
    """Integers are their own fingerprints; weights of every length in bits, and a delete."""
    rng = np.random.default_rng(1)
    keys = rng.integers(0, 2**62, 600)
    values = rng.integers(1, 2 ** rng.integers(1, 54, 600))
    sketch = one_sided(p, 5)
    sketch.update(keys, values)
    sketch.delete(keys[:50], values[:50])
    assert entries_of(sketch) == reference_entries(
        EntryLaw("one-sided", p), 5, SECRET, keys[50:].tolist(), values[50:].tolist()
    )


@pytest.mark.parametrize("tier", tier_names())
@pytest.mark.parametrize("p", [0.05, 0.5, 0.97])
def test_every_tier_takes_the_fine_bits(tier: str, p: float) -> None:
    """One X in 2^10 asks for more bits, on either side: 60,000 draws have some sixty of them."""
    keys = np.random.default_rng(2).integers(0, 2**64, 30_000, dtype=np.uint64)
    weights = np.where(np.arange(len(keys)) % 5 == 0, -3, 2)
    expected = compiled(EntryLaw("one-sided", p), 2, bytes(range(16)), keys, weights, tier="plain")
    assert compiled(EntryLaw("one-sided", p), 2, bytes(range(16)), keys, weights, tier=tier) == expected
    few = keys[:3_000]
    key = SECRET.derive(f"entries/p={EntryLaw('one-sided', p).number.hex()}", 16)
    assert compiled(EntryLaw("one-sided", p), 2, key, few, tier=tier) == reference_entries(
        EntryLaw("one-sided", p), 2, SECRET, few.tolist(), [1] * len(few)
    )


# Blocks that AES-128 under the key 0, 1, ..., 15 sends to 62 zeros in one half, found by decrypting such halves until
# the pair of entries came out below four: fingerprint, domain, entry, side. What follows has up to three zeros more.
DEEP = [
    (0x88F5ABC82876152A, 0x02B8E453, 0, 1),
    (0x87926A68964E3C28, 0x9676C7A9, 2, 1),
    (0x5391342E76F0B1F6, 0x02CFDAC3, 6, 1),
    (0x4BA1FCB5A00FAD5E, 0x96751986, 5, 1),
    (0x7CF0DE5734FC21B1, 0xD76C57DB, 1, 1),
    (0xDDF7554AC5BA8718, 0x34ADA129, 0, 0),
    (0x101436562CA7E97A, 0x234A0F37, 0, 0),
    (0x303F47D100DB2519, 0x06067B0E, 7, 0),
    (0x5D3897611530859A, 0x99496330, 5, 0),
]


@pytest.mark.parametrize("tier", tier_names())
@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 0.97])
def test_every_tier_takes_the_deep_octaves(tier: str, p: float) -> None:
    """The keys whose first 62 bits are 0, among others, in one block or two, heavy and negative."""
    key, others = bytes(range(16)), np.random.default_rng(4).integers(0, 2**64, 300, dtype=np.uint64)
    below = 0
    for fingerprint, domain, entry, side in DEEP:
        drawn = variates(key, domain, [fingerprint], 8, EntryLaw("one-sided", p))
        assert (int(drawn.side[0, entry]), bool(drawn.t[0, entry] < 2.0)) == (side, True)
        below += int(drawn.t[0, entry] < 1.0)
        for count, weight in ((0, 1), (7, -5), (300, 2**40)):
            keys = np.append(others[:count], np.uint64(fingerprint))
            weights = np.append(np.ones(count, np.int64), weight)
            expected = sum_entries(
                ReferenceTable.of(EntryLaw("one-sided", p)),
                variates(key, domain, keys.tolist(), 8, EntryLaw("one-sided", p)),
                weights.tolist(),
            )
            assert compiled(EntryLaw("one-sided", p), 8, key, keys, weights, domain=domain, tier=tier) == expected
    assert below == 7


@pytest.mark.parametrize("tier", tier_names())
@pytest.mark.parametrize("p", [1.000001, 1.5, 1.99])
def test_every_tier_takes_the_deep_octaves_above_order_one(tier: str, p: float) -> None:
    """The same blocks, of which symmetric tables of 1 < p < 2 have those on the upper side."""
    key, others = bytes(range(16)), np.random.default_rng(4).integers(0, 2**64, 300, dtype=np.uint64)
    law, below = EntryLaw("symmetric", p), 0
    for fingerprint, domain, entry, side in DEEP:
        drawn = variates(key, domain, [fingerprint], 8, law)
        below += int(drawn.t[0, entry] < 1.0)
        assert side == 1 or drawn.t[0, entry] < 2.0
        for count, weight in ((0, 1), (7, -5), (300, 2**40)):
            keys = np.append(others[:count], np.uint64(fingerprint))
            weights = np.append(np.ones(count, np.int64), weight)
            expected = sum_entries(
                ReferenceTable.of(law), variates(key, domain, keys.tolist(), 8, law), weights.tolist()
            )
            assert compiled(law, 8, key, keys, weights, domain=domain, tier=tier) == expected
    assert below >= 2


def test_uniforms_have_53_bits_however_small() -> None:
    """Where m < 2^52 the bits that follow are used, on both sides: t is then 2 (m + more/2^64) to within 2^-53 of it.

    tests/law/test_one_sided_table.py has those where m = 0.
    """
    rng = np.random.default_rng(3)
    lengths = np.tile(np.arange(1, 62), 40)
    m = rng.integers(0, 2**62, lengths.size, dtype=np.uint64) >> (np.uint64(62) - lengths.astype(np.uint64))
    side = rng.integers(0, 2, lengths.size, dtype=np.uint64) << np.uint64(62)
    more, last = rng.integers(0, 2**64, (2, lengths.size), dtype=np.uint64)
    m = np.maximum(m, np.uint64(1))
    t = uniforms(m | side, more, last, EntryLaw("one-sided", 0.5))
    for i in range(m.size):
        exact = 2 * (int(m[i]) * 2**64 + int(more[i])) if m[i] < 2**52 else (2 * int(m[i]) + 1) * 2**64
        assert abs(int(t[i] * 2.0**60) * 2**4 - exact) <= exact * 2.0**-53 * 1.01
    assert t.min() >= 2.0
    assert t.max() <= 2.0**63


@pytest.mark.parametrize("p", [0.1, 0.5, 0.95])
def test_entries_follow_the_law(p: float) -> None:
    """2,000 entries of four keys: Kolmogorov-Smirnov, D sqrt(n) above 2.2 has probability 1.2e-4."""
    sketch = one_sided(p, 2_000, numbered_secret(5))
    totals = [9, 4, 1, 1]
    sketch.update(["a", "b", "c", "d"], totals)
    unit = wire.decode(sketch.to_bytes()).resolution * math.log(2.0)
    logs = np.array([math.log(a) - unit for a in entries_of(sketch)])
    z = np.sort(p * logs) - math.log(sum(total**p for total in totals))
    cdf = np.exp(one_sided_law(p).values(z).cdf)
    steps = np.arange(1, len(z) + 1) / len(z)
    assert max(np.max(steps - cdf), np.max(cdf - steps + 1 / len(z))) * math.sqrt(len(z)) < 2.2


def test_any_order_and_any_shards_give_the_same_bytes() -> None:
    keys, values = list(range(500)), [k % 17 + 1 for k in range(500)]
    whole = one_sided()
    whole.update(keys, values)
    parts = [one_sided() for _ in range(3)]
    for i, part in enumerate(parts):
        part.update(keys[i::3][::-1], values[i::3][::-1])
    assert sum(parts[1:], parts[0]).to_bytes() == whole.to_bytes()
    whole.update(["x"], [10**9])
    whole.delete(["x"], [10**9])
    assert sum(parts[1:], parts[0]).to_bytes() == whole.to_bytes()


def test_what_it_says_of_itself() -> None:
    sketch = one_sided(0.25)
    sketch.update(["a"])
    assert (sketch.p, sketch.law, sketch.size) == (0.25, "one-sided", 20)
    assert repr(sketch) == "<Sketch p=0.25 one-sided size=20 pairs=1 total=1>"
    assert [ss.Sketch(p, 20).law for p in (0.25, 0.999, 1.0)] == ["one-sided", "one-sided", "symmetric"]
    assert [ss.Sketch(p, 20).law for p in (0.25, 0.999, 1.0)] == ["one-sided", "one-sided", "symmetric"]
    for other in (copy.copy(sketch), pickle.loads(pickle.dumps(sketch)), ss.Sketch.from_bytes(sketch.to_bytes())):
        assert (other.law, other.to_bytes()) == ("one-sided", sketch.to_bytes())


def test_laws_share_no_randomness() -> None:
    """Under one secret the X of the two laws come from different keys: their uniforms are not the same."""
    one, two = one_sided(0.5, 200), ss.Sketch(0.5, 200, SECRET, law="symmetric")
    for sketch in (one, two):
        sketch.update(["key"])
    ranks = [np.argsort(np.argsort([abs(a) for a in entries_of(sketch)])) for sketch in (one, two)]
    assert abs(np.corrcoef(*ranks)[0, 1]) < 0.3  # of 200 independent ones it is within 0.3 but for 2e-5


def test_different_laws_are_not_merged() -> None:
    one, two = one_sided(), ss.Sketch(0.5, 20, SECRET, law="symmetric")
    for sketch in (one, two):
        sketch.update(["a", "b"])
    before = one.to_bytes(), two.to_bytes()
    for mine, theirs in ((one, two), (two, one)):
        with pytest.raises(ss.MergeError, match=r"law = (one-sided|symmetric) and (symmetric|one-sided)"):
            mine.merge(theirs)
    assert (one.to_bytes(), two.to_bytes()) == before


def test_negative_totals_are_noticed_when_estimated_and_nothing_is_lost() -> None:
    sketch = one_sided()
    sketch.delete(["late"], [5])
    with pytest.raises(ss.NegativeTotal, match="-1 pairs of total -5"):
        sketch.estimate()
    sketch.update(["other", "another"], [3, 9])
    with pytest.raises(ss.NegativeTotal, match='law="symmetric"'):
        sketch.estimate()
    sketch.update(["late"], [5])
    again = one_sided()
    again.update(["other", "another"], [3, 9])
    again._pairs = sketch.pairs
    assert sketch.to_bytes() == again.to_bytes()
    assert sketch.estimate().value > 0.0


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"p": 1.0, "law": "one-sided"}, ss.ArgumentError, "p must be between 0.05 and 0.999, got 1.0.*symmetric"),
        ({"p": 0.9995, "law": "one-sided"}, ss.ArgumentError, "0.9995"),
        ({"p": 0.01, "law": "one-sided"}, ss.ArgumentError, "0.01"),
        ({"p": -0.5, "law": "one-sided"}, ss.ArgumentError, "p must .*got -0.5"),
        ({"p": -0.5, "law": None}, ss.ArgumentError, "p must .*got -0.5"),
        ({"p": True, "law": "one-sided"}, ss.ArgumentTypeError, "p must .*got True"),
        ({"p": "0.5", "law": "one-sided"}, ss.ArgumentTypeError, "p must .*got '0.5'"),
        ({"p": 0.5, "law": "skewed"}, ss.ArgumentError, "law must be one of 'symmetric', 'one-sided', got 'skewed'"),
        ({"p": 0.5, "law": ["one-sided"]}, ss.ArgumentError, "law must .*got "),
    ],
)
def test_bad_arguments(arguments: dict[str, object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        ss.Sketch(size=4, **arguments)  # type: ignore[arg-type]


def test_a_plan_does_not_take_a_one_sided_sketch_for_its_own() -> None:
    """A collector's blob whose sketch was put in by hand, of the other law, is refused."""
    from stablesketch.mechanism.bare.moment import BareState
    from stablesketch.mechanism.noisy.moment import StableState

    plan = ss.plan(
        ss.Moment(0.5), ss.Privacy(epsilon=1.0, delta=1e-8, pairs=1_000, relation="replace"), size=20, mechanism="bare"
    )
    secret = numbered_secret(9)
    with pytest.raises(ss.BlobError, match=r"symmetric entries.*one-sided entries"):
        BareState.from_bytes(plan, one_sided(0.5, 20, secret).to_bytes(), secret)
    noisy = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-8), size=20)
    with pytest.raises(ss.BlobError, match=r"one-sided entries.*symmetric entries"):
        StableState.from_bytes(noisy, ss.Sketch(0.5, 20, secret, law="symmetric").to_bytes(), secret)


@pytest.mark.parametrize("method", ["pitman", "median", "", None, ["power"]])
def test_other_methods_are_refused(method: object) -> None:
    sketch = one_sided()
    for _ in range(2):
        with pytest.raises(ss.ArgumentError, match='method must be "power"'):
            sketch.estimate(method=method)  # type: ignore[arg-type]
        sketch.update(["a"])


def test_estimates() -> None:
    """The 95% limits of one sketch under a fixed secret hold; nothing at all is exactly 0; one entry has limits too."""
    sketch = one_sided(0.5, 400, numbered_secret(7))
    assert sketch.estimate() == ss.Estimate(0.0, 0.0, 0.0, 0.95, "power")
    sketch.update(range(10_000))
    estimate = sketch.estimate()
    assert estimate == sketch.estimate(method="power") == sketch.estimate(method="best")
    assert estimate.method == "power"
    assert estimate.low < 10_000.0 < estimate.high
    assert estimate.high / estimate.low < 1.3  # the deviation is 0.71/20
    wider = sketch.estimate(confidence=0.999)
    assert wider.low < estimate.low < estimate.high < wider.high
    single = one_sided(0.5, 1, numbered_secret(8))
    single.update(["a"])
    assert single.estimate().low < 1.0 < single.estimate().high
