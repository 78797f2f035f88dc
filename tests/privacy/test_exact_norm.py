"""Exact norms: against whole numbers, other arithmetic, and all small neighbours."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import pytest

from stablesketch.privacy.exact_moment import MARGIN
from stablesketch.privacy.exact_norm import norm_distance, norm_units


@pytest.mark.parametrize("p", [1.0009765625, 1.25, 1.5, 1.9, 2.0])
@pytest.mark.parametrize("totals", [[1], [3, 4], [1] * 1_000, [2**52, 1, 7], list(range(1, 300))], ids=len)
def test_units_are_those_of_another_arithmetic(p: float, totals: list[int]) -> None:
    step = Fraction(1, 2**12)
    with mpmath.workdps(60):
        norm = mpmath.fsum(mpmath.mpf(f) ** mpmath.mpf(p) for f in totals) ** (1 / mpmath.mpf(p))
        away = abs(norm_units(totals, p, step) - norm * 2**12)
        assert away <= 0.5 + float(MARGIN)


def test_squares_are_exact() -> None:
    assert norm_units([3, 4], 2.0, Fraction(1)) == 5
    assert norm_units([10**15 * 3, 10**15 * 4], 2.0, Fraction(1)) == 5 * 10**15
    assert norm_units([], 2.0, Fraction(1)) == 0


@pytest.mark.parametrize("p", [1.25, 2.0])
@pytest.mark.parametrize(("value", "pairs"), [(1, 1), (1, 2), (3, 1), (3, 2)])
def test_no_neighbours_differ_by_more(p: float, value: int, pairs: int) -> None:
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
