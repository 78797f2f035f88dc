"""The positive stable law against mpmath (series, integral, inverse transform), Lévy's closed form and its samples."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from draws import one_sided_draws
from mpmath import mpf
from one_sided_oracle import by_angles, by_laplace, by_series

from stablesketch import ArgumentError, ArgumentTypeError
from stablesketch.law.one_sided import OneSidedLaw, log_a, log_a_rise, one_sided_law
from stablesketch.law.skewed import FISHER_INFORMATION, SkewedLaw

INDICES = [0.05, 0.5, 0.9, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.1, 0.25, 0.4, 0.501, 0.75, 0.97))]


def assert_logs(found: float, exact: mpf, relative: float) -> None:
    """The logarithm of a probability against the probability itself."""
    assert float(abs(mpf(float(found)) - mpmath.log(exact))) < relative


@pytest.mark.parametrize("p", INDICES)
def test_the_body_and_the_upper_tail_are_the_series(p: float) -> None:
    """From a cdf of 0.01 to a tail of e^-600, across the places where the formulas change."""
    law = OneSidedLaw(p)
    omegas = [-1.9, -1.01, -0.99, 0.0, 0.99, 1.01, 3.0, 12.0, 600.0 / law.q]
    for z in law.at(np.array(omegas)):
        tail, density = by_series(p, mpf(float(z)), 60)
        values = law.values(np.array([z]))
        assert_logs(values.density[0], density, 2e-13)
        assert_logs(values.sf[0], tail, 2e-13)
        assert_logs(values.cdf[0], 1 - tail, 5e-13)


@pytest.mark.parametrize(
    "omegas", [(20.0, 60.0), pytest.param((-1.5, 0.5, 2.0), marks=pytest.mark.slow)], ids=["tail", "body"]
)
def test_next_to_one_the_series_still_holds(omegas: tuple[float, ...]) -> None:
    law = OneSidedLaw(0.999)
    for z in law.at(np.array(omegas)):
        tail, density = by_series(0.999, mpf(float(z)), 40)
        values = law.values(np.array([z]))
        assert_logs(values.density[0], density, 1e-11)
        assert_logs(values.sf[0], tail, 1e-11)
        assert_logs(values.cdf[0], 1 - tail, 1e-11)


@pytest.mark.parametrize("p", [0.05, 0.9, 0.999, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.25, 0.5))])
@pytest.mark.parametrize(
    "log_cdf", [-44.0, -30_000.0, *(pytest.param(x, marks=pytest.mark.slow) for x in (-5.0, -600.0))]
)
def test_the_lower_tail_is_zolotarevs_integral(p: float, log_cdf: float) -> None:
    """Relative to the probability; the digits that ln P itself loses at p = 0.999 are those of z as a float."""
    law = OneSidedLaw(p)
    z = law.quantile(log_cdf=np.array([log_cdf]))
    below, density = by_angles(p, mpf(float(z[0])))
    values = law.values(z)
    conditioning = abs(log_cdf) * 4e-16 * (1.0 + abs(float(z[0])) / law.q)
    assert_logs(values.cdf[0], below, 2e-13 + conditioning)
    assert_logs(values.density[0], density, 2e-13 + conditioning)
    assert float(mpmath.log(below)) == pytest.approx(log_cdf, rel=1e-12)


@pytest.mark.parametrize(("p", "z"), [(0.3, 0.4), (0.5, -0.5), (0.8, 0.3)])
def test_the_density_inverts_the_transform(p: float, z: float) -> None:
    assert_logs(OneSidedLaw(p).values(np.array([z])).density[0], by_laplace(p, mpf(z)), 1e-12)


def test_one_half_is_levys_law() -> None:
    """X = 1/(2 N²): P(Z <= z) = erfc(e^{-z}/2), and h = e^{-z} exp(-e^{-2z}/4)/√π."""
    z = np.linspace(-3.2, 300.0, 700)
    values = OneSidedLaw(0.5).values(z)
    half = np.exp(-z) / 2.0
    np.testing.assert_allclose(values.density, -z - half**2 - 0.5 * math.log(math.pi), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(values.sf, [math.log(math.erf(x)) for x in half], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(values.cdf, [math.log(math.erfc(x)) for x in half], rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.8, 0.999])
def test_quantiles_come_back(p: float) -> None:
    law = one_sided_law(p)
    outer = -np.concatenate([np.geomspace(0.7, 1e5, 60)])
    np.testing.assert_allclose(law.values(law.quantile(log_cdf=outer)).cdf, outer, rtol=1e-13)
    np.testing.assert_allclose(law.values(law.quantile(log_sf=outer)).sf, outer, rtol=1e-13)
    inner = -np.geomspace(1e-16, 0.69, 40)
    np.testing.assert_allclose(law.quantile(log_cdf=inner), law.quantile(log_sf=np.log(-np.expm1(inner))), atol=1e-13)
    ends = law.quantile(log_cdf=np.array([-np.inf, 0.0]))
    assert ends.tolist() == [-math.inf, math.inf]
    with pytest.raises(ArgumentTypeError, match="one of them"):
        law.quantile()


# Computed elsewhere, to four to six digits.
INFORMATION = {
    0.05: 1.00776,
    0.1: 1.03001,
    0.25: 1.18726,
    0.4: 1.54398,
    0.5: 2.0,
    0.6: 2.84313,
    0.75: 6.43944,
    0.9: 36.3976,
    0.95: 141.47485,
}


@pytest.mark.parametrize(("p", "expected"), INFORMATION.items())
def test_fisher_information(p: float, expected: float) -> None:
    assert OneSidedLaw(p).fisher_information == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.95, 0.999])
def test_fisher_information_is_also_a_trapezoid_sum(p: float) -> None:
    """By another rule: ω = x for x < 0, sinh x for x > 0 in steps of 1/200, and slopes from differences of ln h."""
    law, step = OneSidedLaw(p), 1.0 / 200.0
    x = np.arange(-6.5, math.asinh(60.0 / law.q), step)
    omega, rate = np.where(x < 0.0, x, np.sinh(x)), np.where(x < 0.0, 1.0, np.cosh(x))
    z, h = law.at(omega), 1e-4 * law.q
    slope = (law.values(z + h).density - law.values(z - h).density) / (2.0 * h)
    information = law.q * np.trapezoid(slope**2 * np.exp(law.values(z).density) * rate, dx=step)
    assert law.fisher_information == pytest.approx(information, rel=1e-6)


def test_fisher_information_at_one_half_is_two() -> None:
    assert OneSidedLaw(0.5).fisher_information == pytest.approx(2.0, rel=1e-13)


def test_the_limit_is_the_law_of_entropy() -> None:
    """Z/q - ln q goes to -R: at p = 0.999 densities differ by less than 1%, informations by less than 0.1%."""
    law = OneSidedLaw(0.999)
    omega = np.linspace(-2.0, 10.0, 50)
    found = law.values(law.at(omega)).density + math.log(law.q)
    np.testing.assert_allclose(found, SkewedLaw().values(-omega).density, atol=0.01)
    assert law.fisher_information * law.q**2 == pytest.approx(FISHER_INFORMATION, rel=1e-3)


@pytest.mark.parametrize("p", [0.05, 0.4, 0.75, 0.99])
def test_samples_follow_the_law(p: float) -> None:
    """Kolmogorov-Smirnov at 20,000 draws: D sqrt(n) above 2.2 has probability 1.2e-4; the seed is fixed."""
    law = OneSidedLaw(p)
    drawn = np.sort(one_sided_draws(p, 20_000, np.random.default_rng(11)))
    cdf = np.exp(law.values(drawn).cdf)
    steps = np.arange(1, len(drawn) + 1) / len(drawn)
    assert max(np.max(steps - cdf), np.max(cdf - steps + 1 / len(drawn))) * math.sqrt(len(drawn)) < 2.2


@pytest.mark.parametrize("p", [0.2, 0.7])
def test_sums_are_stable(p: float) -> None:
    """Σ f_k X_k is (Σ f_k^p)^{1/p} X in law: what everything rests on. As above, 1.2e-4."""
    law, totals = OneSidedLaw(p), np.array([5.0, 1.0, 1.0, 0.25])
    drawn = np.exp(one_sided_draws(p, (20_000, 4), np.random.default_rng(12)) / p) @ totals
    z = np.sort(p * np.log(drawn)) - math.log(np.sum(totals**p))
    cdf = np.exp(law.values(z).cdf)
    steps = np.arange(1, len(z) + 1) / len(z)
    assert max(np.max(steps - cdf), np.max(cdf - steps + 1 / len(z))) * math.sqrt(len(z)) < 2.2


@pytest.mark.parametrize("p", [0.05, 0.5, 0.999])
def test_ln_a_is_convex_and_least_at_zero(p: float) -> None:
    """(ln a)''(0) = p, and ln a lies above its parabola: what the far left of the law relies on."""
    u = np.linspace(0.0, 3.1, 400)
    above = log_a_rise(u, p)
    np.testing.assert_allclose(above, log_a(u, p) - log_a(np.zeros(1), p), rtol=1e-12, atol=1e-12)
    assert np.all(above >= 0.5 * p * u**2 * (1.0 - 1e-9) - 1e-12)
    assert above[5] == pytest.approx(0.5 * p * u[5] ** 2, rel=2e-3)


@pytest.mark.parametrize("p", [0.0, 0.04, 0.9991, 1.0, math.nan])
def test_other_orders_are_refused(p: float) -> None:
    with pytest.raises(ArgumentError, match=r"0\.05 and 0\.999"):
        OneSidedLaw(p)
    with pytest.raises(ArgumentTypeError):
        OneSidedLaw("0.5")  # type: ignore[arg-type]
