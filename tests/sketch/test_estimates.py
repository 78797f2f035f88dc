"""Hill numbers and entropies of a sketch, against exact values. They are not private."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.statistic import Statistic

KEYS = np.random.default_rng(5).zipf(1.4, 6_000).clip(max=900)
TOTALS = np.unique(KEYS, return_counts=True)[1].astype(float)
SECRET = bytes(range(32))


def sketch_of(p: float, size: int, **how: object) -> ss.Sketch:
    secret = ss.Secret.from_bytes(SECRET)
    sketch = ss.EntropySketch(size, secret) if p == 1 else ss.Sketch(p, size, secret, **how)  # type: ignore[arg-type]
    sketch.update(KEYS)
    return sketch


def exact(statistic: Statistic) -> float:
    return statistic.exact(TOTALS)[0]


@pytest.mark.parametrize("p", [0.1, 0.5, 0.75, 1, 1.5, 2])
def test_limits_hold_the_exact_value(p: float) -> None:
    """Fixed secret; under another one each would fail with probability 1e-4."""
    sketch = sketch_of(p, 2_000)
    for found, statistic in (
        (sketch.hill(confidence=0.9999), ss.Hill(p)),
        (sketch.entropy(p, confidence=0.9999), ss.Renyi(p)),
    ):
        assert found.low <= exact(statistic) <= found.high
        assert found.low < found.value < found.high
    assert sketch.hill().value == pytest.approx(math.exp(sketch.entropy().value))
    assert repr(sketch.hill()).startswith("Estimate(D ≈ ")
    assert repr(sketch.entropy()).startswith("Estimate(H ≈ ")
    assert repr(sketch.estimate()).startswith("Estimate(H" if p == 1 else "Estimate(F ≈ ")


@pytest.mark.parametrize("p", [0.5, 1])
def test_in_buckets(p: float) -> None:
    """As above, with limits of a normal law."""
    secret = ss.Secret.from_bytes(SECRET)
    sketch = ss.EntropySketch(6_400, secret, buckets=100) if p == 1 else ss.Sketch(p, 6_400, secret, buckets=100)
    sketch.update(KEYS)
    found = sketch.hill(confidence=0.9999)
    assert found.low <= exact(ss.Hill(p)) <= found.high
    assert found.high / found.low < 2.0


def test_the_entropy_of_many_sketches_has_the_stated_coverage() -> None:
    """Of 400 secrets, 95% limits fail 20 times on average, and more than 40 times with probability 2e-5."""
    failed, off, truth = 0, [], exact(ss.Shannon())
    for number in range(400):
        sketch = ss.EntropySketch(64, ss.Secret.from_bytes(number.to_bytes(32)))
        sketch.update(KEYS)
        found = sketch.estimate()
        failed += not found.low <= truth <= found.high
        off.append(found.value - truth)
    assert 4 <= failed <= 40
    assert abs(np.mean(off)) < 4.5 * np.std(off) / math.sqrt(400)
    assert np.std(off) == pytest.approx(math.sqrt(2.9026 / 64), rel=0.2)


@pytest.mark.parametrize("p", [0.5, 1, 2])
def test_the_ends(p: float) -> None:
    sketch = sketch_of(p, 64)
    empty = type(sketch).from_bytes(sketch.to_bytes(), ss.Secret.from_bytes(SECRET))
    empty.delete(KEYS)
    assert math.isnan(empty.hill().value)
    assert math.isnan(empty.entropy().high)
    assert sketch.hill().value == pickle.loads(pickle.dumps(sketch)).hill().value
    one = type(sketch).from_bytes(empty.to_bytes(), ss.Secret.from_bytes(SECRET))
    one.update(["a"])
    assert (one.hill().low, one.hill().value, one.hill().high) == (1.0, 1.0, 1.0)
    one.update(["a"] * 99)
    assert 1.0 <= one.hill().low <= one.hill().value <= one.hill().high <= 100.0
    one.delete(["a"], 101)
    with pytest.raises(ss.NegativeTotal):
        one.hill()


def test_a_sketch_knows_one_order() -> None:
    sketch = sketch_of(0.5, 64)
    assert sketch.hill(0.5) == sketch.hill()
    for order in (1, 0.25):
        with pytest.raises(ss.ArgumentError, match=r"must be 0.5, the order of this sketch"):
            sketch.hill(order)
    with pytest.raises(ss.ArgumentError, match="order must be 1, the order of this sketch"):
        sketch_of(1, 64).entropy(2)
    with pytest.raises(ss.ArgumentError, match=r"says nothing about diversity. Use ss.EntropySketch"):
        ss.Sketch(1, 64).hill()
    for odd in (lambda: sketch.hill(confidence=2.0), lambda: sketch_of(1, 64).estimate("median")):
        with pytest.raises(ss.ArgumentError):
            odd()
    with pytest.raises(ss.BlobError):
        ss.Sketch.from_bytes(sketch_of(1, 64).to_bytes())
    with pytest.raises(ss.MergeError):
        ss.Sketch(1, 64).merge(ss.EntropySketch(64))
