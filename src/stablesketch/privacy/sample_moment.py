"""The moment of a sample: what remains of F_p when every pair is kept with probability q. Theorem 5, corrected.

Let Y_k be the total that is kept of key k, each of its pairs with probability q, and F' = Σ Y_k^p. The paper claims
E F' = q^p F_p. The truth, for 0 < p <= 1 and any values, is

    q F_p  <=  E F'  <=  q^p F_p .

*Proof.* Y^p is concave in Y, so E Y^p <= (E Y)^p = (q f)^p. And Y <= f, so Y^p >= (Y/f) f^p (concave, 0 at 0), whose
mean is q f^p. ∎ Both ends are attained: the upper one in the limit of keys that occur often, the lower one by keys that
occur once. So the paper's estimate, F'/q^p, has a mean between q^{1-p} F_p and F_p: it is too small, by up to the
factor q^{1-p} (0.053 at q = 0.02 and p = 0.25).

**Spread.** Var F' <= (1-q) M^p E F'.

*Proof.* Efron and Stein: the variance of a function of independent coins is at most Σ_i q(1-q) E Δ_i², Δ_i >= 0 the
change of F' when pair i, of value v_i, is kept. Δ_i <= v_i^p <= M^p, so Δ_i² <= M^p Δ_i. Σ_i q E Δ_i is the mean of the
sum, over the pairs that are kept, of Y^p - (Y - v_i)^p, which is at most (v_i/Y) Y^p by concavity; these add up to Y^p
for each key. ∎ So the relative spread is at most sqrt(M^p/E F'): small compared with the bias, unless that is small.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..sketch.estimators.norm import log_choose

_DEVIATIONS = 12.0
_SERIES_FROM = 4_000.0


def expected_power(count: int, rate: float, p: float) -> float:
    """E Bin(count, rate)^p: the sum over 12 deviations around the mean; above a mean of 4,000, three terms of a series.

    With mean m and variance s², it is m^p (1 + p(p-1)/2 s²/m² + p(p-1)(p-2)/6 κ₃/m³) up to order 1/m².
    """
    mean, variance = count * rate, count * rate * (1.0 - rate)
    if count == 0:
        return 0.0
    if mean > _SERIES_FROM:
        third = variance * (1.0 - 2.0 * rate)
        second_term = 0.5 * p * (p - 1.0) * variance / mean**2
        third_term = p * (p - 1.0) * (p - 2.0) / 6.0 * third / mean**3
        fourth_term = p * (p - 1.0) * (p - 2.0) * (p - 3.0) / 8.0 * variance**2 / mean**4
        return float(mean**p * (1.0 + second_term + third_term + fourth_term))
    reach = _DEVIATIONS * math.sqrt(variance) + 20.0
    k = np.arange(max(1, math.floor(mean - reach)), min(count, math.ceil(mean + reach)) + 1)
    odds = math.log(rate) - math.log1p(-rate)
    logs = np.array([log_choose(count, int(j)) for j in k]) + k * odds + count * math.log1p(-rate)
    return float(np.sum(np.exp(logs) * k.astype(np.float64) ** p))


def expected_sample_moment(counts: NDArray[np.int64], rate: float, p: float) -> float:
    """E F' of a stream of values 1 in which key k occurs counts[k] times. Equal counts are computed once."""
    values, times = np.unique(counts, return_counts=True)
    if len(values) <= 512:
        return float(sum(int(n) * expected_power(int(f), rate, p) for f, n in zip(values, times, strict=True)))
    # E Y^p / (q f)^p is smooth in ln f: a table of it is enough, exact up to 32.
    knots = np.unique(np.concatenate([np.arange(1, 33), np.geomspace(32, values[-1], 200).round()])).astype(np.int64)
    factor = np.array([expected_power(int(f), rate, p) / (rate * int(f)) ** p for f in knots])
    at = values.astype(np.float64)
    return float(np.sum(times * np.interp(np.log(at), np.log(knots), factor) * (rate * at) ** p))


def predicted_bias(counts: NDArray[np.int64], rate: float, p: float) -> float:
    """E F'/(q^p F_p) - 1: the relative bias of the paper's estimate."""
    exact = float(np.sum(counts.astype(np.float64) ** p))
    return float(expected_sample_moment(counts, rate, p) / (rate**p * exact)) - 1.0
