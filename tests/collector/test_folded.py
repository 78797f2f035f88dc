"""The bulk interface: pairs that were added up by key elsewhere leave the state that `update` leaves, byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from collector_helpers import fresh
from hypothesis import given, settings
from hypothesis import strategies as st

import stablesketch as ss

MOST = 9
PRIVACY = ss.Privacy(2.0, 1e-6, max_value=MOST)
LONG = ss.Privacy(2.0, 1e-8, 3_000, max_value=MOST, relation="replace")

PLANS = {
    "flat": ss.plan(ss.Moment(0.5), PRIVACY, size=20),
    "buckets": ss.plan(ss.Moment(0.5), PRIVACY, size=120, entries_per_key=6),
    "norm": ss.plan(ss.Moment(2), PRIVACY, size=20),
    "entropy": ss.plan(ss.Shannon(), PRIVACY, size=20),
    "entropy in buckets": ss.plan(ss.Shannon(), PRIVACY, size=480, entries_per_key=24),
    "registers": ss.plan(ss.Distinct(), PRIVACY, size=64),
    "total": ss.plan(ss.Total(), PRIVACY),
    "exact": ss.plan(ss.Moment(0.5), PRIVACY, mechanism="exact"),
    "exact entropy": ss.plan(ss.Shannon(), PRIVACY, mechanism="exact"),
    "exact distinct": ss.plan(ss.Distinct(), PRIVACY, mechanism="exact"),
    "bare": ss.plan(ss.Moment(0.5), LONG, size=20, mechanism="bare"),
    "bare entropy": ss.plan(ss.Shannon(), LONG, size=20, mechanism="bare"),
    "derived": ss.plan(ss.Profile([0, 0.5, 1]), PRIVACY, size=64),
}
SAMPLED = {
    per: ss.plan(ss.Moment(0.5), LONG, size=5, sampling=ss.Sampling(0.25, per), mechanism="bare")
    for per in ("pair", "entry")
}
DELETING = {
    name: ss.plan(statistic, PRIVACY, deletes=True, **how)
    for name, statistic, how in [
        ("flat", ss.Moment(0.5), {"size": 20}),
        ("buckets", ss.Moment(0.5), {"size": 120, "entries_per_key": 6}),
        ("norm", ss.Moment(2), {"size": 20}),
        ("entropy", ss.Shannon(), {"size": 20}),
        ("total", ss.Total(), {}),
        ("exact", ss.Moment(0.5), {"mechanism": "exact"}),
    ]
}

TEXTS = st.text("abc", max_size=2)
STREAMS = st.one_of(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(1, MOST)), min_size=1, max_size=60),
    st.lists(st.tuples(TEXTS, st.integers(1, MOST)), min_size=1, max_size=60),
    st.lists(st.tuples(st.tuples(st.integers(0, 2), TEXTS), st.integers(1, MOST)), min_size=1, max_size=60),
)


def columns(stream: list[tuple[Any, int]]) -> tuple[Any, list[int]]:
    """Keys as `update` takes them, a tuple of columns where they are composite, and values."""
    keys = [key for key, _ in stream]
    return (tuple(map(list, zip(*keys, strict=True))) if isinstance(keys[0], tuple) else keys), [v for _, v in stream]


def folded(prints: np.ndarray, values: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The sum of the values of each fingerprint, by a dictionary."""
    totals: dict[int, int] = {}
    for key, value in zip(prints.tolist(), values, strict=True):
        totals[key] = totals.get(key, 0) + value
    return np.array(list(totals), np.uint64), np.array(list(totals.values()), np.int64)


@pytest.mark.parametrize("name", PLANS)
@given(stream=STREAMS, cut=st.integers(0, 60))
@settings(max_examples=15, deadline=None)
def test_folded_pairs_leave_the_bytes_of_an_update(name: str, stream: list[tuple[Any, int]], cut: int) -> None:
    """In one call or in two that have keys in common, and wherever the pairs of the two are counted."""
    keys, values = columns(stream)
    whole, bulk = (PLANS[name].open(fresh(), shard="a") for _ in range(2))
    whole.update(keys, values)
    prints = bulk.fingerprint(keys)
    bulk.add_folded(*folded(prints[:cut], values[:cut]), 0)
    bulk.add_folded(*folded(prints[cut:], values[cut:]), len(values))
    assert bulk.pairs == whole.pairs == len(values)
    assert bulk.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("name", PLANS)
