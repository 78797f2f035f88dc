"""The symmetric stable law of index 1 < p <= 2 in mpmath, by Fourier inversion along a turned path.

P(X > x) = (1/π) Im ∫ e^{itx} (1 - e^{-t^p}) dt/t and the density (1/π) Re ∫ e^{itx - t^p} dt, with t = u e^{iφ},
φ = π/(4p), where both exponentials fall; the trapezoid rule in ln u then converges geometrically. At p = 2
the law is normal.
"""

from __future__ import annotations

import mpmath
from mpmath import mpf


def upper_tail(p: float, x: float) -> tuple[mpf, mpf]:
    """P(|X| > x) and the density of |X| at x > 0."""
    with mpmath.workdps(45):
        index, at = mpf(p), mpf(x)
        if p == 2.0:
            return mpmath.erfc(at / 2), mpmath.exp(-at * at / 4) / mpmath.sqrt(mpmath.pi)
        angle = mpmath.pi / (4 * index)
        turn, turn_p = mpmath.expj(angle), mpmath.expj(angle * index)
        step = mpf(1) / 24
        first = int((-mpmath.log(max(at, 1)) - 65) / step)
        last = int(mpmath.log(110 / (at * mpmath.sin(angle))) / step) + 1
        tail = density = mpf(0)
        for k in range(first, last):
            u = mpmath.exp(k * step)
            wave, rest = mpmath.exp(1j * u * at * turn), -mpmath.expm1(-(u**index) * turn_p)
            tail += mpmath.im(wave * rest)
            # ∫ e^{itx} dt = i/x along the turned path, which has no real part: far out it spares the cancellation.
            density += mpmath.re(turn * u * wave * (1 - rest if x < 1 else -rest))
        return 2 * tail * step / mpmath.pi, 2 * density * step / mpmath.pi
