"""Folding across batches: the same state as without it, whatever the order, the batches and the room."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.doors.fold import LARGEST_FOLDED, Fold
from stablesketch.doors.pour import pour

SECRET = bytes(range(32))
PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=1000), size=20)


def folded(
    keys: np.ndarray, values: np.ndarray | None, codes: np.ndarray | None, batch: int, buffer: int, table: int
) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()

    def sink(code: int, prints: np.ndarray, totals: np.ndarray) -> None:
        assert len(prints) == len(totals) == len(np.unique(prints))
        for key, total in zip(prints.tolist(), totals.tolist(), strict=True):
            found[code, key] += total

    fold = Fold(sink, weighted=values is not None, grouped=codes is not None, buffer=buffer, table=table)
    for i in range(0, len(keys), batch):
        part = slice(i, i + batch)
        fold.add(keys[part], None if values is None else values[part], None if codes is None else codes[part])
    fold.finish()
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(("batch", "buffer", "table"), [(7, 16, 8), (100, 64, 1000), (5000, 128, 32), (1, 3, 1)])
def test_totals_are_those_of_a_counter(weighted: bool, grouped: bool, batch: int, buffer: int, table: int) -> None:
    random = np.random.default_rng(5)
    keys = random.zipf(1.3, 3000).clip(max=2**60).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    values = random.integers(1, 1000, 3000) if weighted else None
    codes = random.integers(0, 5, 3000).astype(np.int32) if grouped else None
    truth: Counter[tuple[int, int]] = Counter()
    for i, key in enumerate(keys.tolist()):
        truth[0 if codes is None else int(codes[i]), key] += 1 if values is None else int(values[i])
    assert folded(keys, values, codes, batch, buffer, table) == truth


def test_nothing_in_nothing_out() -> None:
    assert not folded(np.empty(0, np.uint64), None, None, 1, 4, 4)


def test_heavy_totals_leave_before_they_outgrow_an_update() -> None:
    """2^21 pairs of the largest value are a total of 2^52: it must never reach the 2^53 that one update takes."""
    largest = 0

    def sink(code: int, prints: np.ndarray, totals: np.ndarray) -> None:
        nonlocal largest
        largest = max(largest, int(totals.max()))

    fold = Fold(sink, weighted=True, grouped=False)
    keys, values = np.zeros(1 << 20, np.uint64), np.full(1 << 20, LARGEST_FOLDED, np.int64)
    for _ in range(5):
        fold.add(keys, values)
    fold.finish()
    assert 0 < largest <= 2**53


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize("kind", ["integers", "texts", "composite"])
def test_pouring_leaves_the_state_of_an_update(mechanism: str, kind: str) -> None:
    """The same bytes as `update` with all rows at once, for each kind of key and each mechanism."""
    random = np.random.default_rng(6)
    numbers = pa.array(random.zipf(1.5, 5000).clip(max=10**6) - 50)
    texts = pa.array([f"app {key}" for key in numbers.to_pylist()])
    values = pa.array(random.integers(1, 1000, 5000))
    columns = {"integers": [numbers], "texts": [texts], "composite": [numbers, texts]}[kind]
    plan = PLAN if mechanism == "sketch" else ss.plan(PLAN.statistic, PLAN.privacy, mechanism="exact")
    at_once = plan.open(ss.Secret.from_bytes(SECRET), "a")
    at_once.update(tuple(columns) if len(columns) > 1 else columns[0], values)
    poured = plan.open(ss.Secret.from_bytes(SECRET), "a")
    names = [f"k{i}" for i in range(len(columns))] + ["v"]
    batches = pa.table([*columns, values], names=names).to_batches(max_chunksize=700)
    assert pour(batches, poured, keys=len(columns)) == 5000
    assert poured.to_bytes() == at_once.to_bytes()


def test_values_too_large_to_fold_are_counted_as_they_are() -> None:
    privacy = ss.Privacy(1.0, 1e-6, 0, max_value=2**53)
    plan = ss.plan(ss.Moment(0.5), privacy, mechanism="exact")
    collector = plan.open(ss.Secret.from_bytes(SECRET), "a")
    batch = pa.table([pa.array([1, 1, 2]), pa.array([2**53, 2**53, 5])], names=["k0", "v"]).to_batches()
    assert pour(batch, collector, keys=1) == 3
    other = plan.open(ss.Secret.from_bytes(SECRET), "a")
    other.update([1, 1, 2], [2**53, 2**53, 5])
    assert collector.to_bytes() == other.to_bytes()
