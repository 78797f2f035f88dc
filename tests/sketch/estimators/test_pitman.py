"""The Pitman estimator against plain integration of the posterior, and its exactness."""

from __future__ import annotations

import math

import numpy as np
import pytest
from estimator_sketches import sketches

from stablesketch.law import StableLaw
from stablesketch.sketch.estimators import log_intervals
from stablesketch.sketch.estimators.pitman import maximum, posterior_summary


def by_brute_force(y: np.ndarray, p: float, probabilities: list[float]) -> tuple[float, list[float]]:
    """ln(1/E[1/F]) and quantiles of ln F, by 20,000 points of the law itself over all that could matter."""
    reach = 60.0 / (max(len(y) - 1, 1) * p)
    location = np.linspace(y.min() - reach - 10.0, y.max() + 90.0 / len(y) + 10.0, 20_000)
    law = StableLaw(p)
    log_posterior = np.sum([law.log_density(entry - location) for entry in y], axis=0)
    posterior = np.exp(log_posterior - log_posterior.max())
    inverse = np.sum(posterior * np.exp(-p * (location - y.min())))
    cumulative = (np.cumsum(posterior) - 0.5 * posterior) / posterior.sum()
    quantiles = [p * float(np.interp(probability, cumulative, location)) for probability in probabilities]
    return p * y.min() + math.log(posterior.sum() / inverse), quantiles


@pytest.mark.parametrize(
    ("p", "y"),
    [
        (0.05, [0.0, 3.0]),
        (0.05, [-40.0, 90.0, 10.0]),
        (0.5, [1.0, 1.0]),
        (0.5, [-3.0, 12.0, 0.1, 2.0, -1.0]),
        (1.0, [0.0, 0.0]),
        (1.0, [-9.0, 9.0]),
        (1.0, [0.0, 0.5, 30.0]),
        (0.8, [0.3 * k for k in range(12)]),
    ],
)
def test_against_brute_force(p: float, y: list[float]) -> None:
    probabilities = [0.005, 0.025, 0.5, 0.975, 0.995]
    value, limits = posterior_summary(np.array([y]), p, np.array(probabilities))
    expected, quantiles = by_brute_force(np.array(y), p, probabilities)
    assert value[0] == pytest.approx(expected, abs=1e-7)
    spread = quantiles[-1] - quantiles[0]
    np.testing.assert_allclose(limits[0], quantiles, atol=3e-4 * spread)


def test_one_entry_has_the_quantiles_of_the_law() -> None:
    """With one entry the posterior is the law itself, turned round."""
    probabilities = np.array([0.025, 0.5, 0.975])
    value, limits = posterior_summary(np.array([[2.0]]), 0.4, probabilities)
    expected = 0.4 * (2.0 - StableLaw(0.4).log_abs_quantile(upper=probabilities))
    np.testing.assert_allclose(limits[0], expected, atol=2e-3)
    assert value[0] == limits[0, 1]


@pytest.mark.parametrize("p", [0.3, 1.0])
def test_unbiased(p: float) -> None:
    """E[F_hat/F] = 1, within 5 standard errors of 4,000 sketches of 4 entries; false alarm 6e-7.

    (At 2 and 3 entries the variance is infinite or nearly so; the brute force above covers them.)
    """
    y, _ = sketches(p, 4, 4_000)
    value, _ = posterior_summary(y, p, np.empty(0))
    ratio = np.exp(value)
    assert abs(ratio.mean() - 1.0) < 5.0 * ratio.std() / math.sqrt(len(ratio))


@pytest.mark.parametrize("p", [0.05, 0.5, 1.0])
def test_the_maximum_is_one(p: float) -> None:
    y, _ = sketches(p, 7, 50)
    law = StableLaw(p)
    found = maximum(y, p)
    here = law.log_density(y - found[:, None]).sum(axis=1)
    for shift in (-1e-3, 1e-3):
        assert np.all(here >= law.log_density(y - found[:, None] - shift).sum(axis=1) - 1e-9)


def test_calibrated_given_the_configuration() -> None:
    """Not only on average: among sketches that happen to be spread out, or close together, limits hold as often.

    4,000 sketches of 5 entries in two halves, 5 standard errors; false alarm 1e-6 for each.
    """
    y, signs = sketches(0.5, 5, 4_000, seed=8)
    _, low, high = log_intervals(y, signs, 0.5)
    covered = (low < 0.0) & (high > 0.0)
    wide = np.ptp(y, axis=1) > np.median(np.ptp(y, axis=1))
    for half in (wide, ~wide):
        assert abs(covered[half].mean() - 0.95) < 5.0 * math.sqrt(0.95 * 0.05 / half.sum())
