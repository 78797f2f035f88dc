"""The law of an estimate with noise: never below integrals that share no code with it, alone and composed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from noise_helpers import noise_for
from scipy.special import gammaln
from scipy.stats import chi2
from test_noisy_estimate import vertical_tail

from stablesketch import LedgerError
from stablesketch.format.checked_json import JsonError, parsed
from stablesketch.law.one_sided import one_sided_law
from stablesketch.privacy.charge import Charge
from stablesketch.privacy.estimate_loss import law_of_estimate, shifted_law
from stablesketch.privacy.loss_law import Law, compose, power
from stablesketch.privacy.noisy_estimate import EXACT, NoisyEstimate, Precision
from stablesketch.privacy.upper_atoms import Atoms, power_atoms
from stablesketch.sketch.estimators.power_sum import power_sum

Array = np.ndarray


def estimate_law(estimate: NoisyEstimate, noise: float, precision: Precision) -> Law:
    """The law of one release with Laplace noise of this scale, in units of Δ."""
    known = "power", estimate.p, estimate.size, estimate.copies
    return law_of_estimate(*known, noise, precision.shift(noise), precision.failure)


def log_c(size: int) -> float:
    """ξ = c/χ_r at p = 1/2."""
    return 0.5 * math.log(2.0) + float(gammaln(size / 2) - gammaln((size - 1) / 2))


def chi_tail(x: Array, size: int) -> Array:
    """P(ξ >= x) at p = 1/2."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(chi2.cdf(np.exp(2.0 * (log_c(size) - np.log(x))), size))


# --- the law of ξ from above ---


@pytest.mark.parametrize("size", [2, 3, 5, 16, 64, 205, 1_500, pytest.param(2_048, marks=pytest.mark.slow), 20_000])
def test_atoms_have_the_upper_tail_everywhere(size: int) -> None:
    """At p = 1/2: at least the true tail at every x, and ξ is raised by 0.3%; by Chernoff by two deviations."""
    atoms = power_atoms(0.5, size)
    x, tail = atoms.points[1:], atoms.tail[:-1]
    assert np.isinf(atoms.points[0])
    assert np.all(np.diff(atoms.points) < 0.0)
    assert np.all(np.diff(atoms.tail) >= 0.0)
    assert atoms.tail[-1] == 1.0
    assert atoms.tail[0] < 2e-18
    assert np.all(tail >= chi_tail(x, size))
    reached = math.exp(log_c(size)) / np.sqrt(chi2.ppf(np.minimum(tail, 1.0 - 1e-12), size))
    kept = (tail > 1e-17) & (tail < 0.9)
    assert np.max(x[kept] / reached[kept]) < (1.003 if size < 2_049 else 1.0 + 2.0 * math.sqrt(0.5 / size))


@pytest.mark.parametrize(("p", "size"), [(0.1, 24), (0.8, 9)])
def test_atoms_by_another_transform(p: float, size: int) -> None:
    """At other p, against an inversion along a vertical line."""
    atoms, tail = power_atoms(p, size), vertical_tail(p, size)
    for level in (0.2, 1e-3, 1e-6, 1e-10, 1e-14):
        place = int(np.searchsorted(atoms.tail, level))
        x, bound = float(atoms.points[place + 1]), float(atoms.tail[place])
        assert tail(x) <= bound * (1.0 + 1e-8)
        assert bound <= tail(0.996 * x)


@pytest.mark.parametrize("p", [0.97, 0.999])
def test_few_entries_near_one(p: float) -> None:
    """There the greatest Y is nearly the sum: P(Y <= s/r)^r <= P(S <= s) <= P(Y <= s)^r, which are close in ξ."""
    size = 5
    atoms, law, power_law = power_atoms(p, size), one_sided_law(p), power_sum(p, size)
    some = np.searchsorted(atoms.tail, [1e-17, 1e-15, 1e-12, 1e-9, 1e-6])
    x, tail = atoms.points[some + 1], atoms.tail[some]
    log_sum = math.log(size) - (np.log(x) + power_law.log_constant) / power_law.theta
    for more, sign in ((-math.log(size), 1.0), (0.005 / power_law.theta, -1.0)):
        bound = size * law.values((log_sum + more) / power_law.power).sf
        assert np.all(sign * (np.log(tail) - bound) >= 0.0)


