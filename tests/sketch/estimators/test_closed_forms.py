"""The estimators against the formulas they are known by."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from estimator_sketches import sketches

from stablesketch.law import StableLaw
from stablesketch.sketch.estimators import log_estimates
from stablesketch.sketch.estimators.closed_forms import (
    best_level,
    best_power,
    log_mean_order_statistic,
    log_moment,
    power_variance,
)


@pytest.mark.parametrize("p", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("exponent", [-0.9, -0.2, 0.3, 0.9])
def test_moments(p: float, exponent: float) -> None:
    """E|X|^{λp} by summing over the quantiles of |X|, in the logit of the probability."""
    logit = np.arange(-700.0, 700.0, 0.02)
    below, above = 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(logit))
    law = StableLaw(p)
    log_x = np.where(logit < 0, law.log_abs_quantile(lower=below), law.log_abs_quantile(upper=above))
    mean = 0.02 * np.sum(np.exp(exponent * p * log_x) * below * above)
    assert math.exp(log_moment(exponent, p)) == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("size", [2, 7, 50])
def test_geometric_mean(p: float, size: int) -> None:
    log_magnitudes, signs = sketches(p, size, 3)
    factor = 2 / math.pi * math.gamma(p / size) * math.gamma(1 - 1 / size) * math.sin(math.pi * p / (2 * size))
    expected = np.prod(np.exp(log_magnitudes * p / size), axis=1) / factor**size
    np.testing.assert_allclose(np.exp(log_estimates(log_magnitudes, signs, p, "geometric_mean")), expected, rtol=1e-10)


def test_geometric_mean_has_its_known_variance() -> None:
    for p in (0.2, 0.7):
        assert power_variance(1e-4, p) == pytest.approx(math.pi**2 * (p * p + 2) / 12, rel=1e-3)


@pytest.mark.parametrize("p", [0.1, 0.25, 0.4])
def test_harmonic_mean_tends_to_its_first_order_factor(p: float) -> None:
    """-(2/π)Γ(-p) sin(πp/2)/Σ|a|^{-p} · (r - V): at r = 400 the terms left out are of order (V/r)²."""
    log_magnitudes, signs = sketches(p, 400, 2)
    moment = -2 / math.pi * math.gamma(-p) * math.sin(math.pi * p / 2)
    excess = -math.pi * math.gamma(-2 * p) * math.sin(math.pi * p) / (math.gamma(-p) * math.sin(math.pi * p / 2)) ** 2
    expected = moment / np.exp(-p * log_magnitudes).sum(axis=1) * (400 - (excess - 1))
    np.testing.assert_allclose(np.exp(log_estimates(log_magnitudes, signs, p, "harmonic_mean")), expected, rtol=2e-3)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_fractional_power_tends_to_its_first_order_factor(p: float) -> None:
    log_magnitudes, signs = sketches(p, 400, 2)
    power = best_power(p)
    mean = np.mean(np.exp(power * p * log_magnitudes), axis=1) / math.exp(log_moment(power, p))
    spread = power_variance(power, p) * power**2
    expected = mean ** (1 / power) * (1 - (1 / power - 1) * spread / (2 * power * 400))
    np.testing.assert_allclose(np.exp(log_estimates(log_magnitudes, signs, p, "fractional_power")), expected, rtol=2e-3)


def test_the_best_power_has_the_least_variance() -> None:
    for p in (0.05, 0.3, 0.6, 0.95):
        best = best_power(p)
        assert -0.5 / p < best < 0.5
        assert power_variance(best, p) <= min(power_variance(best - 0.02, p), power_variance(best + 0.02, p))
    assert abs(best_power(1.0)) < 0.01


@pytest.mark.parametrize(("p", "level"), [(0.25, 0.233), (0.5, 0.311), (0.75, 0.404), (0.9, 0.462), (1.0, 0.5)])
def test_the_best_quantile(p: float, level: float) -> None:
    assert best_level(p) == pytest.approx(level, abs=1.5e-3)


@pytest.mark.parametrize(("p", "power"), [(0.25, 1.26195), (0.5, 1.13306), (0.75, 1.04851), (1.0, 1.0)])
def test_the_median_tends_to_the_median_of_the_law(p: float, power: float) -> None:
    assert StableLaw(p).abs_quantile(lower=0.5) ** p == pytest.approx(power, abs=6e-6)
    assert math.exp(log_mean_order_statistic(p, 1_000_001, 500_001)) == pytest.approx(power, rel=1e-5)


@pytest.mark.parametrize(("size", "order"), [(2, 1), (3, 2), (5, 3), (50, 25), (50, 49), (9, 2)])
def test_mean_of_an_order_statistic_of_the_cauchy_law(size: int, order: int) -> None:
    """∫ tan(πu/2) Beta(u; k, r-k+1) du."""
    beta = mpmath.beta(order, size - order + 1)
    mean = mpmath.quad(
        lambda u: mpmath.tan(mpmath.pi * u / 2) * u ** (order - 1) * (1 - u) ** (size - order) / beta,
        [0, 0.25, 0.5, 0.75, 0.95, 1],
    )
    assert log_mean_order_statistic(1.0, size, order) == pytest.approx(float(mpmath.log(mean)), abs=1e-6)


def test_inter_quantile_is_the_distance_of_the_quartiles() -> None:
    """Up to a common factor, for sizes where numpy's quantile falls on entries; far beyond the floats as well."""
    p = 0.5
    log_magnitudes, signs = sketches(p, 19, 40)
    entries = np.sort(signs * np.exp(log_magnitudes), axis=1)
    distance = entries[:, 14] - entries[:, 4]
    ratio = np.exp(log_estimates(log_magnitudes, signs, p, "inter_quantile")) / distance**p
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
