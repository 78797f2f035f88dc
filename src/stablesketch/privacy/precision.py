"""What finite precision costs: the theorem is about real numbers, the release is computed with machine numbers.

Claim. Let T₀ be the estimate of F_p + floor from ideal entries, and T the estimate from computed entries, both from the
same random bits. Let E|ln T - ln T₀| <= η. What is released is k = floor(ln T/g + u) and public functions of it, where
u is uniform in [0, 1) and independent of the entries. If the ideal release is (ε, δ)-DP, then the computed one is
(ε, δ + (1 + e^ε) η/g)-DP.

Proof. Given ln T and ln T₀, a step of the floor function falls between them with probability at most |ln T - ln T₀|/g.
So on either neighbour the two releases differ with probability at most θ = η/g. For any set S of outcomes, with primes
for the neighbour: P(k in S) <= P(k₀ in S) + θ <= e^ε P(k'₀ in S) + δ + θ <= e^ε P(k' in S) + δ + (1 + e^ε) θ. ∎

**Why η = 2^-43 is enough.** The estimator is equivariant, and the law of ln|X| is log-concave, so the derivatives w_j
of ln T by ln|a_j| are not negative and add up to p. If X is right to a relative e(X), an entry a = Σ f_k X_k moves by
at most Σ f_k |X_k| e(X_k), and to first order

    E|ln T - ln T₀|  <=  E[ Σ_j w_j · Σ_k f_k |X_kj| e(X_kj) / |a_j| ],

whatever the signs of the errors. For a constant e this is p e R, where R is the mean condition number of the sums. R is
1 for one key. As keys are added it tends to a limit for p < 1, and grows as (8/π²) ln n for p = 1. e(X) has three
parts: the table (1e-15 from p = 0.15 on, 4e-15 from 0.12 on, 8e-15 below: certified at some p, below), the random bits
(t has a relative granularity of 2^-49 at most, 2^-53 where it is continued; X moves by about 1/p times as much) and the
resolution of entries. benchmarks/condition.py computes R and the bound by quadrature, for keys of one weight; the bound
is in units of η, for large sizes and for 5 entries, the fewest:

    p      R at 10^6, 2^40 keys   bound at 2^14 keys   bound at 2^40 keys
    0.05    20.1   20.1            0.18   0.22          0.10   0.12
    0.25     4.8    4.8            0.04   0.42          0.02   0.20
    0.5      3.7    3.7            0.03   0.07          0.02   0.05
    0.9      7.6    9.1            0.07   0.12          0.08   0.16
    1       11.9   23.2            0.09   0.17          0.24   0.45

Rounding ln|a_j|, ln T and ln T/g adds less than 0.15, and the last octave, below, 0.25: together 0.85 of η at most, up
to 2^40 keys; and 0.94 just below p = 0.12, where 8e-15 is taken for the table and the bound for 5 entries is 0.54. The
inequality is proved, to first order; the error of the table is certified at p = 0.05, 0.1, 0.12, 0.15, 0.2, 0.25, 0.5,
0.75, 0.9 and 1 (docs/math-noisy-estimate.md, "The tables, certified"). Measured, not proved: that error at other p;
that higher orders and the rounding within the estimator do not matter (tests/privacy/test_precision.py finds the mean
of |ln T - ln T₀| below η/10, on entries recomputed in 26 digits and on perturbed ones); that keys of one weight are the
worst.

**The last octave.** X is cut off where its tail probability t is 2^-63: a smaller t is raised by 2^-63. In each entry,
this happens to one of n keys with probability n/2^64. Let G be F_p + floor, and let no key have a weight below 1. Then
such an X is as far out as the point of the entry's upper tail that has the probability G/2^63, and w_j has fallen to
that order. So the mean error is at most 2 n/2^64 · min(1, G/2^63). Instead of the factor 2, at most 0.75 is measured
for large sizes; at 5 entries the influence of one entry is 1.7 times as large. `is_covered` refuses what would take
more than a quarter of η: n G > 2^81, a trillion pairs of value 1.

**Entropy.** Here Ĥ takes the place of ln T, with its own η, 2^-42. y = Σ (f_k/N) R_k is a mean, so nothing is divided
by a small sum. Let R be right to e (1 + |R|), let w_j be the derivative of Ĥ by y_j, and let x_j = y_j + H. Then y_j
moves by at most e (1 + Σ (f_k/N)|R_k|), and since |R| = 2R⁺ - R,

    E|Ĥ - Ĥ₀|  <=  e E[ Σ_j |w_j| (1 + H + |x_j| + 2 Σ_k (f_k/N) R⁺_kj) ]  <=  e (1.06 (1 + H) + 1.4 + 2.5)

to first order: the left tail of R is heavy, but |w_j| falls there as 1/x_j², and R⁺ has all moments (the last term by
the inequalities of Cauchy and Jensen, E[(Σ (f_k/N) R⁺_k)²] <= E[(R⁺)²]). The three numbers are integrals of |(ln h)''|
at large sizes; for 5 to 50 entries a simulation finds no larger ones (tests/privacy/test_entropy_precision.py has
both). H is at most 37 for 2^53 keys, which makes 44 e. e is 1e-15 for the table (certified: 5.6e-16), 9e-16 for the
random bits at their coarsest (2^-50; mostly 2^-53) and 2^-55 for the resolution of entries: 9e-14 in all. Rounding y_j,
Ĥ and Ĥ/g adds 2e-14. *The last octave*: a key of weight f is hit with probability 2^-64 an entry, and then y_j is below
-2^63 f/N, from where on Ĥ changes by at most ∫ 2/(x² I r) dx = 5.8 N/(2^63 f r); over all entries and n keys that is
5.8 n N/2^127, and half as much again at 5 entries. `entropy_is_covered` refuses what would take more than a quarter of
η: n N > 2^79, 780 billion pairs of value 1. Together 0.75 of η at most.
"""