def test_the_largest_of_several() -> None:
    atoms = power_atoms(0.5, 16)
    three = atoms.largest_of(3)
    assert np.all(three.tail >= (1.0 - (1.0 - atoms.tail) ** 3) * (1.0 - 1e-12) - 1e-15)
    assert three.tail[0] == pytest.approx(3.0 * atoms.tail[0])
    assert atoms.largest_of(1) is atoms


# --- one release ---


@pytest.mark.parametrize("shift", [0.013, 0.5, 1.0, 7.3])
def test_one_shift_is_a_pair_of_laplace_laws(shift: float) -> None:
    """At the corners of the lattice H is that of the two laws, also below α = 1; between them it is hardly more."""
    law = shifted_law(Atoms(np.array([shift]), np.ones(1)), 1.0, 0.0, 0.0)
    assert float(law.mass.sum()) == pytest.approx(1.0, abs=1e-12)
    assert float(law.mass @ np.exp(-law.losses)) == pytest.approx(1.0, abs=1e-9)
    for share in (-1.3, -0.7, -0.1, 0.0, 0.3, 0.9, 0.99):
        epsilon = share * shift
        corner = round(epsilon / law.step) * law.step
        for at, more in ((corner, 1e-9), (epsilon, 2e-3 * shift)):
            one = max(-math.expm1(0.5 * (abs(at) - shift)), 0.0)
            true = one if at >= 0.0 else 1.0 - math.exp(at) + math.exp(at) * one
            assert true - 1e-15 <= law.delta(at) <= true + more


