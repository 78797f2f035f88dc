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
from stablesketch.sketch.reference import ReferenceTable, entry_bits, magnitudes, multiples, position

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
@pytest.mark.parametrize("p", [0.05, 0.0999, 0.1, 0.2, 0.3333, 0.5, 0.77, 0.9, 0.999, 1 - 1e-9])
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


# SHA-256 of the rows with the three numbers that say how to read them, and of |X| at BITS. The table is built from IEEE
# additions, multiplications, divisions and square roots alone, in a fixed order, so it has the same bits on every
# machine; a blob written by one machine would otherwise not merge with that of another. The first may change if the
# builder does; the second is what a sketch is made of, and changes only with the wire format.
GOLDEN = {
    0.05: (
        "361e222ccadbf464e375df20078e3b2680779dded4a6c4613f41a703efa1dd3d",
        "f69374c402b11642b7c6f9c705fd2671dd6d889e3985ca28f7d00e2a7363864f",
    ),
    0.0501: (
        "5ec2405f24fafbd5f04817c83acd3778c6465ff06b50afe6c17d200f27480c6b",
        "9e1793138db268862629ad18a8e34b39415763dd76265fa961209aed12800dba",
    ),
    0.1: (
        "d6d9546ee514dcb175b96d00f56674a9a595dcba01a719aae530a01aaecdfec5",
        "529761a09ff74e0e4de77306fc3672933e3026461bcd48ccae26359b3d7ffef0",
    ),
    0.25: (
        "cf417ab4a0f4c414aafb01bd9afffae4295854eb6cee2a93c088fb11d9157d8e",
        "49465c0cfd6ea26b715b1ec3599c1cc4bd88abe259a0ec58f768565d8a6e4b74",
    ),
    0.3333: (
        "f90716abe54b12663091fe0bb75bc3d1bbec6709212c4911ce37fccf00573772",
        "b735d24aa5f0c2fcd00f2825828d8c14fcdbb5d33eed2fff3c36ee00c1561ef0",
    ),
    0.5: (
        "20ff0c67e4529c85953c7e11261f6051cca0368742cc9c340d47069f8f43d418",
        "afb47b632f11f024a1e8537d1006732527ce33ab5f8b46b9a7936ae0152e4b2a",
    ),
    0.75: (
        "4dce05caf94c73703f1476dc50a5964be5432dcc632e93f3d1e11e8c916c8c25",
        "d9d6b41914bf8d1021d026ff4438de4874601a00277d5e0eea8543a3e647ef9d",
    ),
    0.77: (
        "0cdb574cc6dffc5f483836a0c2b78e9505c26cde1661171bb09d1e99ff8f72ec",
        "4011f1fb1d5e397028bcb685574ef43a9f628dd801547891e2a49114467d02a6",
    ),
    0.9: (
        "5c771f8d49537c58f4038cc534b2877791961a73d33f9996c1f77e4c763824ef",
        "e03244e5c1cab1f5b147d0523d1c9e5ae7fa163e643482b94318d5f6d349ca8c",
    ),
    0.95: (
        "27cbf86b4b9463e33b843b127a36c419390d4fcbe2970dc50fdad0a659260b99",
        "8fb5db15dbec73d159c9e8a599b9dfa9d0058eb01daed29235ccb5cc579cb78a",
    ),
    0.999: (
        "d494faa04384c0ee47ed0f1f6e307bf6d10653b7bd1aaeddf63ee2e70f36cfb5",
        "139db239cee04ba87e08cbf752150272b94013d01512f53daa784a665e6123f9",
    ),
    1 - 1e-9: (
        "cb12b0d37a52b25757145f0d858f3b5cb62de79b2a97cb9b1c884bb4969f5ceb",
        "680a0348d80c0fc8a130395b4bd1f1d0de04cfe2f8b55df55fb9d4750d2e8ee8",
    ),
    1.0: (
        "6fb9fa604b8322be4ee5b2202d159d4b3275570b4dec58912615f807b2c1bdf3",
        "b67b8daecc774b2d90749424e411aa71f2489084501dfb477f0df11e92140e29",
    ),
}


def spread_bits() -> np.ndarray:
    """A hundred thousand times 64 bits of both signs and sides, and of every octave: the magnitude of one in 62 kept,
    of the next halved, and so on."""
    bits = entry_bits(bytes(range(16)), 7, range(1_000), 100).ravel()
    halvings = np.arange(bits.size, dtype=np.uint64) % np.uint64(62)
    head = bits & np.uint64(3 << 62)
    return head | ((bits ^ head) >> halvings)


@pytest.mark.parametrize("p", GOLDEN)
def test_the_table_has_the_same_bits_everywhere(p: float) -> None:
    table = ReferenceTable.of(p)
    numbers = struct.pack("<iii", table.bin_bits, table.resolution, table.shift)
    assert hashlib.sha256(table.rows.astype("<f8").tobytes() + numbers).hexdigest() == GOLDEN[p][0]


@pytest.mark.parametrize("p", GOLDEN)
def test_x_has_the_same_bits_everywhere(p: float) -> None:
    x = magnitudes(ReferenceTable.of(p), spread_bits())
    assert hashlib.sha256(x.astype("<f8").tobytes()).hexdigest() == GOLDEN[p][1]