def test_a_long_stream_too(name: str) -> None:
    """More rows than one thread takes, and totals that a block of the kernel cannot hold."""
    rng = np.random.default_rng(3)
    keys, values = rng.integers(0, 30_000, 60_000), rng.integers(1, MOST + 1, 60_000)
    whole, bulk = (PLANS[name].open(fresh(), shard="a") for _ in range(2))
    for _ in range(2):
        whole.update(keys, values)
    found, where = np.unique(keys, return_inverse=True)
    totals = np.zeros(len(found), np.int64)
    np.add.at(totals, where, values)
    bulk.add_folded(bulk.fingerprint(found), 2 * totals, 120_000)
    assert bulk.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("name", DELETING)
@given(stream=STREAMS, undone=st.integers(0, 60))
@settings(max_examples=15, deadline=None)
def test_net_totals_are_updates_less_deletes(name: str, stream: list[tuple[Any, int]], undone: int) -> None:
    keys, values = columns(stream)
    undone = min(undone, len(values))
    again = tuple(column[:undone] for column in keys) if isinstance(keys, tuple) else keys[:undone]
    whole, bulk = (DELETING[name].open(fresh(), shard="a") for _ in range(2))
    whole.update(keys, values)
    if undone:
        whole.delete(again, values[:undone])
    prints = bulk.fingerprint(keys)
    net = folded(np.concatenate((prints, prints[:undone])), values + [-value for value in values[:undone]])
    bulk.add_folded(*net, len(values) - undone)
    assert bulk.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("per", SAMPLED)
@given(stream=STREAMS, cut=st.integers(0, 60))
@settings(max_examples=15, deadline=None)
def test_with_sampling_every_pair_is_a_row(per: str, stream: list[tuple[Any, int]], cut: int) -> None:
    keys, values = columns(stream)
    whole, bulk = (SAMPLED[per].open(fresh(), shard="a") for _ in range(2))
    whole.update(keys, values)
    prints, rows = bulk.fingerprint(keys), np.array(values)
    for part in (slice(0, cut), slice(cut, None)):
        bulk.add_folded(prints[part], rows[part], len(rows[part]))
    assert bulk.to_bytes() == whole.to_bytes()


def test_with_sampling_nothing_is_added_up() -> None:
    collector = SAMPLED["pair"].open(fresh(), shard="a")
    with pytest.raises(ss.ArgumentError, match="every pair is a row"):
        collector.add_folded(np.zeros(1, np.uint64), np.ones(1, np.int64), 2)
    with pytest.raises(ss.ArgumentError, match=f"between 1 and {MOST}"):
        collector.add_folded(np.zeros(1, np.uint64), np.full(1, MOST + 1), 1)


def test_a_sketch_has_the_same_two() -> None:
    one, other = (ss.Sketch(0.5, 20, fresh()) for _ in range(2))
    one.update(["ape", "bee", "ape"], [1, 2, 3])
    other.add_folded(other.fingerprint(["ape", "bee"]), np.array([4, 2]), 3)
    assert one.to_bytes() == other.to_bytes()


