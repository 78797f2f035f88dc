"""Limits for F from an estimate with Laplace noise: against a closed form, and as often right as they say."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest
from draws import one_sided_draws
from scipy.stats import chi2

from stablesketch import ArgumentError
from stablesketch.law.one_sided import one_sided_law
from stablesketch.sketch.estimators.noisy_interval import NoisyLaw, noisy_power_law
from stablesketch.sketch.estimators.power_sum import best_one_sided_power, one_sided_variance, power_sum, size_for

Array = np.ndarray


@lru_cache
def chi_nodes(size: int) -> tuple[Array, Array]:
    """ξ = c/χ_r at p = 1/2, and weights: Gauss's rule over the logit of the quantiles of χ², in panels."""
    log_c = 0.5 * math.log(2.0) + math.lgamma(size / 2) - math.lgamma((size - 1) / 2)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    ends = np.linspace(-24.0, 24.0, 16_001)
    u = ends[:-1, None] + np.diff(ends)[:, None] * (0.5 * nodes + 0.5)
    weight = 0.5 * np.diff(ends)[:, None] * weights / (4.0 * np.cosh(0.5 * u) ** 2)
    lower, upper = (1.0 / (1.0 + np.exp(np.abs(u[side]))) for side in (u < 0.0, u >= 0.0))
    square = np.concatenate([chi2.ppf(lower, size), chi2.isf(upper, size)])
    return math.exp(log_c) / np.sqrt(square), np.concatenate([weight[u < 0.0], weight[u >= 0.0]])


def exact_below(released: float, value: float, size: int) -> float:
    """P(F ξ + L <= T) at p = 1/2."""
    xi, weight = chi_nodes(size)
    v = released - value * xi
    half = 0.5 * np.exp(-np.abs(v))
    return float(np.sum(weight * np.where(v < 0.0, half, 1.0 - half)))


@pytest.mark.parametrize("size", [5, 16, 205, 2_000])
def test_the_law_at_one_half(size: int) -> None:
    """To 5e-4 of a probability, for noise that is small, middling and large beside F."""
    law = noisy_power_law(0.5, size)
    for released in (-1.0, 0.0, 3.0, 30.0, 1e4):
        for value in (0.1, 1.0, 10.0, 30.0, 1e4, 1.02e4):
            found = float(law.below(released, 1.0, np.array([value]))[0])
            assert found == pytest.approx(exact_below(released, value, size), abs=5e-4)


@pytest.mark.parametrize("size", [5, 205])
def test_limits_at_one_half(size: int) -> None:
    law = noisy_power_law(0.5, size)
    for released in (0.5, 20.0, 1e6):
        low, high = law.limits(released, 1.0, 0.95)
        if low > 0.0:
            assert exact_below(released, low, size) == pytest.approx(0.975, abs=5e-4)
        assert exact_below(released, high, size) == pytest.approx(0.025, abs=5e-4)


def test_quantiles_invert_the_law_and_rise() -> None:
    law = noisy_power_law(0.25, 12)
    probability = np.linspace(0.001, 0.999, 300)
    for released, noise in ((-2.0, 1.0), (0.0, 1.0), (50.0, 3.0), (1e9, 1e-3)):
        found = law.quantiles(released, noise, probability)
        assert found.shape == probability.shape
        assert np.all(np.diff(found) >= 0.0)
        known = found > 0.0
        np.testing.assert_allclose(law.below(released, noise, found[known]), 1.0 - probability[known], atol=3e-4)
        # 0 as long as Λ(T/b) is below 1 - π.
        least = 0.5 * math.exp(released / noise) if released < 0.0 else 1.0 - 0.5 * math.exp(-released / noise)
        np.testing.assert_array_equal(known, probability > 1.0 - least)
    many = law.quantiles(50.0, 3.0, probability)
    np.testing.assert_allclose(law.quantiles(50.0, 3.0, probability[[3, 250]]), many[[3, 250]], rtol=2e-3)
    extreme = law.quantiles(50.0, 3.0, np.array([4e-11, 0.5, 1.0 - 4e-11]))
    assert extreme[0] == 0.0
    assert 10.0 < extreme[1] < 100.0 < extreme[2] < math.inf


