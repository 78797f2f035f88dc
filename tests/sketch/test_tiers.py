"""Every tier gives the bits of every other, where the machinery has edges: blocks, slices, the fold, the bypass.

test_reference.py holds each tier to the reference on streams at large. Here are the streams made to break them, and the
variable that forces a tier.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from reference_update import ReferenceTable, multiples, sum_entries, variates
from sketch_helpers import SECRET, native_sums

from stablesketch._native import Accumulator, Entries, tier_names
from stablesketch.sketch.entry_law import ENTROPY, EntryLaw
from stablesketch.sketch.workers import TIER

KEY, DOMAIN = bytes(range(100, 116)), 3
LAWS = [
    *(EntryLaw("symmetric", p) for p in (0.05, 0.0512, 0.1, 0.2, 1 / 3, 0.5, 0.9, 0.95, 1.0, 1.05, 1.6, 2.0)),
    *(EntryLaw("one-sided", p) for p in (0.05, 0.25, 0.97)),
]
LEAST, HALF, CAUCHY = (EntryLaw("symmetric", p) for p in (0.05, 0.5, 1.0))
SIZES = [1, 2, 3, 50, 51, 200]
# Around the vectors of 4 and 8 keys, the rounds of 16, the blocks of 256 and the slices of 8,192.
COUNTS = [0, 1, 3, 4, 5, 15, 16, 17, 255, 256, 257, 8_191, 8_192, 8_193, 20_000]
# Around what the kernel takes as light (2^11), in one piece (2^23), in two (2^46), and the largest value (2^53).
WEIGHTS = [None, 1, 2_047, 2_048, 2**23 - 1, 2**23, 2**31, 2**46, 2**53]

NEEDS = {
    "avx512": "a processor with AVX-512 F, DQ, VL, BW, IFMA, VBMI and VAES (Intel since Ice Lake, AMD since Zen 4), or "
    "Intel's emulator: sde64 -icx -- python -m pytest tests/sketch",
    "avx2": "a processor with AVX2 and AES-NI (x86-64 since about 2013)",
    "plain": "nothing",
}

# One call of Accumulator.add: fingerprints, weights (None for 1 each), negative.
Step = tuple[np.ndarray, np.ndarray | None, bool]


@pytest.fixture(params=NEEDS)
def tier(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if name not in tier_names():
        pytest.skip(f"tier {name} NOT TESTED on this machine: it needs {NEEDS[name]}")
    return name


def random_keys(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)


def run(law: EntryLaw, size: int, tier: str, steps: list[Step], *, rows: int = 0) -> list[int]:
    """The entries after some steps; `rows` only sizes the fold, and 0 gives the smallest, which overflows soonest."""
    accumulator, entries = Accumulator(law, size, KEY, DOMAIN, rows, tier), Entries(law, size)
    for keys, weights, negative in steps:
        accumulator.add(keys, weights, negative)
    entries.absorb([accumulator])
    return native_sums(entries)


def reference(law: EntryLaw, size: int, totals: dict[int, int]) -> list[int]:
    drawn = variates(KEY, DOMAIN, list(totals), size, law)
    return sum_entries(ReferenceTable.of(law), drawn, totals.values())


@cache
def running_sums(law: EntryLaw, size: int) -> dict[int, list[int]]:
    """The reference's entries after each of COUNTS keys of random_keys(0, ...), 1 each."""
    table, keys = ReferenceTable.of(law), random_keys(0, COUNTS[-1])
    sums, after = [0] * size, {0: [0] * size}
    for done, row in enumerate(multiples(table, variates(KEY, DOMAIN, keys.tolist(), size, law)), 1):
        sums = [total + x for total, x in zip(sums, row, strict=True)]
        if done in COUNTS:
            after[done] = sums
    return after


def test_plain_is_the_last_resort_and_all_names_are_known() -> None:
    assert tier_names()[-1] == "plain"
    assert set(tier_names()) <= set(NEEDS)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("law", LAWS)
