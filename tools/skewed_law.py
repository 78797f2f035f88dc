"""Writes native/skewed_law.hpp: the quantiles of the skewed 1-stable law R, octave by octave, as Chebyshev series.

    python tools/skewed_law.py > native/skewed_law.hpp

R is the law with E e^{tR} = t^t, that of tan(θ)(π/2-θ) + ln(W cos θ/(π/2-θ)), θ uniform on (-π/2, π/2), W exponential.
With φ = π/2 - θ and A(φ) = φ cot φ + ln(sin φ/φ), conditioning on φ gives

    P(R > y) = (1/π) ∫_0^π e^{-w} dφ,      density (1/π) ∫_0^π w e^{-w} dφ,      w = e^{y - A(φ)},

where the integrand is even at 0 and vanishes with all derivatives at π, so the trapezoid rule converges like an
exponential. Far on the left w jumps within a short distance of π; there the transform is inverted along the cut,

    P(R <= y) = (1/π) ∫_0^∞ e^{s (y - ln s)} sin(πs)/s ds,      density (1/π) ∫_0^∞ e^{s (y - ln s)} sin(πs) ds,

on s = v/|y| by the double exponential rule. The left tail is heavy, P(R <= -x) ~ 1/x, and is the upper side of the
table of X (native/stable_table.hpp), where a small t is a large |R|:

    side 0: P(R <= r) = t/2,        side 1: P(R > r) = t/2,        t = 2^(octave - 63) m, m in [1, 2].

Side 1 goes on below octave 0, in the deep octaves (native/entry_law.hpp).

The series are in u = 2m - 3. r is analytic but for t = 0, so a series of an octave converges like (3 + √8)^-k. Needs
mpmath; takes some minutes. tests/sketch/test_skewed_table.py holds the result to the law by another formula.
"""

from __future__ import annotations

import sys

import mpmath
from mpmath import mpf

OCTAVES = 63
DEEP = 63
TERMS = 24
LEFT = mpf(-6)  # where the second formula takes over
ANGLES = 1_500

mpmath.mp.dps = 45


def angle_terms() -> list[mpf]:
    """e^{-A(φ)} at φ = k π/ANGLES, k = 0, 1, ... as long as it is below 1e30; the first counts half."""
    terms = [mpmath.exp(-1)]
    for k in range(1, ANGLES):
        phi = mpmath.pi * k / ANGLES
        terms.append(mpmath.exp(-phi * mpmath.cot(phi)) * phi / mpmath.sin(phi))
        if terms[-1] > mpf(10) ** 30:
            break
    return terms


def cut_nodes() -> list[tuple[mpf, mpf]]:
    """v and weight e^{-v} dv of the double exponential rule v = exp(τ - e^{-τ}) on (0, ∞)."""
    nodes, step = [], mpf(1) / 24
    for k in range(-24 * 6, 24 * 6):
        tau = k * step
        v = mpmath.exp(tau - mpmath.exp(-tau))
        if v < 110:
            nodes.append((v, step * v * (1 + mpmath.exp(-tau)) * mpmath.exp(-v)))
    return nodes


TERMS_OF_ANGLE = angle_terms()
CUT_NODES = cut_nodes()


def law(y: mpf) -> tuple[mpf, mpf, mpf]:
    """P(R <= y), P(R > y) and the density."""
    if y >= LEFT:
        scale = mpmath.exp(y)
        above = density = mpf(0)
        for k, term in enumerate(TERMS_OF_ANGLE):
            w = scale * term
            if w > 200:
                break
            part = mpmath.exp(-w) / (2 if k == 0 else 1)
            above += part
            density += w * part
        return 1 - above / ANGLES, above / ANGLES, density / ANGLES
    x = -y
    below = density = mpf(0)
    for v, weight in CUT_NODES:
        s = v / x
        part = weight * mpmath.exp(-s * mpmath.log(s)) * mpmath.sin(mpmath.pi * s)
        below += part / v
        density += part / x
    return below / mpmath.pi, 1 - below / mpmath.pi, density / mpmath.pi


def quantile(side: int, half_t: mpf, y: mpf) -> mpf:
    """Newton in ln P, which is nearly straight in both tails, from a start y."""
    for _ in range(60):
        below, above, density = law(y)
        tail, slope = (below, density / below) if side == 0 else (above, -density / above)
        step = (mpmath.log(half_t) - mpmath.log(tail)) / slope
        bound = abs(y) / 2 + 1
        step = max(min(step, bound), -bound)
        y += step
        if abs(step) < mpf(10) ** -18 * (1 + abs(y)):  # the next would be its square
            return y
    raise ArithmeticError(f"no quantile at side {side}, t/2 = {half_t}")


def series(side: int, octave: int, start: mpf) -> tuple[list[mpf], mpf]:
    """The Chebyshev coefficients of an octave, and r at its lower end, where the next one starts."""
    values, y = [], start
    points = [mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * TERMS)) for k in range(TERMS)]  # descending in m
    for u in points:
        y = quantile(side, mpf(2) ** (octave - 64) * (u + 3) / 2, y)
        values.append(y)
    coefficients = []
    for j in range(TERMS):
        total = sum(v * mpmath.cos(mpmath.pi * j * (2 * k + 1) / (2 * TERMS)) for k, v in enumerate(values))
        coefficients.append(total * (1 if j == 0 else 2) / TERMS)
    return coefficients, 2 * y if side == 0 and y < -6 else y


def main() -> None:
    print("// The quantiles of the skewed 1-stable law, made by tools/skewed_law.py, which says what they are.")
    print("#pragma once\n\nnamespace stablesketch {\n")
    print(f"inline constexpr int skewed_terms = {TERMS};")
    median = quantile(0, mpf(1) / 2, mpf(-1))
    print(f"inline constexpr double skewed_median = {float(median).hex()};")
    print(f"inline constexpr int skewed_deep_octaves = {DEEP};")
    print(f"inline constexpr double skewed_quantiles[2][{OCTAVES}][skewed_terms] = {{")
    for side, deep in enumerate((0, DEEP)):
        rows, start = [], median
        for octave in range(OCTAVES - 1, -deep - 1, -1):
            coefficients, start = series(side, octave, start)
            rows.append("{" + ", ".join(float(c).hex() for c in coefficients) + "},")
            print(f"\rside {side}, octave {octave}   ", end="", file=sys.stderr, flush=True)
        rows.reverse()
        print("    {")
        print("\n".join(f"        {row}" for row in rows[deep:]))
        print("    },")
    print("};")
    print("inline constexpr double skewed_deep[skewed_deep_octaves][skewed_terms] = {")  # of side 1
    print("\n".join(f"    {row}" for row in rows[:deep]))
    print("};\n\n}  // namespace stablesketch")


if __name__ == "__main__":
    main()
