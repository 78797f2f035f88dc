"""The law of entropy against its transform, against 40 digits, and against its own samples."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from stablesketch.law.skewed import FISHER_INFORMATION, SkewedLaw

LAW = SkewedLaw()


def by_inversion(y: float, power: int) -> mpf:
    """(1/π) ∫ e^{s (y - ln s)} sin(πs) s^power ds in 40 digits: the lower tail for power -1, the density for 0.

    One unit of s at a time, by Gauss: the sine changes sign at every integer.
    """
    with mpmath.workdps(40):

        def integrand(s: mpf) -> mpf:
            return mpmath.exp(s * (y - mpmath.log(s))) * mpmath.sin(mpmath.pi * s) * s**power

        end = 1
        while end * (math.log(end) - y) < 95.0:
            end += 1
        # The logarithm at 0 wants pieces that shrink towards it.
        first = [mpf(0), *(mpf(2) ** -k for k in range(30, -1, -1))]
        return mpmath.quad(integrand, first + [mpf(k) for k in range(2, end + 1)], maxdegree=6) / mpmath.pi


@pytest.mark.parametrize("y", [-7.0, -6.0, -2.5, 0.3])
def test_values_to_thirteen_digits(y: float) -> None:
    values = LAW.values(np.array([y]))
    below, density = by_inversion(y, -1), by_inversion(y, 0)
    assert float(values.density[0] - mpmath.log(density)) == pytest.approx(0.0, abs=2e-13)
    assert float(values.cdf[0] - mpmath.log(below)) == pytest.approx(0.0, abs=2e-13)
    assert float(values.sf[0] - mpmath.log(1 - below)) == pytest.approx(0.0, abs=2e-13)


def test_the_two_formulas_meet() -> None:
    y = np.linspace(-9.0, -4.0, 200)
    for left, elsewhere in zip(LAW._on_the_left(y), LAW._elsewhere(y), strict=True):
        np.testing.assert_allclose(left, elsewhere, rtol=0, atol=1e-13)


def test_the_transform_is_t_to_the_t() -> None:
    """∫ e^{ty} h(y) dy = t^t by the trapezoid rule; the left tail beyond the grid is below 1e-12 of it."""
    y = np.arange(-120.0, 7.0, 0.01)
    density = np.exp(LAW.values(y).density)
    for t in (0.5, 1.0, 1.7, 3.0):
        assert 0.01 * np.sum(np.exp(t * y) * density) == pytest.approx(t**t, rel=1e-11)


def test_the_density_is_the_slope_of_the_distribution_function() -> None:
    y = np.concatenate([-np.geomspace(1e6, 0.1, 60), np.linspace(0.0, 2.0, 20)])
    h = 1e-5 * np.maximum(1.0, np.abs(y))
    cdf = (np.exp(LAW.values(y + d * h).cdf) for d in (1.0, -1.0))
    right, left = cdf
    np.testing.assert_allclose((right - left) / (2 * h), np.exp(LAW.values(y).density), rtol=1e-5)


def test_fisher_information() -> None:
    """1/2.9026, as published for this estimation problem; the tail beyond -20,000 adds 4/20,000³/3."""
    y = np.concatenate([-np.geomspace(20_000.0, 30.0, 40_000), np.arange(-30.0, 6.5, 0.001)[1:]])
    log_h = LAW.values(y).density
    information = np.trapezoid(np.gradient(log_h, y) ** 2 * np.exp(log_h), y)
    assert information == pytest.approx(FISHER_INFORMATION, rel=1e-4)
    assert pytest.approx(2.9026, abs=1e-4) == 1.0 / FISHER_INFORMATION


def test_samples_follow_the_law() -> None:
    """Kolmogorov-Smirnov at 100,000 draws: D sqrt(n) above 2.2 has probability 1.2e-4; the seed is fixed."""
    drawn = np.sort(LAW.sample(100_000, np.random.default_rng(9)))
    cdf = np.exp(LAW.values(drawn).cdf)
    steps = np.arange(1, len(drawn) + 1) / len(drawn)
    assert max(np.max(steps - cdf), np.max(cdf - steps + 1 / len(drawn))) * math.sqrt(len(drawn)) < 2.2


def test_shares_shift_the_law_by_the_entropy() -> None:
    """Σ (f_k/N) R_k + H has the law of R: the identity that everything rests on. As above, 1.2e-4."""
    shares = np.array([0.5, 0.2, 0.2, 0.05, 0.05])
    entropy = -np.sum(shares * np.log(shares))
    sums = np.sort(LAW.sample((50_000, 5), np.random.default_rng(10)) @ shares + entropy)
    cdf = np.exp(LAW.values(sums).cdf)
    steps = np.arange(1, len(sums) + 1) / len(sums)
    assert max(np.max(steps - cdf), np.max(cdf - steps + 1 / len(sums))) * math.sqrt(len(sums)) < 2.2