KEY, ONE = np.zeros(1, np.uint64), np.ones(1, np.int64)
REFUSED = {
    "a list": ([1], ONE, 1, ss.ArgumentTypeError, "uint64"),
    "signed fingerprints": (KEY.view(np.int64), ONE, 1, ss.ArgumentTypeError, "uint64"),
    "totals that are no integers": (KEY, np.ones(1), 1, ss.ArgumentTypeError, "int64"),
    "a table": (KEY, np.ones((1, 1), np.int64), 1, ss.ArgumentTypeError, "one-dimensional"),
    "gaps": (np.zeros(4, np.uint64)[::2], np.ones(2, np.int64), 1, ss.ArgumentError, "contiguous"),
    "other lengths": (KEY, np.ones(2, np.int64), 1, ss.ArgumentError, "must be the number of fingerprints, 1"),
    "a total of 0": (KEY, 0 * ONE, 1, ss.ArgumentError, r"totals\[0\]"),
    "a negative total": (KEY, -ONE, 1, ss.ArgumentError, r"totals\[0\]"),
    "a large total": (KEY, (2**53 + 1) * ONE, 1, ss.ArgumentError, r"totals\[0\]"),
    "a number that is none": (KEY, ONE, True, ss.ArgumentTypeError, "pairs"),
    "negative pairs": (KEY, ONE, -1, ss.ArgumentError, "pairs"),
    "too many pairs": (KEY, ONE, 2**63, ss.ArgumentError, "pairs"),
}


@pytest.mark.parametrize("name", ["flat", "derived", "exact", "registers"])
@pytest.mark.parametrize("bad", REFUSED)
def test_what_cannot_be_is_refused_and_changes_nothing(name: str, bad: str) -> None:
    fingerprints, totals, pairs, error, words = REFUSED[bad]
    collector = PLANS[name].open(fresh(), shard="a")
    collector.update(["x"])
    before = collector.to_bytes()
    with pytest.raises(error, match=words):  # type: ignore[arg-type]
        collector.add_folded(fingerprints, totals, pairs)  # type: ignore[arg-type]
    assert collector.to_bytes() == before


def test_whole_keys_are_held_to_the_largest_value() -> None:
    """unit="key": what a neighbour changes is the whole total of a key."""
    privacy = ss.Privacy(2.0, 1e-6, max_value=MOST, unit="key")
    collector = ss.plan(ss.Moment(0.5), privacy, mechanism="exact").open(fresh(), shard="a")
    with pytest.raises(ss.ArgumentError, match=f"between 1 and {MOST}"):
        collector.add_folded(KEY, (MOST + 1) * ONE, 1)
    collector.add_folded(KEY, MOST * ONE, 1)
    collector.add_folded(KEY, ONE, 1)
    with pytest.raises(ss.NegativeTotal, match="more than once"):
        collector.release()


@pytest.mark.parametrize("name", ["flat", "norm", "entropy", "total", "exact"])
@pytest.mark.parametrize("pairs", [0, 1, 11])
def test_a_release_notices_pairs_that_do_not_fit_their_total(name: str, pairs: int) -> None:
    """A total of 10 is that of 2 to 10 pairs with values up to 9."""
    collector = PLANS[name].open(fresh(), shard="a")
    collector.add_folded(KEY, 10 * ONE, pairs)
    with pytest.raises(ss.NegativeTotal, match="passed to add_folded is wrong"):
        collector.release()


def test_of_individuals_every_one_is_a_pair() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, unit="individual"), size=20)
    right, wrong = plan.open(fresh(), shard="a"), plan.open(fresh(), shard="a")
    right.add_folded(KEY, 10 * ONE, pairs=10)
    assert right.release().pairs is None  # how many there are is private
    wrong.add_folded(KEY, 10 * ONE, pairs=2)
    with pytest.raises(ss.NegativeTotal, match="passed to add_folded is wrong"):
        wrong.release()


def test_of_whole_keys_every_row_is_a_pair() -> None:
    """A number of rows in its place would be published under replace, and would keep a promise that does not hold."""
    whole = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, max_value=MOST, unit="key", relation="replace"), size=20)
    collector = whole.open(fresh(), shard="a")
    before, prints = collector.to_bytes(), collector.fingerprint(["a", "b", "c"])
    with pytest.raises(ss.ArgumentError, match=r"pairs must be the number of rows:"):
        collector.add_folded(prints, np.array([5, 3, 2]), pairs=10)
    assert collector.to_bytes() == before
    collector.add_folded(prints, np.array([5, 3, 2]), pairs=3)
    assert collector.pairs == 3
