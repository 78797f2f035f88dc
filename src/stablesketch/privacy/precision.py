"""What finite precision costs: the theorem is about real numbers, the release is computed with machine numbers.

Claim. Let T* be the estimate of F_p + floor computed from ideal entries and T the one computed from ours, both from the
same random bits, and let E|ln T - ln T*| <= η. Only k = floor(ln T/g + u) is released (and public functions of it),
with u uniform in [0, 1) and independent of the entries. If the ideal release is (ε, δ)-DP then ours is (ε, δ + (1 +
e^ε) η/g)-DP.

Proof. Given ln T and ln T*, a uniform u puts a step of the floor between them with probability at most |ln T - ln
T*|/g, so the two releases differ with probability at most θ = η/g, on either neighbour. For any set of outcomes,
with primes for the neighbour: P(k in S) <= P(k* in S) + θ <= e^ε P(k'* in S) + δ + θ <= e^ε P(k' in S) + δ + (1 +
e^ε) θ. ∎

Why η is small. The estimator is equivariant, so the derivatives of ln T by the ln|a_j| add up to p, and by the monotone
likelihood ratio of the log-concave law they are not negative: ln T moves by p times a weighted mean of the relative
errors of the entries. Those come from X, which is right to 3e-15 relative and 2^-53 in probability near 0
(stable_table.hpp), and from the logarithms. The tails of X beyond 62 bits do not matter: an entry that far out has a
derivative that falls like the probability of being there. `NUMERICAL_ERROR` is declared, not proved, with a margin
over what is measured: the mean of |ln T - ln T*| in tests/plan/test_precision.py stays below a tenth of it.
"""

from __future__ import annotations

import math

__all__ = [
    "COVERED_PAIRS",
    "NUMERICAL_ERROR",
    "STEPS_PER_DEVIATION",
    "granularity_delta",
    "grid_step",
    "rounding_delta",
]

NUMERICAL_ERROR = 2.0**-43
"""η: the declared mean error of ln T."""

STEPS_PER_DEVIATION = 4
"""The grid is a quarter of the standard deviation of ln T: it adds 1/192 to the variance."""


def grid_step(relative_deviation: float) -> float:
    """g: the step of the grid in ln T, a power of two no larger than a quarter of the relative standard deviation."""
    return float(2.0 ** math.floor(math.log2(relative_deviation / STEPS_PER_DEVIATION)))


def rounding_delta(epsilon: float, step: float) -> float:
    """(1 + e^ε) η/g, the δ that finite precision costs; proved above."""
    return (1.0 + math.exp(epsilon)) * NUMERICAL_ERROR / step * (1.0 + 1e-12)


COVERED_PAIRS = 2**21
"""Up to so many pairs NUMERICAL_ERROR covers that X has 62 random bits and not infinitely many."""

_GRANULARITY = 0.2 * 2.0**-62


def granularity_delta(epsilon: float, step: float, pairs: int) -> float:
    """What more than COVERED_PAIRS pairs cost on top: (1 + e^ε) 0.2 (n - 2^21)/2^62/g, by the same claim.

    The largest X among n keys has a tail probability near 1/n, known to a relative n/2^62. Coupled bit by bit with a
    continuous one, ln T moves by 0.03 to 0.18 times n/2^62 in the mean (tests/plan/test_precision.py); 0.2 is declared,
    and 0.2 · 2^21/2^62 = 9.1e-14 is within η = 1.1e-13 beside the 1e-14 that is measured of everything else. The true
    cost is most likely far smaller, as the other keys blur so fine a grid; not being proved, that is not assumed.
    """
    beyond = max(0, pairs - COVERED_PAIRS)
    return (1.0 + math.exp(epsilon)) * _GRANULARITY * beyond / step * (1.0 + 1e-12)