def test_orders_and_sizes(law: EntryLaw, size: int, tier: str) -> None:
    keys, weights = random_keys(size, 19), np.random.default_rng(size).integers(1, 2**25, 19)
    expected = reference(law, size, dict(zip(keys.tolist(), weights.tolist(), strict=True)))
    assert run(law, size, tier, [(keys, weights, False)]) == expected
    assert run(law, size, tier, [(keys, weights, True)]) == [-a for a in expected]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("law", [LEAST, HALF, EntryLaw("one-sided", 0.5)])
def test_counts_around_every_boundary(law: EntryLaw, count: int, tier: str) -> None:
    """With a fold that holds all keys, and with one of 256 slots that is given up within the first slice."""
    keys = random_keys(0, COUNTS[-1])[:count]
    for rows in (count, 0):
        assert run(law, 2, tier, [(keys, None, False)], rows=rows) == running_sums(law, 2)[count]
    once_each = [(keys[i : i + 777], np.ones(len(keys[i : i + 777]), np.int64), False) for i in range(0, count, 777)]
    assert run(law, 2, tier, once_each) == running_sums(law, 2)[count]


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("law", [LEAST, HALF, CAUCHY, EntryLaw("one-sided", 0.1)])
def test_weights_around_every_boundary(law: EntryLaw, weight: int | None, tier: str) -> None:
    """At p = 0.05 nearly every X is one of the large ones that the vector tiers add apart, at p = 1 hardly any."""
    keys = random_keys(1, 21)
    weights = None if weight is None else np.full(len(keys), weight)
    expected = reference(law, 5, dict.fromkeys(keys.tolist(), weight or 1))
    assert run(law, 5, tier, [(keys, weights, False)]) == expected
    assert run(law, 5, tier, [(keys, weights, True)]) == [-a for a in expected]


@pytest.mark.parametrize("law", [LEAST, HALF])
def test_one_heavy_key_in_a_block_of_light_ones(law: EntryLaw, tier: str) -> None:
    """Blocks of light weights take a short cut; one weight too many, wherever it is, must end it."""
    for place in (0, 7, 255, 256, 299):
        for heavy in (2_048, 2**23, 2**53):
            keys, weights = random_keys(2, 300), np.full(300, 2_047)
            weights[place] = heavy
            expected = reference(law, 2, dict(zip(keys.tolist(), weights.tolist(), strict=True)))
            assert run(law, 2, tier, [(keys, weights, False)], rows=300) == expected


@pytest.mark.parametrize("law", [*LAWS, *(EntryLaw("symmetric", p) for p in (0.07, 0.15, 0.3)), ENTROPY])
def test_limbs_of_every_number_and_size(law: EntryLaw, tier: str) -> None:
    """The largest weight of a block says how long the limbs of X may be, it and p how many there are. Weights of both
    signs, and of none, share a block, or all have one sign.
    """
    rng = np.random.default_rng(15)
    for bits in (*range(1, 13), 17, 22, 23):
        keys, weights = random_keys(16 + bits, 530), rng.integers(0, 2**bits, 530)
        signed = weights * rng.choice([-1, 1], 530)
        steps: list[Step] = [(keys[:260], weights[:260], False), (keys[260:], signed[260:], False)]
        assert run(law, 3, tier, steps, rows=600) == run(law, 3, "plain", steps, rows=600)


@pytest.mark.parametrize("count", [255, 256, 257, 1_023, 1_024, 1_025, 3_000])
@pytest.mark.parametrize("negative", [False, True])
def test_one_key_past_what_64_bits_hold(count: int, negative: bool, tier: str) -> None:
    """2^53 at a time, one key passes 2^61 at row 256, where the fold must let go of it, and 2^63 at row 1,024."""
    keys, weights = np.full(count, 12_345, np.uint64), np.full(count, 2**53)
    expected = reference(HALF, 3, {12_345: (-1 if negative else 1) * count * 2**53})
    assert run(HALF, 3, tier, [(keys, weights, negative)], rows=count) == expected


