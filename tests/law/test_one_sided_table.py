"""The compiled table of the positive stable law against the law: by mpmath to 1e-14, everywhere to what floats show.

Side 0 has P(X > x) = t/2, side 1 P(X <= x) = t/2; the order of the table is -p.
"""

from __future__ import annotations

import hashlib
import math
import struct

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from one_sided_oracle import by_angles, by_series

from stablesketch.law.one_sided import one_sided_law
from stablesketch.sketch.reference import ReferenceTable, Variates, entry_bits, magnitudes

INDICES = [0.05, 0.1, 0.1201, 0.2999, 0.3333, 0.5, 0.5001, 0.77, 0.9, 0.97, 0.999]
UPPER, LOWER = 0, 1
OCTAVES = 63
LN2 = math.log(2.0)


def random_t(seed: int, each: int, octaves: range | list[int] = range(OCTAVES)) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.ldexp(1.0 + rng.random((len(octaves), each)), np.array(octaves)[:, np.newaxis]).ravel()


@pytest.mark.parametrize("p", INDICES)
def test_rows_follow_the_law(p: float) -> None:
    """Ten quantiles in each octave of each side; ln X is compared, whose own rounding grows with |ln X|."""
    table, law = ReferenceTable.of(-p), one_sided_law(p)
    t = random_t(1, 10)
    log_tail = np.log(t) - 64.0 * LN2
    for side, z in ((UPPER, law.quantile(log_sf=log_tail)), (LOWER, law.quantile(log_cdf=log_tail))):
        x = np.log(magnitudes(table, side, t)) + table.shift * LN2
        np.testing.assert_allclose(x, z / p, rtol=1e-15, atol=2e-14 / p)


def relative_error(p: float, side: int, t: float) -> float:
    """How far x is from the true quantile, by one Newton step in mpmath."""
    table = ReferenceTable.of(-p)
    (x,) = magnitudes(table, side, np.array([t]))
    with mpmath.workdps(60):
        z = mpf(p) * (mpmath.log(mpf(float(x))) + table.shift * mpmath.log(2))
        wanted = mpf(float(t)) / mpf(2) ** 64
        if side == LOWER and t < 2.0**52:
            found, density = by_angles(p, z)
        else:
            above, density = by_series(p, z, 70)
            found = above if side == UPPER else 1 - above
        return abs(float((found - wanted) / density / mpf(p)))


@pytest.mark.parametrize(
    "p", [0.05, 0.77, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.1201, 0.3333, 0.5, 0.97))]
)
def test_rows_are_right_to_1e14(p: float) -> None:
    for side, octaves in ((UPPER, [0, 53, 61, 62]), (LOWER, [0, 30, 53, 62])):
        for t in random_t(2, 1, octaves):
            assert relative_error(p, side, float(t)) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.05, 0.0999, 0.1, 0.25, 0.3, 0.5, 0.77, 0.9])
def test_rows_are_right_to_1e14_in_every_octave(p: float) -> None:
    for side in (UPPER, LOWER):
        assert max(relative_error(p, side, float(t)) for t in random_t(3, 1)) < 1e-14


@pytest.mark.parametrize("p", INDICES)
def test_x_is_monotone_and_the_sides_meet_at_the_median(p: float) -> None:
    table = ReferenceTable.of(-p)
    t = np.sort(random_t(5, 40))
    upper, lower = magnitudes(table, UPPER, t), magnitudes(table, LOWER, t)
    assert np.all(np.diff(upper) <= 0.0)
    assert np.all(np.diff(lower) >= 0.0)
    median = table.rows[UPPER, -1, 0]
    assert median == table.rows[LOWER, -1, 0]
    assert lower.max() <= median <= upper.min()
    z = one_sided_law(p).quantile(log_cdf=np.array(-LN2))
    assert math.log(median) + table.shift * LN2 == pytest.approx(float(z) / p, abs=2e-14 / p)


