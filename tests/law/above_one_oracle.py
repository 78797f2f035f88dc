"""The symmetric stable law of index 1 < p <= 2 in mpmath, by Fourier inversion along a turned path.

P(X > x) = (1/π) Im ∫ e^{itx} (1 - e^{-t^p}) dt/t and the density (1/π) Re ∫ e^{itx - t^p} dt, with t = u e^{iφ},
φ = π/(4p), where both exponentials fall; the trapezoid rule in ln u then converges geometrically. At p = 2
the law is normal.
"""

from __future__ import annotations

import functools

import mpmath
from mpmath import mpc, mpf

STEP = mpf(1) / 24


@functools.cache
def _place(p: float, k: int) -> tuple[mpf, mpc]:
    """u and 1 - e^{-t^p} at step k of the path, which are the same for every x."""
    with mpmath.workdps(45):
        u = mpmath.exp(k * STEP)
        return u, -mpmath.expm1(-(u ** mpf(p)) * mpmath.expj(mpmath.pi / 4))


def upper_tail(p: float, x: float) -> tuple[mpf, mpf]:
    """P(|X| > x) and the density of |X| at x > 0."""
    with mpmath.workdps(45):
        index, at = mpf(p), mpf(x)
        if p == 2.0:
            return mpmath.erfc(at / 2), mpmath.exp(-at * at / 4) / mpmath.sqrt(mpmath.pi)
        angle = mpmath.pi / (4 * index)
        turn = mpmath.expj(angle)
        spin = 1j * at * turn
        first = int((-mpmath.log(max(at, 1)) - 65) / STEP)
        last = int(mpmath.log(110 / (at * mpmath.sin(angle))) / STEP) + 1
        tail = density = mpf(0)
        for k in range(first, last):
            u, rest = _place(p, k)
            wave = mpmath.exp(u * spin)
            tail += mpmath.im(wave * rest)
            # ∫ e^{itx} dt = i/x along the turned path, which has no real part: far out it spares the cancellation.
            density += mpmath.re(turn * u * wave * (1 - rest if x < 1 else -rest))
        return 2 * tail * STEP / mpmath.pi, 2 * density * STEP / mpmath.pi
