"""One inequality of a claim, tested directly: P(E) - e^ε P'(E) <= δ, from counts of E in two independent samples.

Limits for P(E) and P'(E) that hold at once are wider than a test of their difference needs: the two errors seldom go
the same way. With counts K and K' from n trials each, c = e^ε and the observed t = (K - cK')/n, Chernoff's bound says
for every λ >= 0

    P(K - cK' >= nt) <= exp(-n [λt - ln(1 + P(e^λ - 1)) - ln(1 + P'(e^{-cλ} - 1))]).

If P - cP' <= δ, the right side is greatest on the line P = δ + cP', because it increases with P; where P would exceed
1, P = 1 and it decreases with P'. On the line its logarithm is n times a sum of logarithms of linear functions of P',
hence concave; with u = e^λ - 1 and d = e^{-cλ} - 1 its derivative cu/(1 + (δ + cP')u) + d/(1 + P'd) is 0 at

    P' = -1/(2d) - (1 + δu)/(2cu),

and within an interval of P' the point nearest to it is the best. The least bound over λ is a p-value that holds for any
n. It is about as strong as a normal test, and never wrong more often than it states.

The maximum over all P' would be where the counts vary most, however rare E is. So P' is first restricted to exact
limits that fail with a tenth of the allowed probability, and nine tenths are left for the p-value (Berger and Boos
1994).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from ..privacy.binomial import lower_limit, upper_limit

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_LAMBDAS = 28
_FOR_LIMITS = 0.1
_SLACK = 1e-9  # added to the logarithm for each trial: more than its rounding error


def log_p_value(
    counts: tuple[int, int], trials: int, epsilon: float, delta: float, within: tuple[float, float] = (0.0, 1.0)
) -> float:
    """The logarithm of a p-value of P(E) - e^ε P'(E) <= delta, from the counts of E on either side.

    P'(E) is known to be `within` these limits.
    """
    factor = math.exp(min(epsilon, 300.0))
    seen = (counts[0] - factor * counts[1]) / trials
    if seen <= delta or delta >= 1.0:
        return 0.0
    low, high = within[0], max(min(within[1], (1.0 - delta) / factor), within[0])  # beyond this, P is 1

    def exponent(rate: float) -> float:
        """λt less the greatest sum of logarithms: a bound for any λ."""
        up, down = math.expm1(rate), math.expm1(-factor * rate)
        flat = -0.5 / down - 0.5 * (1.0 + delta * up) / (factor * up)  # where the derivative is 0
        other = min(max(flat, low), high)
        return rate * seen - math.log1p(min(delta + factor * other, 1.0) * up) - math.log1p(other * down)

    # The best λ is about the excess divided by the variance; beyond 30 only the last digits change.
    best = _least(lambda log_rate: -exponent(math.exp(log_rate)), math.log(1e-6), math.log(30.0), _LAMBDAS)
    return min(0.0, -trials * (exponent(math.exp(best)) - _SLACK))


@dataclass(frozen=True)
class DifferenceTest:
    """Counts of an event in this many trials on either side, to be tested at one ε with this probability of error."""

    counts: tuple[int, int]
    trials: int
    epsilon: float
    failure: float

    @cached_property
    def _within(self) -> tuple[float, float]:
        part = 0.5 * _FOR_LIMITS * self.failure
        return lower_limit(self.counts[1], self.trials, part), upper_limit(self.counts[1], self.trials, part)

    def log_p(self, delta: float) -> float:
        return log_p_value(self.counts, self.trials, self.epsilon, delta, self._within)

    def excludes(self, delta: float) -> bool:
        """Whether P(E) - e^ε P'(E) > delta; wrong with a probability of at most `failure`."""
        return self.log_p(delta) <= math.log((1.0 - _FOR_LIMITS) * self.failure)

    def limit(self) -> float:
        """Nearly the largest delta that is excluded; 0 if none is."""
        if not self.excludes(0.0):
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(24):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.excludes(middle) else (low, middle)
        return low


def _least(function: Callable[[float], float], low: float, high: float, steps: int) -> float:
    """Where a convex function is least, by golden section."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return left if at_left < at_right else right
