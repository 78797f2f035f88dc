"""Laws on a lattice: whatever is done to one, its curve never falls below the curve it stands for.

The curves are compared with sums over the masses in rational arithmetic or in mpmath, which share no code with them.
"""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stablesketch.privacy.loss_law import ATOM, Law, bounded, compose, law_of_masses, power, worse_than_both

EPSILONS = (-3.0, -1.0, -0.3, 0.0, 0.05, 0.2, 0.5, 1.0, 2.0, 4.0)


def curve(losses: list[float], masses: list[float], epsilon: float, infinity: float = 0.0) -> float:
    """Σ w (1 - e^{ε-t})_+ to 40 digits."""
    with mpmath.workdps(40):
        total = mpmath.mpf(infinity)
        for t, w in zip(losses, masses, strict=True):
            if t > epsilon:
                total += mpmath.mpf(w) * (1 - mpmath.exp(mpmath.mpf(epsilon) - mpmath.mpf(t)))
        return float(total)


def random_law(rng: np.random.Generator, count: int, width: float) -> tuple[list[float], list[float]]:
    """Some losses and masses that are those of a pair of probabilities: E_P[e^{-L}] <= 1."""
    losses = rng.normal(0.0, width, count)
    masses = rng.dirichlet(np.ones(count))
    losses += math.log(float(np.sum(masses * np.exp(-losses))))  # now it is 1
    return losses.tolist(), masses.tolist()


laws = st.builds(
    lambda seed, count, width: random_law(np.random.default_rng(seed), count, width),
    st.integers(0, 2**32), st.integers(1, 12), st.sampled_from([0.01, 0.2, 1.5]),
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(laws)
def test_splitting_never_lowers_a_curve(pair: tuple[list[float], list[float]]) -> None:
    losses, masses = pair
    law = law_of_masses(np.array(losses), np.array(masses))
    for epsilon in EPSILONS:
        true = curve(losses, masses, epsilon)
        assert true <= law.delta(epsilon)
        # On a lattice of 40 points per deviation the surplus is small, except right at a lone mass.
        assert law.delta(epsilon) <= true + 0.03
    assert abs(float(np.sum(law.mass)) - 1.0) < 1e-12
    assert abs(float(np.sum(law.mass * np.exp(-law.losses))) - 1.0) < 1e-9  # Q mass is kept too


@settings(deadline=None, max_examples=60)
@given(laws, st.integers(1, 5))
def test_coarser_lattices_lie_above(pair: tuple[list[float], list[float]], times: int) -> None:
    law = law_of_masses(np.array(pair[0]), np.array(pair[1]))
    coarse = law.at_step(law.exponent + times)
    assert coarse.exponent == law.exponent + times
    for epsilon in EPSILONS:
        assert coarse.delta(epsilon) >= law.delta(epsilon) * (1.0 - 1e-12)
    assert abs(float(np.sum(coarse.mass)) - float(np.sum(law.mass))) < 1e-12


@settings(deadline=None, max_examples=40)
@given(laws, laws)
def test_composition_lies_above_the_sum_over_all_pairs(
    one: tuple[list[float], list[float]], other: tuple[list[float], list[float]]
) -> None:
    composed = compose(law_of_masses(*map(np.array, one)), law_of_masses(*map(np.array, other)))
    losses = [a + b for a, b in product(one[0], other[0])]
    masses = [a * b for a, b in product(one[1], other[1])]
    for epsilon in EPSILONS:
        true = curve(losses, masses, epsilon)
        assert true <= composed.delta(epsilon) <= true + 0.05


@settings(deadline=None, max_examples=60)
@given(laws, laws)
def test_either_lies_above_both_and_touches_one(
    one: tuple[list[float], list[float]], other: tuple[list[float], list[float]]
) -> None:
    a, b = law_of_masses(*map(np.array, one)), law_of_masses(*map(np.array, other))
    worse = worse_than_both(a, b)
    step = max(a.exponent, b.exponent)
    a, b = a.at_step(step), b.at_step(step)
    for epsilon in (*EPSILONS, *(worse.step * k for k in range(-20, 20))):
        higher = max(a.delta(epsilon), b.delta(epsilon))
        assert worse.delta(epsilon) >= higher * (1.0 - 1e-12)
    if worse.exponent == step:
        for k in range(-30, 30):  # at the corners it is no more than the higher of the two
            epsilon = math.ldexp(k, step)
            assert worse.delta(epsilon) <= max(a.delta(epsilon), b.delta(epsilon)) * (1.0 + 1e-6) + 1e-12


def test_a_law_is_not_worse_than_itself() -> None:
    law = law_of_masses(*map(np.array, random_law(np.random.default_rng(1), 8, 0.3)))
    again = worse_than_both(law, Law.from_bytes(law.to_bytes()))
    assert worse_than_both(law, law) is law
    for epsilon in EPSILONS:
        assert again.delta(epsilon) == pytest.approx(law.delta(epsilon), rel=1e-9)


def test_the_ends_that_are_cut_off_are_charged() -> None:
    """A mass beyond the window counts as if it lay at infinity; one below it counts at the lowest point."""
    mass = np.array([1e-31, 0.5, 0.5 - 1e-31, 1e-32])
    law = Law(0, -1, mass).trimmed()
    assert len(law.mass) == 2
    assert law.infinity >= 1e-32
    assert float(np.sum(law.mass)) >= 1.0 - 1e-15
    for epsilon in (-5.0, -0.5, 0.5, 1.5):
        assert law.delta(epsilon) >= Law(0, -1, mass).delta(epsilon) * (1.0 - 1e-14)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-9, 0.01])
