"""The exponential mean of entropy's entries: its transform, mean, variance and tails, against the law of R itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import digamma, lambertw, polygamma

import stablesketch as ss
from stablesketch.law.skewed import FISHER_INFORMATION, SkewedLaw
from stablesketch.sketch.estimators.entropy_mean import (
    EntropyMeanLaw,
    entropy_mean,
    entropy_mean_deviation,
    entropy_mean_law,
    size_for,
)

LAW = SkewedLaw()


def expected(function: np.ufunc, low: float = -9.0) -> float:
    """E function(e^R) for bounded functions that are 1 at 0, by the trapezoid rule in u, y = u - e^{-u}."""
    u = np.arange(low, 6.0, 0.005)
    y = u - np.exp(-u)
    mass = 0.005 * (1.0 + np.exp(-u)) * np.exp(LAW.values(y).density)
    mass[0] *= 0.5
    beyond = math.exp(LAW.values(y[:1]).cdf[0])
    return float(mass @ function(np.exp(y))) + beyond


@pytest.mark.parametrize("x", [-40.0, -3.0, -0.2, 0.1, 0.3])
def test_the_transform_is_lamberts(x: float) -> None:
    """E e^{xe^R} = 1/(1 + W(-x)), up to 1/e."""
    assert expected(lambda y: np.exp(x * y)) == pytest.approx(1.0 / (1.0 + lambertw(-x).real), rel=1e-8)


def test_mean_and_variance_are_those_of_a_simulation() -> None:
    """Within five standard errors, computed from the simulation itself: false alarm below 1e-5."""
    rng = np.random.default_rng(11)
    for size, sketches in ((8, 100_000), (50, 20_000)):
        zeta = entropy_mean(LAW.sample((sketches, size), rng))
        centred = zeta**2
        assert abs(np.mean(zeta)) < 5.0 * np.std(zeta) / math.sqrt(sketches)
        expected_variance = entropy_mean_deviation(size) ** 2
        assert abs(np.mean(centred) - expected_variance) < 5.0 * np.std(centred) / math.sqrt(sketches)
        assert expected_variance == pytest.approx(float(polygamma(1, size - 1)) + 2.0 / (size - 2), rel=1e-14)


@pytest.mark.parametrize("size", [5, 12, 300])
def test_mean_and_variance_are_those_of_the_law(size: int) -> None:
    """∫ x dF and ∫ x² dF from `tails`: E ζ = ∫ P(ζ > x) - P(ζ < -x), E ζ² = 2 ∫ x (P(ζ > x) + P(ζ < -x)), x > 0."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    ends = np.concatenate([[0.0], np.geomspace(0.02, 4_000.0, 60)]) * (1.0 if size < 100 else 0.05)
    x = (0.5 * (ends[1:] + ends[:-1])[:, None] + 0.5 * np.diff(ends)[:, None] * nodes).ravel()
    weight = (0.5 * np.diff(ends)[:, None] * weights).ravel()
    law = entropy_mean_law(size)
    above, below = law.tails(x)[1], law.tails(-x)[0]
    assert float(weight @ (above - below)) == pytest.approx(0.0, abs=1e-9)
    variance = 2.0 * float(weight @ (x * (above + below)))
    assert variance == pytest.approx(entropy_mean_deviation(size) ** 2, rel=1e-6 if size > 5 else 1e-4)


def test_it_is_near_the_best_there_can_be() -> None:
    """3.6% above Cramér and Rao at 50 entries, 1.7% in the end; 0.04 nats take 1,877 entries."""
    for size, most in ((50, 1.036), (1_000, 1.018), (10**6, 1.0167)):
        assert 1.0 < entropy_mean_deviation(size) / math.sqrt(1.0 / (FISHER_INFORMATION * size)) < most
    assert size_for(0.04) == 1_877
    for deviation in (0.5, 0.1, 0.003):
        size = size_for(deviation)
        assert entropy_mean_deviation(size) <= deviation < entropy_mean_deviation(size - 1)


def test_it_moves_with_the_entries() -> None:
    y = LAW.sample((3, 40, 30), np.random.default_rng(3))
    several = entropy_mean(y)
    assert several.shape == (3, 40)
    assert float(entropy_mean(y[1, 2])) == pytest.approx(several[1, 2], abs=1e-13)
    for shift in (-20.0, 0.3, 700.0):
        np.testing.assert_allclose(entropy_mean(y - shift), several + shift, rtol=0, atol=1e-12)
    assert float(entropy_mean(y[0, 0])) == pytest.approx(digamma(29) - math.log(np.exp(y[0, 0]).sum()), abs=1e-13)


def test_entries_far_away_do_nothing() -> None:
    y = LAW.sample(50, np.random.default_rng(5))
    far, farther = y.copy(), y.copy()
    far[7], farther[7] = -1_100.0, -1e18
    assert float(entropy_mean(far)) == float(entropy_mean(farther))


