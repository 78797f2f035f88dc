"""The tables agree with the law they were made from."""

from __future__ import annotations

import numpy as np
import pytest

from stablesketch.law import StableLaw
from stablesketch.law.log_magnitude import log_magnitude
from stablesketch.law.tabulated import tabulated_log_density, tabulated_quantile

INDICES = [0.05, 0.0501, 0.2, 0.5, 0.799, 0.8, 0.95, 0.9999, 1.0]


@pytest.mark.parametrize("p", INDICES)
def test_log_density(p: float) -> None:
    table = tabulated_log_density(p)
    rng = np.random.default_rng(1)
    y = np.concatenate([rng.uniform(table.low - 5, table.high + 5, 5000), rng.uniform(-5, 5, 5000)])
    np.testing.assert_allclose(table(y), StableLaw(p).log_density(y), rtol=0, atol=1e-10)


@pytest.mark.parametrize("p", INDICES)
def test_straight_lines_far_out(p: float) -> None:
    table = tabulated_log_density(p)
    y = np.array([-1e5, -1e3, 1e4, 1e6])
    value, slope, curvature = table.derivatives(y)
    np.testing.assert_allclose(value, StableLaw(p).log_density(y), rtol=1e-12)
    np.testing.assert_array_equal(slope, [1.0, 1.0, -p, -p])
    np.testing.assert_array_equal(curvature, 0.0)


@pytest.mark.parametrize("p", INDICES)
def test_derivatives(p: float) -> None:
    """Slope and curvature against central differences of the law itself, whose errors are 1e-9 and 1e-6."""
    y = np.linspace(-30.0, 30.0, 777)
    law, step = log_magnitude(p), 1e-3
    before, here, after = (law.values(y + shift).density for shift in (-step, 0.0, step))
    value, slope, curvature = tabulated_log_density(p).derivatives(y)
    np.testing.assert_allclose(value, here, rtol=0, atol=1e-10)
    np.testing.assert_allclose(slope, (after - before) / (2 * step), rtol=0, atol=1e-6)
    np.testing.assert_allclose(curvature, (after - 2 * here + before) / step**2, rtol=0, atol=1e-5)


@pytest.mark.parametrize("p", INDICES)
def test_the_law_is_log_concave(p: float) -> None:
    """On which the estimators' Newton steps rely."""
    y = np.linspace(-100.0, 600.0, 50_001)
    assert np.max(tabulated_log_density(p).derivatives(y)[2]) < 1e-5


@pytest.mark.parametrize("p", INDICES)
def test_quantile(p: float) -> None:
    y = np.linspace(-60.0, 60.0 / p, 3001)
    values = log_magnitude(p).values(y)
    logit = values.cdf - values.sf
    np.testing.assert_allclose(tabulated_quantile(p)(logit), y, rtol=0, atol=5e-7)
