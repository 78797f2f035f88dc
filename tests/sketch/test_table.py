"""The compiled table of X against the law it stands for.

A table turns 62 random bits into |X| through t in (0, 1]: on the upper side P(|X| > x) = t/2, on the lower one
P(|X| <= x) = t/2. Here its rows are read as the reference reads them, and held to the law computed in two other ways.
"""

from __future__ import annotations

import hashlib
import math
import struct

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from stable_oracle import lower_tail, upper_tail, upper_tail_by_path, upper_tail_by_series

from stablesketch import StableLaw
from stablesketch.sketch.reference import ReferenceTable, magnitudes, multiples, position

INDICES = [0.05, 0.0501, 0.1, 0.3333, 0.5, 0.77, 0.9, 0.95, 0.999, 1 - 1e-9, 1.0]
UPPER, LOWER = 0, 1
OCTAVES = 63
LN2 = math.log(2.0)


def bits_at(side: int, t: np.ndarray, sign: int = 0) -> np.ndarray:
    """The 64 bits that give these odd integers t = 2m + 1, of 63 bits at most."""
    return np.array([sign << 63 | side << 62 | int(odd) >> 1 for odd in t], np.uint64)


def random_odd(rng: np.random.Generator, each: int, octaves: range = range(OCTAVES)) -> np.ndarray:
    """`each` odd integers in every octave [2^k, 2^(k+1))."""
    some = [(1 << k) | int(rng.integers(1 << 62)) & ((1 << k) - 1) | 1 for k in octaves for _ in range(each)]
    return np.array(some, object)


def polynomial(row: np.ndarray, s: float) -> np.ndarray:
    return np.polynomial.polynomial.polyval(s, row.T)


def bin_ends(table: ReferenceTable, side: int) -> tuple[np.ndarray, np.ndarray]:
    """x at the left and at the right end of every bin whose rows are filled, in the order of t."""
    rows = table.rows[side, :-1]
    rows = rows[rows.any(axis=1)]
    return polynomial(rows, -0.5), polynomial(rows, 0.5)


@pytest.mark.parametrize("p", INDICES)
def test_rows_follow_the_law(p: float) -> None:
    """Twenty quantiles in each of the 63 octaves of each side, to 1e-10: what StableLaw promises of itself."""
    table, law = ReferenceTable.of(p), StableLaw(p)
    odd = random_odd(np.random.default_rng(1), 20)
    half_t = odd.astype(np.float64) * 2.0**-64
    for side, expected in (
        (UPPER, law.log_abs_quantile(upper=half_t)),
        (LOWER, law.log_abs_quantile(lower=half_t)),
    ):
        x = magnitudes(table, bits_at(side, odd))
        filled = x > 0.0
        np.testing.assert_allclose(np.log(x[filled]) + table.shift * LN2, expected[filled], rtol=0, atol=1e-10)
        # A row is left empty only where every x would round to 0 by a wide margin.
        assert np.all(expected[~filled] < -(table.resolution + 3) * LN2)
        assert filled.all() or side == LOWER


def relative_errors(p: float, side: int, odd: np.ndarray) -> list[float]:
    """How far each x is from the true quantile, by one Newton step in mpmath."""
    table, tail = ReferenceTable.of(p), (upper_tail, lower_tail)[side]
    errors = []
    for t, x in zip(odd, magnitudes(table, bits_at(side, odd)), strict=True):
        if x > 0.0:
            with mpmath.workdps(40):
                probability, slope = tail(p, mpf(float(x)) * mpf(2) ** table.shift)
                errors.append(abs(float((probability - mpf(float(t)) / mpf(2) ** 64) / slope)))
    return errors


@pytest.mark.parametrize("p", [0.05, 0.1, 0.3333, 0.77, 0.999])
def test_rows_are_right_to_1e14(p: float) -> None:
    rng = np.random.default_rng(2)
    for side, octaves in ((UPPER, (0, 31, 61, 62)), (LOWER, (14, 45, 62))):
        odd = np.concatenate([random_odd(rng, 1, range(k, k + 1)) for k in octaves])
        assert max(relative_errors(p, side, odd)) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("p", [*INDICES, 0.0999, 0.2, 1 / 3, 0.6])