@pytest.mark.parametrize("p", INDICES)
def test_the_smallest_x_keeps_its_digits(p: float) -> None:
    """In units of 2^-resolution the smallest X, met once in 2^64 draws, still has 47 bits: rounded to below 1e-14."""
    table = ReferenceTable.of(-p)
    least = math.log2(magnitudes(table, LOWER, np.array([1.0]))[0]) + table.shift
    assert least + table.resolution > 47.0


@pytest.mark.parametrize("p", INDICES)
def test_the_resolution_is_the_documented_one(p: float) -> None:
    """docs/wire-format.md, under one-sided entries."""
    least = (math.log(p) + (1.0 - p) / p * (math.log(1.0 - p) - math.log(44.4))) / LN2
    assert ReferenceTable.of(-p).resolution == max(52, 48 - math.floor(least))


def test_one_half_is_levys_law() -> None:
    """X = 1/(2 N²): on the upper side erf(1/(2 √x)) = t/2."""
    t = random_t(6, 20)
    x = magnitudes(ReferenceTable.of(-0.5), UPPER, t)
    np.testing.assert_allclose([math.erf(0.5 / math.sqrt(v)) for v in x], t * 2.0**-64, rtol=3e-15)


# SHA-256 of the rows with the three numbers that say how to read them, and of X at the bits below: as in test_table.py,
# the second is part of the wire format.
GOLDEN = {
    0.05: (
        "1f453277a2adcfaee994dd674c8872867a0a5930da8c4667423d71a8ddadb428",
        "04cabb2dfddd5c5f92b358ce4a688832f01f136b67e6167217be4988eeee0948",
    ),
    0.1: (
        "e8f6175d6c1c67738251a88441300e908e3ecba88cfd241fdca02bff3b35ceec",
        "c8c4c41e3ef163346ba3fc55db82bb1d84aaa628b7acbd8ca9cb499bcbe62073",
    ),
    0.3333: (
        "bde23355929219e6892f0cd8195055488409b3132fa4cf159646195d41ad0c9a",
        "c31e50d798d4fe494758c0d63070657f5a31bf1f486ef77aebf97da69ca524c1",
    ),
    0.5: (
        "c73cba331f80eb39531c0a28e5422eebb88cd42a168a60e0d6fe96b6b925769a",
        "f7ed68bcbe53dea9a4207ca752b99087303d976590f39229160014382cc2aba3",
    ),
    0.77: (
        "a71e010c7375ee4b2a5bc4fef5a55fdfdbfa80b59839912d0d3382a2e40b5273",
        "2d5083f2f83bfdcd15e1445aaff92c0bdb6fc528b46fd37301517a3b57be2f79",
    ),
    0.9: (
        "89cb987b399ebe5938a66d32f5fe2db9c466b464a0e83bcb3c73adb5bac68ed5",
        "0d9cc00828f9cfe9c2e0fe0f9b2d2a1749b7b7d47a641af6be21da42f86d9f40",
    ),
    0.999: (
        "d17e1ace5608b64d5498f69ac9c71c3dd2ede7f0d43da36ccbce9e8624df2c62",
        "aa7ca4724047d817cf31058beeff8abd6fb0b928400828330afd7dcecb0e693e",
    ),
}


@pytest.mark.parametrize("p", GOLDEN)
def test_the_table_has_the_same_bits_everywhere(p: float) -> None:
    assert golden(p) == GOLDEN[p]


def golden(p: float) -> tuple[str, str]:
    table = ReferenceTable.of(-p)
    numbers = struct.pack("<iii", table.bin_bits, table.resolution, table.shift)
    bits, more = (entry_bits(bytes(range(16)), domain, range(300), 100).ravel() for domain in (7, 8))
    halvings = np.arange(bits.size, dtype=np.uint64) % np.uint64(62)
    head = bits & np.uint64(3 << 62)
    some = Variates.of(head | ((bits ^ head) >> halvings), more, one_sided=True)
    x = magnitudes(table, some.side, some.t)
    rows = hashlib.sha256(table.rows.astype("<f8").tobytes() + numbers).hexdigest()
    return rows, hashlib.sha256(x.astype("<f8").tobytes()).hexdigest()
