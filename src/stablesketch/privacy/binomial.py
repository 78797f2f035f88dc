"""Exact confidence limits for a probability from a count (Clopper and Pearson), without scipy."""

from __future__ import annotations

import math

import numpy as np

# The failure probability that is used may be this much smaller, relatively, than the one allowed.
_CLOSE = 1e-9
_MOST_STEPS = 200
_NEGLIGIBLE = 1e-16


def lower_limit(successes: int, trials: int, failure: float) -> float:
    """A lower limit for the true probability x that fails with a probability of at most `failure` (below 1/2).

    It is the x for which P(Bin(trials, x) >= successes) = failure, taken from below. The limit exceeds the true x if
    the count k has P(Bin(trials, x) >= k) < failure. The probability of that is at most `failure` for any number of
    trials: nothing here is asymptotic.
    """
    if successes == 0:
        return 0.0

    # By aiming slightly below the allowed probability, any close result is on the safe side of it.
    aim = math.log(failure) - _CLOSE

    def excess(x: float) -> float:
        return log_tail(successes, trials, x) - aim

    # At x = successes/trials the median of the count is `successes`, so the tail is at least 1/2.
    high = successes / trials
    low, above, below = high / 2.0, excess(high), excess(high / 2.0)
    while below > 0.0:
        high, above = low, below
        low, below = low / 2.0, excess(low / 2.0)
    # Secants; an end that stays twice counts half (Illinois), so that both ends move.
    last = 0
    for _ in range(_MOST_STEPS):
        x = low + (high - low) * below / (below - above)
        at = excess(x)
        if abs(at) <= _CLOSE:
            return x
        if at < 0.0:
            low, below, above = x, at, above / 2.0 if last < 0 else above
            last = -1
        else:
            high, above, below = x, at, below / 2.0 if last > 0 else below
            last = 1
    return low


def upper_limit(successes: int, trials: int, failure: float) -> float:
    """An upper limit for the true probability that fails with a probability of at most `failure`."""
    return 1.0 - lower_limit(trials - successes, trials, failure)


def log_tail(successes: int, trials: int, probability: float) -> float:
    """An upper bound of ln P(Bin(n, x) >= k), tight up to rounding, for 0 < x <= k/n and k >= 1.

    The terms after the first, C(n, k) x^k (1-x)^(n-k), fall by the factors (n-k-i)/(k+i+1) · x/(1-x) < 1, which
    themselves fall. So the rest after some term is at most that term times factor/(1 - factor). The rounding of the
    logarithms of factorials, the only large numbers here, is added.
    """
    n, k, x = trials, successes, probability
    if x == 1.0:
        return 0.0
    log_gamma = math.lgamma(n + 1)
    log_first = log_gamma - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(x) + (n - k) * math.log1p(-x)
    total, term, start, odds = 1.0, 1.0, 0, x / (1.0 - x)
    while start < n - k and term > _NEGLIGIBLE * total:
        i = np.arange(start, min(start + 256, n - k), dtype=np.float64)
        terms = term * np.cumprod((n - k - i) / (k + i + 1) * odds)
        total, term, start = total + float(terms.sum()), float(terms[-1]), start + len(i)
    factor = (n - k - start) / (k + start + 1) * odds
    total += term * factor / (1.0 - factor) if start < n - k else 0.0
    return log_first + math.log(total) + 16.0 * math.ulp(log_gamma + n)
