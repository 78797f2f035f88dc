"""The moment of a sample: exact means, Theorem 5 corrected, the variance bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from stablesketch.privacy.sample_moment import expected_power, expected_sample_moment, predicted_bias


@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 1.0])
@pytest.mark.parametrize(("count", "rate"), [(1, 0.02), (7, 0.5), (1_000, 0.02), (150_000, 0.02), (1_000_000, 0.3)])
def test_the_mean_of_a_power(count: int, rate: float, p: float) -> None:
    """Against scipy's binomial law, term by term over all that matters."""
    middle, spread = count * rate, 13 * np.sqrt(count * rate) + 30
    k = np.arange(max(1, int(middle - spread)), min(count, int(middle + spread)) + 1)
    exact = float(np.sum(binom.pmf(k, count, rate) * k.astype(float) ** p))
    assert expected_power(count, rate, p) == pytest.approx(exact, rel=1e-8)


def test_the_mean_lies_between_q_and_q_to_the_p() -> None:
    rng = np.random.default_rng(3)
    for p in (0.05, 0.3, 0.5, 0.9, 1.0):
        for rate in (0.001, 0.02, 0.4):
            counts = rng.geometric(0.05, 40)
            moment = float(np.sum(counts.astype(float) ** p))
            mean = expected_sample_moment(counts, rate, p)
            assert rate * moment * (1 - 1e-9) <= mean <= rate**p * moment * (1 + 1e-9)
    assert predicted_bias(np.ones(50, np.int64), 0.02, 0.25) == pytest.approx(0.02**0.75 - 1.0)
    assert abs(predicted_bias(np.full(50, 10**6), 0.02, 0.25)) < 1e-4


def test_many_different_counts_are_interpolated() -> None:
    counts = np.arange(1, 3_000)
    exact = sum(expected_power(int(f), 0.02, 0.4) for f in counts)
    assert expected_sample_moment(counts, 0.02, 0.4) == pytest.approx(exact, rel=2e-5)


def test_the_variance_bound() -> None:
    """Var F' <= (1-q) M^p E F', against the exact variance of small streams with values of all sizes up to M."""
    rng = np.random.default_rng(5)
    for p, rate in ((0.1, 0.3), (0.5, 0.02), (0.5, 0.7), (1.0, 0.5)):
        mean = variance = 0.0
        for _ in range(20):  # keys, independent
            values = rng.integers(1, 9, rng.integers(1, 9))
            kept = (np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1
            chance = np.prod(np.where(kept == 1, rate, 1 - rate), axis=1)
            powers = (kept @ values).astype(float) ** p
            powers[0] = 0.0
            mean += chance @ powers
            variance += chance @ powers**2 - (chance @ powers) ** 2
        assert variance <= (1 - rate) * 8**p * mean