def test_a_key_held_at_the_brink(tier: str) -> None:
    """Just below 2^61 in the fold: one at a time over the brink, back again, and the same below zero."""
    key, many = np.array([9], np.uint64), np.full(255, 9, np.uint64)
    brink: list[Step] = [(many, np.full(255, 2**53), False), (key, np.array([2**53 - 1]), False)]
    over: list[Step] = [(np.full(5, 9, np.uint64), None, False)]
    back: list[Step] = [(np.full(7, 9, np.uint64), np.ones(7, np.int64), True)]
    for steps, total in ((brink, 2**61 - 1), (brink + over, 2**61 + 4), (brink + over + back, 2**61 - 3)):
        mirrored: list[Step] = [(keys, weights, not negative) for keys, weights, negative in steps]
        assert run(HALF, 2, tier, steps) == reference(HALF, 2, {9: total})
        assert run(HALF, 2, tier, mirrored) == reference(HALF, 2, {9: -total})
        assert run(HALF, 2, tier, steps + mirrored) == [0, 0]


def test_all_rows_one_key(tier: str) -> None:
    for count in (1, 8_192, 100_000):
        keys = np.full(count, 2**64 - 1, np.uint64)
        assert run(EntryLaw("symmetric", 0.1), 3, tier, [(keys, None, False)]) == reference(
            EntryLaw("symmetric", 0.1), 3, {2**64 - 1: count}
        )


@pytest.mark.parametrize("rows", [0, 10**6])
def test_the_keys_that_look_like_nothing(rows: int, tier: str) -> None:
    """The fold starts with key 0 in every place, at weight 0. Keys 0 and 2^64 - 1 come and go among many others."""
    others = random_keys(3, 2_000)
    ends = np.array([0, 2**64 - 1], np.uint64)
    steps: list[Step] = [
        (ends, None, False),
        (others, None, False),
        (ends, np.array([4, 2**53]), True),
        (ends, np.array([4, 2**53]), False),
        (others, None, True),
        (ends[:1], None, True),
        (others[:3], np.array([1, 2, 3]), False),
    ]
    left = {2**64 - 1: 1} | {int(key): weight for key, weight in zip(others[:3], (1, 2, 3), strict=True)}
    assert run(HALF, 4, tier, steps, rows=rows) == reference(HALF, 4, left)


@pytest.mark.parametrize("rows", [0, 5_000])
@pytest.mark.parametrize("law", [LEAST, CAUCHY])
def test_what_cancels_in_the_fold_leaves_nothing(law: EntryLaw, rows: int, tier: str) -> None:
    """Updates and deletes meet in the fold, or in one so full that keys leave it before; free places are used again."""
    keys, more = random_keys(4, 4_000), random_keys(5, 1_000)
    weights = np.random.default_rng(6).integers(1, 2**53, len(keys))
    undone: list[Step] = [(keys, weights, False), (keys[::-1].copy(), weights[::-1].copy(), True)]
    assert run(law, 3, tier, undone, rows=rows) == [0, 0, 0]
    steps: list[Step] = [(more, None, False), *undone, (more, None, True), (more[:7], None, False)]
    assert run(law, 3, tier, steps, rows=rows) == reference(law, 3, dict.fromkeys(more[:7].tolist(), 1))


@pytest.mark.parametrize("rows", [0, 2**18])
def test_in_and_out_of_the_bypass(rows: int, tier: str) -> None:
    """Distinct keys until folding is given up, few keys until it is taken up again, and so on: `plain` in small steps,
    each with an accumulator of its own that never gets so far, must agree.
    """
    few = random_keys(7, 50)
    parts = [random_keys(8, 150_000), np.tile(few, 4_000), random_keys(9, 50_000), np.repeat(few, 300)]
    keys = np.concatenate(parts)
    weights = np.random.default_rng(10).integers(1, 2**24, len(keys))
    total = 0
    for start in range(0, len(keys), 5_000):
        few_rows = slice(start, start + 5_000)
        total += run(HALF, 1, "plain", [(keys[few_rows], weights[few_rows], False)], rows=5_000)[0]
    assert run(HALF, 1, tier, [(keys, weights, False)], rows=rows) == [total]


def test_an_accumulator_is_empty_after_it_was_absorbed(tier: str) -> None:
    keys = random_keys(11, 300)
    accumulator, entries = Accumulator(HALF, 2, KEY, DOMAIN, 300, tier), Entries(HALF, 2)
    for _ in range(3):
        accumulator.add(keys, np.full(300, 2**40), False)
        entries.absorb([accumulator])
    entries.absorb([accumulator])
    assert native_sums(entries) == reference(HALF, 2, dict.fromkeys(keys.tolist(), 3 * 2**40))


