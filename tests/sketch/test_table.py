"""The compiled table of X against the law it stands for.

A table turns t, uniform in (0, 1], into |X|: on the upper side P(|X| > x) = t/2, on the lower one
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
from reference_update import ReferenceTable, Variates, entry_bits, magnitudes, multiples, position
from stable_oracle import lower_tail, upper_tail, upper_tail_by_path, upper_tail_by_series

from stablesketch import StableLaw
from stablesketch.sketch.entry_law import EntryLaw

INDICES = [0.05, 0.0501, 0.1, 0.3333, 0.5, 0.77, 0.9, 0.95, 0.999, 1 - 1e-9, 1.0]
UPPER, LOWER = 0, 1
OCTAVES = 63
LN2 = math.log(2.0)


def drawn(side: int, t: np.ndarray, negative: bool = False) -> Variates:
    """One row of variates with these t."""
    one = np.ones((1, len(t)), np.intp)
    return Variates(one.astype(np.bool_) & negative, side * one, t[np.newaxis])


def random_t(rng: np.random.Generator, each: int, octaves: range = range(OCTAVES)) -> np.ndarray:
    """`each` numbers with a full mantissa in every octave [2^k, 2^(k+1)), in units of 2^-63."""
    return np.ldexp(1.0 + rng.random((len(octaves), each)), np.array(octaves)[:, np.newaxis]).ravel()


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
    table, law = ReferenceTable.of(EntryLaw("symmetric", p)), StableLaw(p)
    t = random_t(np.random.default_rng(1), 20)
    half_t = t * 2.0**-64
    for side, expected in (
        (UPPER, law.log_abs_quantile(upper=half_t)),
        (LOWER, law.log_abs_quantile(lower=half_t)),
    ):
        x = magnitudes(table, side, t)
        filled = x > 0.0
        np.testing.assert_allclose(np.log(x[filled]) + table.shift * LN2, expected[filled], rtol=0, atol=1e-10)
        # A row is left empty only where every x would round to 0 by a wide margin.
        assert np.all(expected[~filled] < -(table.resolution + 3) * LN2)
        assert filled.all() or side == LOWER


def relative_errors(p: float, side: int, t: np.ndarray) -> list[float]:
    """How far each x is from the true quantile, by one Newton step in mpmath."""
    table, tail = ReferenceTable.of(EntryLaw("symmetric", p)), (upper_tail, lower_tail)[side]
    errors = []
    for at, x in zip(t, magnitudes(table, side, t), strict=True):
        if x > 0.0:
            with mpmath.workdps(40):
                probability, slope = tail(p, mpf(float(x)) * mpf(2) ** table.shift)
                errors.append(abs(float((probability - mpf(float(at)) / mpf(2) ** 64) / slope)))
    return errors


@pytest.mark.parametrize("p", [0.05, 0.1, 0.3333, 0.77, 0.999])
def test_rows_are_right_to_1e14(p: float) -> None:
    rng = np.random.default_rng(2)
    for side, octaves in ((UPPER, (0, 31, 61, 62)), (LOWER, (14, 45, 62))):
        t = np.concatenate([random_t(rng, 1, range(k, k + 1)) for k in octaves])
        assert max(relative_errors(p, side, t)) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "p"), [*enumerate([0.05, 0.0999, 0.1, 0.2, 0.3333, 0.5, 0.77, 0.9, 0.999, 1 - 1e-9])]
)
def test_rows_are_right_to_1e14_in_every_octave(number: int, p: float) -> None:
    """The even octaves of one order, the odd ones of the next."""
    t = random_t(np.random.default_rng(3), 1)[number % 2 :: 2]
    for side in (UPPER, LOWER):
        assert max(relative_errors(p, side, t)) < 1e-14


def test_the_cauchy_table_is_the_tangent() -> None:
    """At p = 1 the law is known: |X| = tan(π(1-t/2)/2) = 1/tan(πt/4) on the upper side, tan(πt/4) on the lower."""
    table = ReferenceTable.of(EntryLaw("symmetric", 1.0))
    t = random_t(np.random.default_rng(4), 50)
    quarter = math.pi / 4 * (t * 2.0**-63)
    upper, lower = magnitudes(table, UPPER, t), magnitudes(table, LOWER, t)
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
    table = ReferenceTable.of(EntryLaw("symmetric", p))
    for side in (UPPER, LOWER):
        left, right = bin_ends(table, side)
        np.testing.assert_allclose(right[:-1], left[1:], rtol=1e-14)
        end = table.rows[side, -1]
        assert right[-1] == pytest.approx(end[0], rel=1e-14)
        assert not end[1:].any()


@pytest.mark.parametrize("p", INDICES)
def test_x_is_monotone_and_the_sides_meet_at_the_median(p: float) -> None:
    """Smaller t is further out: larger on the upper side, smaller on the lower one."""
    table = ReferenceTable.of(EntryLaw("symmetric", p))
    t = np.sort(random_t(np.random.default_rng(5), 40))
    upper, lower = magnitudes(table, UPPER, t), magnitudes(table, LOWER, t)
    assert np.all(np.diff(upper) <= 0.0)
    assert np.all(np.diff(lower) >= 0.0)
    median = table.rows[UPPER, -1, 0]
    assert median == table.rows[LOWER, -1, 0]
    assert lower.max() <= median <= upper.min()
    assert math.log(median) + table.shift * LN2 == pytest.approx(StableLaw(p).log_abs_quantile(lower=0.5), abs=1e-12)


def test_sign_and_side() -> None:
    table = ReferenceTable.of(EntryLaw("symmetric", 0.5))
    t = random_t(np.random.default_rng(6), 1)
    (plus,), (minus,) = (multiples(table, drawn(UPPER, t, negative)) for negative in (False, True))
    (inner,) = multiples(table, drawn(LOWER, t))
    assert [-x for x in plus] == minus
    assert all(x > 0 for x in plus)
    assert all(0 <= x < y for x, y in zip(inner, plus, strict=True))


@pytest.mark.parametrize("bin_bits", [5, 6, 7])
def test_bits_find_their_row(bin_bits: int) -> None:
    """The row counts bins from the smallest t; the last row, of its own, is t rounded up to 1."""
    last = OCTAVES << bin_bits
    row, s = position(bin_bits, np.array([1.0, 2.0**63, np.nextafter(2.0**63, 0.0), 2.0**62, 2.0**62]))
    assert row.tolist() == [0, last, last - 1, last - (1 << bin_bits), last - (1 << bin_bits)]
    assert s[0] == s[1] == s[3] == s[4] == -0.5
    assert 0.4999 < s[2] < 0.5


@pytest.mark.parametrize("p", [0.05, 0.3333, 1.0])
def test_x_is_rounded_once_to_a_multiple_of_the_resolution(p: float) -> None:
    """Half to even, by exact fractions. Ties occur on the lower side, where x has few bits above the resolution."""
    table = ReferenceTable.of(EntryLaw("symmetric", p))
    t = random_t(np.random.default_rng(7), 30)
    for side in (UPPER, LOWER):
        (rounded,) = multiples(table, drawn(side, t))
        for x, integer in zip(magnitudes(table, side, t).tolist(), rounded, strict=True):
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
        "665003bd3933c9db02323a4f513b6ae9b91f5dafa4a810affc42966d089be093",
    ),
    0.0501: (
        "5ec2405f24fafbd5f04817c83acd3778c6465ff06b50afe6c17d200f27480c6b",
        "eb5056d0d494a925e33acd15c31ab517ab25fc905e677c4dbe751378efb1edd2",
    ),
    0.1: (
        "d6d9546ee514dcb175b96d00f56674a9a595dcba01a719aae530a01aaecdfec5",
        "27617dfb27627d5be7890e0b4af39ca3fb6c0cf3259c0496ee7d0ba4a972e4f0",
    ),
    0.25: (
        "cf417ab4a0f4c414aafb01bd9afffae4295854eb6cee2a93c088fb11d9157d8e",
        "5523bf0db3f11c71c5269603b9b70e6b13a706883526f355278adf9d269fae52",
    ),
    0.3333: (
        "f90716abe54b12663091fe0bb75bc3d1bbec6709212c4911ce37fccf00573772",
        "c93abda7ded50d62580bbe6a54e62a4ea3bf7765752560a5018fd34960a3e7ec",
    ),
    0.5: (
        "20ff0c67e4529c85953c7e11261f6051cca0368742cc9c340d47069f8f43d418",
        "0b3ab0b43a4403acb84235b865f963b56f8274ffb53e43d2d7f86aa1ce2d0af0",
    ),
    0.75: (
        "4dce05caf94c73703f1476dc50a5964be5432dcc632e93f3d1e11e8c916c8c25",
        "b9ca2a22dee6b3b4e67e620936f8b06c6f95b831df3fc674d8a35537674a2b1c",
    ),
    0.77: (
        "0cdb574cc6dffc5f483836a0c2b78e9505c26cde1661171bb09d1e99ff8f72ec",
        "442d73699c8439a40b37a6e5a71975ad47c4bdd101879176fab5516df7b285bd",
    ),
    0.9: (
        "5c771f8d49537c58f4038cc534b2877791961a73d33f9996c1f77e4c763824ef",
        "099fe3d2eb122b2472ff2f870fbf11669aeb6f843b831bc8d900bd2c73258548",
    ),
    0.95: (
        "27cbf86b4b9463e33b843b127a36c419390d4fcbe2970dc50fdad0a659260b99",
        "d3bcf78932921c8cc8190dac5d0d15749da6d7c0c0a654825357269a4e2cf3b6",
    ),
    0.999: (
        "d494faa04384c0ee47ed0f1f6e307bf6d10653b7bd1aaeddf63ee2e70f36cfb5",
        "ca29f7c4d6e70d4417a8c313053fc8dc7c3d7094d8291f851e0b9eaea8c0b27f",
    ),
    1 - 1e-9: (
        "cb12b0d37a52b25757145f0d858f3b5cb62de79b2a97cb9b1c884bb4969f5ceb",
        "d898c5261e7856d9dd71d878d39cc20b769a7ad4d780c72316341bffd2defc11",
    ),
    1.0: (
        "6fb9fa604b8322be4ee5b2202d159d4b3275570b4dec58912615f807b2c1bdf3",
        "377989e0d67a7cd84013803105343e38ad774f816a0565eda7df2e4324a184e0",
    ),
}


def spread_bits() -> tuple[np.ndarray, np.ndarray]:
    """A hundred thousand times 64 bits of both signs and sides, and of every octave: the magnitude of one in 62 kept,
    of the next halved, and so on; and what continues them."""
    bits, more = (entry_bits(bytes(range(16)), domain, range(1_000), 100).ravel() for domain in (7, 8))
    halvings = np.arange(bits.size, dtype=np.uint64) % np.uint64(62)
    head = bits & np.uint64(3 << 62)
    return head | ((bits ^ head) >> halvings), more


@pytest.mark.parametrize("p", GOLDEN)
def test_the_table_has_the_same_bits_everywhere(p: float) -> None:
    table = ReferenceTable.of(EntryLaw("symmetric", p))
    numbers = struct.pack("<iii", table.bin_bits, table.resolution, table.shift)
    assert hashlib.sha256(table.rows.astype("<f8").tobytes() + numbers).hexdigest() == GOLDEN[p][0]


@pytest.mark.parametrize("p", GOLDEN)
def test_x_has_the_same_bits_everywhere(p: float) -> None:
    some = Variates.of(*spread_bits())
    x = magnitudes(ReferenceTable.of(EntryLaw("symmetric", p)), some.side, some.t)
    assert hashlib.sha256(x.astype("<f8").tobytes()).hexdigest() == GOLDEN[p][1]
