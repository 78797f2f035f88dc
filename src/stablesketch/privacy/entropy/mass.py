"""The mass G = N H of an entropy: by how much a pair changes it, and G from exact totals or from buckets.

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
Of G - βN, N being private, they differ by half as much where pairs are added or removed: noise.py.

**T** comes from N, if that is public (replace, every pair counts 1), or else from N with discrete Laplace noise Z. Let
D be by how much neighbours can differ in N, and T = N + Z + D + k with P(Z < -k) <= δ_T. The larger of the two totals
is at most N + D, whichever of the two N is, and N + D <= T unless Z < -k. Except with probability δ_T, T bounds both.

**Buckets.** A secret hash sends each key to one of B buckets, each with g entries and its exact total N_b. With Ĥ_b =
H_b + ζ_b the estimate of a bucket, N_b H_b = N_b ln N_b - Σ f ln f over its keys, so

    N ln N - Σ_b N_b (ln N_b - Ĥ_b) = N H + Σ_b N_b ζ_b,

and the ζ_b are independent of the stream, of the hash and of each other. The proofs are in docs/math-bucket-entropy.md.

**What computing costs there.** A term N_b (ln N_b - Ĥ_b) is computed in floats from that bucket alone, and the terms
are added exactly. So buckets with the same content in both streams have the same computed terms, whatever their errors,
and errors matter only in buckets that differ. There, for N_b <= 2^53 and |ζ_b| <= 500, a term is off by at most N_b (η
+ `TERM_ERROR`), where η is the error of Ĥ_b: ln N_b < 37 is off by 38 · 2^-53 (docs/math-elementary.md: less than
2^-47), the difference is below 574 and rounded once (2^-44), and so is the product (2^-43.8 N_b). N ln N is off by
2^-47 N. All of this together is less than (η + 2^-42) N in either stream.

"The same computed terms": rows move when a bucket before them fills, and a number must have the same bits wherever it
is. numbers/elementary.py and IEEE arithmetic ensure that; tests/privacy/entropy/test_same_bits_anywhere.py checks it.

What is released, from exact totals, a sketch or buckets, and why that is private: noise.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...numbers.arrays import Array
from ...numbers.elementary import log
from ...sketch.estimators.entropy_mean import entropy_mean
from .. import discrete_laplace
from ..exact_moment import HEAD_BITS, around_head, horner, nearest, totals_by_size
from ..neighbours import float_above
from ..privacy import Privacy

EXACT_ERROR = Fraction(1, 1 << 100)
"""η: the largest error of `exact_mass`, relative to N."""

TERM_ERROR = 2.0**-42
"""The error, relative to N, of what `bucket_mass` adds to the Ĥ_b."""

_BITS = 111
_DIGITS = 40


@lru_cache(maxsize=64)
def mass_change(privacy: Privacy, total: int) -> Fraction:
    """An upper bound of Δ for streams of at most this total."""
    changed, value = privacy.pairs_per_person, privacy.max_value
    bound = max(total, changed * value)
    with localcontext(Context(prec=_DIGITS)):
        ratio_log = (Decimal(bound) / Decimal(value)).ln()
        # A float above it: the margin is far larger than the error of the decimals.
        return changed * value * Fraction(float_above((1 + ratio_log) * (1 + Decimal(10) ** -30)))


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
    scaled_log = _Logarithms(_BITS)
    scaled = total * scaled_log(total) - sum(f * count * scaled_log(f) for f, count in counts.items())
    return Fraction(scaled, 1 << _BITS)


def bucket_mass(totals: NDArray[np.int64], locations: Array) -> Fraction:
    """N ln N - Σ N_b (ln N_b - Ĥ_b), from N_b and the y of every bucket, shape (B, g). Empty buckets add nothing."""
    held = totals > 0
    own = totals[held].astype(np.float64)
    terms = own * (log(own) - entropy_mean(locations[held])) if held.any() else own
    total = sum(totals[held].tolist())
    whole = total * Fraction(float(log(total))) if total else Fraction(0)
    return whole - _exact_sum(terms)


def bucket_norm(totals: NDArray[np.int64]) -> int:
    """‖N‖ = sqrt(Σ N_b²), rounded down. It increases with every pair by at most the value of the pair. So does the
    rounded number, because values are whole."""
    return math.isqrt(sum(own * own for own in totals.tolist()))


def _exact_sum(terms: Array) -> Fraction:
    """The sum without rounding: floats are whole numbers times powers of two, and the smallest of these powers serves
    all of them."""
    if not len(terms):
        return Fraction(0)
    mantissas, exponents = np.frexp(terms)
    lowest = int(exponents.min())
    wholes = np.ldexp(mantissas, 53).astype(np.int64).tolist()
    total = sum(own << up for own, up in zip(wholes, (exponents - lowest).tolist(), strict=True))
    return Fraction(total) * Fraction(2) ** (lowest - 53)


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
        terms = bits // (HEAD_BITS - 1) + 2
        self._coefficients = [(-1) ** (i + 1) * ((1 << bits) // i) for i in range(terms, 0, -1)]

    def __call__(self, f: int) -> int:
        head, e, t = around_head(f, self._bits)
        found = self._rounded(head) + e * self._rounded(2)
        return found + (horner(self._coefficients, t, self._bits) * t >> self._bits) if t else found

    def _rounded(self, f: int) -> int:
        if f not in self._known:
            with localcontext(Context(prec=self._digits)):
                exact = Fraction(Decimal(f).ln())
            self._known[f] = nearest(exact * (1 << self._bits))
        return self._known[f]
