"""The estimate of entropy: against the posterior by another rule and the Cramér-Rao bound; its pivot by counting."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.law.skewed import FISHER_INFORMATION, SkewedLaw
from stablesketch.law.tabulated import tabulated_skewed_log_density
from stablesketch.sketch.estimators.entropy import entropy_deviation, entropy_estimate, entropy_pivot

LAW = SkewedLaw()


def test_the_table_is_the_law() -> None:
    rng = np.random.default_rng(1)
    y = np.concatenate([-np.exp(rng.uniform(-4.0, 44.0, 3_000)), rng.uniform(-8.0, 6.0, 3_000)])
    table = tabulated_skewed_log_density()
    np.testing.assert_allclose(table(y), LAW.values(y).density, rtol=0, atol=1e-10)
    beyond = np.array([6.01, 6.5, 7.0, 8.0])
    np.testing.assert_allclose(table(beyond), LAW.values(beyond).density, rtol=0, atol=1e-3)
    assert np.isfinite(table(np.array([-1e300, 1e300]))).all()


@pytest.mark.parametrize("size", [5, 60])
def test_it_is_the_posterior_mean(size: int) -> None:
    """Gauss-Legendre panels on the law itself, in place of a trapezoid rule on the table."""
    y = LAW.sample(size, np.random.default_rng(size)) - 3.0
    estimate = float(entropy_estimate(y))
    width = math.sqrt(2.9 / size)
    edges = estimate + width * np.concatenate([-np.geomspace(2_000.0, 9.0, 25), np.linspace(-8.5, 10.0, 38)])
    nodes, weights = np.polynomial.legendre.leggauss(10)
    at = (0.5 * (edges[1:] + edges[:-1])[:, None] + 0.5 * np.diff(edges)[:, None] * nodes).ravel()
    weight = (0.5 * np.diff(edges)[:, None] * weights).ravel()
    log_posterior = np.array([LAW.values(y + h).density.sum() for h in at])
    posterior = weight * np.exp(log_posterior - log_posterior.max())
    assert estimate == pytest.approx(float(posterior @ at / posterior.sum()), abs=1e-8 * width)


def test_it_moves_with_the_entries() -> None:
    y = LAW.sample((40, 30), np.random.default_rng(3))
    for shift in (-20.0, 0.3, 7.0):
        np.testing.assert_allclose(entropy_estimate(y - shift), entropy_estimate(y) + shift, rtol=0, atol=1e-12)


def test_shapes() -> None:
    y = LAW.sample((3, 20), np.random.default_rng(4))
    several = entropy_estimate(y)
    assert several.shape == (3,)
    assert entropy_estimate(y[1]).shape == ()
    for row, value in zip(y, several, strict=True):
        assert float(entropy_estimate(row)) == pytest.approx(value, abs=1e-13)


def test_one_entry_far_away_does_little() -> None:
    """The left tail is heavy: such entries come, and are no reason to believe in a vast entropy."""
    y = LAW.sample(50, np.random.default_rng(5))
    y[0] = -1e9
    far = float(entropy_estimate(y))
    y[0] = -1e15
    assert float(entropy_estimate(y)) == pytest.approx(far, abs=1e-6)
    assert abs(far) < 1.5


def check_moments(size: int, sketches: int) -> None:
    """Unbiased, and of the deviation that plans count on; five standard errors, false alarm below 2e-6."""
    rng = np.random.default_rng([7, size])
    found = np.concatenate([entropy_estimate(LAW.sample((500, size), rng)) for _ in range(sketches // 500)])
    deviation = entropy_deviation(size)
    assert abs(found.mean()) < 5.0 * deviation / math.sqrt(sketches)
    # The fourth moment at small sizes is up to twice the normal one.
    assert math.sqrt(np.mean(found**2)) == pytest.approx(deviation, rel=5.0 * 1.2 / math.sqrt(2.0 * sketches))


@pytest.mark.parametrize(("size", "sketches"), [(10, 2_000), (50, 2_000), (500, 500)])
def test_unbiased_and_near_the_bound(size: int, sketches: int) -> None:
    check_moments(size, sketches)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "sketches"), [(10, 10_000), (50, 20_000), (500, 3_000), (1_800, 1_000)])
def test_unbiased_and_near_the_bound_more_precisely(size: int, sketches: int) -> None:
    check_moments(size, sketches)


def test_the_deviation_for_plans() -> None:
    """The mean variance of the posterior, in the pivot's law, and the bound: within 2% of it from 50 entries on."""
    for size in (10, 60):
        law = entropy_pivot(size)
        middle, mass = 0.5 * (law.x[1:] + law.x[:-1]), np.diff(law.below)
        mean = float(mass @ middle)
        assert abs(mean) < 1e-9
        assert math.sqrt(float(mass @ (middle - mean) ** 2)) == pytest.approx(entropy_deviation(size), rel=0.02)
    for size in (50, 500, 1_800):
        bound = math.sqrt(1.0 / (FISHER_INFORMATION * size))
        assert bound < entropy_deviation(size) < 1.02 * bound


def check_tails(size: int, sketches: int, confidence: float, blur: float = 0.0) -> None:
    """Each tail holds what is left of the confidence: 10% less or 7% more at most, and five deviations of the count."""
    rng = np.random.default_rng([size, sketches])
    drawn = np.concatenate([entropy_estimate(LAW.sample((500, size), rng)) for _ in range(sketches // 500)])
    drawn += blur * (rng.random(len(drawn)) - 0.5)
    low, high = entropy_pivot(size).limits(confidence, blur)
    expected = 0.5 * (1.0 - confidence) * sketches
    for found in (np.count_nonzero(drawn < low), np.count_nonzero(drawn > high)):
        assert 0.9 * expected - 5.0 * math.sqrt(expected) < found < 1.07 * expected + 5.0 * math.sqrt(expected)


def test_tails_are_those_of_a_simulation() -> None:
    """At 95%, of 4,000 sketches 100 are in each tail; with a grid of two deviations. False alarm below 1e-5."""
    check_tails(30, 4_000, 0.95, blur=0.6)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "sketches", "confidence"), [(5, 5_000, 0.96), (50, 20_000, 0.99), (400, 4_000, 0.95)])
def test_tails_of_more_sizes(size: int, sketches: int, confidence: float) -> None:
    """100 in each tail. False alarm below 1e-4."""
    check_tails(size, sketches, confidence)


@pytest.mark.slow
def test_far_limits_are_normal_at_large_sizes() -> None:
    low, high = entropy_pivot(2_000).limits(1.0 - 2e-6)
    for limit in (-low, high):
        assert limit == pytest.approx(4.75 * entropy_deviation(2_000), rel=0.08)


@pytest.mark.parametrize("bad", [np.ones(4), np.array([1.0, 2.0, 3.0, 4.0, math.nan]), np.full(9, -math.inf)])
def test_what_is_refused(bad: np.ndarray) -> None:
    with pytest.raises(ss.ArgumentError, match="entries"):
        entropy_estimate(bad)


def test_what_is_refused_by_type() -> None:
    with pytest.raises(ss.ArgumentTypeError, match="entries"):
        entropy_estimate(np.ones((2, 2, 9)))
    for function in (entropy_deviation, entropy_pivot):
        with pytest.raises(ss.ArgumentTypeError, match="size"):
            function(10.0)  # type: ignore[arg-type]
        with pytest.raises(ss.ArgumentError, match="size"):
            function(4)
