"""F_p and norms on a public grid: against 60-digit arithmetic, and their sensitivity by brute force over every small
stream."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from stablesketch.errors import ArgumentError, ArgumentTypeError, NegativeTotal
from stablesketch.privacy.exact_moment import (
    MARGIN,
    _Powers,
    moment_units,
    norm_distance,
    norm_units,
    units_sensitivity,
)

INDICES = [0.05, 0.25, 1 / 3, 0.5, 0.75, 0.999, math.nextafter(1.0, 0.0), 1e-9]
Stream = tuple[tuple[int, int], ...]


def moment(totals: Iterable[int], p: float) -> mpmath.mpf:
    return mpmath.fsum(mpmath.mpf(f) ** mpmath.mpf(p) for f in totals if f)


def distance(units: int, totals: Iterable[int], p: float, step: Fraction) -> mpmath.mpf:
    with mpmath.workdps(60):
        return abs(units - moment(totals, p) * step.denominator / step.numerator)


@pytest.mark.parametrize("p", INDICES)
@pytest.mark.parametrize("step", [Fraction(1), Fraction(1, 1000), Fraction(1, 10**12), Fraction(7, 3), Fraction(10**9)])
def test_units_are_the_nearest(p: float, step: Fraction) -> None:
    source = random.Random(8)
    totals = [0, 1, 1, 2, 3, 255, 256, 257, 511, 512, 2**53 + 1, 2**117 - 1]
    totals += [source.randrange(2 ** source.randrange(1, 118)) for _ in range(60)]
    assert distance(moment_units(totals, p, step), totals, p, step) <= 0.5 + float(MARGIN)


@pytest.mark.parametrize("p", INDICES)
@pytest.mark.parametrize("bits", [16, 40, 64, 200])
def test_every_power_is_within_its_bound(p: float, bits: int) -> None:
    """The certified relative error is 2^(4-bits); on 400 numbers of all lengths half of that is enough."""
    source, powers = random.Random(9), _Powers(p, bits)
    numbers = [1, 2, 255, 256, 257, 2**8 - 1, 2**9 - 1, 2**127, 2**128 - 1]
    numbers += [source.randrange(1, 2 ** source.randrange(1, 129)) for _ in range(400)]
    with mpmath.workdps(90):
        for f in numbers:
            exact = mpmath.mpf(f) ** mpmath.mpf(p)
            assert abs(powers(f) / mpmath.mpf(2) ** bits / exact - 1) <= mpmath.mpf(2) ** (3 - bits)


def test_arrays_lists_and_generators_agree() -> None:
    totals = np.random.default_rng(3).integers(0, 500, 10_000)
    expected = moment_units(totals.tolist(), 0.3, Fraction(1, 100))
    assert moment_units(totals, 0.3, Fraction(1, 100)) == expected
    assert moment_units(totals.astype(np.uint16), 0.3, Fraction(1, 100)) == expected
    assert moment_units((int(f) for f in totals), 0.3, Fraction(1, 100)) == expected
    assert moment_units(totals[::-1], 0.3, Fraction(1, 100)) == expected
    assert distance(expected, totals.tolist(), 0.3, Fraction(1, 100)) <= 0.5 + float(MARGIN)


def test_largest_integers_of_an_array() -> None:
    totals = np.array([2**64 - 1] * 3 + [2**63], dtype=np.uint64)
    assert distance(moment_units(totals, 0.5, Fraction(1, 9)), totals.tolist(), 0.5, Fraction(1, 9)) < 0.501


@pytest.mark.parametrize("p", [0.5, 1.0, 1])
def test_nothing_counted_is_nought(p: float) -> None:
    for totals in ([], [0, 0], np.zeros(3, dtype=np.int64), np.array([], dtype=np.int64)):
        assert moment_units(totals, p, Fraction(1, 10)) == 0


def test_first_moment_is_exact() -> None:
    assert moment_units([2**117 - 1, 5], 1.0, Fraction(1)) == 2**117 + 4
    assert moment_units([1, 2, 4], 1.0, Fraction(2)) == 4  # 3.5 upwards
    assert units_sensitivity(1.0, 7, 2, Fraction(3)) == 5
    assert units_sensitivity(1.0, 100, 1, Fraction(1)) == 100


def streams(length: int, keys: int, most: int) -> list[Stream]:
    """All multisets of `length` pairs: the order of a stream does not matter."""
    pairs = list(itertools.product(range(keys), range(1, most + 1)))
    return list(itertools.combinations_with_replacement(pairs, length))


def totals_of(stream: Stream) -> list[int]:
    totals: Counter[int] = Counter()
    for key, value in stream:
        totals[key] += value
    return list(totals.values())


def contains(large: Stream, small: Stream) -> bool:
    return not Counter(small) - Counter(large)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.75, 1.0])
@pytest.mark.parametrize(("most", "pairs"), [(1, 1), (3, 1), (2, 2)])
@pytest.mark.parametrize("step", [Fraction(1, 7), Fraction(5, 4)])
def test_no_neighbours_differ_by_more(p: float, most: int, pairs: int, step: Fraction) -> None:
    """Every stream of up to 4 pairs over 3 keys, every neighbour of it; and the moment's own bound c M^p is reached.

    Replace: streams with all but c pairs in common. Add or remove: one stream with up to c pairs more.
    """
    allowed = units_sensitivity(p, most, pairs, step)
    largest, bound = 0.0, pairs * most**p
    for length in range(4):
        for common in streams(length, 3, most):
            reached = []
            for extra in range(pairs + 1):
                for more in streams(extra, 3, most):
                    totals = totals_of(common + more)
                    reached.append((extra, moment_units(totals, p, step), sum(f**p for f in totals)))
            for one, other in itertools.combinations(reached, 2):
                assert abs(one[1] - other[1]) <= allowed
                assert abs(one[2] - other[2]) <= bound + 1e-9
                largest = max(largest, abs(one[2] - other[2]))
    assert largest == pytest.approx(bound)


@pytest.mark.parametrize("p", [0.3, 0.5])
def test_replace_comes_near_the_bound(p: float) -> None:
    """One pair moves from a key with a large total to a key of its own: M^p less what it took away, and not 2 M^p."""
    before, after = [10**30 + 1], [10**30, 100]
    change = moment_units(after, p, Fraction(1, 10**6)) - moment_units(before, p, Fraction(1, 10**6))
    assert 0.999_999 * 100**p * 10**6 <= change <= units_sensitivity(p, 100, 1, Fraction(1, 10**6))


@pytest.mark.parametrize("p", [0.05, 0.5, 0.999])
@pytest.mark.parametrize("value", [1, 2, 1000, 2**100 + 1])
@pytest.mark.parametrize("step", [Fraction(1, 1000), Fraction(1, 3), Fraction(10**6)])
def test_sensitivity_is_tight(p: float, value: int, step: Fraction) -> None:
    """Above c M^p/step + 1 by no more than rounding up, and never below what two roundings can do."""
    with mpmath.workdps(60):
        s = 3 * mpmath.mpf(value) ** mpmath.mpf(p) * step.denominator / step.numerator
        assert s + 2 * float(MARGIN) < units_sensitivity(p, value, 3, step) <= s + 1 + 3 * float(MARGIN)


def test_rounding_can_cost_a_whole_unit() -> None:
    """c M^p a whole number of units, and yet, next to an ambiguous half, one unit more is allowed for."""
    assert units_sensitivity(0.5, 1, 1, Fraction(1, 1000)) == 1001


STEP = Fraction(1, 10)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: moment_units([1.0], 0.5, STEP), ArgumentTypeError, "totals must .*got 1.0"),
        (lambda: moment_units([1, 1.0], 0.5, STEP), ArgumentTypeError, "totals must .*got 1.0"),
        (lambda: moment_units([1, True], 0.5, STEP), ArgumentTypeError, "totals must .*got True"),
        (lambda: moment_units(np.array([1.5]), 0.5, STEP), ArgumentTypeError, "float64"),
        (lambda: moment_units(np.array([True]), 0.5, STEP), ArgumentTypeError, "bool"),
        (lambda: moment_units([3, -1], 0.5, STEP), NegativeTotal, "undo an earlier update"),
        (lambda: moment_units([2**128], 0.5, STEP), ArgumentError, "128 bits"),
        (lambda: moment_units([1], 0.0, STEP), ArgumentError, "p must .*got 0.0"),
        (lambda: moment_units([1], 1.5, STEP), ArgumentError, "p must .*got 1.5"),
        (lambda: moment_units([1], math.nan, STEP), ArgumentError, "p must .*got nan"),
        (lambda: moment_units([1], "1", STEP), ArgumentTypeError, "p must .*got '1'"),
        (lambda: moment_units([1], 0.5, 0.1), ArgumentTypeError, "step must .*got 0.1"),
        (lambda: moment_units([1], 0.5, Fraction(0)), ArgumentError, "must be positive"),
        (lambda: units_sensitivity(0.5, 0, 1, STEP), ArgumentError, "max_value must .*got 0"),
        (lambda: units_sensitivity(0.5, 1, 0, STEP), ArgumentError, "pairs_per_person must .*got 0"),
        (lambda: units_sensitivity(0.5, 1.5, 1, STEP), ArgumentTypeError, "max_value must .*got 1.5"),
        (lambda: units_sensitivity(0.5, 2**128, 1, STEP), ArgumentError, "128 bits"),
    ],
)
def test_wrong_calls(call: Callable[[], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call()


# --- norms, for orders above 1 ---


@pytest.mark.parametrize("p", [1.0009765625, 1.25, 1.5, 1.9, 2.0])
@pytest.mark.parametrize("totals", [[1], [3, 4], [1] * 1_000, [2**52, 1, 7], list(range(1, 300))], ids=len)
def test_norms_are_those_of_another_arithmetic(p: float, totals: list[int]) -> None:
    step = Fraction(1, 2**12)
    with mpmath.workdps(60):
        norm = mpmath.fsum(mpmath.mpf(f) ** mpmath.mpf(p) for f in totals) ** (1 / mpmath.mpf(p))
        away = abs(norm_units(totals, p, step) - norm * 2**12)
        assert away <= 0.5 + float(MARGIN)


def test_norms_of_squares_are_exact() -> None:
    assert norm_units([3, 4], 2.0, Fraction(1)) == 5
    assert norm_units([10**15 * 3, 10**15 * 4], 2.0, Fraction(1)) == 5 * 10**15
    assert norm_units([], 2.0, Fraction(1)) == 0


@pytest.mark.parametrize("p", [1.25, 2.0])
@pytest.mark.parametrize(("value", "pairs"), [(1, 1), (1, 2), (3, 1), (3, 2)])
def test_no_neighbours_have_norms_that_differ_by_more(p: float, value: int, pairs: int) -> None:
    """All streams over three keys with totals up to 4, and all ways to add the pairs; replaced ones too."""
    step = Fraction(1, 16)
    most = norm_distance(value, pairs, step)
    for totals in itertools.product(range(5), repeat=3):
        reached = set()
        for added in itertools.product(itertools.product(range(3), range(1, value + 1)), repeat=pairs):
            after = list(totals)
            for key, amount in added:
                after[key] += amount
            reached.add(norm_units([f for f in after if f], p, step))
        here = norm_units([f for f in totals if f], p, step)
        assert max(reached) - here <= most
        assert max(reached) - min(reached) <= most
    assert most <= math.ceil(pairs * value / step) + 2
