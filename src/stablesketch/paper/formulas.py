"""The formulas of the paper, for comparison only: nothing in this library relies on them.

Wang, Pinelis and Song, "Differentially Private Fractional Frequency Moments Estimation with Polylogarithmic Space": a
stream of n pairs, keys among m, values 1 to M; one pair may be replaced. Each function says what is wrong with its
formula.
"""

from __future__ import annotations

import math

from ..errors import ArgumentError
from ..law import StableLaw
from ..numbers.checked import checked_whole


def sensitivity(n: int, m: int, M: int, p: float) -> float:
    """Theorem 1: ρ <= 2^{2-2p} ((n-1+M)/(n-1+(m-1)^{(p-1)/p}))^p.

    True, but very loose for p < 1: it is about 2^{2-2p} however long the stream, because the proof divides the largest
    growth of F_p by the smallest as if one stream could show both. The exact value ((n-1)^p + M^p)/n^p tends to 1. At
    p = 1 the two agree.

    >>> round(sensitivity(10**6, 2**20, 1, 0.5), 4)
    2.0
    """
    p = StableLaw(p).p
    for name, value, least in (("n", n, 1), ("m", m, 2), ("M", M, 1)):
        if checked_whole(name, value, "Pass an integer") < least:
            raise ArgumentError(name, value, f"must be at least {least} for this theorem", "Pass a larger one")
    # (m-1)^{(p-1)/p} can be too small for a float; it is then 0, and the ratio infinite if n is 1.
    smallest = n - 1 + math.exp((p - 1.0) / p * math.log(m - 1))
    return 2.0 ** (2.0 - 2.0 * p) * ((n - 1 + M) / smallest) ** p if smallest > 0.0 else math.inf


def epsilon(n: int, m: int, M: int, p: float, size: int) -> float:
    """Theorem 3 and basic composition: ε = (size/p) ln ρ with the ρ of Theorem 1.

    True, but loose twice: by its ρ, and because `size` entries count as `size` times the worst case of one entry. The
    worst case occurs only if all entries are close to 0 at once. `PrivacyCurve` gives what the entries really reveal.

    >>> round(epsilon(10**6, 2**20, 1, 0.5, 50), 1)
    69.3
    """
    _check_size(size)
    return size / p * math.log(sensitivity(n, m, M, p))


def subsampled_epsilon(n: int, m: int, M: int, p: float, size: int, q: float) -> float:
    """Theorem 4: ε = (q·size/p) ln ρ when every pair is kept with probability q.

    **False: do not rely on it.** The sketch of a sample has the sensitivity of the sample, which is shorter, not that
    of the stream. For p = 1, size = 1, n = M = 100 and q = 0.02 it claims 0.0138. Take 100 pairs (1, 1), or 99 of them
    and (2, 100): far out, the densities of the entry have the ratio of the expected F_1 of the two samples, 1.99, so no
    ε below ln 1.99 = 0.688 holds: no amplification at all. There are two smaller errors: amplification of ε by sampling
    gives ln(1 + q(e^ε - 1)), which is more than qε; and the pseudo-code samples a pair once for all entries, the text
    separately for each.
    """
    _check_size(size)
    if not 0.0 <= q <= 1.0:
        raise ArgumentError("q", q, "must be between 0 and 1", "Pass 0.02, for example")
    return q * epsilon(n, m, M, p, size)


def _check_size(size: int) -> None:
    checked_whole("size", size, "Pass 50, for example", least=1)