def quadrature(size: int) -> tuple[Array, Array]:
    """Nodes ξ and weights at p = 1/2: Gauss's rule in panels of the quantile function, to tails of 1e-15."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    ends = np.linspace(-34.5, 34.5, 70)
    u = ends[:-1, None] + np.diff(ends)[:, None] * (0.5 * nodes + 0.5)
    weight = 0.5 * np.diff(ends)[:, None] * weights / (4.0 * np.cosh(0.5 * u) ** 2)
    # P(ξ >= x) = 1/(1 + e^u)
    upper = chi2.ppf(1.0 / (1.0 + np.exp(u)), size)
    lower = chi2.isf(1.0 / (1.0 + np.exp(-u)), size)
    xi = math.exp(log_c(size)) / np.sqrt(np.where(u > 0.0, upper, lower))
    return xi.ravel(), weight.ravel()


def curve(size: int, noise: float) -> Callable[[Array], Array]:
    """E H_s(e^x) at any x."""
    nodes, weights = np.polynomial.legendre.leggauss(10)

    def positive(epsilon: float) -> float:
        """∫ e^{-v/2}/2 P(ξ > (ε + v) noise) dv, v > 0."""
        top = max(60.0, 4.0 * epsilon)
        ends = np.concatenate([[0.0], np.geomspace(1e-5, top, 60)])
        v = ends[:-1, None] + np.diff(ends)[:, None] * (0.5 * nodes + 0.5)
        values = 0.5 * np.exp(-0.5 * v) * chi_tail(np.maximum((epsilon + v) * noise, 1e-12), size)
        return float(np.sum(0.5 * np.diff(ends)[:, None] * weights * values))

    grid = np.concatenate([np.linspace(0.0, 6.0 / noise, 800), np.geomspace(6.1 / noise, 400.0 / noise, 200)])
    table = np.log(np.maximum([positive(e) for e in grid], 1e-280))

    def whole(x: Array) -> Array:
        known = np.exp(np.interp(np.abs(x), grid, table))
        return np.where(x >= 0.0, known, 1.0 - np.exp(x) + np.exp(x) * known)

    return whole


def twice(size: int, noise: float) -> Callable[[float], float]:
    """δ of two releases: E over the first loss l of H(e^{ε - l})."""
    xi, weight = quadrature(size)
    one = curve(size, noise)
    s = xi / noise
    nodes, weights = np.polynomial.legendre.leggauss(16)
    t = s[:, None] * (0.5 * nodes + 0.5)
    inner = 0.5 * s[:, None] * weights * 0.5 * np.exp(-t)

    def delta(epsilon: float) -> float:
        ends = 0.5 * one(epsilon - s) + 0.5 * np.exp(-s) * one(epsilon + s)
        return float(weight @ (ends + (inner * one(epsilon - s[:, None] + 2.0 * t)).sum(axis=1)))

    return delta


def least_epsilon(delta_of: Callable[[float], float], delta: float) -> float:
    low, high = 0.0, 64.0
    for _ in range(34):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if delta_of(middle) <= delta else (middle, high)
    return high


CASES = [(8, 11.5), (64, 1.72), (205, 0.17)]


@pytest.mark.parametrize(("size", "noise"), CASES)
def test_one_release_at_one_half(size: int, noise: float) -> None:
    """Above the exact curve everywhere, also at α < 1, and within half a percent of ε."""
    law, exact = estimate_law(NoisyEstimate(0.5, size), noise, EXACT), curve(size, noise)
    for epsilon in (np.array([-2.0, -1.0, -0.3, 0.0, 0.2, 0.7, 1.0]) / noise).tolist():
        true = float(exact(np.array(epsilon)))
        assert true * (1.0 - 1e-6) <= law.delta(epsilon) <= true + 2e-3
    for delta in (1e-3, 1e-6, 1e-9, 1e-12):
        epsilon = least_epsilon(law.delta, delta)
        assert float(exact(np.array(epsilon))) <= delta * (1.0 + 1e-5)
        assert float(exact(np.array(0.995 * epsilon))) >= delta


@pytest.mark.parametrize(("size", "noise"), CASES)
def test_two_releases_at_one_half(size: int, noise: float) -> None:
    """Composed: above the integral over both, and within 1% of ε."""
    law = estimate_law(NoisyEstimate(0.5, size), noise, EXACT)
    both, exact = compose(law, law), twice(size, noise)
    for delta in (1e-2, 1e-5, 1e-9):
        epsilon = least_epsilon(both.delta, delta)
        assert exact(epsilon) <= delta * (1.0 + 1e-4)
        assert exact(0.99 * epsilon) >= delta


@pytest.mark.parametrize(("p", "size"), [(0.1, 16), (0.9, 14), (0.5, 3_000)])
def test_the_law_agrees_with_the_bound_of_plans(p: float, size: int) -> None:
    noise = noise_for(p, size, 1.0, 1e-9, copies=2)
    estimate = NoisyEstimate(p, size, 2)
    law = estimate_law(estimate, noise, EXACT)
    assert law.delta(0.99) >= estimate.delta(1.0, noise) * (1.0 - 1e-9)
    assert law.delta(1.01) <= estimate.delta(1.0, noise)


def test_precision_adds_to_the_shift_and_failure_lies_at_infinity() -> None:
    estimate = NoisyEstimate(0.5, 64)
    plain = estimate_law(estimate, 2.0, EXACT)
    moved = estimate_law(estimate, 2.0, Precision(grid=0.05))
    for epsilon in (0.4, 0.7):
        assert moved.delta(epsilon + 0.1) == pytest.approx(plain.delta(epsilon), rel=0.02)
    failing = estimate_law(estimate, 2.0, Precision(failure=1e-5))
    assert failing.infinity == pytest.approx(2e-5, rel=1e-6)
    assert failing.delta(0.5) == pytest.approx(plain.delta(0.5) + 2e-5, rel=1e-6)


@pytest.mark.parametrize("noise", [1e-305, 1e-30, 1e-3, 1e4, 1e9, 1e300])
def test_any_noise(noise: float) -> None:
    """Few points whatever the noise, and all of the mass; with next to none of it, everything is at infinity."""
    for size in (2, 16):
        law = estimate_law(NoisyEstimate(0.5, size), noise, EXACT)
        assert len(law.mass) < 20_000
        assert float(law.mass.sum()) + law.infinity >= 1.0 - 1e-12
        assert law.infinity < 1e-6 or noise < 1.0
        assert 0.0 <= law.delta(1.0) <= 1.0
        assert law.delta(1.0) == 1.0 or noise > 1e-4


def test_heavy_tails_stay_short_when_composed() -> None:
    """A thousand releases of five entries have few points, and not much more at infinity than a thousand times one."""
    law = estimate_law(NoisyEstimate(0.5, 5), 42.3, EXACT)
    many = power(law, 1_024)
    assert len(many.mass) < 1 << 15
    assert many.infinity < 1.1 * 1_024 * law.infinity


# --- in the ledger ---


def planned(size: int = 205, epsilon: float = 1.0, delta: float = 1e-9, copies: int = 1) -> Charge:
    precision = Precision(grid=1.0 / 2048.0, failure=1e-15)
    noise = noise_for(0.5, size, epsilon, delta, copies, precision)
    return Charge(
        "estimate", p=0.5, size=size, epsilon=epsilon, delta=delta, estimate="power", noise=noise, copies=copies,
        added=precision.shift(noise), gap=precision.failure,
    )  # fmt: skip


def test_what_a_plan_of_an_estimate_claims_is_checked() -> None:
    mechanism = planned(32)
    assert mechanism.basic() == (1.0, 1e-9)
    for forged in (
        replace(mechanism, epsilon=0.9),
        replace(mechanism, copies=50),
        replace(mechanism, size=28),
        replace(mechanism, added=0.2),
        replace(mechanism, gap=1e-9),
    ):
        with pytest.raises(LedgerError, match="do not support"):
            forged.basic()
    for odd in (replace(mechanism, estimate="none"), replace(mechanism, size=1), replace(mechanism, noise=0.0)):
        with pytest.raises(LedgerError):
            odd.basic()
    # What lacks less than 0.1% of ε is taken for rounding: no claim of its own, and no error.
    precision = Precision(grid=0.5 * mechanism.added, failure=mechanism.gap)
    reached = min(
        NoisyEstimate(0.5, 32).delta(1.0, mechanism.noise, precision), mechanism.laws("replace")[0].delta(1.0)
    )
    assert replace(mechanism, delta=0.995 * reached).basic() == (math.inf, 0.995 * reached)


def test_the_laws_of_an_estimate() -> None:
    mechanism = planned()
    (law,) = mechanism.laws("replace")
    removed, added = mechanism.laws("add_remove")
    assert removed is added is law
    assert least_epsilon(law.delta, 1e-9) == pytest.approx(1.0, rel=3e-3)
    half = mechanism.scaled(0.5)
    assert (half.noise, half.added, half.epsilon) == (2.0 * mechanism.noise, 0.5 * mechanism.added, math.inf)
    assert least_epsilon(half.laws("replace")[0].delta, 1e-9) == pytest.approx(0.5, rel=0.02)
    together = Charge("all", epsilon=math.inf, delta=1e-9, charges=(mechanism, mechanism))
    composed = least_epsilon(together.laws("replace")[0].delta, 2e-9)
    assert 1.5 < composed < 2.001


def charge_from(text: str) -> Charge:
    return Charge.from_dict(parsed(text))


def test_json_of_an_estimate_and_of_what_was_there_before() -> None:
    mechanism = planned(copies=3)
    assert charge_from(mechanism.to_json()) == mechanism
    together = Charge("all", epsilon=2.0, delta=1e-9, charges=(mechanism, Charge("exact", epsilon=1.0, distance=3)))
    assert charge_from(together.to_json()) == together
    old = '{"delta":1e-09,"distance":0,"epsilon":1.0,"gap":1e-12,"kind":"sketch","log_rho":0.01,"p":0.5,"size":50}'
    assert charge_from(old).to_json() == old
    for changed in ({"estimate": "none"}, {"noise": 0.0}, {"copies": 0}, {"added": -1.0}, {"p": 2.5}):
        with pytest.raises(JsonError):
            charge_from(replace(mechanism, **changed).to_json())
    with pytest.raises(JsonError):
        charge_from(old.replace('"p":0.5', '"noise":1.0,"p":0.5'))
