"""The compiled table of the skewed law against the law itself, and the tiers against the reference.

The rows hold X = -R, R the law of law/skewed.py: side 0 has P(X > x) = t/2 with its heavy tail, side 1 P(X <= x) = t/2.
They come from 45 digits (tools/skewed_law.py); here they are held to double precision by the other formula, and the
entries to an experiment: a sketch of shares is shifted by their entropy.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from reference_update import ReferenceTable, magnitudes, sum_entries, variates
from sketch_helpers import native_sums

from stablesketch._native import Accumulator, Entries, tier_names
from stablesketch.law.skewed import SkewedLaw
from stablesketch.sketch.entry_law import ENTROPY

KEY = bytes(range(16))
HEAVY, LIGHT = 0, 1
LAW = SkewedLaw()


def random_t(octaves: range, each: int) -> np.ndarray:
    rng = np.random.default_rng(21)
    return np.ldexp(1.0 + rng.random((len(octaves), each)), np.array(octaves)[:, np.newaxis]).ravel()


@pytest.mark.parametrize("side", [HEAVY, LIGHT])
def test_rows_follow_the_law(side: int) -> None:
    """The tail probability at x is t/2: the difference, over the density, is the error of x."""
    t = random_t(range(63), 40)
    x = magnitudes(ReferenceTable.of(ENTROPY), side, t)
    values = LAW.values(-x)
    tail = values.cdf if side == HEAVY else values.sf
    error = (tail - np.log(t * 2.0**-64)) * np.exp(tail - values.density)
    assert np.max(np.abs(error) / np.maximum(1.0, np.abs(x))) < 3e-14


def test_the_heavy_tail_is_a_power() -> None:
    """P(R <= -x) = 1/x (1 + (ln x + ...)/x): at t = 2^-50 a relative 1e-14 is left of the bracket."""
    t = random_t(range(13), 5)
    np.testing.assert_allclose(magnitudes(ReferenceTable.of(ENTROPY), HEAVY, t), 2.0 / (t * 2.0**-63), rtol=1e-13)


def test_the_sides_meet_and_x_is_monotone() -> None:
    table = ReferenceTable.of(ENTROPY)
    t = np.sort(random_t(range(63), 60))
    heavy, light = magnitudes(table, HEAVY, t), magnitudes(table, LIGHT, t)
    assert np.all(np.diff(heavy) <= 0.0)
    assert np.all(np.diff(light) >= 0.0)
    median = table.rows[HEAVY, -1, 0]
    assert light.max() <= median <= heavy.min()
    assert LAW.values(np.array([-median])).cdf[0] == pytest.approx(math.log(0.5), abs=1e-14)


def test_the_table_has_the_same_bits_everywhere() -> None:
    rows = ReferenceTable.of(ENTROPY).rows
    golden = "6fdb2c122cbc5ed3c05ed71d396a332e46160bde6a1e59ebed2425cef11e5739"
    assert hashlib.sha256(rows.astype("<f8").tobytes()).hexdigest() == golden


@pytest.mark.parametrize("tier", tier_names())
@pytest.mark.parametrize("weight", [1, 100, -3, 2**23, 2**40, -(2**53)])
def test_every_tier_is_the_reference(tier: str, weight: int) -> None:
    keys = np.random.default_rng(22).integers(0, 2**64, 700, dtype=np.uint64)
    weights = np.full(700, weight)
    accumulator, entries = Accumulator(ENTROPY, 7, KEY, 3, 0, tier), Entries(ENTROPY, 7)
    accumulator.add(keys, weights, False)
    entries.absorb([accumulator])
    drawn = variates(KEY, 3, keys.tolist(), 7, ENTROPY)
    assert native_sums(entries) == sum_entries(ReferenceTable.of(ENTROPY), drawn, weights.tolist())


def test_entries_are_shifted_by_the_entropy() -> None:
    """2,000 entries of shares 1/2, 1/4, 1/8, 1/8: Kolmogorov-Smirnov, D sqrt(n) above 2.2 has probability 1.2e-4."""
    accumulator, entries = Accumulator(ENTROPY, 2_000, KEY, 0, 0, tier_names()[0]), Entries(ENTROPY, 2_000)
    accumulator.add(np.arange(4, dtype=np.uint64), np.array([4, 2, 1, 1]), False)
    entries.absorb([accumulator])
    r = -np.array([float(a) for a in native_sums(entries)]) * 2.0**-entries.resolution / 8.0
    ordered = np.sort(r + 1.75 * math.log(2.0))
    cdf = np.exp(LAW.values(ordered).cdf)
    steps = np.arange(1, 2_001) / 2_000
    assert max(np.max(steps - cdf), np.max(cdf - steps + 1 / 2_000)) * math.sqrt(2_000) < 2.2
