"""What docs/for/ecologists.md says about rarefying before a release, computed exactly for small sites.

The release is a toy: how many individuals of species a and of species b there are, each with discrete Laplace noise.
Adding or removing an individual moves one of the two counts by 1, replacing one moves both. A rarefied site is a law
over pairs of counts, so the law of what is released is a sum over all of them, without any sampling.
"""

from __future__ import annotations

import math
from itertools import product

import pytest

Counts = tuple[int, int]  # of species a and b
Law = dict[Counts, float]
EPSILON = 0.7


def thinned(site: Counts, q: float) -> Law:
    """Each individual is kept with probability q."""
    return {
        (a, b): math.prod(math.comb(n, k) * q**k * (1 - q) ** (n - k) for n, k in zip(site, (a, b), strict=True))
        for a, b in product(range(site[0] + 1), range(site[1] + 1))
    }


def drawn(site: Counts, depth: int) -> Law:
    """`depth` individuals, without replacement."""
    ways = math.comb(sum(site), depth)
    return {
        (a, depth - a): math.comb(site[0], a) * math.comb(site[1], depth - a) / ways
        for a in range(depth + 1)
        if a <= site[0] and depth - a <= site[1]
    }


def loss(one: Law, other: Law, scale: float) -> float:
    """The largest |ln P(x)/Q(x)| of what is released, over all outcomes x; noise has the law e^{-|k|/scale}."""

    def density(law: Law, x: Counts) -> float:
        return sum(p * math.exp(-(abs(x[0] - a) + abs(x[1] - b)) / scale) for (a, b), p in law.items())

    # Beyond the largest counts the ratio does not change any more.
    outcomes = list(product(range(-1, 10), repeat=2))
    return max(abs(math.log(density(one, x) / density(other, x))) for x in outcomes)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("site", [(0, 0), (3, 2), (0, 5)])
def test_thinning_keeps_the_guarantee(site: Counts, q: float) -> None:
    more = (site[0] + 1, site[1])
    found = loss(thinned(site, q), thinned(more, q), scale=1 / EPSILON)
    assert found <= math.log1p(q * math.expm1(EPSILON)) + 1e-12
    assert found <= EPSILON + 1e-12


@pytest.mark.parametrize("site", [(0, 3), (2, 2), (0, 6), (5, 1)])
def test_a_fixed_depth_keeps_the_guarantee_of_replacing(site: Counts) -> None:
    """Noise for a replaced individual, which moves both counts."""
    more = (site[0] + 1, site[1])
    assert loss(drawn(site, 3), drawn(more, 3), scale=2 / EPSILON) <= EPSILON + 1e-12


def test_a_fixed_depth_breaks_the_guarantee_of_adding_and_removing() -> None:
    """Noise for one that is added or removed: a site of exactly the depth, all of them of species b, gets one of a."""
    found = loss(drawn((0, 3), 3), drawn((1, 3), 3), scale=1 / EPSILON)
    assert 1.5 * EPSILON < found <= 2 * EPSILON + 1e-12


def test_the_depth_of_the_smallest_site_costs_as_much_as_there_are_sites() -> None:
    """Three sites, all of species a: one individual more in the smallest is one more drawn from each."""
    sites = [(2, 0), (6, 0), (7, 0)]
    more = [(3, 0), *sites[1:]]
    before, after = ([drawn(site, min(sum(one) for one in all_of)) for site in all_of] for all_of in (sites, more))
    together = sum(loss(one, other, scale=1 / EPSILON) for one, other in zip(before, after, strict=True))
    assert together == pytest.approx(3 * EPSILON)
