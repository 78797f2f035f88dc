"""The compiled table of the positive stable law against the law: by mpmath to 1e-14, everywhere to what floats show.

Side 0 has P(X > x) = t/2, side 1 P(X <= x) = t/2. t is in units of 2^-63, and the deep
octaves are those below 1.
"""

from __future__ import annotations

import hashlib
import math
import struct
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from one_sided_oracle import by_angles, by_series
from reference_update import ReferenceTable, Variates, entry_bits, magnitudes

from stablesketch._native import deep_octaves, fine_magnitude
from stablesketch.law.one_sided import one_sided_law
from stablesketch.sketch.entry_law import EntryLaw

INDICES = [0.05, 0.1, 0.1201, 0.2999, 0.3333, 0.5, 0.5001, 0.77, 0.9, 0.97, 0.999]
UPPER, LOWER = 0, 1
OCTAVES = 63
LN2 = math.log(2.0)
HALF = EntryLaw("one-sided", 0.5)
DEEP_OCTAVES = deep_octaves(HALF)


def octaves_of(side: int) -> range:
    return range(-DEEP_OCTAVES[side], OCTAVES)


def random_t(seed: int, each: int, octaves: range | list[int] = range(OCTAVES)) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.ldexp(1.0 + rng.random((len(octaves), each)), np.array(octaves)[:, np.newaxis]).ravel()


@pytest.mark.parametrize("p", INDICES)
def test_rows_follow_the_law(p: float) -> None:
    """Ten quantiles in each octave of each side; ln X is compared, whose own rounding grows with |ln X|."""
    table, law = ReferenceTable.of(EntryLaw("one-sided", p)), one_sided_law(p)
    for side in (UPPER, LOWER):
        t = random_t(1, 10, octaves_of(side))
        log_tail = np.log(t) - 64.0 * LN2
        z = law.quantile(log_sf=log_tail) if side == UPPER else law.quantile(log_cdf=log_tail)
        x = np.log(magnitudes(table, side, t)) + table.shift * LN2
        np.testing.assert_allclose(x, z / p, rtol=1e-15, atol=2e-14 / p)


def relative_error(p: float, side: int, t: float) -> float:
    """How far x is from the true quantile, by one Newton step in mpmath."""
    table = ReferenceTable.of(EntryLaw("one-sided", p))
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
    for side, octaves in ((UPPER, [-8, -1, 53, 61, 62]), (LOWER, [-32, -17, -1, 0, 30, 53, 62])):
        for t in random_t(2, 1, octaves):
            assert relative_error(p, side, float(t)) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize(("number", "p"), [*enumerate([0.05, 0.0999, 0.1, 0.25, 0.3, 0.5, 0.77, 0.9])])
def test_rows_are_right_to_1e14_in_every_octave(number: int, p: float) -> None:
    """The even octaves of one order, the odd ones of the next."""
    for side in (UPPER, LOWER):
        octaves = octaves_of(side)[number % 2 :: 2]
        assert max(relative_error(p, side, float(t)) for t in random_t(3, 1, octaves)) < 1e-14


@pytest.mark.parametrize("p", INDICES)
def test_x_is_monotone_and_the_sides_meet_at_the_median(p: float) -> None:
    table = ReferenceTable.of(EntryLaw("one-sided", p))
    upper, lower = (magnitudes(table, side, np.sort(random_t(5, 40, octaves_of(side)))) for side in (UPPER, LOWER))
    assert np.all(np.diff(upper) <= 0.0)
    assert np.all(np.diff(lower) >= 0.0)
    median = table.rows[UPPER, -1, 0]
    assert median == table.rows[LOWER, -1, 0]
    assert lower.max() <= median <= upper.min()
    z = one_sided_law(p).quantile(log_cdf=np.array(-LN2))
    assert math.log(median) + table.shift * LN2 == pytest.approx(float(z) / p, abs=2e-14 / p)


@pytest.mark.parametrize("p", INDICES)
def test_the_smallest_x_keeps_its_digits(p: float) -> None:
    """Rounding to 2^-resolution moves the smallest X, met once in 2^96 draws, so that X^p moves by 2^-49 at most."""
    table = ReferenceTable.of(EntryLaw("one-sided", p))
    least = math.log2(magnitudes(table, LOWER, np.array([2.0 ** -DEEP_OCTAVES[LOWER]]))[0]) + table.shift
    assert math.log2(p) - (table.resolution + 1) - least <= -49.0


