"""Entropy from buckets: a secret hash sends each key to one of B buckets, each with g entries and its exact total N_b.

With Ĥ_b = H_b + ζ_b the estimate of a bucket, N_b H_b = N_b ln N_b - Σ f ln f over its keys, so

    N ln N - Σ_b N_b (ln N_b - Ĥ_b) = N H + Σ_b N_b ζ_b,

and the ζ_b are independent of the stream, of the hash and of each other. What is released, and with what noise:
noisy_entropy.py. The proofs are in docs/math-bucket-entropy.md.

**The cost of finite precision.** A term N_b (ln N_b - Ĥ_b) is computed in floats from that bucket alone, and the terms
are added exactly. So buckets with the same content in both streams have the same computed terms, whatever their errors,
and errors matter only in buckets that differ. There, for N_b <= 2^53 and |ζ_b| <= 500, a term is off by at most N_b (η
+ `TERM_ERROR`), where η is the error of Ĥ_b: ln N_b < 37 is off by 38 · 2^-53 (docs/math-elementary.md: less than
2^-47), the difference is below 574 and rounded once (2^-44), and so is the product (2^-43.8 N_b). N ln N is off by
2^-47 N. All of this together is less than (η + 2^-42) N in either stream.

"The same computed terms": rows move when a bucket before them fills, and a number must have the same bits wherever it
is. numbers/elementary.py and IEEE arithmetic ensure that; tests/privacy/test_same_bits_anywhere.py checks it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..numbers.arrays import Array
from ..numbers.elementary import log
from ..sketch.estimators.entropy_mean import entropy_mean

TERM_ERROR = 2.0**-42
"""The error, relative to N, of what is added to the Ĥ_b."""


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
