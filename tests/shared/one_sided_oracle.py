"""The positive stable law in mpmath, by formulas of its own: a series, an integral and the inverse of its transform.

With ζ = x^{-p}, expanding (1 - exp(-s^p))/s in powers of s and inverting term by term,

    P(X > x) = Σ_{k>=1} (-1)^{k+1} ζ^k / (k! Γ(1 - pk)),

which converges for every ζ. Zolotarev's integral, P(X <= x) = (1/π) ∫_0^π exp(-a(u) ζ^{1/(1-p)}) du, serves far on the
left, where the series cancels.
"""

from __future__ import annotations

import functools

import mpmath
from mpmath import mpc, mpf


@functools.cache
def _coefficient(p: float, k: int, digits: int) -> tuple[mpf, mpf]:
    """What term k has that no z changes: ln Γ(pk)/k!, and its sine."""
    with mpmath.workdps(digits):
        order = mpf(p)
        size = mpmath.loggamma(order * k) - mpmath.loggamma(k + 1)
        return size, mpmath.sin(mpmath.pi * (1 - order) * k) / mpmath.pi  # = (-1)^{k+1} sin(πpk)/π


def by_series(p: float, z: mpf, digits: int = 60) -> tuple[mpf, mpf]:
    """P(Z > z) and the density of Z = p ln X."""
    with mpmath.workdps(digits):
        log_zeta = -mpf(z)
        tail = density = mpf(0)
        k = 0
        while True:
            k += 1
            log_size, sine = _coefficient(p, k, digits)
            size = mpmath.exp(log_size + k * log_zeta)
            term = size * sine
            tail += term
            density += k * term
            if k > 5 and size * k < mpf(10) ** (10 - digits):
                return tail, density


def by_angles(p: float, z: mpf, digits: int = 40) -> tuple[mpf, mpf]:
    """P(Z <= z) and the density of Z, for z well on the left: w_0 = a(0) e^{-z/(1-p)} is taken out of the integral."""
    with mpmath.workdps(digits):
        order = mpf(p)
        rest = 1 - order

        def log_a(u: mpf) -> mpf:
            if u == 0:
                return order / rest * mpmath.log(order) + mpmath.log(rest)
            return (
                order * mpmath.log(mpmath.sin(order * u))
                + rest * mpmath.log(mpmath.sin(rest * u))
                - mpmath.log(mpmath.sin(u))
            ) / rest

        least = mpmath.exp(log_a(mpf(0)) - mpf(z) / rest)

        def both(u: mpf) -> mpc:
            """The integrands of the two, as real and imaginary part: what they share is computed once."""
            w = mpmath.exp(log_a(u) - mpf(z) / rest)
            share = mpmath.exp(least - w)
            return mpc(share, w * share)

        # w - w_0 >= w_0 p u²/2: beyond this end the integrand is below e^{-90}.
        end = min(mpmath.sqrt(180 / (order * least)), mpmath.pi * mpf("0.9999"))
        pieces = [end * k / 8 for k in range(9)]
        found = mpmath.quad(both, pieces) / mpmath.pi * mpmath.exp(-least)
        return found.real, found.imag / rest


def by_laplace(p: float, z: mpf) -> mpf:
    """The density of Z from that of X = e^{Z/p}, the inverse transform of exp(-s^p) along Talbot's path."""
    with mpmath.workdps(30):
        x = mpmath.exp(mpf(z) / mpf(p))
        return mpmath.invertlaplace(lambda s: mpmath.exp(-(s ** mpf(p))), x, method="talbot") * x / mpf(p)
