"""The table of ln h has the two error bounds that every privacy figure relies on."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from independent import log_density_and_score

from stablesketch.privacy.entries.fine_density import SLOPE_ERROR, VALUE_ERROR, fine_log_density

INDICES = (0.05, 0.06, 0.1, 0.25, 0.5, 0.7, 0.75, 0.79, 0.7999, 0.8, 0.81, 0.9, 0.99, 0.999, 0.9999999, 1.0)


def oracle(p: float, y: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    """ln h and its slope to more than 20 digits: Fourier inversion on the path t = u e^{iπ/4}, trapezoid in ln u."""
    with mpmath.workdps(30):
        index, x = mpmath.mpf(p), mpmath.exp(mpmath.mpf(y))
        turn, turn_p, step = mpmath.expjpi(0.25), mpmath.expjpi(index / 4), mpmath.mpf(1) / 10
        last = int(mpmath.log(120 / x) / step) + 1
        first = int((-mpmath.log(x) - (70 if x < 1 else 70 / index)) / step)
        density = slope = mpmath.mpf(0)
        for k in range(first, last):
            t = mpmath.exp(k * step) * turn
            decay = mpmath.expm1(-mpmath.exp(k * step * index) * turn_p) + (1 if x < 1 else 0)
            term = t * mpmath.exp(1j * t * x) * decay
            density += mpmath.re(term)
            slope += mpmath.re(1j * t * term)
        return mpmath.log(2 * x * density * step / mpmath.pi), 1 + x * slope / density


@pytest.mark.parametrize("p", INDICES)
def test_against_double_precision_everywhere(p: float) -> None:
    """300 points from far below the table to far above it, edges of cells included."""
    table = fine_log_density(p)
    y = np.concatenate(
        [
            np.linspace(table.low - 5.0, table.high + 20.0 / p, 200),
            np.linspace(-3.0, 3.0 / p, 60),
            table.low + 0.25 * np.arange(3, 40, 2),
            [table.low, np.nextafter(table.low, -99.0), table.high, np.nextafter(table.high, 99.0)],
        ]
    )
    values, slopes = log_density_and_score(p, y)
    assert np.max(np.abs(table.value(y) - values)) < VALUE_ERROR / 5
    assert np.max(np.abs(table.slope(y) - slopes)) < SLOPE_ERROR / 5


@pytest.mark.parametrize("p", [0.3, 0.75, 0.8, 0.95, 1.0])
def test_against_thirty_digits(p: float) -> None:
    table = fine_log_density(p)
    for y in (-15.0, -2.03, -0.4, 0.1, 1.26, table.high - 0.01, table.high + 0.01):
        value, slope = oracle(p, y)
        assert abs(float(value - mpmath.mpf(float(table.value(np.array([y]))[0])))) < VALUE_ERROR / 5
        assert abs(float(slope - mpmath.mpf(float(table.slope(np.array([y]))[0])))) < SLOPE_ERROR / 5


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.05, 0.1, 0.799999, 0.800001, 0.85, 0.999])
def test_against_thirty_digits_at_more_places(p: float) -> None:
    table = fine_log_density(p)
    for y in np.random.default_rng(1).uniform(max(table.low, -25.0), table.high + 2.0 / p, 12):
        value, slope = oracle(p, float(y))
        assert abs(float(value - mpmath.mpf(float(table.value(np.array([y]))[0])))) < VALUE_ERROR / 5
        assert abs(float(slope - mpmath.mpf(float(table.slope(np.array([y]))[0])))) < SLOPE_ERROR / 5


def test_the_cauchy_law_in_closed_form() -> None:
    y = np.linspace(-40.0, 40.0, 9001)
    table = fine_log_density(1.0)
    closed = math.log(2.0 / math.pi) - np.abs(y) - np.log1p(np.exp(-2.0 * np.abs(y)))
    assert np.max(np.abs(table.value(y) - closed)) < 1e-14 * 40
    assert np.max(np.abs(table.slope(y) + np.tanh(y))) < SLOPE_ERROR / 20


@pytest.mark.parametrize("p", INDICES)
def test_log_concave(p: float) -> None:
    """The whole privacy argument needs it: the slope falls, from 1 to -p."""
    table = fine_log_density(p)
    y = np.linspace(table.low - 1.0, table.high + 30.0 / p, 20_000)
    slope = table.slope(y)
    assert np.max(np.diff(slope)) < 2 * SLOPE_ERROR
    assert slope[0] == 1.0
    assert slope[-1] == pytest.approx(-p, abs=1e-12)


@pytest.mark.parametrize("p", [0.05, 0.5, 1.0])
def test_the_masses_beyond_the_table(p: float) -> None:
    table = fine_log_density(p)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for start, end, mass in (
        (table.low - 40.0, table.low, table.mass_below()),
        (table.high, table.high + 60.0 / p, table.mass_above(table.high)),
    ):
        edges = np.linspace(start, end, 41)
        middle, radius = (edges[1:] + edges[:-1])[:, None] / 2, np.diff(edges)[:, None] / 2
        integral = np.sum(radius * weights * np.exp(table.value((middle + radius * nodes).ravel()).reshape(40, 60)))
        assert integral == pytest.approx(mass, rel=1e-11)
