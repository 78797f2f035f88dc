"""A certificate of the compiled tables: how far X is from the true quantile at most, for every t, with proof.

    python tests/law/table_certificate.py one-sided 0.25 symmetric 1 entropy
    python tests/law/table_certificate.py night 7

In a bin of a table X is a polynomial of degree 7 in the place s of t, -1/2 <= s <= 1/2, and t is linear in s. Let T be
the tail that t stands for: T(x) = t/2 at the true quantile. With a model of T (ball_laws.py), a polynomial, the
difference T(X(s)) - t(s)/2 is a polynomial in s whose coefficients are known as balls. In Chebyshev's basis it is at
most the sum of their sizes, and of what the model lacks: for all s of the bin. T is monotone, so X is off by at most
that over the least |T'| between X and the quantile. |T'| is bounded on a neighbourhood of the bin's X ten thousand
times as wide as the error that results, so the quantile lies within it. To this comes the rounding of the polynomial as
it is evaluated, (k + 3) 2^-53 of |c_k s^k| at most (native/variate.hpp: each term goes through so many operations).

What is certified is the compiled table of this machine; tests/law holds that all machines have the same bits.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import cache

import numpy as np
from ball_integrals import AboveOne, BelowOne, NearZero
from ball_laws import LOWER, UPPER, Cauchy, Entropy, Normal, Stable, Tails, ball
from flint import arb, arb_mat, arb_poly

from stablesketch._native import deep_octaves, deep_rows, table
from stablesketch.privacy.noisy_norm import _one
from stablesketch.sketch.entry_law import EntryLaw

ULP = 2.0**-53
OCTAVES = 63
NEAR_ZERO_UP_TO, SERIES_UP_TO = 0.24, 0.75
DEGREES = 40
# s^k = 4^-k Σ binomial(k, i) T_|k-2i|(2s)
TO_CHEBYSHEV = arb_mat(
    [
        [
            sum((arb(math.comb(k, i)) for i in range(k + 1) if abs(k - 2 * i) == j), arb(0)) / arb(4) ** k
            for j in range(DEGREES)
        ]
        for k in range(DEGREES)
    ]
)
MARGIN = 2.0**-30  # of x: how far beyond a bin models hold
# What the proofs take X^p of one-sided laws, and X of the others, to be off by: of symmetric ones up to order 1 from an
# order on.
OF_POWER, OF_SYMMETRIC = 110 * ULP, {0.15: 1e-15, 0.12: 4e-15, 0.0: 8e-15}
# R of entropy with the error of t, over 1 + |R|; and what rounding to its resolution, 2^-54, takes of that.
OF_R, OF_ENTROPY, ENTROPY_ROUNDING = 1e-15, 2.5e-15, 2.0**-55


@dataclass(frozen=True)
class Bin:
    """x = Σ coefficients[k] s^k where the tail is middle + width s; that of t = 1 is a single place, of width 0."""

    side: int
    octave: int
    coefficients: list[arb]
    middle: arb
    width: arb


@dataclass(frozen=True)
class Errors:
    """Bounds for all t of a bin, or of a table: |x̃ - x| over |x| and over 1 + |x|; |dx/d ln t| over the same; and
    |x̃ - x| over 1 + |x| including what the error of t moves."""

    relative: float = 0.0
    mixed: float = 0.0
    sensitivity: float = 0.0
    mixed_sensitivity: float = 0.0
    drawn: float = 0.0

    def with_other(self, other: Errors) -> Errors:
        return Errors(*(max(pair) for pair in zip(astuple(self), astuple(other), strict=True)))


@cache
def tails_of(law: EntryLaw) -> Tails:
    if law.kind == "entropy":
        return Entropy()
    if law.kind == "one-sided":
        return by_order(law.p, one_sided=True)
    if law.p == 1.0:
        return Cauchy()
    if law.p == 2.0:
        return Normal()
    return AboveOne(law.p) if law.p > 1.0 else by_order(law.p, one_sided=False)


def by_order(p: float, *, one_sided: bool) -> Tails:
    """Of p < 1: series are the faster the smaller p is."""
    if p <= NEAR_ZERO_UP_TO and not one_sided:
        return NearZero(p, one_sided=False)
    return Stable(p, one_sided=one_sided) if p <= SERIES_UP_TO else BelowOne(p, one_sided=one_sided)


def bins(law: EntryLaw, every: int = 1) -> Iterator[Bin]:
    """All bins of the table, or every so-many-th and the last of either side."""
    rows, bits, _, shift = table(law)
    deep, octaves, each = deep_rows(law), deep_octaves(law), 1 << bits
    for side in (UPPER, LOWER):
        first = (0 if side == UPPER else octaves[UPPER]) * each
        whole = np.concatenate([deep[first : first + octaves[side] * each], rows[side]])
        for at in sorted({*range(0, len(whole), every), len(whole) - 1}):
            octave, number = divmod(at - octaves[side] * each, each)
            unit, last = arb(2) ** (octave - 64), octave == OCTAVES
            middle = unit if last else unit * (1 + (arb(number) + 0.5) / each)
            coefficients = [arb(float(c)) * arb(2) ** shift for c in whole[at]]
            yield Bin(side, octave, coefficients, middle, arb(0) if last else unit / each)


def errors_in(tails: Tails, where: Bin) -> Errors:
    """The theorem above, for one bin."""
    x, *higher = where.coefficients
    reach = sum((abs(c) / 2**k for k, c in enumerate(higher, 1)), arb(0))
    near = reach + abs(x) * MARGIN
    model = tails.model(where.side, x, near)
    tail, place = arb_poly(model.coefficients), x - model.centre
    difference = tail(arb_poly([place, *higher])) - arb_poly([where.middle, where.width])
    moved = largest(difference.coeffs()) + model.lacks
    slope = (tail.derivative()(place + ball(near)) + ball(model.slope_lacks)).abs_lower()
    off = moved / slope
    if not off < abs(x) * MARGIN / 10_000:
        raise ArithmeticError(f"nothing is certified on side {where.side}, octave {where.octave}")
    off += sum(((k + 3) * ULP * abs(c) / 2**k for k, c in enumerate(where.coefficients)), arb(0)) * (1 + 16 * ULP)
    least, moves = abs(x) - near, (where.middle + where.width / 2) / slope
    drawn = off + moves * t_is_off(where.octave)
    if not least > 0:  # entropy has an x of 0
        return Errors(math.inf, above(off), math.inf, above(moves), above(drawn))
    mixed = 1 + least
    return Errors(
        above(off / least), above(off / mixed), above(moves / least), above(moves / mixed), above(drawn / mixed)
    )


def t_is_off(octave: int) -> float:
    """By how much of itself t is off, of a law that continues m < 2^48 on both sides (native/variate.hpp).

    Without more bits t = 2m + 1 is within 1 of the uniform number, in units of 2^-63, and at least 2^49; with them 63
    bits of it are right. It is rounded to 53.
    """
    return (2.0**-octave if octave >= 49 else 2.0**-62) + ULP


def largest(coefficients: list[arb]) -> arb:
    """A bound of |Σ c_k s^k| for |s| <= 1/2: Σ |a_k| of Σ a_k T_k(2s), |T_k| <= 1; beyond degree 39, Σ |c_k|/2^k."""
    low = arb_mat(1, DEGREES, [*coefficients[:DEGREES], *[arb(0)] * (DEGREES - len(coefficients))])
    inner = low * TO_CHEBYSHEV
    beyond = sum((abs(c) / 2**k for k, c in enumerate(coefficients) if k >= DEGREES), arb(0))
    return sum((abs(inner[0, k]) for k in range(DEGREES)), beyond)


def certified(law: EntryLaw, every: int = 1) -> Errors:
    """Of the whole table, or of every so-many-th bin. Rows of zeros must be x that round to 0."""
    tails, resolution, worst = tails_of(law), table(law)[2], Errors()
    for where in bins(law, every):
        if all(c == 0 for c in where.coefficients):
            if not tails.tail(where.side, arb(2) ** -(resolution + 1)) > where.middle + where.width:
                raise ArithmeticError(f"a row of zeros on side {where.side}, octave {where.octave}")
            continue
        worst = worst.with_other(errors_in(tails, where))
    return worst


def above(value: arb) -> float:
    """A float that is no smaller."""
    return math.nextafter(float(value.upper()), math.inf)


def power_is_off(law: EntryLaw, found: Errors) -> float:
    """By how much X^p is off: t is right to 2u; the table; and the rounding to the resolution, 2^-49 at most."""
    return law.p * (2 * ULP * found.sensitivity + found.relative) + 2.0**-49


def suffices(law: EntryLaw, found: Errors) -> bool:
    """Whether the proofs take X to be as far off as that: docs/math-noisy-estimate.md, "Everything else", for one-sided
    laws, privacy/noisy_norm.py for orders above 1, where t is right to 2^-49 of itself, privacy/precision.py."""
    if law.kind == "one-sided":
        return power_is_off(law, found) <= OF_POWER
    if law.kind == "entropy":
        return found.mixed <= OF_R and found.drawn + ENTROPY_ROUNDING <= OF_ENTROPY
    if law.p <= 1.0:
        return found.relative <= next(most for order, most in OF_SYMMETRIC.items() if law.p >= order)
    return found.mixed + found.mixed_sensitivity * 2.0**-49 + 2.0**-53 <= _one(law.p)


def laws_of_night(number: int) -> list[EntryLaw]:
    """Orders that were not tried in the nights before: multiples of the golden section fill an interval evenly."""
    place = number * (math.sqrt(5.0) - 1.0) / 2.0 % 1.0
    orders = [("one-sided", 0.05, 0.8), ("symmetric", 0.05, 0.8), ("symmetric", 1.01, 1.99)]
    return [EntryLaw(kind, round(low + (high - low) * place, 4)) for kind, low, high in orders]


def asked(words: Iterator[str]) -> Iterator[EntryLaw]:
    for word in words:
        if word == "night":
            yield from laws_of_night(int(next(words)))
        else:
            yield EntryLaw(word, 1.0 if word == "entropy" else float(next(words)))


def main() -> int:
    heads = ["|x̃-x|/|x|", ".../(1+|x|)", "|dx/dlnt|/|x|", ".../(1+|x|)", "drawn", "seconds"]
    widths = [12, 13, 15, 13, 10, 9]
    print(f"{'law':<18}{''.join(f'{head:>{width}}' for head, width in zip(heads, widths, strict=True))}")
    failed = 0
    for law in asked(iter(sys.argv[1:])):
        start = time.monotonic()
        found = certified(law)
        columns = [f"{found.relative:>12.3g}", f"{found.mixed:>13.3g}", f"{found.sensitivity:>15.4g}"]
        columns += [f"{found.mixed_sensitivity:>13.4g}", f"{found.drawn:>10.3g}", f"{time.monotonic() - start:>9.0f}"]
        verdict = "" if suffices(law, found) else "  more than the proofs take"
        failed += verdict != ""
        print(f"{f'{law.kind} {law.p:g}':<18}{''.join(columns)}{verdict}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
