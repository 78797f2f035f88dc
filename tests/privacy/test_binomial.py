"""Confidence limits for a probability: against scipy's beta quantiles, and their coverage counted out exactly."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from stablesketch.privacy.binomial import log_tail, lower_limit, upper_limit

FAILURE = 1e-3
COUNTS = [
    (trials, successes)
    for trials in (1, 2, 10, 137, 5_000, 100_000)
    for successes in sorted({0, 1, 2, trials // 100, trials // 7, trials // 2, trials - 1, trials})
    if successes <= trials
]


@pytest.mark.parametrize(("trials", "successes"), COUNTS)
@pytest.mark.parametrize("failure", [0.4, 1e-2, 1e-5, 1e-9])
def test_limits_are_beta_quantiles(trials: int, successes: int, failure: float) -> None:
    """Never on the wrong side by more than scipy's own error, and as tight."""
    lower = stats.beta.ppf(failure, successes, trials - successes + 1) if successes else 0.0
    upper = stats.beta.isf(failure, successes + 1, trials - successes) if successes < trials else 1.0
    assert lower_limit(successes, trials, failure) == pytest.approx(lower, rel=1e-7, abs=1e-11)
    assert upper_limit(successes, trials, failure) == pytest.approx(upper, rel=1e-7, abs=1e-11)


@pytest.mark.parametrize(("trials", "successes"), [(n, k) for n, k in COUNTS if k])
def test_tail_is_a_bound_from_above(trials: int, successes: int) -> None:
    for part in (0.1, 0.7, 0.99, 1.0):
        x = part * successes / trials
        exact = stats.binom.logsf(successes - 1, trials, x)
        if math.isfinite(exact):
            assert exact - 1e-9 * max(1.0, abs(exact)) <= log_tail(successes, trials, x) <= exact + 1e-7


@pytest.mark.parametrize("trials", [1, 5, 40])
@pytest.mark.parametrize("limit", [lower_limit, upper_limit])
def test_limits_fail_no_more_often_than_they_say(trials: int, limit: object) -> None:
    """Every count weighted by its exact probability, for true probabilities between and just beside all limits."""
    limits = [limit(count, trials, FAILURE) for count in range(trials + 1)]  # type: ignore[operator]
    beside = [edge + shift for edge in limits for shift in (-1e-9, 1e-9) if 0.0 < edge + shift < 1.0]
    for truth in [*(i / 200 for i in range(1, 200)), *beside]:
        wrong = [edge > truth if limit is lower_limit else edge < truth for edge in limits]
        chance = sum(float(stats.binom.pmf(count, trials, truth)) for count in range(trials + 1) if wrong[count])
        assert chance <= FAILURE * (1.0 + 1e-9)
