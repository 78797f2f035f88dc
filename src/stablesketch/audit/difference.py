"""One inequality of a claim, tested directly: P(E) - e^ε P'(E) <= δ, from counts of E in two independent samples.

Limits for P(E) and for P'(E) that hold at once leave more room than their difference needs: the two errors seldom go
the same way. With K and K' counts of n trials each, c = e^ε and t = (K - cK')/n observed, Chernoff's bound says for
every λ >= 0

    P(K - cK' >= nt) <= exp(-n [λt - ln(1 + P(e^λ - 1)) - ln(1 + P'(e^{-cλ} - 1))]).

If P - cP' <= δ, the right side is greatest on the line P = δ + cP', because it rises with P; where that would make P
exceed 1, P = 1 and it falls with P'. On the line its logarithm is n times a sum of logarithms of linear functions of
P', hence concave; with u = e^λ - 1 and d = e^{-cλ} - 1 its derivative cu/(1 + (δ + cP')u) + d/(1 + P'd) is 0 at

    P' = -1/(2d) - (1 + δu)/(2cu),

and of an interval of P' the nearest point to it is the best. The least bound over λ is a p-value that holds for any n.
It is about as strong as a normal test, and never wrong more often than it says.

The greatest over all P' would be found where the counts vary most, however rare E is. So P' is first held within exact
limits that fail with a tenth of the chance allowed, and nine tenths are left to the p-value (Berger and Boos 1994).
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
_SLACK = 1e-9  # of the logarithm for each trial: more than rounding leaves


def log_p_value(
    counts: tuple[int, int], trials: int, epsilon: float, delta: float, within: tuple[float, float] = (0.0, 1.0)
) -> float:
    """The logarithm of a p-value of P(E) - e^ε P'(E) <= delta, the counts being those of E on either side.

    P'(E) is known to lie `within` this.
    """
    factor = math.exp(min(epsilon, 300.0))
    seen = (counts[0] - factor * counts[1]) / trials
    if seen <= delta or delta >= 1.0:
        return 0.0
    low, high = within[0], max(min(within[1], (1.0 - delta) / factor), within[0])  # beyond, P is 1

    def exponent(rate: float) -> float:
        """λt less the greatest sum of logarithms: of any λ, a bound."""
        up, down = math.expm1(rate), math.expm1(-factor * rate)
        flat = -0.5 / down - 0.5 * (1.0 + delta * up) / (factor * up)  # where the derivative is 0
        other = min(max(flat, low), high)
        return rate * seen - math.log1p(min(delta + factor * other, 1.0) * up) - math.log1p(other * down)

    # The best λ is about the excess over the variance; beyond 30 nothing changes but the last digits.
    best = _least(lambda log_rate: -exponent(math.exp(log_rate)), math.log(1e-6), math.log(30.0), _LAMBDAS)
    return min(0.0, -trials * (exponent(math.exp(best)) - _SLACK))


@dataclass(frozen=True)
class DifferenceTest:
    """Counts of an event in this many trials on either side, to be tested at one ε with this chance of error."""

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
        """Whether P(E) - e^ε P'(E) > delta, with a chance of at most `failure` to be wrong."""
        return self.log_p(delta) <= math.log((1.0 - _FOR_LIMITS) * self.failure)

    def limit(self) -> float:
        """The largest delta, nearly, that is excluded; 0 if none is."""
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
