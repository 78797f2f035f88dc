"""Shannon's entropy from exact totals, with noise: for streams of any length, of people, in groups.

Entropy itself cannot be given noise: in a short stream one pair can change it by any amount up to ln 2 and more. But
its mass G = N H = Σ f ln(N/f) can: f is the total of a key, N that of all.

**G rises with every pair, and by how much at most.** Let a pair of value v raise one total f to f + v. Write φ(x) =
x ln x, so that G = φ(N) - Σ φ(f) and the pair adds [φ(N + v) - φ(N)] - [φ(f + v) - φ(f)]. φ is convex, so its
increments rise with x; f <= N makes this 0 or more, and f = 0 makes it greatest:

    φ(N + v) - φ(N) - φ(v) <= v (1 + ln(N + v)) - v ln v = v (1 + ln(N'/v)),      N' = N + v,

because φ' = 1 + ln x is at most 1 + ln N' up to N'. v (1 + ln(N'/v)) rises with v up to N'. So c pairs of values up to
M, added one after the other to a stream that has a total of at most T in the end, add at most

    Δ = c M (1 + ln(T/M)),      T >= c M.

(If N' < M, then v <= N' gives at most N' < M.) Whole keys (unit="key") are the case f = 0, and no more.

**Neighbours** therefore differ in G by at most Δ, T bounding the total of either. Add or remove: one is the other with
pairs added. Replace: both are the shared part with up to c pairs added, so both lie in the same interval of length Δ.
Of G - βN, N being private, they differ by half as much where pairs are added or removed: noisy_entropy.py.

**T** comes from N, if that is public (replace, every pair counts 1), or else from N with discrete Laplace noise Z. Let
D be by how much neighbours can differ in N, and T = N + Z + D + k with P(Z < -k) <= δ_T. The larger of the two totals
is at most N + D, whichever of the two N is, and N + D <= T unless Z < -k. Except with probability δ_T, T bounds both.

What is released, from exact totals as from a sketch, and why that is private: noisy_entropy.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from . import discrete_laplace
from .exact_moment import nearest, totals_by_size
from .neighbours import float_above
from .privacy import Privacy

EXACT_ERROR = Fraction(1, 1 << 100)
"""η: the largest error of `exact_mass`, relative to N."""

_BITS = 111
_HEAD_BITS = 8
_DIGITS = 40


@lru_cache(maxsize=64)
def mass_change(privacy: Privacy, total: int) -> Fraction:
    """An upper bound of Δ for streams of at most this total."""
    changed, value = privacy.pairs_per_person, privacy.max_value
    bound = max(total, changed * value)
    with localcontext(Context(prec=_DIGITS)):
        log = (Decimal(bound) / Decimal(value)).ln()
        # A float above it: the margin is far larger than the error of the decimals.
        return changed * value * Fraction(float_above((1 + log) * (1 + Decimal(10) ** -30)))


def failure(epsilon: float, delta: float) -> float:
    """δ₀ of a plan with this δ whose G has this ε; in a table, for all groups that change."""
    return delta / (1.0 + math.exp(min(epsilon, 700.0))) * (1.0 - 1e-9)


def most_total(noisy: int, distance: int, scale: Fraction, delta: float) -> int:
    """T: except with probability `delta`, the totals of both neighbours are at most this, for any noisy N.

    P(Z < -k) = P(Z > k) <= delta, because the law is symmetric.
    """
    reach = discrete_laplace.quantile(scale, 1 - Fraction(delta))
    # The noisy N may have been a float, with a relative error of 2^-53.
    return max(noisy + (abs(noisy) >> 50) + distance + max(reach, 0), 1)


def exact_mass(totals: NDArray[np.integer] | Iterable[int]) -> Fraction:
    """G = N ln N - Σ f ln f, with an error of at most `EXACT_ERROR` of N. Equal totals are computed once.

    Every logarithm is off by less than 2^(10-B) (`_Logarithms`), so G by less than (N + Σ f) 2^(10-B) = N 2^(11-B).
    """
    counts = totals_by_size(totals)
    total = sum(f * count for f, count in counts.items())
    if not total:
        return Fraction(0)
    log = _Logarithms(_BITS)
    scaled = total * log(total) - sum(f * count * log(f) for f, count in counts.items())
    return Fraction(scaled, 1 << _BITS)


class _Logarithms:
    """ln f · 2^bits as an integer, off by less than 2^10, for whole f from 1 to 2^500.

    f = m · 2^e · (1 + t), m the leading 8 bits and 0 <= t < 2^-7, so ln f = ln m + e ln 2 + Σ (-1)^{i+1} t^i/i. In
    units of 2^-bits: ln m and ln 2 are rounded to within 1, so e ln 2 to within e < 500; t is rounded down, which moves
    the sum by at most 1; what is cut off alternates and shrinks, so it is less than the first term left out, below 1;
    every coefficient and every step of Horner's scheme rounds down once, 2.1 in all.
    """

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._digits = bits // 3 + 10
        self._known: dict[int, int] = {}
        terms = bits // (_HEAD_BITS - 1) + 2
        self._coefficients = [(-1) ** (i + 1) * ((1 << bits) // i) for i in range(terms, 0, -1)]

    def __call__(self, f: int) -> int:
        e = max(f.bit_length() - _HEAD_BITS, 0)
        head = f >> e
        found = self._rounded(head) + e * self._rounded(2)
        rest = f - (head << e)
        if not rest:
            return found
        bits = self._bits
        t = (rest << bits) // (head << e)
        series = 0
        for coefficient in self._coefficients:
            series = coefficient + (series * t >> bits)
        return found + (series * t >> bits)

    def _rounded(self, f: int) -> int:
        if f not in self._known:
            with localcontext(Context(prec=self._digits)):
                exact = Fraction(Decimal(f).ln())
            self._known[f] = nearest(exact * (1 << self._bits))
        return self._known[f]
