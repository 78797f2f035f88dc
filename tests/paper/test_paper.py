"""The paper's formulas: they give the paper's numbers, and the claims about what is wrong with them are true."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stablesketch import paper
from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.privacy import Privacy, sensitivity


@pytest.mark.parametrize(
    ("n", "M", "p", "rho", "per_entry"),
    [(2**15, 16, 0.5, 2.0005, 1.387), (10**6, 1, 0.25, 2.828, 4.159), (10**6, 1, 0.5, 2.000, 1.386)],
)
def test_the_numbers_of_the_paper(n: int, M: int, p: float, rho: float, per_entry: float) -> None:
    assert paper.sensitivity(n, 2**20, M, p) == pytest.approx(rho, abs=5e-4)
    assert paper.epsilon(n, 2**20, M, p, 1) == pytest.approx(per_entry, abs=5e-4)


@pytest.mark.parametrize("n", [2, 5, 1000, 10**6])
@pytest.mark.parametrize("M", [1, 3, 1000])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 1.0])
def test_theorem_1_is_valid_and_loose(n: int, M: int, p: float) -> None:
    """It is never below the exact value, equals it at p = 1, and does not tend to 1."""
    exact = (n - 1) ** p / n**p + (M / n) ** p
    assert paper.sensitivity(n, 2**20, M, p) >= exact * (1 - 1e-15)
    if p == 1.0:
        assert paper.sensitivity(n, 2**20, M, p) == pytest.approx(exact, rel=1e-15)
    if p == 0.5:
        assert paper.sensitivity(n, 2**20, M, p) > 2.0
    assert exact <= sensitivity(p, Privacy(1.0, 1e-9, n, M, relation="replace")) * (1 + 1e-15)


def test_theorem_4_is_false() -> None:
    """p = 1, one entry: the density of the entry is a mixture of Cauchy densities, over the sample's F_1.

    f(x) = E[F/(π (F² + x²))] -> E[F]/(π x²) far out; the two streams' ratio there is E F'/E F = 199/100.
    """
    n, M, q, x = 100, 100, 0.02, 1e6
    claimed = paper.subsampled_epsilon(n, 2, M, 1.0, 1, q)
    assert claimed == pytest.approx(0.0138, abs=5e-5)
    kept = np.arange(n + 1)
    odds = np.array([math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in kept])
    fewer = np.append(np.array([math.comb(n - 1, k) * q**k * (1 - q) ** (n - 1 - k) for k in range(n)]), 0.0)
    density = np.sum(odds * kept / (kept**2 + x**2))
    other = np.sum(fewer * ((1 - q) * kept / (kept**2 + x**2) + q * (kept + M) / ((kept + M) ** 2 + x**2)))
    true = math.log(other / density)
    assert true == pytest.approx(0.688, abs=5e-4)
    assert true > 49 * claimed


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ArgumentError, match="must be between 0 and 1"):
        paper.subsampled_epsilon(10, 10, 1, 0.5, 50, 2.0)
    with pytest.raises(ArgumentError, match="must be at least 2 for this theorem"):
        paper.sensitivity(10, 1, 1, 0.5)
    with pytest.raises(ArgumentTypeError):
        paper.sensitivity(10.0, 2, 1, 0.5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="must be at least 1"):
        paper.epsilon(10, 2, 1, 0.5, 0)
    assert paper.sensitivity(1, 2**60, 1, 0.05) == math.inf
