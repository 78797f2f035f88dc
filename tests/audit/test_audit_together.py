"""Audits of several numbers together, of one inequality directly, and what an audit says it can catch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from stablesketch.audit.difference import DifferenceTest, log_p_value
from stablesketch.audit.samples import AuditReport, audit_samples
from stablesketch.errors import ArgumentTypeError

Floats = NDArray[np.float64]
NAMES = ("one", "two", "three")


def gaussian_curve(mu: float):
    def curve(epsilon: float) -> float:
        upper = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
        return float(upper)

    return curve


def laplace_curve(mu: float):
    return lambda epsilon: max(0.0, -math.expm1((epsilon - mu) / 2.0))


def correlated(rng: np.random.Generator, trials: int, shift: float) -> Floats:
    """Two numbers that share most of their noise: what differs between neighbours is their difference alone.

    Their difference is N(shift, 0.01): 10·shift apart, in deviations.
    """
    common = rng.normal(0.0, 5.0, trials)
    return np.column_stack([common, common + rng.normal(shift, 0.1, trials)])


def curved(rng: np.random.Generator, trials: int, leak: float) -> Floats:
    """Three numbers on a curve that gives the neighbour away: as limits do if one of two noises is missing."""
    value = rng.normal(0.0, 1.0, trials)
    return np.column_stack([value, np.exp(value) * (1.0 + leak), value**2 + leak])


def report_of(first: Floats, second: Floats, curve, **options: object) -> AuditReport:
    return audit_samples(first, second, curve, delta=1e-6, names=NAMES[: first.shape[1]], **options)  # type: ignore[arg-type]


def test_what_only_shows_in_two_numbers_together_is_caught() -> None:
    rng = np.random.default_rng(1)
    first, second = correlated(rng, 2_000, 0.0), correlated(rng, 2_000, 0.3)
    for column in (0, 1):
        assert audit_samples(first[:, column], second[:, column], gaussian_curve(0.5), delta=1e-6).passed
    together = report_of(first, second, gaussian_curve(0.5))
    assert not together.passed
    assert "of all" in together.worst.event


def test_a_thin_curve_is_told_from_another_beside_it() -> None:
    rng = np.random.default_rng(2)
    assert not report_of(curved(rng, 2_000, 0.0), curved(rng, 2_000, 0.05), gaussian_curve(1.0)).passed


def false_alarms(audits: int, trials: int, seed: int) -> int:
    """Of audits of a sound mechanism, whose numbers have exactly the claimed curve together."""
    rng = np.random.default_rng(seed)
    return sum(
        not report_of(correlated(rng, trials, 0.0), correlated(rng, trials, 0.1), gaussian_curve(1.0)).passed
        for _ in range(audits)
    )


def test_sound_mechanisms_of_two_numbers_pass() -> None:
    """At most 1% may fail: more than 4 of 40 would have a chance of 6e-5."""
    assert stats.binom.sf(4, 40, 0.01) < 1e-4
    assert false_alarms(40, 500, 3) <= 4


@pytest.mark.slow
def test_many_sound_mechanisms_of_two_numbers_pass() -> None:
    """At most 1% may fail: more than 11 of 300 would have a chance of 1e-4."""
    assert stats.binom.sf(11, 300, 0.01) < 2e-4
    assert false_alarms(300, 1_500, 4) <= 11


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_noise_of_four_fifths_is_caught(epsilon: float) -> None:
    """At 4,000 trials, in all of 10 audits."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        first, second = rng.laplace(epsilon / 0.8, 1.0, 4_000), rng.laplace(0.0, 1.0, 4_000)
        assert not audit_samples(first, second, laplace_curve(epsilon), delta=1e-6).passed


def test_the_report_says_what_it_can_catch() -> None:
    """Noise below the share that it states is caught on other outputs too; the claim itself passes."""
    rng = np.random.default_rng(6)

    def audited(noise: float) -> AuditReport:
        first, second = rng.laplace(1.0 / noise, 1.0, 4_000), rng.laplace(0.0, 1.0, 4_000)
        return audit_samples(
            first, second, laplace_curve(1.0), delta=1e-6, weaker=lambda share: laplace_curve(share)
        )  # fmt: skip

    honest = audited(1.0)
    assert honest.passed
    assert honest.catches is not None
    assert 0.7 <= honest.catches <= 0.95
    assert f"noise, or a floor, below about {honest.catches:.2g} of what the claim needs" in str(honest)
    assert sum(not audited(honest.catches - 0.1).passed for _ in range(10)) >= 9


def test_few_trials_catch_leaks_only_and_say_so() -> None:
    rng = np.random.default_rng(7)
    first, second = rng.laplace(0.1, 1.0, 100), rng.laplace(0.0, 1.0, 100)
    report = audit_samples(first, second, laplace_curve(0.1), delta=0.0, weaker=laplace_curve)
    assert report.catches == 0.0
    assert "outright leaks only" in str(report)


def test_samples_have_a_number_for_each_name() -> None:
    rows = np.ones((200, 2))
    with pytest.raises(
        ArgumentTypeError, match=r"must hold 3 real number\(s\) for each trial \(it is 2-dimensional float64\)"
    ):
        audit_samples(rows, rows, lambda e: 1.0, delta=0.0, names=NAMES)


