"""The power estimator of one-sided entries: unbiased, equivariant, close to the Cramér-Rao bound, with exact limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from draws import one_sided_draws
from scipy.stats import chi2

from stablesketch.law.one_sided import OneSidedLaw, one_sided_law
from stablesketch.sketch.estimators import one_sided
from stablesketch.sketch.estimators.power_sum import best_one_sided_power, one_sided_variance, power_sum

# Computed elsewhere, to four digits: the best power and its variance times the number of entries.
BEST = {
    0.05: (-1.0125, 0.992303),
    0.1: (-1.0458, 0.970906),
    0.25: (-1.2468, 0.842475),
    0.4: (-1.6149, 0.64776),
    0.5: (-2.0, 0.5),
    0.6: (-2.582, 0.351841),
    0.75: (-4.3221, 0.155798),
    0.9: (-11.2371, 0.027799),
    0.95: (-22.7385, 0.007185),
}
ORDERS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]


@pytest.mark.parametrize(("p", "expected"), BEST.items())
def test_the_best_power(p: float, expected: tuple[float, float]) -> None:
    power, variance = expected
    assert best_one_sided_power(p) == pytest.approx(power, rel=1e-3)
    assert one_sided_variance(best_one_sided_power(p), p) == pytest.approx(variance, abs=1e-6)
    assert 0.98 < 1.0 / (variance * OneSidedLaw(p).fisher_information) <= 1.0001


@pytest.mark.parametrize("p", [0.2, 0.8])
def test_moments_are_those_of_the_law(p: float) -> None:
    """E e^{λZ} = Γ(1-λ)/Γ(1-λp) by the trapezoid rule over the law itself."""
    law, power = one_sided_law(p), best_one_sided_power(p)
    z = law.at(np.arange(-8.0, 60.0 / law.q, 0.02))
    mean = 0.02 * law.q * np.sum(np.exp(power * z + law.values(z).density))
    assert mean == pytest.approx(math.gamma(1.0 - power) / math.gamma(1.0 - power * p), rel=1e-10)
    assert power_sum(p, 4).mean == pytest.approx(mean, rel=1e-10)


@pytest.mark.parametrize("size", [2, 3, 8, 50, 1_000, 10**6])
def test_at_one_half_everything_is_in_closed_form(size: int) -> None:
    """λ = -2 and Y = 2N²: S is twice a χ² of r degrees, E S^{-1/2} = Γ((r-1)/2)/(2 Γ(r/2))."""
    law = power_sum(0.5, size)
    exact = 0.5 * math.log(size) - math.log(2.0) + math.lgamma((size - 1) / 2) - math.lgamma(size / 2)
    assert law.log_constant == pytest.approx(exact, abs=1e-9)
    for probability in (0.0005, 0.025, 0.3, 0.8, 0.975, 0.9995):
        wanted = -0.5 * math.log(2.0 * chi2.ppf(1.0 - probability, size) / size) - exact
        assert law.log_quantile(probability) == pytest.approx(wanted, abs=1e-3 if size < 4 else 5e-5)


def exact_constant(p: float, size: int) -> float:
    """ln c for two entries by another road: E (Y_1 + Y_2)^{-θ} = (1/Γ(θ)) ∫ s^{θ-1} φ(s)² ds, φ by a sum over z."""
    assert size == 2
    law, power = one_sided_law(p), best_one_sided_power(p)
    z = law.at(np.arange(-7.0, 45.0 / law.q, 0.04))
    weight = 0.04 * law.q * np.exp(law.values(z).density)
    y = np.exp(power * z)
    theta = -1.0 / power

    def phi(s: float) -> float:
        return float(weight @ np.exp(-s * y))

    # The tail beyond the grid of z is a power: φ = C s^{-θ} there.
    tau = np.arange(-60.0, 38.0 / theta, 0.05)
    values = np.array([phi(math.exp(t)) for t in tau])
    integral = 0.05 * np.sum(np.exp(theta * tau) * values**2)
    return math.log(integral) - math.lgamma(theta) + theta * math.log(2.0)


@pytest.mark.parametrize("p", [0.1, 0.3, 0.6])
def test_the_constant_of_two_entries(p: float) -> None:
    assert power_sum(p, 2).log_constant == pytest.approx(exact_constant(p, 2), abs=1e-7)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.75, 0.95, 0.999])
@pytest.mark.parametrize("size", [3, 8, 50])
def test_the_mean_is_one(p: float, size: int) -> None:
    """20,000 simulated estimates; beyond 4.5 standard errors with probability 7e-6.

    P(ξ > x) falls like x^-r, so that few entries have wild means: that of min(ξ, 30) is taken, at most 1e-3 less.
    """
    drawn = np.exp(power_sum(p, size).log_estimates(one_sided_draws(p, (20_000, size), np.random.default_rng(4))))
    kept = np.minimum(drawn, 30.0)
    assert abs(kept.mean() - 1.0) < 4.5 * kept.std() / math.sqrt(len(kept)) + 1e-3 * (size == 3)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.slow
def test_the_error_is_within_five_percent_of_the_bound(p: float) -> None:
    """5,000 sketches of 50 entries. The ratio has a standard error of 1%, and lies at 1.01 to 1.04."""
    law = OneSidedLaw(p)
    drawn = np.exp(power_sum(p, 50).log_estimates(one_sided_draws(p, (5_000, 50), np.random.default_rng(6))))
    ratio = math.sqrt(np.mean((drawn - 1.0) ** 2) * 50.0 * law.fisher_information)
    print(f"p = {p}: RMSE/Cramér-Rao = {ratio:.4f}")
    assert ratio < 1.05


@pytest.mark.parametrize("p", [0.05, 0.4, 0.9, 0.999])
@pytest.mark.parametrize("size", [1, 2, 10, 100])
def test_limits_hold_as_often_as_they_say(p: float, size: int) -> None:
    """20,000 simulated estimates: each limit is passed with probability 0.025, within 4.5 standard errors (7e-6)."""
    law = power_sum(p, size)
    drawn = law.log_estimates(one_sided_draws(p, (20_000, size), np.random.default_rng(8)))
    error = 4.5 * math.sqrt(0.025 * 0.975 / len(drawn))
    assert abs(np.mean(drawn < law.log_quantile(0.025)) - 0.025) < error
    assert abs(np.mean(drawn > law.log_quantile(0.975)) - 0.025) < error


def test_estimates_are_equivariant_and_zero_stays_zero() -> None:
    rng = np.random.default_rng(9)
    for p in (0.1, 0.5, 0.9):
        logs = one_sided_draws(p, (7, 16), rng) / p
        value = one_sided.log_estimates(logs, p)
        for scale in (-700.0, -1.5, 0.25, 4_000.0):
            moved = one_sided.log_estimates(logs + scale, p)
            np.testing.assert_allclose(moved, value + p * scale, rtol=1e-13, atol=1e-12)
        logs[3] = -np.inf
        logs[5, 2] = -np.inf
        empty = one_sided.log_estimates(logs, p)
        assert np.isneginf(empty[[3, 5]]).all()
        np.testing.assert_array_equal(np.delete(empty, [3, 5]), np.delete(value, [3, 5]))
        assert np.exp(empty[3]) == 0.0


def test_one_call_serves_many() -> None:
    """A block of 100,000 estimates is the estimates one by one."""
    logs = np.random.default_rng(10).normal(size=(100_000, 16))
    many = one_sided.log_estimates(logs, 0.25)
    assert many.shape == (100_000,)
    for i in (0, 77_777, 99_999):
        assert one_sided.log_estimates(logs[i], 0.25) == pytest.approx(many[i], abs=1e-14)