def test_rows_are_right_to_1e14_in_every_octave(p: float) -> None:
    odd = random_odd(np.random.default_rng(3), 1)
    for side in (UPPER, LOWER):
        assert max(relative_errors(p, side, odd)) < 1e-14


def test_the_cauchy_table_is_the_tangent() -> None:
    """At p = 1 the law is known: |X| = tan(π(1-t/2)/2) = 1/tan(πt/4) on the upper side, tan(πt/4) on the lower."""
    table = ReferenceTable.of(1.0)
    odd = random_odd(np.random.default_rng(4), 50)
    quarter = math.pi / 4 * (odd.astype(np.float64) * 2.0**-63)
    upper, lower = magnitudes(table, bits_at(UPPER, odd)), magnitudes(table, bits_at(LOWER, odd))
    filled = lower > 0.0
    np.testing.assert_allclose(upper, 1.0 / np.tan(quarter), rtol=2e-15)
    np.testing.assert_allclose(lower[filled], np.tan(quarter[filled]), rtol=2e-15)


def test_the_oracle_agrees_with_itself() -> None:
    """The two tails add up to 1, and the path and the series are the same number: the oracle may be trusted."""
    for p, x in ((0.05, "0.01"), (0.2, "3"), (0.6, "1")):
        series, lower = upper_tail_by_series(p, mpf(x)), lower_tail(p, mpf(x))
        assert abs(float(series[0] + lower[0] - 1)) < 1e-19
        assert abs(float(series[1] + lower[1])) < 1e-19
        if p > 0.1:
            path = upper_tail_by_path(p, mpf(x))
            assert abs(float(path[0] / series[0] - 1)) < 1e-18


@pytest.mark.parametrize("p", INDICES)
def test_neighbouring_bins_meet(p: float) -> None:
    """Where one polynomial ends the next one begins, to the error of the two: no gap that a bit could show."""
    table = ReferenceTable.of(p)
    for side in (UPPER, LOWER):
        left, right = bin_ends(table, side)
        np.testing.assert_allclose(right[:-1], left[1:], rtol=1e-14)
        end = table.rows[side, -1]
        assert right[-1] == pytest.approx(end[0], rel=1e-14)
        assert not end[1:].any()


@pytest.mark.parametrize("p", INDICES)
def test_x_is_monotone_and_the_sides_meet_at_the_median(p: float) -> None:
    """Smaller t is further out: larger on the upper side, smaller on the lower one."""
    table = ReferenceTable.of(p)
    odd = np.array(sorted(random_odd(np.random.default_rng(5), 40)), object)
    upper, lower = magnitudes(table, bits_at(UPPER, odd)), magnitudes(table, bits_at(LOWER, odd))
    assert np.all(np.diff(upper) <= 0.0)
    assert np.all(np.diff(lower) >= 0.0)
    median = table.rows[UPPER, -1, 0]
    assert median == table.rows[LOWER, -1, 0]
    assert lower.max() <= median <= upper.min()
    assert math.log(median) + table.shift * LN2 == pytest.approx(StableLaw(p).log_abs_quantile(lower=0.5), abs=1e-12)


def test_bit_63_is_the_sign_and_bit_62_the_side() -> None:
    table = ReferenceTable.of(0.5)
    odd = random_odd(np.random.default_rng(6), 1)
    (plus,), (minus,) = (multiples(table, bits_at(UPPER, odd, sign)[np.newaxis]) for sign in (0, 1))
    (inner,) = multiples(table, bits_at(LOWER, odd)[np.newaxis])
    assert [-x for x in plus] == minus
    assert all(x > 0 for x in plus)
    assert all(0 <= x < y for x, y in zip(inner, plus, strict=True))


