"""Both tails of the stable law in mpmath, by formulas the library does not use.

Fourier inversion gives, over t > 0,
    P(|X| <= x) = (2/π) Im ∫ (e^{itx} - 1) e^{-t^p} dt/t      P(|X| > x) = (2/π) Im ∫ e^{itx} (1 - e^{-t^p}) dt/t.
The path is turned to t = u e^{iπ/4}, where every factor decays; the trapezoid rule in ln u then errs by about
exp(-2π (π/4)/step), 1e-21 at a step of 0.1.

For small p the upper integral needs a long window; there P(|X| > x) = (2/π) Σ (-1)^{k+1} Γ(pk)/k! sin(πpk/2) x^{-pk},
which converges for every x.
"""

from __future__ import annotations

import functools

import mpmath
from mpmath import mpc, mpf

DIGITS = 26
STEP = mpf("0.1")
NEGLIGIBLE = 48  # e^-48 = 1e-21


@functools.cache
def _place(p: float, k: int) -> tuple[mpf, mpc]:
    """u and -t^p at step k of the path, which are the same for every x."""
    with mpmath.workdps(DIGITS):
        u = mpmath.exp(k * STEP)
        return u, -(u ** mpf(p)) * mpmath.expjpi(mpf(p) / 4)


@functools.cache
def _weight(p: float, k: int) -> mpc:
    with mpmath.workdps(DIGITS):
        return mpmath.exp(_place(p, k)[1])


@functools.cache
def _missing_weight(p: float, k: int) -> mpc:
    with mpmath.workdps(DIGITS):
        return -mpmath.expm1(_place(p, k)[1])


@functools.cache
def _coefficient(p: float, k: int) -> tuple[mpf, mpf]:
    """What term k of the series has that no x changes: its gamma function, and its sine with its sign."""
    with mpmath.workdps(60):
        return mpmath.gamma(mpf(p) * k), -((-1) ** k) * mpmath.sin(mpmath.pi * mpf(p) * k / 2)


def lower_tail(p: float, x: mpf) -> tuple[mpf, mpf]:
    """P(|X| <= x) and its derivative by ln x."""
    with mpmath.workdps(DIGITS):
        index, spin = mpf(p), 1j * x * mpmath.expjpi(mpf(1) / 4)
        # The first factor is below ux, the second below exp(-u^p cos(πp/4)).
        largest = mpmath.log(100) / index
        smallest = min(-mpmath.log(x), 0) - NEGLIGIBLE
        tail = slope = mpf(0)
        for k in range(int(smallest / STEP), int(largest / STEP) + 1):
            phase, weight = _place(p, k)[0] * spin, _weight(p, k)
            risen = mpmath.expm1(phase)
            tail += mpmath.im(risen * weight)
            slope += mpmath.im(phase * (1 + risen) * weight)
        return 2 * STEP * tail / mpmath.pi, 2 * STEP * slope / mpmath.pi


def upper_tail(p: float, x: mpf) -> tuple[mpf, mpf]:
    """P(|X| > x) and its derivative by ln x, for x not far below the median."""
    return upper_tail_by_series(p, x) if p < 0.3 else upper_tail_by_path(p, x)


def upper_tail_by_path(p: float, x: mpf) -> tuple[mpf, mpf]:
    with mpmath.workdps(DIGITS):
        index, spin = mpf(p), 1j * x * mpmath.expjpi(mpf(1) / 4)
        # The first factor is below exp(-ux/√2), the second below u^p.
        largest = mpmath.log(100 / x)
        smallest = largest - NEGLIGIBLE / index
        tail = slope = mpf(0)
        for k in range(int(smallest / STEP), int(largest / STEP) + 1):
            phase = _place(p, k)[0] * spin
            term = mpmath.exp(phase) * _missing_weight(p, k)
            tail += mpmath.im(term)
            slope += mpmath.im(phase * term)
        return 2 * STEP * tail / mpmath.pi, 2 * STEP * slope / mpmath.pi


def upper_tail_by_series(p: float, x: mpf) -> tuple[mpf, mpf]:
    with mpmath.workdps(60):
        index, power = mpf(p), mpf(x) ** -mpf(p)
        tail = slope = mpf(0)
        k, factor = 1, mpf(1)
        while True:
            factor *= power / k  # x^{-pk}/k!
            gamma, sine = _coefficient(p, k)
            size = gamma * factor
            term = size * sine
            tail += term
            slope -= index * k * term
            k += 1
            if k > 2 * power and size < mpf("1e-24") * abs(tail):
                return 2 * tail / mpmath.pi, 2 * slope / mpmath.pi
