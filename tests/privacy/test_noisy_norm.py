"""The noise of an estimated norm: sensitivity by brute force, the bound by other code, divergences of small streams."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc
from scipy.stats import chi, chi2

from stablesketch import ArgumentError
from stablesketch.privacy.noisy_estimate import EXACT, Precision
from stablesketch.privacy.noisy_norm import NoisyNorm
from stablesketch.sketch.estimators.norm import norm_law


def norm_noise_for(
    p: float, size: int, epsilon: float, delta: float, copies: int = 1, precision: Precision = EXACT
) -> float:
    return NoisyNorm(p, size, copies).noise(epsilon, delta, precision)


def norm(totals: tuple[int, ...], p: float) -> float:
    return float(np.sum(np.array(totals, float) ** p)) ** (1.0 / p)


# --- how much a norm can move ---


def added(totals: tuple[int, ...], pairs: int, value: int) -> set[tuple[int, ...]]:
    """All streams with so many pairs more, of values up to `value`."""
    found = {totals}
    for _ in range(pairs):
        found = {
            tuple(total + (v if k == key else 0) for k, total in enumerate(stream))
            for stream in found
            for key in range(len(totals))
            for v in range(1, value + 1)
        }
    return found


@pytest.mark.parametrize("p", [1.1, 1.5, 2.0])
@pytest.mark.parametrize(("pairs", "value"), [(1, 1), (1, 3), (2, 2)])
def test_every_small_stream_moves_by_at_most_c_m(p: float, pairs: int, value: int) -> None:
    """Added or removed, and replaced: never more than c M, and c M is attained (a stream that was empty)."""
    most = 0.0
    for common in itertools.product(range(4), repeat=3):
        streams = [norm(stream, p) for stream in added(common, pairs, value)]
        moved = [stream - norm(common, p) for stream in streams]
        assert min(moved) >= 0.0
        most = max(most, *moved, max(streams) - min(streams))
    assert most == pytest.approx(pairs * value, rel=1e-12)


# --- the bound by other code ---


def shortfall(epsilon: float, tail: Callable[[float], float], noise: float) -> float:
    """E f(ξ/noise) = ∫ f'(s) P(ξ > s noise) ds, s > ε, by Gauss's rule in panels of ln(s/ε)."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    total = 0.0
    for left in np.arange(0.0, 3.0, 0.1):
        s = epsilon * np.exp(left + 0.05 * (nodes + 1.0))
        values = np.array([tail(x * noise) for x in s])
        total += float(np.sum(0.05 * weights * s * 0.5 * np.exp(0.5 * (epsilon - s)) * values))
    return total


def chi_tail(size: int) -> Callable[[float], float]:
    """P(ξ > x) at p = 2."""
    mean = float(chi.mean(size))
    return lambda x: float(chi2.sf((mean * x) ** 2, size))


def order_tail(p: float, size: int) -> Callable[[float], float]:
    """P(ξ > x) below 2, with P(|X| <= x) = (2/π) ∫ sin(tx)/t e^{-t^p} dt by quadrature, and scipy's Beta law."""
    law = norm_law(p, size)

    def below(x: float) -> float:
        return 2.0 / math.pi * quad(lambda t: math.sin(t * x) / t * math.exp(-(t**p)), 1e-12, 40.0, limit=500)[0]

    return lambda x: float(betainc(size - law.order + 1, law.order, 1.0 - below(x * math.exp(law.log_constant))))


@pytest.mark.parametrize("size", [2, 16, 200, 5_000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 1e-4), (1.0, 1e-9), (8.0, 1e-7)])
def test_at_two(size: int, epsilon: float, delta: float) -> None:
    """Never below, and at most 2% above, for one norm and for the largest of three."""
    tail = chi_tail(size)

    def largest(x: float) -> float:
        return -math.expm1(3.0 * math.log1p(-min(tail(x), 1.0 - 1e-16)))

    for copies, law in ((1, tail), (3, largest)):
        noise = norm_noise_for(2.0, size, epsilon, delta, copies)
        assert shortfall(epsilon, law, noise) <= delta < shortfall(epsilon, law, noise / 1.02)


@pytest.mark.parametrize(("p", "size", "epsilon", "delta"), [(1.25, 50, 1.0, 1e-6), (1.8, 200, 1.0, 1e-9)])
def test_below_two(p: float, size: int, epsilon: float, delta: float) -> None:
    tail = order_tail(p, size)
    noise = norm_noise_for(p, size, epsilon, delta)
    assert shortfall(epsilon, tail, noise) <= delta * (1.0 + 1e-6)
    assert delta < shortfall(epsilon, tail, noise / 1.01)