from __future__ import annotations

import math

NUMERICAL_ERROR = 2.0**-43
"""η: the declared mean error of ln T."""

ENTROPY_ERROR = 2.0**-42
"""η of entropy: the declared mean error of Ĥ, in nats."""

STEPS_PER_DEVIATION = 4
"""The grid is a quarter of the standard deviation of ln T or finer, so that it adds at most 1/192 to the variance."""

_COARSEST = 2.0  # deviations: the error is then 15% larger
_LARGEST_EXPONENT = 700.0  # e^ε of a larger ε exceeds the range of floats


def grid_step(relative_deviation: float) -> float:
    """g: the step of the grid in ln T, a power of two no larger than a quarter of the relative standard deviation."""
    return float(2.0 ** math.floor(math.log2(relative_deviation / STEPS_PER_DEVIATION)))


def coarse_enough_step(relative_deviation: float, epsilon: float, most: float, error: float = NUMERICAL_ERROR) -> float:
    """The finest grid, from `grid_step` up by factors of two, that costs at most the δ `most`.

    A small δ or a large ε needs a coarser grid and pays with accuracy (`rounded_deviation`). The coarsest is twice the
    deviation; it is returned even if it costs more than `most`, so that the caller can say how much.
    """
    step = grid_step(relative_deviation)
    while rounding_delta(epsilon, step, error) > most and 2.0 * step <= _COARSEST * relative_deviation:
        step *= 2.0
    return step


def rounded_deviation(relative_deviation: float, step: float) -> float:
    """The relative standard deviation of the released estimate: that of T plus the rounding of ln T.

    ln T moves by an independent U, uniform between -g/2 and g/2. With h = g/2, E e^U = sinh(h)/h and E e^{2U} =
    sinh(2h)/(2h), so e^U relative to its mean has the second moment h coth h = 1 + g²/12 - ..., and independent factors
    multiply.
    """
    half = 0.5 * step
    return math.sqrt((1.0 + relative_deviation**2) * half / math.tanh(half) - 1.0)


def rounding_delta(epsilon: float, step: float, error: float = NUMERICAL_ERROR) -> float:
    """(1 + e^ε) η/g, the δ that finite precision costs; proved above. ∞ if e^ε exceeds the range of floats."""
    if epsilon > _LARGEST_EXPONENT:
        return math.inf
    return (1.0 + math.exp(epsilon)) * error / step * (1.0 + 1e-12)


def is_covered(pairs: int, most_mass: float) -> bool:
    """Whether η covers a stream of this many pairs with F_p + floor at most `most_mass`: the last octave, above."""
    return pairs * min(1.0, most_mass * 2.0**-63) <= 2.0**18


def entropy_is_covered(pairs: int, total: int) -> bool:
    """Whether `ENTROPY_ERROR` covers a stream of this many pairs and this total: the last octave, above."""
    return pairs * total <= 2**79