@pytest.mark.parametrize("p", INDICES)
def test_the_resolution_is_the_documented_one(p: float) -> None:
    """docs/wire-format.md, under one-sided entries."""
    least = (1.0 - p) / p * (math.log(1.0 - p) - math.log(66.6)) / LN2
    assert ReferenceTable.of(EntryLaw("one-sided", p)).resolution == max(52, 48 - math.floor(least))


@pytest.mark.parametrize("p", INDICES)
def test_the_largest_x_has_room(p: float) -> None:
    """X of the smallest t on the upper side is below 2^(72/p), which is what entries and rows are made for."""
    table = ReferenceTable.of(EntryLaw("one-sided", p))
    (largest,) = magnitudes(table, UPPER, np.array([2.0 ** -DEEP_OCTAVES[UPPER]]))
    assert largest < 2.0**1000
    assert math.log2(largest) + table.shift <= 72.0 / p


def deep_bits(seed: int, each: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bits with m = 0, on both sides, and what follows them: `each` with every number of leading zeros from 0 to 64."""
    rng = np.random.default_rng(seed)
    zeros = np.repeat(np.arange(65), each)
    more = np.array([int(rng.integers(2**63)) >> z << 1 | int(z < 64) << (63 - min(z, 63)) for z in zeros], np.uint64)
    return (
        rng.integers(4, size=more.size, dtype=np.uint64) << np.uint64(62),
        more,
        rng.integers(2**64, size=more.size, dtype=np.uint64),
    )


@pytest.mark.parametrize("p", INDICES)
def test_the_kernel_reads_the_deep_octaves_as_the_reference_does(p: float) -> None:
    """Once in 2^62 draws the first 62 bits are 0; here they are, with zeros after them, down to what is moved up."""
    table, (bits, more, last) = ReferenceTable.of(EntryLaw("one-sided", p)), deep_bits(11, 12)
    drawn = Variates.of(bits, more, last, EntryLaw("one-sided", p))
    x = magnitudes(table, drawn.side, drawn.t)
    assert x.tolist() == [
        fine_magnitude(EntryLaw("one-sided", p), *map(int, three)) for three in zip(bits, more, last, strict=True)
    ]
    # The same of bits that are only coarse, and of m = 1, which looks into no deep octave.
    bits[1::2] |= np.uint64(1)
    bits[::4] |= more[::4] >> np.uint64(12)
    drawn = Variates.of(bits, more, last, EntryLaw("one-sided", p))
    assert drawn.t[1::2].min() >= 2.0
    x = magnitudes(table, drawn.side, drawn.t)
    assert x.tolist() == [
        fine_magnitude(EntryLaw("one-sided", p), *map(int, three)) for three in zip(bits, more, last, strict=True)
    ]


def test_deep_uniforms_are_the_bits_as_a_fraction() -> None:
    """t = 2 (more/2^64 + last/2^128) to within 2^-53 of it; below 2^-8 or 2^-32 that much more."""
    bits, more, last = deep_bits(12, 20)
    drawn = Variates.of(bits, more, last, HALF)
    assert set(np.floor(np.log2(drawn.t[drawn.side == UPPER]))) == set(range(-8, 1))
    assert set(np.floor(np.log2(drawn.t[drawn.side == LOWER]))) == set(range(-32, 1))
    for side, t, high, low in zip(drawn.side, drawn.t, more, last, strict=True):
        exact = Fraction(int(high) << 64 | int(low), 2**127)
        least = Fraction(1, 2 ** DEEP_OCTAVES[side])
        wanted = exact if exact >= least else exact + least
        assert abs(Fraction(float(t)) - wanted) <= wanted * Fraction(1.01) / 2**53


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("side", [UPPER, LOWER])
def test_deep_draws_have_the_right_quantiles(p: float, side: int) -> None:
    """Given m = 0, the tail of X over 2^-63 is uniform: Kolmogorov-Smirnov on 4,000 draws of the compiled code, with
    three leading zeros or none; D sqrt(n) above 2.2 has probability 1.2e-4. The tails are those of law/one_sided.py."""
    rng = np.random.default_rng(13)
    for zeros in (0, 3):
        drawn = [
            fine_magnitude(
                EntryLaw("one-sided", p),
                side << 62,
                int(rng.integers(2**64, dtype=np.uint64)) >> zeros,
                int(rng.integers(2**63)),
            )
            for _ in range(4_000)
        ]
        z = p * (np.log(drawn) + ReferenceTable.of(EntryLaw("one-sided", p)).shift * LN2)
        values = one_sided_law(p).values(z)
        share = np.sort(np.exp((values.sf if side == UPPER else values.cdf) + (63 + zeros) * LN2))
        steps = np.arange(1, share.size + 1) / share.size
        assert max(np.max(steps - share), np.max(share - steps + 1 / share.size)) * math.sqrt(share.size) < 2.2


def test_one_half_is_levys_law() -> None:
    """X = 1/(2 N²): on the upper side erf(1/(2 √x)) = t/2."""
    t = random_t(6, 20)
    x = magnitudes(ReferenceTable.of(HALF), UPPER, t)
    np.testing.assert_allclose([math.erf(0.5 / math.sqrt(v)) for v in x], t * 2.0**-64, rtol=3e-15)


# SHA-256 of all rows with the three numbers that say how to read them, and of X at the bits below: as in
# tests/sketch/test_table.py, the second is part of the wire format.
GOLDEN = {
    0.05: (
        "b18dec4cca4ad4f5eec968307bb7d5deaeb3dceeef2c14fabdd7fbd026e3cd7b",
        "51fddae1ee9e681358c933155953795371c0f44c68f28a73847bbe3d58722e75",
    ),
    0.1: (
        "648eed6b41f8e772172fcdccbe6c402808363814ecf4648fd0815bf35a143899",
        "2f0fdf01b7cc004f348511c9ab89df8f2b0da13f368c10aa74bbe3060826c9dd",
    ),
    0.3333: (
        "e337339aa953b941a405426d39e37e6059c3848dbd636ab5782d1195b8864e15",
        "550436808ec64c4f8edf6c0ca8081c6943f78b25fd9fc68696b06c8456c3cbb2",
    ),
    0.5: (
        "7f1c5c054470136117a2bd398036dddb68f18acc8f16647b9ae3679d542d9ed1",
        "16abee678fbb7fe2e4cda69c3d62c83b366102f75d5214901bf3853f37bd616d",
    ),
    0.77: (
        "abf0b466c1f541d389a5bb27321cb95a3fd24b65d6a44daf46af4696da61472f",
        "cfe83b9b22e93d499237cd5f826677529430e316f9c788fbba2fb26cb5d5cab4",
    ),
    0.9: (
        "6cc5171057ca2a25881b807143b78cd0fb57fe2b8c12eb5deeef0555c97ed4ea",
        "b57a031dd5f0f44ebcd04481075b9086af556361d91d4c32715609a82af71916",
    ),
    0.999: (
        "5a8df40df3b153ddebeb5acb1b147fe8a0467f2dc53cfb240f84a79fbc281366",
        "9a7a94795cdb62ec7b173feefeabc799b06eff48442597d1a96694371cc26919",
    ),
}


@pytest.mark.parametrize("p", GOLDEN)
def test_the_table_has_the_same_bits_everywhere(p: float) -> None:
    assert golden(p) == GOLDEN[p]


def golden(p: float) -> tuple[str, str]:
    table = ReferenceTable.of(EntryLaw("one-sided", p))
    numbers = struct.pack("<iii", table.bin_bits, table.resolution, table.shift)
    bits, more, last = (entry_bits(bytes(range(16)), domain, range(300), 100).ravel() for domain in (7, 8, 9))
    halvings = np.arange(bits.size, dtype=np.uint64) % np.uint64(62)
    head = bits & np.uint64(3 << 62)
    some = Variates.of(head | ((bits ^ head) >> halvings), more, last, HALF)
    x = magnitudes(table, some.side, some.t)
    rows = hashlib.sha256(
        (table.rows.astype("<f8").tobytes() + table.deep.astype("<f8").tobytes()) + numbers
    ).hexdigest()
    return rows, hashlib.sha256(x.astype("<f8").tobytes()).hexdigest()
