"""Logarithms and exponentials: the numbers of the proofs in docs/math-elementary.md bounded again by ball arithmetic,
operation by operation, and the compiled functions held to many digits where it is hard."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from flint import arb, ctx

from stablesketch.numbers.elementary import exp, exp_sums, log

U = 2.0**-53
HALF_LN2 = 0.34658


@pytest.fixture(autouse=True)
def _many_digits() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


@dataclass(frozen=True)
class Followed:
    """All values that a number of a formula can have without rounding, and how far off the computed one can be."""

    value: arb
    off: arb

    def __add__(self, other: Followed) -> Followed:
        return _rounded(self.value + other.value, self.off + other.off)

    def __mul__(self, other: Followed) -> Followed:
        off = abs(self.value) * other.off + abs(other.value) * self.off + self.off * other.off
        return _rounded(self.value * other.value, off)

    def __truediv__(self, other: Followed) -> Followed:
        found = self.value / other.value
        return _rounded(found, (self.off + abs(found) * other.off) / (abs(other.value) - other.off))


def _rounded(value: arb, off: arb) -> Followed:
    """To the nearest float: 2^j u where the number is below 2^(j+1)."""
    most = math.nextafter(float((abs(value) + off).upper()), math.inf)
    return Followed(value, (off + U * arb(2) ** (math.frexp(most)[1] - 1)).upper())


def exactly(value: arb | float) -> Followed:
    return Followed(arb(value), arb(0))


def constant(value: arb) -> Followed:
    return _rounded(value, arb(0))


def pieces(low: float, high: float, count: int = 400) -> Iterator[arb]:
    half = (high - low) / count / 2
    for i in range(count):
        yield arb(low + (2 * i + 1) * half, half * 1.0001)


def horner(place: Followed, coefficients: list[arb]) -> Followed:
    *rest, last = coefficients
    found = constant(last)
    for each in reversed(rest):
        found = found * place + constant(each)
    return found


def logarithm_is_off(terms: int) -> float:
    """In units of u, without the last sum, which rounds by u |L|: ln m of every m from √½ to √2, k up to 2^17."""
    worst = 0.0
    shift = Followed(arb(0, 2.0**-22), arb(2.1 * 2.0**-22 * U))  # k B
    for m in pieces(0.7071, 1.4143):
        s = exactly(m - 1) / _rounded(m + 1, arb(0))
        w, twice = s * s, Followed(2 * s.value, 2 * s.off)
        series = horner(w, [1 / arb(2 * i + 3) for i in range(terms)])
        found = twice + (twice * (w * series) + shift)
        left_out = abs(twice.value) * w.value ** (terms + 1) / (2 * terms + 3) / (1 - w.value)
        worst = max(worst, float(((found.off + left_out.abs_upper()) / U).upper()))
    return worst


def exponential_is_off(terms: int) -> float:
    """In units of u, relative to e^r."""
    worst = 0.0
    for r in pieces(-HALF_LN2, HALF_LN2):
        place = Followed(r, arb(0.2501 * U))
        series = horner(place, [1 / arb.fac_ui(i + 2) for i in range(terms)])
        found = exactly(1.0) + (place + (place * place) * series)
        left_out = abs(r) ** (terms + 2) / arb.fac_ui(terms + 2) / (1 - abs(r))
        worst = max(worst, float(((found.off + left_out.abs_upper()) / r.exp() / U).upper()))
    return worst


def test_the_logarithm_is_as_the_proof_says() -> None:
    """And two terms less would not do."""
    assert logarithm_is_off(10) < 0.99
    assert logarithm_is_off(8) > 0.99


def test_the_exponential_is_as_the_proof_says() -> None:
    assert exponential_is_off(12) < 1.9
    assert exponential_is_off(11) > 2.0


def test_ln_2_is_the_sum_of_the_two_parts() -> None:
    high, low = float.fromhex("0x1.62e42fefap-1"), float.fromhex("0x1.cf79abc9e3b3ap-40")
    assert abs(arb(2).log() - high - low) < arb(2) ** -92
    assert (high * 2**36).is_integer()
    assert low < 2.0**-39


def hard_numbers() -> np.ndarray:
    """Positive floats: of all sizes, near 1, around the places where m changes, whole numbers, the smallest."""
    rng = np.random.default_rng(7)
    near_one = 1.0 + np.concatenate([-(2.0 ** -np.arange(2.0, 54)), 2.0 ** -np.arange(1.0, 53)])
    seams = math.sqrt(0.5) * 2.0 ** np.arange(-60.0, 60) * (1.0 + rng.integers(-4, 5, 120) * 2 * U)
    return np.concatenate(
        [
            np.exp(rng.uniform(-700.0, 700.0, 4_000)),
            rng.uniform(0.5, 2.0, 8_000),
            near_one,
            seams,
            np.arange(1.0, 500.0),
            [5e-324, 2.0**-1074 * 12_345, 2.0**-1022, np.finfo(np.float64).max],
        ]
    )


def test_computed_logarithms() -> None:
    numbers = hard_numbers()
    exponents = np.random.default_rng(8).integers(-(2**16) + 1, 2**16, len(numbers))
    for powers in (np.zeros_like(exponents), exponents):
        found = log(numbers, powers)
        worst = 0.0
        for x, e, y in zip(numbers.tolist(), powers.tolist(), found.tolist(), strict=True):
            true = arb(x).log() + e * arb(2).log()
            worst = max(worst, float(abs(true - y) / U / (abs(true) + 1)))
        assert 0.3 < worst <= 1.0


def test_computed_exponentials() -> None:
    rng = np.random.default_rng(9)
    seams = (np.arange(-1_000, 1_000) + 0.5) * math.log(2.0)
    anywhere, small = rng.uniform(-708.0, 709.0, 6_000), rng.uniform(-1.0, 1.0, 8_000)
    numbers = np.concatenate([anywhere, small, -(2.0 ** -np.arange(60.0)), seams, [-708.0, 709.0]])
    worst = 0.0
    for x, y in zip(numbers.tolist(), exp(numbers).tolist(), strict=True):
        true = arb(x).exp()
        worst = max(worst, float(abs(true - y) / true / U))
    assert 0.8 < worst <= 2.0


def test_computed_sums() -> None:
    """Of terms that plain addition would lose, the smallest last and first."""
    rng = np.random.default_rng(10)
    for count in (1, 2, 7, 1_000, 30_000):
        x = np.sort(rng.uniform(-40.0, 3.0, (2, count)), axis=1)
        x[1] = x[1][::-1]
        tops, sums = exp_sums(x)
        assert np.array_equal(tops, x.max(axis=1))
        for row, top, found in zip(x, tops, sums, strict=True):
            true = sum((arb(y) for y in exp(row - top).tolist()), arb(0))
            assert abs(true - float(found)) <= 1.1 * U * true


def test_ends_and_shapes() -> None:
    assert log([0.0, 1.0, np.inf]).tolist() == [-np.inf, 0.0, np.inf]
    assert np.isnan(log([-1.0, np.nan])).all()
    assert exp([-np.inf, -708.5, 0.0, 709.5, np.inf]).tolist() == [0.0, 0.0, 1.0, np.inf, np.inf]
    assert np.isnan(exp(np.nan))
    assert log(8.0).shape == ()
    assert exp(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    tops, sums = exp_sums(np.array([[[0.0, -np.inf]], [[np.inf, 0.0]]]))
    assert tops.tolist() == [[0.0], [np.inf]]
    assert sums[0, 0] == 1.0
    assert np.isnan(sums[1, 0])


@pytest.mark.parametrize("function", [log, exp])
def test_a_number_has_the_same_bits_anywhere(function) -> None:  # type: ignore[no-untyped-def]
    """Alone, first, last, and in arrays of every length: vectors and what is left over of them agree."""
    numbers = np.random.default_rng(11).uniform(0.1, 20.0, 67)
    whole = function(numbers)
    for start in range(len(numbers)):
        assert np.array_equal(function(numbers[start:]), whole[start:])
        assert function(numbers[start]) == whole[start]