@pytest.mark.parametrize("bin_bits", [5, 6, 7])
def test_bits_find_their_row(bin_bits: int) -> None:
    """The row counts bins from the smallest t; the last row, of its own, is t rounded up to 1."""
    last = OCTAVES << bin_bits
    row, s = position(bin_bits, np.array([0, 2**62 - 1, 2**62 - 257, 2**61, 2**61 - 1], np.uint64))
    # m = 2^62 - 257 is the largest m for which 2m + 1 is not rounded up to 2^63.
    assert row.tolist() == [0, last, last - 1, last - (1 << bin_bits), last - (1 << bin_bits)]
    assert s[0] == s[1] == s[3] == s[4] == -0.5
    assert 0.4999 < s[2] < 0.5


@pytest.mark.parametrize("p", [0.05, 0.3333, 1.0])
def test_x_is_rounded_once_to_a_multiple_of_the_resolution(p: float) -> None:
    """Half to even, by exact fractions. Ties occur on the lower side, where x has few bits above the resolution."""
    table = ReferenceTable.of(p)
    odd = random_odd(np.random.default_rng(7), 30)
    for side in (UPPER, LOWER):
        bits = bits_at(side, odd)
        (rounded,) = multiples(table, bits[np.newaxis])
        for x, integer in zip(magnitudes(table, bits).tolist(), rounded, strict=True):
            numerator, denominator = x.as_integer_ratio()
            scaled = numerator << (table.shift + table.resolution)
            whole, rest = divmod(scaled, denominator)
            nearest = whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))
            assert integer == nearest


# SHA-256 of the rows and of the three numbers that say how to read them. The table is built from IEEE additions,
# multiplications, divisions and square roots alone, in a fixed order, so it has the same bits on every machine; a blob
# written by one machine would otherwise not merge with that of another. These change only with the wire format.
GOLDEN = {
    0.05: "33b92ee481af8783a9b4baaaf8730e5dadb16760e5b5f1e5b3a3cee5efe49f01",
    0.0501: "34f79d7dc351561c7afc5410db89e0c6be250e634ba03b44a4d0cc94bcd4bad7",
    0.1: "dff519672cf6865495d57d0b9f4578415d18af9d47d2865f203514bfbb94aa0f",
    0.25: "bac67e8c55766c00cb4f1b02c936d8930f44f3a4ddb7924d56e2a25fc72dd4f2",
    0.3333: "ec27fe511f2dcaf69ca8564ad28e22d554d3721bfe01f6b1dd28664238300c8c",
    0.5: "d0fc79a23e7cc526a396884a56c225574040e9adb1112bd6096456c83c25e99f",
    0.75: "9bb5e4ea734e2506c20c7230d29ddc7413cdd1f4c9f54b2352078312842b97a1",
    0.77: "2fffb2938b6b832bdf7e6dc8302b5d270a6d7f504d555bb5e3a883d5cbbf533c",
    0.9: "2862113db489932ae6624bbc8abc7b52e2d93e50ab877a7922fcee98347442de",
    0.95: "6939b90efc009346eb904d8c7d30958a1d9a9557ed154f86472ae6b2e45e9f49",
    0.999: "1af486d49cce9907fe29c8dc4a5b2eabf4349df43addb1a748ca570e6fdf7cd7",
    1 - 1e-9: "0e857dc0dca6ef6137165bf469f0ab585b2e70c252480b1a4f13bd6cee72dfa4",
    1.0: "99326d19e30176b18c40fb5e6f9f24f58a0047e0939eef2f52818911e43f9ac8",
}


@pytest.mark.parametrize("p", GOLDEN)
def test_the_table_has_the_same_bits_everywhere(p: float) -> None:
    table = ReferenceTable.of(p)
    numbers = struct.pack("<iii", table.bin_bits, table.resolution, table.shift)
    assert hashlib.sha256(table.rows.astype("<f8").tobytes() + numbers).hexdigest() == GOLDEN[p]
