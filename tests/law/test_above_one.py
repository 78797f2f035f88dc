"""The symmetric stable law of index above 1 against mpmath, the normal law, and its own moments."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from above_one_oracle import upper_tail
from draws import above_one_draws
from scipy.stats import kstest, norm

from stablesketch import ArgumentError, ArgumentTypeError
from stablesketch.law.above_one import AboveOneLaw, above_one_law

INDICES = [1.0001, 1.1499, 1.15, 1.5, 1.999]


@pytest.mark.parametrize("p", INDICES)
def test_against_fourier_inversion(p: float) -> None:
    law = AboveOneLaw(p)
    for x in (0.05, 7.0):
        tail, density = upper_tail(p, x)
        values = law.values(np.array(math.log(x)))
        assert float(values.sf) == pytest.approx(float(mpmath.log(tail)), abs=1e-12)
        assert float(values.cdf) == pytest.approx(float(mpmath.log1p(-tail)), abs=1e-12)
        assert float(values.density) == pytest.approx(float(mpmath.log(density * x)), abs=1e-11)


def test_two_is_the_normal_law() -> None:
    """Of variance 2, down to e^-300."""
    y = np.concatenate([np.linspace(-20.0, 3.55, 500), [5.0]])
    values, x = AboveOneLaw(2).values(y), np.exp(y) / math.sqrt(2.0)
    np.testing.assert_allclose(values.sf[:-1], math.log(2.0) + norm.logsf(x[:-1]), rtol=1e-13, atol=1e-13)
    inner = y < 0.0
    np.testing.assert_allclose(values.cdf[inner], np.log(1.0 - 2.0 * norm.cdf(-x[inner])), atol=1e-9)
    np.testing.assert_allclose(values.density[:-1], math.log(math.sqrt(2.0)) + norm.logpdf(x[:-1]) + y[:-1], atol=1e-12)
    assert values.sf[-1] == -math.inf


@pytest.mark.parametrize("p", [1.02, 1.3, 1.77, 1.99999, 2.0])
def test_pieces_meet_and_quantiles_invert(p: float) -> None:
    """Across the ends of the three formulas, and from either tail back."""
    law = above_one_law(p)
    for end in (-9.0, *([45.0 / p] if p < 2.0 else [])):
        near = law.values(np.array([end - 1e-9, end + 1e-9]))
        for part in near:
            assert part[0] == pytest.approx(part[1], abs=1e-8)
        assert near.sf[0] - near.sf[1] == pytest.approx(2e-9 * math.exp(near.density[0] - near.sf[0]), abs=2e-12)
    tails = np.array([-60.0, -30.0, -5.0, -0.1, -1e-3])
    np.testing.assert_allclose(law.values(law.quantile(log_sf=tails)).sf, tails, rtol=1e-10)
    np.testing.assert_allclose(law.values(law.quantile(log_cdf=tails)).cdf, tails, rtol=1e-10)


@pytest.mark.parametrize("p", [1.1, 1.6, 1.95])
def test_fractional_moments(p: float) -> None:
    """E|X|^s = 2^s Γ((1+s)/2) Γ(1-s/p) / (√π Γ(1-s/2)), by a sum over the density."""
    y = np.arange(-60.0, 150.0, 0.02)
    density = np.exp(above_one_law(p).values(y).density)
    for s in (-0.6, 0.5, 0.8):
        log_moment = (
            s * math.log(2.0) + math.lgamma(0.5 * (1 + s)) + math.lgamma(1 - s / p) - math.lgamma(1 - s / 2)
        ) - 0.5 * math.log(math.pi)
        assert 0.02 * float(np.sum(density * np.exp(s * y))) == pytest.approx(math.exp(log_moment), rel=1e-9)


@pytest.mark.parametrize("p", [1.2, 1.8, 2.0])
def test_samples_follow_the_law(p: float) -> None:
    """Kolmogorov's test at 1e-4: that is how often another seed would fail."""
    law = above_one_law(p)
    drawn = above_one_draws(p, 20_000, np.random.default_rng(7))
    below = np.exp(law.values(np.log(np.abs(drawn))).cdf)
    assert kstest(below, "uniform").pvalue > 1e-4
    assert abs(np.mean(drawn > 0.0) - 0.5) < 0.015


def test_the_best_level() -> None:
    """The median as p goes to 1; at 2 the 86th percentile, as is known of the normal law."""
    assert above_one_law(1.000001).best_level == pytest.approx(0.5, abs=1e-3)
    assert above_one_law(2.0).best_level == pytest.approx(0.8617, abs=1e-3)


def test_bad_input() -> None:
    for p in (1.0, 0.5, 2.0000001, math.nan):
        with pytest.raises(ArgumentError, match="above 1 and at most 2"):
            AboveOneLaw(p)
    with pytest.raises(ArgumentTypeError):
        AboveOneLaw("2")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        AboveOneLaw(1.5).quantile()
