"""The state is exact: it is a function of the net stream alone, to the last bit.

Order, batches, shards, threads and what was deleted in between leave no trace. So everything here compares bytes.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sketch_helpers import SECRET, entries_of

from stablesketch import MergeError, Sketch

INDICES = st.sampled_from([0.05, 0.1, 0.3333, 0.5, 0.9, 1.0])
SIZES = st.integers(1, 9)
KEYS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**64 - 1), st.text(max_size=3), st.binary(max_size=3))
VALUES = st.one_of(st.integers(1, 3), st.integers(1, 2**53), st.sampled_from([2**23 - 1, 2**23, 2**31, 2**46, 2**53]))
PAIRS = st.lists(st.tuples(KEYS, VALUES), max_size=12)

Pair = tuple[int | str | bytes, int]


def put(sketch: Sketch, pairs: list[Pair], *, delete: bool = False) -> Sketch:
    (sketch.delete if delete else sketch.update)([key for key, _ in pairs], [value for _, value in pairs])
    return sketch


def sketch_of(p: float, size: int, pairs: list[Pair]) -> Sketch:
    return put(Sketch(p, size, SECRET, law="symmetric"), pairs)


@settings(deadline=None)
@given(p=INDICES, size=SIZES, kept=PAIRS, undone=PAIRS, seed=st.integers(0, 2**32), shards=st.integers(1, 4))
def test_any_way_to_the_same_net_stream(
    p: float, size: int, kept: list[Pair], undone: list[Pair], seed: int, shards: int
) -> None:
    """Updates and deletes in any order (deletes first included), one by one or in batches, over any shards."""
    steps = [(pair, False) for pair in kept + undone] + [(pair, True) for pair in undone]
    chance = random.Random(seed)
    chance.shuffle(steps)
    parts = [Sketch(p, size, SECRET, law="symmetric") for _ in range(shards)]
    while steps:
        batch = [steps.pop() for _ in range(chance.randint(1, len(steps)))]
        shard = chance.choice(parts)
        for delete in (True, False):
            put(shard, [pair for pair, deleted in batch if deleted == delete], delete=delete)
    chance.shuffle(parts)
    assert sum(parts[1:], parts[0]).to_bytes() == sketch_of(p, size, kept).to_bytes()


@settings(deadline=None)
@given(p=INDICES, size=SIZES, pairs=PAIRS)
def test_update_then_delete_is_never_seen(p: float, size: int, pairs: list[Pair]) -> None:
    empty = Sketch(p, size, SECRET, law="symmetric")
    assert put(sketch_of(p, size, pairs), pairs, delete=True).to_bytes() == empty.to_bytes()
    assert put(put(Sketch(p, size, SECRET, law="symmetric"), pairs, delete=True), pairs).to_bytes() == empty.to_bytes()


@settings(deadline=None)
@given(p=INDICES, size=SIZES, pairs=PAIRS)
def test_values_of_a_key_add_up(p: float, size: int, pairs: list[Pair]) -> None:
    """Only the totals matter to the entries; how they came about matters to `pairs` alone."""
    totals: Counter[tuple[type, int | str | bytes]] = Counter()
    for key, value in pairs:
        totals[type(key), key] += value
    # A total may exceed the largest value: it then comes in pieces.
    pieces = [
        (key, piece)
        for (_, key), total in totals.items()
        for piece in [2**53] * (total // 2**53) + [total % 2**53]
        if piece
    ]
    one, other = sketch_of(p, size, pairs), sketch_of(p, size, pieces)
    assert entries_of(one) == entries_of(other)
    assert one.total == other.total == sum(value for _, value in pairs)


@settings(deadline=None)
@given(p=INDICES, size=SIZES, first=PAIRS, second=PAIRS, third=PAIRS)
def test_merge_is_commutative_and_associative(
    p: float, size: int, first: list[Pair], second: list[Pair], third: list[Pair]
) -> None:
    a, b, c = (sketch_of(p, size, pairs) for pairs in (first, second, third))
    c = put(c, first, delete=True)  # merging negative streams is no different
    assert (a + b).to_bytes() == (b + a).to_bytes()
    assert ((a + b) + c).to_bytes() == (a + (b + c)).to_bytes()
    assert (a + Sketch(p, size, SECRET, law="symmetric")).to_bytes() == a.to_bytes()


@settings(deadline=None)
@given(p=INDICES, size=SIZES, pairs=PAIRS)
def test_bytes_and_back_change_nothing(p: float, size: int, pairs: list[Pair]) -> None:
    blob = sketch_of(p, size, pairs).to_bytes()
    back = Sketch.from_bytes(blob, SECRET)
    assert back.to_bytes() == blob
    assert put(back, pairs, delete=True).to_bytes() == Sketch(p, size, SECRET, law="symmetric").to_bytes()


@pytest.mark.parametrize("p", [0.05, 0.5, 1.0])
def test_totals_far_beyond_64_bits(p: float) -> None:
    """2^53 a thousand times over, and then doubled seventy times: more than 2^130 in all."""
    sketch, one = Sketch(p, 6, SECRET, law="symmetric"), Sketch(p, 6, SECRET, law="symmetric")
    sketch.update(["heavy"] * 1_000, 2**53)
    assert sketch.total == 1_000 * 2**53
    one.update(["heavy"])
    for _ in range(70):
        sketch.merge(sketch)
    assert (sketch.pairs, sketch.total) == (1_000 * 2**70, 1_000 * 2**123)
    assert entries_of(sketch) == [1_000 * 2**123 * x for x in entries_of(one)]
    sketch.delete(["heavy"])
    assert entries_of(sketch) == [(1_000 * 2**123 - 1) * x for x in entries_of(one)]


@pytest.mark.parametrize("p", [0.05, 0.1, 0.5, 1.0])
def test_twenty_thousand_keys_of_which_two_hundred_stay(p: float) -> None:
    """At p = 0.05 an entry is at its peak some 2^130 times what stays in the end: floats would have lost it all."""
    rng = np.random.default_rng(1)
    keys = rng.choice(10**12, 20_000, replace=False)
    values = rng.integers(1, 1_000, len(keys))
    sketch, few = Sketch(p, 50, SECRET, law="symmetric"), Sketch(p, 50, SECRET, law="symmetric")
    sketch.update(keys, values)
    order = rng.permutation(np.arange(200, len(keys)))
    sketch.delete(keys[order], values[order])
    few.update(keys[:200], values[:200])
    assert sketch.to_bytes() == few.to_bytes()
    assert sketch.estimate() == few.estimate()


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_threads_leave_no_trace(threads: int) -> None:
    """More rows than one thread takes at a time, skewed, with weights of all sizes."""
    rng = np.random.default_rng(2)
    keys = rng.zipf(1.3, 400_000).astype(np.int64) % 50_000
    values = rng.integers(1, 2 ** rng.integers(1, 53, len(keys)), len(keys))
    together, apart = Sketch(0.3, 2, SECRET, law="symmetric"), Sketch(0.3, 2, SECRET, law="symmetric")
    together.update(keys, values, threads=threads)
    for start in range(0, len(keys), 30_011):
        apart.update(keys[start : start + 30_011], values[start : start + 30_011], threads=1)
    assert together.to_bytes() == apart.to_bytes()


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(-50, 50), max_size=60), st.lists(st.integers(-50, 50), max_size=60))
def test_batches_of_integers_and_of_text_keep_apart(numbers: list[int], more: list[int]) -> None:
    """The same digits as text, in between, are other keys, and taking them back restores the bytes."""
    plain, mixed = Sketch(0.5, 5, SECRET, law="symmetric"), Sketch(0.5, 5, SECRET, law="symmetric")
    plain.update(np.array(numbers, np.int16))
    mixed.update([str(number) for number in more])
    mixed.update(numbers)
    mixed.delete(np.array([str(number) for number in more], object))
    assert mixed.to_bytes() == plain.to_bytes()


def test_a_sum_beyond_the_width_is_refused_and_changes_nothing() -> None:
    """Doubling a sketch over and over is the only way there; the sum must not wrap round silently."""
    sketch = Sketch(p=1.0, size=3, secret=SECRET, law="symmetric")
    sketch.update(range(10), 2**53)
    doublings = 0
    while doublings < 400:
        before = sketch.to_bytes()
        try:
            sketch.merge(sketch)
        except MergeError:
            break
        doublings += 1
    assert 100 < doublings < 400
    assert sketch.to_bytes() == before


def test_part_of_a_value_may_be_taken_back() -> None:
    """No pairs are left in number, yet the key has a total: it counts."""
    part, whole = (Sketch(p=0.5, size=50, secret=SECRET, law="symmetric") for _ in range(2))
    part.update(["a"], [5])
    part.delete(["a"], [3])
    whole.update(["a"], [2])
    assert part.estimate() == whole.estimate()