def below_by_numpy(ends: Array, masses: Array, released: float, noise: float, value: Array) -> Array:
    """E Λ((T - F ξ)/b): the mean of Λ over each piece by its integral, of a narrow piece by its middle."""
    v = (released - value[:, None] * ends) / noise
    falls, middle = v[:, :-1] - v[:, 1:], 0.5 * (v[:, :-1] + v[:, 1:])
    rising = np.maximum(v, 0.0) + 0.5 * np.exp(-np.abs(v))
    narrow = falls < 1e-4
    half = 0.5 * np.exp(-np.abs(middle))
    wide = (rising[:, :-1] - rising[:, 1:]) / np.where(narrow, 1.0, falls)
    means: Array = np.where(narrow, np.where(middle < 0.0, half, 1.0 - half), wide)
    return means @ masses


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("size", [5, 60, 2_000])
def test_the_law_is_the_one_that_numpy_has(p: float, size: int) -> None:
    """For every size of F, of the noise and of what was released; and a target is found to 1e-7 of F or of itself."""
    logits = np.linspace(math.log(1e-9) - math.log1p(-1e-9), math.log1p(-1e-9) - math.log(1e-9), 301)
    below = 1.0 / (1.0 + np.exp(-logits))
    ends, masses = np.exp(power_sum(p, size).log_quantiles(below)), np.diff(below) / np.diff(below).sum()
    law = noisy_power_law(p, size)
    target = np.array([1e-6, 0.025, 0.5, 0.975, 1.0 - 1e-6])
    for released in (-3.0, -0.5, 0.0, 1.0, 55.0, 1e3, 1e6, 1e200):
        for noise in (1e-3, 0.3, 1.0, 7.0):
            value = np.append(max(released, noise) * np.geomspace(1e-3, 10.0, 30), [0.0, 1e-300])
            wanted = below_by_numpy(ends, masses, released, noise, value)
            np.testing.assert_allclose(law.below(released, noise, value), wanted, rtol=1e-12, atol=1e-300)
            found = law.quantiles(released, noise, target)
            known = found > 0.0
            passed, near = 1.0 - target[known], 2e-7 * (target * (1.0 - target))[known] + 1e-12
            assert np.all(below_by_numpy(ends, masses, released, noise, found[known] * (1.0 - 2e-7)) > passed - near)
            assert np.all(below_by_numpy(ends, masses, released, noise, found[known] * (1.0 + 2e-7)) < passed + near)


def test_what_no_f_explains() -> None:
    law = noisy_power_law(0.5, 16)
    assert law.limits(-50.0, 1.0, 0.95) == (0.0, 0.0)
    low, high = law.limits(1.0, 1.0, 0.95)
    assert low == 0.0 < high
    low, high = law.limits(-1e300, 1.0, 0.95)
    assert (low, high) == (0.0, 0.0)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("size", [5, 16, 205])
def test_limits_hold_as_often_as_they_say(p: float, size: int) -> None:
    """20,000 releases for each F: each limit fails with probability 0.05, within 4.5 standard errors (7e-6 each, 90 of
    them: 6e-4). At F = 0 the upper limit never fails.

    A limit fails where P(F ξ + b L <= T) at the true F, found here by the law itself, is beyond its level: monotone.
    """
    rng = np.random.default_rng(round(1_000 * p) + size)
    law = noisy_power_law(p, size)
    drawn = 20_000
    xi = np.exp(power_sum(p, size).log_estimates(one_sided_draws(p, (drawn, size), rng)))
    error = 4.5 * math.sqrt(0.05 * 0.95 / drawn)
    for value in (0.0, 1.0, 10.0, 1e3, 1e6):
        released = value * xi + rng.laplace(0.0, 2.0, drawn)
        # The release at which the lower, and the upper, limit is the truth: by bisection in T.
        levels = np.array([release_at(law, value, level) for level in (0.05, 0.95)])
        assert abs(np.mean(released < levels[0]) - 0.05) < error
        assert abs(np.mean(released > levels[1]) - 0.05) < error
        if value > 0.0:
            low, high = law.limits(float(levels[1]), 2.0, 0.9)
            assert low == pytest.approx(value, rel=1e-4)
            low, high = law.limits(float(levels[0]), 2.0, 0.9)
            assert high == pytest.approx(value, rel=1e-4)


