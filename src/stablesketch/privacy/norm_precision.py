"""What finite precision costs an estimated norm (noisy_norm.py): symmetric entries cancel, so errors are not relative.

Claim. Let T be the estimate from ideal entries a_j = Σ f_k x_kj and T̃ the computed one. But for an event of
probability `failure`, |T̃ - T| <= η T, whatever the stream within the cap on its total. Everything is proved from one
measured number, e: a computed x̃ errs by at most e (1 + |x|), sign and magnitude being drawn apart.

**Signs.** The sign of x̃ is a bit of its own. So with magnitudes fixed the error of an entry is Σ s_k α_k, s_k
independent signs, |α_k| <= β_k = e f_k (1 + |x_k|), and P(|Σ s_k α_k| > u) <= 2 P(|Σ s_k β_k| > u). Proof: order
α_k/β_k = λ_k, without loss of generality 1 >= λ_1 >= λ_2 >= ... >= 0. By summation by parts Σ λ_k s_k β_k is an
average of the partial sums of s_k β_k and of 0, so it is at most the largest of them, which exceeds u with at most
twice the probability of the last (Lévy's inequality). ∎ And s_k |x_k| is again symmetric stable: Σ s_k β_k is e Σ s_k
f_k plus e times an entry.

**p = 2.** |Σ s_k f_k| <= z ‖f‖_2 but for 2 e^{-z²/2} (Hoeffding), and an entry is below √2 z ‖f‖_2 but for e^{-z²/2}.
So all entries err by at most A = (1 + √2) z e ‖f‖_2 but for 6 r e^{-z²/2}, and T, which is a Euclidean norm over κ
√(2r), by A/(κ √2). The smallest ξ is ξ_0 but for a chosen probability, and ‖f‖ <= T/ξ_0.

**1 < p < 2.** T κ is the k-th smallest |a_j|, so only small entries matter. Let w = W ‖f‖ with T κ <= w/3 but for a
chosen probability, B = z ‖f‖ >= 2w, g = z^{-p}. For all p here x^p P(|X| > x) <= 1 and x^{p+1} times the density of X
is at most 1 (tests/privacy/test_norm_precision.py). Call a term f_k x_k of an entry large if it exceeds B.
- *An entry with a large term is seldom small.* P(some term is large, |a_j| <= w) <= 2^{2p+2} W z^{-(2p+1)}. Proof:
  let term k be large. The rest R of the entry is independent of it, and |R| > B - w >= B/2; R is stable of scale at
  most ‖f‖, so that has probability at most (2/z)^p. Then f_k x_k lies in an interval of length 2w beyond B/2, where
  its density is at most f_k^p (2/B)^{p+1}. Add over k. ∎
- *The terms that are not large* err together by at most A = e (z_1 + m z) ‖f‖ but for 4 e^{-z_1²/2} + 4 exp(-m (ln(m
  (2-p)/(2g)) - 1)): signs as above, then Hoeffding for Σ s_k f_k, and Bennett for the bounded terms, whose variances
  add up to at most Σ f_k² ∫_0^{B/f_k} 2x P(|X| > x) dx <= 2 g B²/(2-p).
- *Large terms*: at most two but for g³/6, each below w/(8e) but for (8e/W)^p. So they err together by at most w/3.
So |ã_j - a_j| <= A where |a_j| <= w, and |ã_j| > w/2 elsewhere: the order statistic, which is below w/3, moves by at
most A.

**The last octave.** The uniform number behind x has a least value: where it is below 2^-63, with probability q =
2^-64, x comes out too small.
- p = 2: the law of an entry changes by at most 4q + 3(nq)² in total variation for n keys, and that is charged. Proof.
  Two hits or more have probability (nq)²/2. With one, of key k, the rest of the entry is normal of variance 2σ², σ² =
  ‖f‖² - f_k² (that the others are no hits changes its law by 2nq at most). At most two keys have f_k² >= ‖f‖²/2: 2q.
  For the others σ² >= ‖f‖²/2, and the mixtures of N(±u, 2σ²) and N(±u', 2σ²), u = f_k |x|, u' = f_k |x'|, differ by
  at most (1/2) ∫ v c/(2σ²) dv over [u', u] = c (u² - u'²)/(8σ²), c = ∫|φ''| < 0.97 (the first order cancels by
  symmetry), so by less than f_k² (x² - x'²)/(4‖f‖²); x² - x'² has mean below 8, and Σ f_k² = ‖f‖². ∎
- p < 2: where f_k x > B even for the least such x, the term is large in both computations, and the entry above w in
  both but for five times the probability above (as |x'| <= |x|, signs as above give the rest twice the tail, and the
  law of x' has at most twice the density). Totals are whole numbers and their norm is at most the total, so this
  holds while z times the cap is below that x. Beyond, hits are charged: keys times entries times q.

Not in `failure`: what AES can be told from random by. Measured, not proved: e (tests/law/test_above_one_table.py).
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import ArgumentError
from ..law.above_one import above_one_law
from ..sketch.estimators.norm import norm_law
from .noisy_estimate import Precision

__all__ = ["norm_precision"]

_TABLE = 2e-15  # the rows, five times what was found; further up to 2 the polynomials are ten times worse
_NEAR_TWO, _TABLE_NEAR_TWO = 1.9999, 2.5e-14
_BITS = 2.0**-49  # the relative granularity of the uniform number at its coarsest; |X| moves by less
_RESOLUTION = 2.0**-53
_ARITHMETIC = 1e-14  # rounding entries to floats, and the sum, root and quotient
_LAST_OCTAVE = 2.0**-64


def norm_precision(
    p: float,
    size: int,
    total_cap: float,
    *,
    sensitivity: float = 1.0,
    grid: float = 2.0**-10,
    failure: float = 1e-13,
    keys_cap: float | None = None,
) -> Precision:
    """The `Precision` of a norm of order 1 < p <= 2 from `size` entries, if totals add up to `total_cap` at most.

    `sensitivity` is Δ, `grid` the step of the grid in units of b, `failure` what the bounds may fail with, to which the
    last octave is added; `keys_cap` bounds the number of keys (the total does, too). The norm is at most the total, so
    the estimate is cut at `total_cap`.
    """
    if not 1.0 <= total_cap < math.inf:
        raise ArgumentError("total_cap", total_cap, "a stream has a total of at least 1", "Pass a public bound of it")
    if not 0.0 < failure < 1.0:
        raise ArgumentError("failure", failure, "a probability lies between 0 and 1", "Pass 1e-13, for example")
    keys = total_cap if keys_cap is None else min(keys_cap, total_cap)
    table = _TABLE_NEAR_TWO if _NEAR_TWO < p < 2.0 else _TABLE
    one = table + _BITS + _RESOLUTION
    law = norm_law(p, size)
    if p == 2.0:
        z = math.sqrt(2.0 * math.log(12.0 * size / failure))
        least = math.exp(law.log_quantile(0.5 * failure))
        error = (1.0 + math.sqrt(2.0)) * z * one / (math.sqrt(2.0) * math.exp(law.log_constant) * least)
        last = size * (4.0 * _LAST_OCTAVE + 3.0 * (keys * _LAST_OCTAVE) ** 2)
        return Precision(error + _ARITHMETIC, failure + last, total_cap / sensitivity, grid)
    part = 0.125 * failure
    constant = math.exp(law.log_constant)
    most = 3.0 * constant * math.exp(law.log_quantile_above(part))  # W
    # The first bullet five times: once for ideal entries, four times for those with the last octave as it is.
    z = (5.0 * size * 2.0 ** (2.0 * p + 2.0) * most / part) ** (1.0 / (2.0 * p + 1.0))
    z = max(z, 2.0 * most)
    g = z**-p
    z_1 = math.sqrt(2.0 * math.log(4.0 * size / part))
    m = 1.0
    while m * (math.log(m * (2.0 - p) / (2.0 * g)) - 1.0) < math.log(4.0 * size / part):
        m += 0.01
    large = size * (g**3 / 6.0 + (8.0 * one / most) ** p)
    least = math.exp(law.log_quantile(part))
    error = one * (z_1 + m * z) / (constant * least)
    largest_last = math.exp(float(above_one_law(p).quantile(log_sf=np.array(-63.0 * math.log(2.0)))))
    last = 0.0 if z * total_cap < largest_last else keys * size * _LAST_OCTAVE
    return Precision(error + _ARITHMETIC, failure + large + last, total_cap / sensitivity, grid)
