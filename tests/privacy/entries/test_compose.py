"""The sum of r losses, against sums that can be done exactly."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from stablesketch.privacy.entries.compose import tilt_for_delta, tilt_for_epsilon, tilted_sum
from stablesketch.privacy.entries.lattice import LatticeLaw


def randomized_response(epsilon: float) -> LatticeLaw:
    """Loss ±ε with probabilities e^ε/(1+e^ε) and 1/(1+e^ε): the sum is binomial and the curve is known."""
    yes = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    return LatticeLaw(-epsilon, 2.0 * epsilon, np.array([1.0 - yes, yes]), 0.0, 0.0)


def exact_delta(law: LatticeLaw, size: int, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(40):
        no, yes = (mpmath.mpf(float(w)) for w in law.weight)
        total = mpmath.mpf(0)
        for k in range(size + 1):
            at = size * mpmath.mpf(law.lowest) + k * mpmath.mpf(law.step)
            if at > epsilon:
                total += mpmath.binomial(size, k) * yes**k * no ** (size - k) * -mpmath.expm1(epsilon - at)
        return total


@pytest.mark.parametrize(("one", "size"), [(0.5, 1), (0.5, 2), (0.1, 50), (1e-3, 50), (0.02, 2000), (1e-8, 300)])
def test_binomial_sums(one: float, size: int) -> None:
    """Certainly on the right side, and within 1e-7, from δ near 1/2 down to 1e-30."""
    law = randomized_response(one)
    deviation = one * math.sqrt(size)
    for target in (0.0, 0.3, 2.0, 5.0, 9.0):
        epsilon = min(target * deviation, 0.97 * size * one)
        true = exact_delta(law, size, epsilon)
        theta = tilt_for_epsilon(law, size, epsilon)
        composed = tilted_sum(law, size, theta)
        low, high = (mpmath.exp(composed.log_delta(epsilon, upper=upper)) for upper in (False, True))
        assert low <= true <= high
        assert high - low < 1e-7 * true


@pytest.mark.parametrize("theta", [1e-3, 1.0, 30.0])
def test_any_tilt_is_correct_though_not_precise(theta: float) -> None:
    law = randomized_response(0.05)
    composed = tilted_sum(law, 400, theta)
    for epsilon in (0.0, 0.5, 3.0, 8.0):
        true = mpmath.log(exact_delta(law, 400, epsilon))
        assert composed.log_delta(epsilon, upper=False) <= true <= composed.log_delta(epsilon, upper=True)


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9, 1e-15])
def test_epsilon_from_delta_errs_on_the_stated_side(delta: float) -> None:
    law, size = randomized_response(0.05), 400
    composed = tilted_sum(law, size, tilt_for_delta(law, size, delta))
    high = composed.epsilon_above(delta, 20.0)
    low = composed.epsilon_below(delta, high)
    assert low <= high <= low * (1 + 1e-6)
    assert exact_delta(law, size, high) <= delta <= exact_delta(law, size, low)


def test_epsilon_is_zero_where_that_is_enough_and_the_top_where_nothing_else_is() -> None:
    law, size = randomized_response(0.001), 10
    composed = tilted_sum(law, size, tilt_for_delta(law, size, 0.5))
    assert composed.epsilon_above(0.5, 0.01) == 0.0
    assert composed.epsilon_below(0.5, 0.01) == 0.0
    # With no room below the top, the top is what is known to be enough.
    assert composed.epsilon_above(1e-300, 0.01) == pytest.approx(0.01, rel=1e-6)


def test_a_skewed_law_with_a_far_tail() -> None:
    """Direct convolution in exact order for few terms: a law with masses from 1 down to 1e-12."""
    weight = np.array([0.6, 0.3, 0.05, 0.04, 1e-2, 1e-6, 1e-9, 1e-12])
    law = LatticeLaw(-0.2, 0.1, weight, 0.0, 0.0)
    size = 12
    total = np.array([1.0])
    for _ in range(size):
        total = np.convolve(total, weight)
    at = size * law.lowest + law.step * np.arange(len(total))
    for epsilon in (0.0, 0.7, 1.5, 2.5):
        true = float(np.sum(total * np.maximum(-np.expm1(epsilon - at), 0.0)))
        composed = tilted_sum(law, size, tilt_for_epsilon(law, size, epsilon))
        low, high = (math.exp(composed.log_delta(epsilon, upper=upper)) for upper in (False, True))
        assert low <= true * (1 + 1e-12)
        assert high >= true * (1 - 1e-12)
        assert high - low < 1e-5 * true


def test_the_window_holds_all_but_a_trace() -> None:
    """Many terms: the transform is far shorter than the support, and what it leaves out is accounted for."""
    law = randomized_response(0.01)
    composed = tilted_sum(law, 10**6, tilt_for_delta(law, 10**6, 1e-9))
    assert len(composed.mass) < 40_000
    assert 0.0 < composed.outside < 1e-16
    assert composed.mass.sum() == pytest.approx(1.0, abs=1e-6)
    assert composed.cell_error < 1e-5 * composed.mass.max()