def test_numbers_that_say_nothing_more_are_looked_at_once() -> None:
    """Limits that rise with the value have the same events, and more events would cost strength."""
    rng = np.random.default_rng(8)
    first, second = rng.normal(0.0, 1.0, 1_000), rng.normal(1.0, 1.0, 1_000)
    one = audit_samples(first, second, gaussian_curve(1.0), delta=1e-6)
    three = [np.column_stack([part, np.maximum(part - 1.0, 0.0), np.exp(part)]) for part in (first, second)]
    together = report_of(three[0], three[1], gaussian_curve(1.0))
    assert (together.events, together.worst.observed) == (one.events, one.worst.observed)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.0, 0.3), (0.7, 0.05), (2.0, 0.0), (2.0, 0.5)])
def test_p_values_are_never_too_small(epsilon: float, delta: float) -> None:
    """Exactly, by all counts of 24 trials: P(p <= α) <= α wherever the claim just holds."""
    trials = 24
    found = np.array(
        [[log_p_value((k, m), trials, epsilon, delta) for m in range(trials + 1)] for k in range(trials + 1)]
    )
    counts = np.arange(trials + 1)
    for other in np.linspace(0.0, (1.0 - delta) / math.exp(epsilon), 15):
        own = min(delta + math.exp(epsilon) * other, 1.0)
        chance = np.outer(stats.binom.pmf(counts, trials, own), stats.binom.pmf(counts, trials, other))
        for alpha in (0.3, 0.05, 1e-3, 1e-6):
            assert float(chance[found <= math.log(alpha)].sum()) <= alpha


@pytest.mark.parametrize("within", [(0.0, 1.0), (0.05, 0.2), (0.3, 0.9)])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.2])
def test_p_values_are_those_of_a_search_through_all_other_chances(
    delta: float, epsilon: float, within: tuple[float, float]
) -> None:
    """Chernoff's bound at 2,000 λ, each over 2,001 P' up to where P is 1: no derivative is asked for."""
    trials, factor = 1_000, math.exp(epsilon)
    most = max(min(within[1], (1.0 - delta) / factor), within[0])
    other, rate = np.linspace(within[0], most, 2_001), np.geomspace(1e-6, 30.0, 2_000)[:, np.newaxis]
    own = np.minimum(delta + factor * other, 1.0)
    with np.errstate(divide="ignore"):  # P' = 1, and no event
        logs = (np.log1p(own * np.expm1(rate)) + np.log1p(other * np.expm1(-factor * rate))).max(axis=1)
    for counts in ((990, 1), (300, 10), (40, 0)):
        seen = (counts[0] - factor * counts[1]) / trials
        searched = min(0.0, trials * float((logs - rate[:, 0] * seen).min()))
        if seen <= delta:
            searched = 0.0  # nothing was seen that the claim would not have
        assert log_p_value(counts, trials, epsilon, delta, within) == pytest.approx(searched, rel=2e-4, abs=2e-3)


def test_p_values_are_about_as_small_as_a_normal_test_would_have_them() -> None:
    counts, trials = (5_600, 4_400), 10_000
    score = (0.56 - 0.44 - 0.05) / math.sqrt((0.56 * 0.44 * 2) / trials)
    assert -0.55 * score**2 < log_p_value(counts, trials, 0.0, 0.05) < -0.45 * score**2


def test_the_limit_is_where_the_p_value_is_what_may_fail() -> None:
    test = DifferenceTest((700, 200), 1_000, 0.5, 1e-3)
    limit = test.limit()
    assert 0.2 < limit < 0.7 - math.exp(0.5) * 0.2
    assert test.log_p(limit) == pytest.approx(math.log(0.9e-3), abs=1e-3)
    assert DifferenceTest((200, 700), 1_000, 0.0, 1e-3).limit() == 0.0


def test_rare_events_are_judged_as_rare() -> None:
    """26 of 2,800 against 1: over all P' the p-value would be that of a coin."""
    assert log_p_value((26, 1), 2_800, 0.1, 0.0) > -1.0
    assert DifferenceTest((26, 1), 2_800, 0.1, 1e-2).excludes(0.0)


@pytest.mark.parametrize("other", [0.002, 0.03, 0.4, 0.9])
def test_a_test_within_limits_is_wrong_no_more_often_than_it_says(other: float) -> None:
    """Exactly, by all counts of 60 trials, where the claim just holds."""
    trials, epsilon = 60, 0.1
    counts = np.arange(trials + 1)
    own = min(math.exp(epsilon) * other, 1.0)
    chance = np.outer(stats.binom.pmf(counts, trials, own), stats.binom.pmf(counts, trials, other))
    for failure in (0.2, 0.02):
        wrong = math.fsum(
            float(chance[k, m])
            for k in range(trials + 1)
            for m in range(trials + 1)
            if chance[k, m] > 1e-9 and DifferenceTest((k, m), trials, epsilon, failure).excludes(0.0)
        )
        assert wrong + 1e-5 <= failure