def release_at(law: NoisyLaw, value: float, level: float) -> float:
    """The T with P(F ξ + 2 L <= T) = level."""
    low, high = -100.0, 100.0 + 100.0 * value
    for _ in range(70):
        middle = 0.5 * (low + high)
        at = float(law.below(middle, 2.0, np.array([value]))[0])
        low, high = (low, middle) if at > level else (middle, high)
    return high


@pytest.mark.parametrize(("released", "noise", "name"), [(math.nan, 1.0, "released"), (1.0, 0.0, "noise")])
def test_what_cannot_be_is_refused(released: float, noise: float, name: str) -> None:
    with pytest.raises(ArgumentError, match=name):
        noisy_power_law(0.5, 8).limits(released, noise, 0.95)
    with pytest.raises(ArgumentError, match="confidence"):
        noisy_power_law(0.5, 8).limits(1.0, 1.0, 1.0)


# --- the variance of ξ at finite size ---


@pytest.mark.parametrize("size", [3, 4, 5, 20, 205, 10_000])
def test_the_variance_at_one_half(size: int) -> None:
    """E S^-1/(E S^-1/2)² of a χ²: Γ(r/2 - 1) Γ(r/2)/Γ((r-1)/2)² - 1."""
    exact = math.expm1(math.lgamma(size / 2 - 1) + math.lgamma(size / 2) - 2.0 * math.lgamma((size - 1) / 2))
    assert power_sum(0.5, size).relative_variance == pytest.approx(exact, rel=1e-6)


def test_one_or_two_entries_have_no_variance() -> None:
    assert power_sum(0.5, 1).relative_variance == power_sum(0.3, 2).relative_variance == math.inf


@pytest.mark.parametrize(("p", "size"), [(0.1, 5), (0.3, 40), (0.8, 8)])
def test_the_variance_by_another_integral(p: float, size: int) -> None:
    """E S^{-a} = (1/Γ(a)) ∫ s^{a-1} φ(s)^r ds, φ by a sum over z."""
    law, power = one_sided_law(p), best_one_sided_power(p)
    z = law.at(np.arange(-7.0, 45.0 / law.q, 0.04))
    weight = 0.04 * law.q * np.exp(law.values(z).density)
    y, theta = np.exp(power * z), -1.0 / power
    tau = np.arange(-32.0 / theta, 25.0 / theta, 0.05)
    log_phi = np.log([float(weight @ np.exp(-math.exp(t) * y)) for t in tau])

    def moment(a: float) -> float:
        return 0.05 * float(np.sum(np.exp(a * tau + size * log_phi))) / math.gamma(a)

    exact = moment(2.0 * theta) / moment(theta) ** 2 - 1.0
    assert power_sum(p, size).relative_variance == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 0.999])
def test_the_variance_of_many_entries(p: float) -> None:
    """It falls to the limit of many entries, like 1 + 2/r or so."""
    limit = one_sided_variance(best_one_sided_power(p), p)
    shares = [power_sum(p, size).relative_variance * size / limit - 1.0 for size in (100, 1_000, 10_000)]
    assert shares[0] == pytest.approx(10.0 * shares[1], rel=0.05)
    assert shares[1] == pytest.approx(10.0 * shares[2], rel=0.02)


def test_sizes_for_an_error() -> None:
    assert [size_for(p, 0.05) for p in (0.5, 0.75, 0.9)] == [203, 65, 14]
    for p, error in ((0.5, 0.05), (0.9, 0.01), (0.1, 0.002)):
        size = size_for(p, error)
        assert power_sum(p, size).relative_variance <= error**2 < power_sum(p, size - 1).relative_variance
    assert size_for(0.5, 10.0) == 5
    with pytest.raises(ArgumentError, match="error"):
        size_for(0.5, 0.0)