@pytest.mark.parametrize("rows", [(40, 40, 40), (10**6, 10**6), (10, 10**6), (300,) * 9])
def test_folds_are_joined(rows: tuple[int, ...], tier: str) -> None:
    """Accumulators with keys in common, with folds of one size or of different ones; sums so heavy that joining two of
    them would pass 2^61, and some that cancel."""
    keys = random_keys(12, 500)
    totals = dict.fromkeys(keys.tolist(), 0)
    together, entries = [Accumulator(HALF, 2, KEY, DOMAIN, many, tier) for many in rows], Entries(HALF, 2)
    for i, accumulator in enumerate(together):
        some = keys[20 * i :]
        for few, weight, times in ((some[:5], 2**53, 200), (some, 7, 1), (some, -7, i % 2)):
            for _ in range(times):
                accumulator.add(few, np.full(len(few), weight), False)
            for key in few.tolist():
                totals[key] += weight * times
    entries.absorb(together)
    assert native_sums(entries) == reference(HALF, 2, totals)
    entries.absorb(together)  # they are empty now
    assert native_sums(entries) == reference(HALF, 2, totals)


@pytest.mark.parametrize("row", [0, 1_023, 1_024, 8_191, 8_192, 20_000])
@pytest.mark.parametrize("value", [0, -1, -(2**63), 101, 2**63 - 1])
def test_the_first_weight_outside_is_found(row: int, value: int) -> None:
    keys, weights = random_keys(13, 20_002), np.random.default_rng(14).integers(1, 101, 20_002)
    weights[row] = weights[-1] = value
    accumulator = Accumulator(HALF, 1, KEY, DOMAIN, 0, TIER)
    assert accumulator.add(keys, weights, False, 100)[2] == row
    good = np.delete(weights, [row, -1])
    high, low, outside = Accumulator(HALF, 1, KEY, DOMAIN, 0, TIER).add(keys[2:], good, False, 100)
    assert (high * 2**32 + low, outside) == (good.sum(), -1)


# --- the variable that forces a tier ---

PROGRAM = f"""
import numpy as np
from stablesketch import Secret, Sketch
from stablesketch.sketch.workers import TIER

sketch = Sketch(0.3, 21, Secret.from_bytes(bytes.fromhex("{bytes(range(32)).hex()}")))
rng = np.random.default_rng(1)
sketch.update(rng.zipf(1.2, 60_000).astype(np.int64) % 9_000, rng.integers(1, 2**53, 60_000), threads=2)
sketch.delete([f"page {{i % 700}}" for i in range(5_000)])
print(TIER, sketch.to_bytes().hex())
"""


def with_tier(name: str | None) -> subprocess.CompletedProcess[str]:
    environment = {word: value for word, value in os.environ.items() if word != "STABLESKETCH_TIER"}
    if name is not None:
        environment["STABLESKETCH_TIER"] = name
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)


@cache
def bytes_by_default() -> str:
    """From a process in which nothing is forced: it has to choose the best."""
    used, blob = with_tier(None).stdout.split()
    assert used == tier_names()[0]
    return blob


def test_the_secret_of_the_program_is_that_of_the_tests() -> None:
    assert SECRET.fingerprint.hex() in bytes_by_default()


def test_a_forced_tier_writes_the_same_bytes(tier: str) -> None:
    assert with_tier(tier).stdout.split() == [tier, bytes_by_default()]


def test_an_empty_variable_forces_nothing() -> None:
    assert with_tier("").stdout.split() == [tier_names()[0], bytes_by_default()]


@pytest.mark.parametrize("name", ["sse9", "AVX2", " plain"])
def test_an_unknown_tier_is_refused_at_import(name: str) -> None:
    done = with_tier(name)
    assert done.returncode != 0
    message = done.stderr.splitlines()[-1]
    assert message.startswith("stablesketch.errors.ArgumentError: STABLESKETCH_TIER must be one of ")
    assert f"one of {', '.join(tier_names())} on this machine, got {name!r}. Unset it" in message
