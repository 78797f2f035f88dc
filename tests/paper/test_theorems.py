"""The theorems of the paper as tests: 1 to 3 hold, 4 and 5 do not, and what stands in their place does."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.law import StableLaw
from stablesketch.paper.density_ratio import monotone_parts, ratio, wide_density
from stablesketch.paper.theorem_4 import closed_form_delta, joint_tail_epsilon, tail_ratio
from stablesketch.paper.theorem_5 import claimed_accuracy, stored_bytes
from stablesketch.paper.theorems_1_to_3 import brute_force_sensitivity, ratio_excess
from stablesketch.privacy.sample_moment import expected_power
from stablesketch.privacy.sampling import SampledCurve, Sampling


@pytest.mark.parametrize(("n", "m", "most"), [(2, 2, 3), (3, 3, 2), (4, 2, 2), (5, 2, 1)])
@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.8, 1.0])
def test_theorem_1_holds_and_the_exact_value_is_attained(n: int, m: int, most: int, p: float) -> None:
    forced = brute_force_sensitivity(n, m, most, p)
    assert forced <= ss.paper.sensitivity(n, m, most, p) * (1 + 1e-12)
    assert forced == pytest.approx(((n - 1) ** p + most**p) / n**p, rel=1e-12)
    assert forced == pytest.approx(ss.sensitivity(p, ss.Privacy(1.0, 1e-9, n, most, relation="replace")), rel=1e-12)


@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 0.75, 0.95, 1.0])
def test_theorems_2_and_3_hold_on_a_dense_grid(p: float) -> None:
    """ρ^-1 <= ratio <= ρ^{1/p}, both ends approached; at p = 1 against the Cauchy density itself."""
    for rho in (1.0001, 1.5, 4.0):
        above, below = ratio_excess(p, rho)
        assert max(above, below) < 1e-9
        assert min(above, below) > -1e-3
    if p == 1.0:
        x = np.linspace(0.0, 50.0, 1_001)
        cauchy = (2.0**2 + x**2) / (2.0 * (1.0 + x**2))
        assert np.allclose(ratio(1.0, np.maximum(x, 1e-9)), cauchy, rtol=1e-9)


def test_theorem_4_is_refuted_in_closed_form() -> None:
    """n = M = 100, q = 0.02: claimed 0.0138. The tail ratio goes to ρ = 1.99, so that no ε below 0.688 has δ = 0."""
    claimed = ss.paper.subsampled_epsilon(100, 2, 100, 1.0, 1, 0.02)
    assert claimed == pytest.approx(0.0138, abs=5e-5)
    assert tail_ratio(100, 100, 0.02, 1e12) == pytest.approx(1.99, rel=1e-6)
    assert closed_form_delta(100, 100, 0.02, np.array([claimed]))[0] > 0.014
    # By simulation too: 400,000 entries of either stream, compared beyond x = 100. False alarm: below 1e-6.
    rng = np.random.default_rng(4)
    kept, last = rng.binomial(99, 0.02, (2, 400_000)), rng.random((2, 400_000)) < 0.02
    scales = kept + last * np.array([[100], [1]])
    beyond = (np.abs(scales * rng.standard_cauchy(scales.shape)) > 100.0).mean(axis=1)
    error = 5.0 * math.sqrt(2.0 * beyond.max() / 400_000)
    assert beyond[0] > math.exp(claimed) * beyond[1] + error


def test_with_q_of_one_over_r_it_is_worse() -> None:
    assert ss.paper.subsampled_epsilon(100, 2, 100, 1.0, 50, 0.02) == pytest.approx(math.log(1.99))
    assert joint_tail_epsilon(100, 100, 0.02, 50) > 100.0
    assert joint_tail_epsilon(100, 100, 0.02, 1) == pytest.approx(math.log(1.99))


def test_the_sound_accounting_is_never_below_the_counterexample() -> None:
    curve = SampledCurve(1.0, 1, ss.Privacy(1.0, 1e-6, 100, 100, relation="replace"), Sampling(0.02))
    for epsilon in (0.0138, 0.1, 0.5, 0.68):
        (true,) = closed_form_delta(100, 100, 0.02, np.array([epsilon]))
        assert curve.delta(epsilon) >= true


@pytest.mark.parametrize("p", [0.25, 0.5, 0.75])
def test_theorem_5_has_the_wrong_mean(p: float) -> None:
    """A key seen once survives with probability q, whatever p; the theorem has q^p. By simulation for ten times."""
    assert expected_power(1, 0.02, p) == pytest.approx(0.02)
    rng = np.random.default_rng(5)
    powers = rng.binomial(10, 0.02, 1_000_000).astype(float) ** p
    assert expected_power(10, 0.02, p) == pytest.approx(powers.mean(), abs=6.0 * powers.std() / 1_000.0)
    assert powers.mean() < 0.7 * (0.2) ** p


def test_theorem_5_promises_too_much_for_one_pair() -> None:
    """p = 1, q = 1/2, λ = 0.7: F'/q is 0 or 2 and the error always 1, not below 0.945 with probability 0.3."""
    assert claimed_accuracy(1.0, 0.5, 0.7) < 0.95
    assert {abs(kept / 0.5 - 1.0) for kept in (0, 1)} == {1.0}


def test_space_is_logarithmic() -> None:
    """A sketch of 10^12 pairs is less than 250 bytes larger than one of 10^3; a table of its keys would not change."""
    assert 0 < stored_bytes(0.5, 1_000, 10**9) - stored_bytes(0.5, 1_000, 1) < 250
    assert stored_bytes(0.5, 20_000, 1) < 1_000


def test_densities_above_one() -> None:
    """scipy is right in the body; the ratio at 0 is 2, far out 2^-p."""
    from scipy.stats import levy_stable

    x = np.array([0.3, 1.0, 4.0, 20.0])
    for p in (1.1, 1.5, 1.9):
        assert np.allclose(wide_density(p, x), levy_stable.pdf(x, p, 0.0), rtol=1e-7)
        assert ratio(p, np.array([1e-4]))[0] == pytest.approx(2.0, rel=1e-6)
        assert ratio(p, np.array([1e5]))[0] == pytest.approx(2.0**-p, rel=1e-3)


def test_the_ratio_has_two_monotone_parts_above_one_not_three() -> None:
    x = np.geomspace(0.01, 1e4, 2_001)
    for p in (1.1, 1.9, 1.95, 1.99):
        assert monotone_parts(ratio(p, x)) == 2
    for p in (0.1, 0.5, 1.0):
        assert monotone_parts(ratio(p, x)) == 1
    assert monotone_parts(np.array([1.0, 2.0, 1.0, 2.0])) == 3


def test_the_fourth_decimal_of_the_exact_column() -> None:
    """Figure 3 at p = 0.5: (1/p) ln ρ with the exact ρ, by hand."""
    rho = (math.sqrt(2**15 - 1) + 4.0) / math.sqrt(2**15)
    assert 2.0 * math.log(rho) == pytest.approx(0.0437, abs=5e-5)
    assert StableLaw(0.5).p == 0.5