def test_the_noise_of_the_documentation() -> None:
    """b/Δ at ε = 1, δ = 1e-9 for 16, 50, 200 and 800 entries: the table of docs/math-noisy-estimate.md, rounded up."""
    table = {
        1.25: (8.37, 2.91, 1.63, 1.27),
        1.5: (5.13, 2.54, 1.52, 1.23),
        1.75: (3.49, 2.19, 1.43, 1.20),
        1.9: (2.99, 1.99, 1.38, 1.18),
        2.0: (2.05, 1.56, 1.27, 1.13),
    }
    for p, row in table.items():
        for size, noise in zip((16, 50, 200, 800), row, strict=True):
            assert math.ceil(100.0 * norm_noise_for(p, size, 1.0, 1e-9)) / 100.0 == pytest.approx(noise)


# --- the divergences themselves ---


def divergence(one: float, other: float, size: int, noise: float, epsilon: float) -> float:
    """D(one ‖ other) = ∫ (g_one - e^ε g_other)_+ dt of ‖f‖ ξ + Laplace(noise) at p = 2, by sums over ξ and t."""
    xi = np.sqrt(chi2.ppf((np.arange(400) + 0.5) / 400, size)) / float(chi.mean(size))
    t = np.linspace(-25.0 * noise, max(one, other) * xi.max() + 25.0 * noise, 3_001)

    def density(f: float) -> np.ndarray:
        return np.mean([np.exp(-np.abs(t - f * x) / noise) for x in xi], axis=0) / (2.0 * noise)

    gap = density(one) - math.exp(epsilon) * density(other)
    return float((t[1] - t[0]) * np.sum(np.maximum(gap, 0.0)))


@pytest.mark.parametrize(("size", "epsilon", "delta"), [(4, 1.0, 1e-2), (16, 0.3, 1e-3)])
def test_small_streams_by_brute_force(size: int, epsilon: float, delta: float) -> None:
    """Neighbours by one pair of value up to 2 (Δ = 2): below δ in both directions; from the empty one with 40% less
    noise above it."""
    noise = 2.0 * norm_noise_for(2.0, size, epsilon, delta)
    for one, other in (
        ((), (2,)),
        ((1,), (3,)),
        ((1, 1), (1, 3)),
        ((3, 0), (3, 2)),
        ((2, 1), (1, 3)),
        ((5, 5), (5, 7)),
    ):
        for first, second in ((one, other), (other, one)):
            assert divergence(norm(first, 2.0), norm(second, 2.0), size, noise, epsilon) <= 1.01 * delta
    assert (
        max(divergence(0.0, 2.0, size, 0.6 * noise, epsilon), divergence(2.0, 0.0, size, 0.6 * noise, epsilon)) > delta
    )


# --- the interface ---


def test_survival_bounds_the_tail() -> None:
    xi, tail = NoisyNorm(2.0, 50).survival
    assert xi[0] == math.inf
    assert np.all(np.diff(xi) < 0.0)
    assert np.all(np.diff(tail) >= 0.0)
    assert tail[-1] == 1.0
    exact = np.array([chi_tail(50)(x) for x in xi[1:]])
    assert np.all(tail[:-1] >= np.minimum(exact, 1.0) * (1.0 - 1e-10))


def test_precision_is_paid_for() -> None:
    exact = norm_noise_for(2.0, 64, 1.0, 1e-9)
    rough = norm_noise_for(2.0, 64, 1.0, 1e-9, precision=Precision(error=1e-10, cap=1e9))
    assert rough - exact == pytest.approx(0.2, abs=0.02)
    failing = norm_noise_for(2.0, 64, 1.0, 1e-9, precision=Precision(failure=4e-10))
    assert failing == pytest.approx(norm_noise_for(2.0, 64, 1.0, 2e-10), rel=1e-3)
    norm_law_noise = NoisyNorm(2.0, 64)
    assert norm_law_noise.delta(1.0, 2.0, Precision(error=1e-9, cap=2e9)) == 1.0
    assert norm_law_noise.delta(1.0, 4.0, Precision(failure=0.01)) >= 0.02
    assert norm_law_noise.delta(1.0, norm_law_noise.noise(1.0, 1e-9)) <= 1e-9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NoisyNorm(2.0, 1), "size must .*got 1"),
        (lambda: NoisyNorm(2.0, 8, 0), "copies must .*got 0"),
        (lambda: NoisyNorm(1.0, 8), "p must .*got 1.0"),
        (lambda: NoisyNorm(2.1, 8), "p must .*got 2.1"),
        (lambda: norm_noise_for(2.0, 8, 1.0, 0.0), "delta must .*got 0.0"),
        (lambda: norm_noise_for(2.0, 8, 0.0, 1e-6), "epsilon must .*got 0.0"),
        (lambda: norm_noise_for(2.0, 8, 1.0, 1e-6, precision=Precision(failure=1e-6)), "delta must .*got 1e-06"),
    ],
)
def test_bad_input(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()
