"""The compiled table of 1 < p <= 2 against the law: by mpmath to 3e-15, everywhere to what floats show."""

from __future__ import annotations

import hashlib
import math
import struct
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from above_one_oracle import upper_tail
from mpmath import mpf
from reference_update import ReferenceTable, Variates, magnitudes

from stablesketch._native import deep_octaves, fine_magnitude
from stablesketch.law.above_one import above_one_law
from stablesketch.sketch.entry_law import ENTROPY, EntryLaw

INDICES = [1.000001, 1.1, 1.1001, 1.5, 1.6001, 1.95, 1.9501, 1.9999, 2.0]
UPPER, LOWER = 0, 1
OCTAVES = 63
LN2 = math.log(2.0)


def random_t(seed: int, each: int, octaves: range | list[int] = range(OCTAVES)) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.ldexp(1.0 + rng.random((len(octaves), each)), np.array(octaves)[:, np.newaxis]).ravel()


def relative_error(p: float, side: int, t: float) -> float:
    """How far x is from the true quantile, by one Newton step in mpmath."""
    (x,) = magnitudes(ReferenceTable.of(EntryLaw("symmetric", p)), side, np.array([t]))
    tail, density = upper_tail(p, float(x))
    with mpmath.workdps(40):
        probability = tail if side == UPPER else 1 - tail
        return abs(float((probability - mpf(float(t)) / mpf(2) ** 64) / (density * mpf(float(x)))))


@pytest.mark.parametrize("p", INDICES)
def test_rows_follow_the_law(p: float) -> None:
    """Ten quantiles an octave of each side, by another formula in floats; rows are empty only where x rounds to 0."""
    table, law = ReferenceTable.of(EntryLaw("symmetric", p)), above_one_law(p)
    assert (table.shift, table.resolution) == (0, 52)
    t = random_t(1, 10)
    log_tail = np.log(t) - 64.0 * LN2
    for side, y in ((UPPER, law.quantile(log_sf=log_tail)), (LOWER, law.quantile(log_cdf=log_tail))):
        x = magnitudes(table, side, t)
        filled = x > 0.0
        np.testing.assert_allclose(np.log(x[filled]), y[filled], rtol=0, atol=2e-13)
        assert filled.all() or side == LOWER
        assert np.all(y[~filled] < -(table.resolution + 3) * LN2)


@pytest.mark.parametrize("p", [1.1, 1.5, 1.9999, 2.0])
def test_rows_are_right_to_3e15(p: float) -> None:
    """privacy/noisy_norm.py counts on 2e-15 of max(1, x), near 2 on 2.5e-14; Newton can show 3e-15 relative."""
    for side, octaves in ((UPPER, [0, 53]), (LOWER, [62])):
        for t in random_t(2, 1, octaves):
            assert relative_error(p, side, float(t)) < 3e-15


@pytest.mark.slow
@pytest.mark.parametrize("p", INDICES)
def test_all_over_the_octaves(p: float) -> None:
    for t in random_t(3, 1, range(0, OCTAVES, 3)):
        assert relative_error(p, UPPER, float(t)) < 3e-15
    for t in random_t(4, 1, [30, 45, 55, 59, 61, 62]):
        assert relative_error(p, LOWER, float(t)) < 3e-15


@pytest.mark.parametrize("p", [*INDICES, 1.3, 1.7, 1.99, 1.999])
def test_neighbouring_bins_meet_and_x_is_monotone(p: float) -> None:
    table = ReferenceTable.of(EntryLaw("symmetric", p))
    for side in (UPPER, LOWER):
        rows = table.rows[side, :-1]
        rows = rows[rows.any(axis=1)]
        left, right = (np.polynomial.polynomial.polyval(s, rows.T) for s in (-0.5, 0.5))
        np.testing.assert_allclose(right[:-1], left[1:], rtol=2e-15)
        assert right[-1] == pytest.approx(table.rows[side, -1, 0], rel=2e-15)
    t = np.sort(random_t(5, 40))
    assert np.all(np.diff(magnitudes(table, UPPER, t)) <= 0.0)
    assert np.all(np.diff(magnitudes(table, LOWER, t)) >= 0.0)
    assert table.rows[UPPER, -1, 0] == table.rows[LOWER, -1, 0]


def far_quantile(p: float, tail: mpf) -> mpf:
    """x with P(|X| > x) = tail below 2^-62, by the series of the tail in x^{-p}, thirty terms."""
    with mpmath.workdps(50):
        index = mpf(p)
        terms = [
            2 / mpmath.pi * mpmath.gamma(k * index) / mpmath.factorial(k) * mpmath.sin(k * mpmath.pi * (2 - index) / 2)
            for k in range(1, 31)
        ]

        def log_tail(y: mpf) -> mpf:
            return mpmath.log(sum(term * mpmath.exp(-k * index * y) for k, term in enumerate(terms, 1)))

        start = mpmath.log(terms[0] / tail) / index
        return mpmath.exp(mpmath.findroot(lambda y: log_tail(y) - mpmath.log(tail), start))


NEAR_TWO = [1.999, 1.999999, 2.0 - 2.0**-40, 2.0 - 2.0**-52]