# --- the tails ---


def brackets(size: int, end: float, cells: int = 1 << 14) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """t, and bounds of P(S <= t) from below and above: e^R rounded up and down to a lattice, by plain convolution of
    the masses that the distribution function gives. What is beyond the end cannot come back."""
    edges = end / cells * np.arange(1, cells + 1)
    masses = np.diff(np.exp(LAW.values(np.log(edges)).cdf), prepend=0.0)
    power, square, left = np.array([1.0]), masses, size
    length = 1 << (2 * cells).bit_length()
    while left:
        if left & 1:
            power = np.fft.irfft(np.fft.rfft(power, length) * np.fft.rfft(square, length), length)[:cells]
        square = np.fft.irfft(np.fft.rfft(square, length) ** 2, length)[:cells]
        left >>= 1
    below = np.cumsum(power)
    # Cell k holds ((k), k + 1]: rounded down the sum is k, rounded up k + size.
    return edges[: cells - size], np.concatenate([np.zeros(size), below[: cells - 2 * size]]), below[: cells - size]


@pytest.mark.parametrize("size", [5, 16, 60])
def test_the_law_lies_between_two_convolutions(size: int) -> None:
    end = size * math.exp(1.0) * (1.0 + 9.0 / math.sqrt(size))
    t, least, most = brackets(size, end)
    picked = np.unique(np.geomspace(len(t) // 60, len(t) - 1, 60).astype(int))
    above = entropy_mean_law(size).tails(digamma(size - 1) - np.log(t[picked]))[1]  # ζ > x where S < t
    assert (above >= least[picked] - 1e-13).all()
    assert (above <= most[picked] + 1e-13).all()
    assert np.max(most[picked] - least[picked]) < 0.02 * math.sqrt(size)  # they say something


@pytest.mark.parametrize("size", [5, 8, 30, 400, 10**6])
def test_the_bounds_are_bounds(size: int) -> None:
    """Chernoff's against the law itself: never below, at most 60 times it; what it `reaches` is reached."""
    law = entropy_mean_law(size)
    for probability in (0.3, 1e-3, 1e-9, 1e-13):
        z = max(law.reaches(probability))
        found = float(law.tails(-z)[0] + law.tails(z)[1])
        assert found <= probability
        assert found > probability / 60.0


def test_the_bound_of_each_side() -> None:
    """e^{-r g(w)} by its own formula, on both sides."""
    w = np.concatenate([-np.geomspace(0.01, 0.8, 25), np.geomspace(0.01, 60.0, 25)])
    for size in (5, 40):
        x = digamma(size - 1) - math.log(size) + w + 2.0 * np.log1p(w)
        bound = np.exp(-size * (np.log1p(w) - w / (1.0 + w) ** 2))
        below, above = EntropyMeanLaw(size).tails(x)
        assert (np.where(w < 0.0, below, above) <= bound).all()


def test_tails_are_those_of_a_simulation() -> None:
    """Of 100,000 sketches as many in each tail as the law says, within five deviations: false alarm below 1e-4."""
    rng, sketches = np.random.default_rng(6), 100_000
    for size in (5, 20):
        zeta, law = entropy_mean(LAW.sample((sketches, size), rng)), EntropyMeanLaw(size)
        for p in (1e-3, 0.025, 0.3, 0.5, 0.7, 0.975, 0.999):
            x = float(law.quantiles(p))
            assert float(law.tails(x)[0]) == pytest.approx(p, abs=2e-3 * math.sqrt(p * (1.0 - p)))
            assert abs(np.count_nonzero(zeta <= x) - p * sketches) < 5.0 * math.sqrt(p * (1.0 - p) * sketches) + 60.0


def test_quantiles_are_normal_at_large_sizes() -> None:
    law = entropy_mean_law(10**7)
    np.testing.assert_allclose(
        law.quantiles([0.025, 0.5, 0.975]) / entropy_mean_deviation(10**7), [-1.96, 0.0, 1.96], atol=2e-3
    )


def test_what_is_refused() -> None:
    for bad in (np.ones(4), np.array([1.0, 2.0, 3.0, 4.0, math.nan]), np.full(9, -math.inf)):
        with pytest.raises(ss.ArgumentError, match="entries"):
            entropy_mean(bad)
    with pytest.raises(ss.ArgumentTypeError, match="entries"):
        entropy_mean(3.0)
    with pytest.raises(ss.ArgumentError, match="size"):
        entropy_mean_deviation(4)
    with pytest.raises(ss.ArgumentTypeError, match="size"):
        EntropyMeanLaw(10.0)  # type: ignore[arg-type]
    for deviation in (0.0, math.inf, 1e-6):
        with pytest.raises(ss.ArgumentError, match="deviation"):
            size_for(deviation)
    for probability in (0.0, 1.0):
        with pytest.raises(ss.ArgumentError, match="probability"):
            entropy_mean_law(50).reaches(probability)
