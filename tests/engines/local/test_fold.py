"""Folding across batches: the same state as without it, whatever the order, the batches and the room."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.engines.local.fold import Fold, Unfolded
from stablesketch.engines.local.pour import pour

SECRET = bytes(range(32))
PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=1000, relation="replace"), size=20, mechanism="bare")


def folded(
    keys: np.ndarray, values: np.ndarray | None, codes: np.ndarray | None, batch: int, lines: int
) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    counted: Counter[int] = Counter()

    def sink(code: int, prints: np.ndarray, totals: np.ndarray, pairs: int) -> None:
        assert len(prints) == len(totals) > 0
        counted[code] += pairs
        for key, total in zip(prints.tolist(), totals.tolist(), strict=True):
            found[code, key] += total

    fold = Fold(sink, grouped=codes is not None, lines=lines)
    for i in range(0, len(keys), batch):
        part = slice(i, i + batch)
        fold.add(keys[part], None if values is None else values[part], None if codes is None else codes[part])
    fold.finish()
    assert +counted == Counter([0] * len(keys) if codes is None else codes.tolist())
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(("batch", "lines"), [(7, 3), (100, 12), (200_000, 5), (1, 1)])
@pytest.mark.parametrize("repeated", [True, False])
def test_totals_are_those_of_a_counter(weighted: bool, grouped: bool, batch: int, lines: int, repeated: bool) -> None:
    """Also past the table: 200,000 keys, which hardly come again, are more than it watches before it lets them."""
    random = np.random.default_rng(5)
    rows = 200_000 if batch > 1000 else 3000
    keys = random.zipf(1.3, rows).clip(max=2**60) if repeated else random.integers(0, 2**60, rows)
    keys = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    values = random.integers(1, 1000, rows) if weighted else None
    codes = random.integers(0, 5, rows).astype(np.int32) if grouped else None
    truth: Counter[tuple[int, int]] = Counter()
    for i, key in enumerate(keys.tolist()):
        truth[0 if codes is None else int(codes[i]), key] += 1 if values is None else int(values[i])
    assert folded(keys, values, codes, batch, lines) == truth


@pytest.mark.parametrize("grouped", [False, True])
def test_nothing_in_nothing_out(grouped: bool) -> None:
    codes = np.empty(0, np.int32) if grouped else None
    assert not folded(np.empty(0, np.uint64), None, codes, 1, 4)


def test_equal_keys_of_different_groups_stay_apart() -> None:
    keys = np.full(3000, 7, np.uint64)
    codes = np.arange(3000, dtype=np.int32) % 1000
    assert folded(keys, None, codes, 3000, 4) == {(code, 7): 3 for code in range(1000)}


def test_a_fold_that_is_finished_can_begin_again() -> None:
    sent: list[tuple[list[int], list[int], int]] = []
    fold = Fold(lambda _, prints, totals, pairs: sent.append((prints.tolist(), totals.tolist(), pairs)), grouped=False)
    for _ in range(2):
        fold.add(np.array([3, 3], np.uint64))
        fold.finish()
    assert sent == [([3], [2], 2), ([3], [2], 2)]


@pytest.mark.parametrize("grouped", [False, True])
def test_rows_that_are_not_folded_go_on_in_their_order(grouped: bool) -> None:
    keys, values = np.arange(700_000, dtype=np.uint64) % 10, np.arange(1, 700_001)
    codes = np.arange(700_000, dtype=np.int32) % 3 if grouped else None
    found: dict[int, list[int]] = {}

    def sink(code: int, prints: np.ndarray, totals: np.ndarray, pairs: int) -> None:
        assert len(prints) == len(totals) == pairs > 0
        np.testing.assert_array_equal(prints, (totals - 1) % 10)
        found.setdefault(code, []).extend(totals.tolist())

    rows = Unfolded(sink)
    for begin in range(0, len(keys), 100_000):
        part = slice(begin, begin + 100_000)
        rows.add(keys[part], values[part], None if codes is None else codes[part])
    rows.finish()
    rows.finish()
    assert found == {code: values[code :: 3 if grouped else 1].tolist() for code in range(3 if grouped else 1)}


@pytest.mark.parametrize("grouped", [False, True])
def test_totals_never_outgrow_an_update(grouped: bool) -> None:
    """One update takes values of at most 2^53: a total leaves before it would be larger, and nothing of it is lost."""
    sent: list[int] = []
    fold = Fold(lambda _, prints, totals, pairs: sent.extend(totals.tolist()), grouped=grouped)
    values = np.array([2**53, 2**53, 1, 2**52, 2**52, 2**53 - 1, 1, 5], np.int64)
    fold.add(np.zeros(len(values), np.uint64), values, np.zeros(len(values), np.int32) if grouped else None)
    fold.finish()
    assert max(sent) <= 2**53
    assert sum(sent) == sum(values.tolist())


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
    pour(batches, poured, clip=False)
    assert poured.pairs == 5000
    assert poured.to_bytes() == at_once.to_bytes()


def test_the_largest_values_are_counted_whole() -> None:
    privacy = ss.Privacy(1.0, 1e-6, 0, max_value=2**53, relation="replace")
    plan = ss.plan(ss.Moment(0.5), privacy, mechanism="exact")
    collector = plan.open(ss.Secret.from_bytes(SECRET), "a")
    batch = pa.table([pa.array([1, 1, 2]), pa.array([2**53, 2**53, 5])], names=["k0", "v"]).to_batches()
    pour(batch, collector, clip=False)
    assert collector.pairs == 3
    other = plan.open(ss.Secret.from_bytes(SECRET), "a")
    other.update([1, 1, 2], [2**53, 2**53, 5])
    assert collector.to_bytes() == other.to_bytes()