def test_the_worst_private_mechanism(epsilon: float, delta: float) -> None:
    """δ + (1 - δ)(e^ε - α)/(1 + e^ε) between e^-ε and e^ε; composed, a sum over binomials (Kairouz et al.)."""
    law = bounded(epsilon, delta)
    for share in (0.0, 0.3, 0.9):
        at = share * epsilon
        with mpmath.workdps(40):
            e = mpmath.exp(mpmath.mpf(epsilon))
            true = float(delta + (1 - mpmath.mpf(delta)) * (e - mpmath.exp(at)) / (1 + e))
        assert true <= law.delta(at) <= true * 1.01 + 0.03 * epsilon
    many = power(law, 10)
    for at in (0.0, 2.0 * epsilon, 5.0 * epsilon):
        with mpmath.workdps(40):
            likely = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
            true = 1 - (1 - mpmath.mpf(delta)) ** 10
            for k in range(11):
                loss = (2 * k - 10) * mpmath.mpf(epsilon)
                if loss > at:
                    chance = mpmath.binomial(10, k) * likely**k * (1 - likely) ** (10 - k)
                    true += (1 - mpmath.mpf(delta)) ** 10 * chance * (1 - mpmath.exp(at - loss))
            true = float(true)
        assert true <= many.delta(at) <= true * 1.02 + 0.02 * epsilon


def test_powers_are_compositions() -> None:
    law = law_of_masses(*map(np.array, random_law(np.random.default_rng(3), 6, 0.1)))
    step_by_step = law
    for _ in range(12):
        step_by_step = compose(step_by_step, law)
    together = power(law, 13)
    for epsilon in (0.0, 0.3, 0.8):
        assert together.delta(epsilon) == pytest.approx(step_by_step.delta(epsilon), rel=5e-3)
    assert power(law, 1) is law
    assert power(law, 0) is ATOM
    assert ATOM.delta(0.0) < 1e-14


def test_bytes_and_back() -> None:
    law = power(law_of_masses(*map(np.array, random_law(np.random.default_rng(4), 9, 0.4))), 5)
    again = Law.from_bytes(law.to_bytes())
    assert again.to_bytes() == law.to_bytes()
    assert all(again.delta(epsilon) == law.delta(epsilon) for epsilon in EPSILONS)