@pytest.mark.parametrize("p", [1.0 + 2.0**-52, *INDICES[:-1], *NEAR_TWO])
def test_deep_octaves_follow_the_law(p: float) -> None:
    """Every octave of t below 1, and the two above; near order 2 the tail is no pure power of t even there."""
    table = ReferenceTable.of(EntryLaw("symmetric", p))
    assert table.deep_octaves == (32, 0)
    assert table.deep.shape == (32 << table.bin_bits, 8)
    t = random_t(6, 1, range(-32, 2))
    x = magnitudes(table, UPPER, t)
    for some, at in zip(x, t, strict=True):
        exact = far_quantile(p, mpf(float(at)) / mpf(2) ** 64)
        assert abs(float(mpf(float(some)) / exact - 1)) < 1e-15
    assert math.log2(magnitudes(table, UPPER, np.array([2.0**-32]))[0]) <= 96.0 / p  # as digits_for has it
    rows = np.concatenate([table.deep, table.rows[UPPER, :64]])
    left, right = (np.polynomial.polynomial.polyval(s, rows.T) for s in (-0.5, 0.5))
    np.testing.assert_allclose(right[:-1], left[1:], rtol=2e-15)


def test_the_far_series_by_another_formula() -> None:
    """Fourier inversion, where both are known: tails near 2^-63."""
    for p in (1.1, 1.5, 1.9999):
        x = far_quantile(p, mpf(2) ** -63)
        assert abs(float(upper_tail(p, float(x))[0] * mpf(2) ** 63 - 1)) < 1e-13


def test_which_tables_have_deep_octaves() -> None:
    assert [deep_octaves(EntryLaw("symmetric", p)) for p in (0.05, 0.999, 1.0, 2.0)] == [(0, 0)] * 4
    assert deep_octaves(ENTROPY) == (0, 63)
    assert [deep_octaves(EntryLaw("one-sided", p)) for p in (0.05, 0.999)] == [(8, 32)] * 2
    assert [deep_octaves(EntryLaw("symmetric", p)) for p in (1.0 + 2.0**-52, 1.5, 2.0 - 2.0**-52)] == [(32, 0)] * 3


def deep_bits(seed: int, each: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bits with m = 0 on the upper side, of either sign, and what follows: `each` with 0 to 64 leading zeros."""
    rng = np.random.default_rng(seed)
    zeros = np.repeat(np.arange(65), each)
    more = np.array([int(rng.integers(2**63)) >> z << 1 | int(z < 64) << (63 - min(z, 63)) for z in zeros], np.uint64)
    sign = rng.integers(2, size=more.size, dtype=np.uint64) << np.uint64(63)
    return sign, more, rng.integers(2**64, size=more.size, dtype=np.uint64)


@pytest.mark.parametrize("p", [1.000001, 1.5, 1.9999, 2.0 - 2.0**-52])
def test_the_kernel_reads_the_deep_octaves_as_the_reference_does(p: float) -> None:
    """Once in 2^63 draws m = 0 on the upper side; t is 2 (more/2^64 + last/2^128), and 2^-32 more where it is below."""
    table, (bits, more, last) = ReferenceTable.of(EntryLaw("symmetric", p)), deep_bits(7, 5)
    drawn = Variates.of(bits, more, last, EntryLaw("symmetric", p))
    assert set(np.floor(np.log2(drawn.t))) == set(range(-32, 1))
    for t, high, low in zip(drawn.t, more, last, strict=True):
        exact = Fraction(int(high) << 64 | int(low), 2**127)
        wanted = exact if exact >= Fraction(1, 2**32) else exact + Fraction(1, 2**32)
        assert abs(Fraction(float(t)) - wanted) <= wanted * Fraction(1.01) / 2**53
    x = magnitudes(table, drawn.side, drawn.t)
    assert x.tolist() == [
        fine_magnitude(EntryLaw("symmetric", p), *map(int, three)) for three in zip(bits, more, last, strict=True)
    ]
    bits |= np.uint64(1)  # m = 1 looks into no deep octave, and at no last bits
    drawn = Variates.of(bits, more, None, EntryLaw("symmetric", p))
    assert drawn.t.min() >= 2.0
    x = magnitudes(table, drawn.side, drawn.t)
    assert x.tolist() == [
        fine_magnitude(EntryLaw("symmetric", p), *map(int, three)) for three in zip(bits, more, last, strict=True)
    ]


# The rows of a table: the same on every machine, or stored sketches could not be added.
GOLDEN: dict[float, str] = {
    1.05: "750214f86938fc512ce08b0155a65cb92da87fd53e2027543b9babb61999765a",
    1.5: "87d4213fefac1939afcb67843f319db2ab35cfc3a09815dfbe60b1dd333c36d9",
    1.97: "6e44cbcb75b298859c55e26b8296ed2709557c737c74f9f4a0cac1353fc6ca4b",
    2.0: "4302ec35cdc3f112189c2fb083384327d78f681984be0549f9dcb52f9d0b2528",
}
GOLDEN_DEEP: dict[float, str] = {
    1.05: "d3dfe07f9b409dd0347088d058c586ae3494f855a722a86ab67925311f859e05",
    1.5: "f509f499e87c1188000f57207c887a88c5614f3f63aaab84f2bd5dd1dec99ab5",
    1.97: "2d79e78162d92c06388dc5d670ac92ad5da24684572fe5a5c6b7244e57839ef0",
}


@pytest.mark.parametrize("p", GOLDEN)
def test_rows_have_the_same_bits_everywhere(p: float) -> None:
    table = ReferenceTable.of(EntryLaw("symmetric", p))
    numbers = struct.pack("<3i", table.bin_bits, table.resolution, table.shift)
    assert hashlib.sha256(table.rows.astype("<f8").tobytes() + numbers).hexdigest() == GOLDEN[p]
    if p < 2.0:
        assert hashlib.sha256(table.deep.astype("<f8").tobytes()).hexdigest() == GOLDEN_DEEP[p]
