"""The law of registers that count distinct keys: how to estimate the number of keys from what the registers remember.

**The registers** (native/registers.hpp). Each of m registers gets a key with probability 1/m, and the key draws the
value k = 1, 2, ... with the public probability p_k: 2^-(z+1)/4 for the four values of z = floor((k - 1)/4). A register
remembers its largest value u and, for the 24 values below u, which of them were drawn. So for every value from u - 24
up it records whether the value was drawn, and it records nothing about smaller values.

**Maximum likelihood.** If the number of keys were Poisson with mean n, each value k of each register would be drawn
independently with probability 1 - exp(-x_k), where x_k = λ p_k and λ = n/m. Read a register from above: the first value
that was drawn is u, and reading stops 24 values below it. Where reading stops depends only on what was read before, so
the likelihood is the product over the values that were read, with a_k of them drawn and b_k not:

    ln L = Σ_k a_k ln(1 - exp(-λ p_k)) - λ Σ_k b_k p_k,      its maximum:  Σ_k a_k p_k/(exp(λ p_k) - 1) = Σ_k b_k p_k.

The left side decreases in λ, so there is one solution. Value k is read if no value above k + 24 was drawn, which has
probability e_k = exp(-λ T_k), T_k = Σ_{j > k+24} p_j, and the expected information about λ in a register is

    J = Σ_k e_k p_k²/(exp(x_k) - 1).

**Bias.** The first-order bias of a maximum likelihood estimate is -(I' + E[ln L''']/2)/I² (Cox and Snell, with
Bartlett's identity for E[ln L' ln L'']). Here E[ln L'''] = m Σ e_k p_k³ (exp(x_k) + 1)/(exp(x_k) - 1)², and the terms
collapse: n is overestimated by

    B = Σ_k e_k p_k²/(exp(x_k) - 1) · (T_k + p_k/2) / J²,

which does not grow with m. The estimate is n - B(n); the remaining bias is of the order n/m².

**A fixed number of keys.** The number of keys t is fixed, not Poisson. With N Poisson, Var(n̂) = E Var(n̂|N) +
Var(E[n̂|N]). The estimate is unbiased for every N, so the last term is Var(N) = n. Hence, for t keys,

    Var(t̂) = 1/(J/m) - t = t (λ/(λ² J) - 1):

0 for few keys, each of which leaves its own trace, and 0.1186 t²/m for many. All of this is to first order in 1/m;
tests/sketch/test_register_law.py checks bias, deviation and coverage against it, from 0 to 10^7 keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..numbers.arrays import Array
from .estimators import checked_confidence

WINDOW = 24
"""How many values below its largest one a register remembers."""
LARGEST = 252
"""The largest possible value."""

_ZEROS = np.arange(LARGEST) // 4
# p_k for k = 1, 2, ...; the last octave takes all the remaining probability.
_CHANCE = np.where(_ZEROS < LARGEST // 4 - 1, 2.0 ** -(_ZEROS + 3.0), 2.0 ** -(_ZEROS + 2.0))
_ABOVE = np.cumsum(_CHANCE[::-1])[::-1]
# T_k: the probability of a value above k + WINDOW.
_BEYOND = np.concatenate([_ABOVE[WINDOW + 1 :], np.zeros(WINDOW + 1)])
_MOST_EXPONENT = 700.0
_BISECTIONS = 64
_CLOSE = 1e-10  # the relative error allowed in a limit, or in the probability it is solved for


def estimate(registers: NDArray[np.uint32]) -> float:
    """The number of distinct keys in the registers: maximum likelihood less its first-order bias."""
    drawn, missing = _evidence(registers)
    keys, without = float(drawn.sum()), float(missing @ _CHANCE)
    if keys == 0.0:
        return 0.0
    if without == 0.0:
        return math.inf  # every possible value was drawn, which no real stream achieves
    # x/(e^x - 1) <= 1, so λ <= keys/without; the solution is not below that by more than the range of p.
    high = math.log(keys / without)
    low = high - math.log(2.0) * (LARGEST // 4 + 8)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        rate = math.exp(middle)
        if float(drawn @ (_CHANCE / _expm1(rate * _CHANCE))) > without:
            low = middle
        else:
            high = middle
    rate = math.exp(0.5 * (low + high))
    return rate * len(registers) - _bias(rate)


def deviation(keys: float, registers: int) -> float:
    """The standard deviation of `estimate` for this many distinct keys; proved above, to first order."""
    return float(deviations(np.array([keys]), registers)[0])


def deviations(keys: Array, registers: int) -> Array:
    """Like `deviation`, for several numbers of keys; 0 for 0 keys."""
    there = np.maximum(keys, 1e-300)
    rate = there / registers
    # λ² J <= Σ x_k = λ, up to rounding.
    information = rate**2 * _information(rate[:, None]).sum(axis=1)
    found: Array = np.sqrt(there * np.maximum(0.0, rate / np.maximum(information, 1e-300) - 1.0))
    return np.where(keys > 0.0, found, 0.0)


def limits(estimated: float, registers: int, confidence: float = 0.95) -> tuple[float, float]:
    """Limits for the number of keys: the t for which a normal estimate is at most this far from `estimated`."""
    beyond = -NormalDist().inv_cdf(0.5 - 0.5 * checked_confidence(confidence))
    return (
        solved(lambda t: t + beyond * deviation(t, registers), estimated),
        solved(lambda t: t - beyond * deviation(t, registers), estimated),
    )


def solved(rising: Callable[[float], float], value: float) -> float:
    """The t >= 0 with rising(t) = value; 0 if the function begins above it."""
    if value == math.inf:
        return math.inf
    low, high = 0.0, 1.0
    at_low, at_high = rising(low) - value, rising(high) - value
    if at_low >= 0.0:
        return 0.0
    while at_high < 0.0:
        low, high, at_low = high, 2.0 * high, at_high
        at_high = rising(high) - value
    # False position (Illinois), every fourth step by bisection.
    moved = 0
    for step in range(_BISECTIONS):
        share = -at_low / (at_high - at_low) if step % 4 < 3 else 0.5
        middle = low + (high - low) * min(max(share, 0.001), 0.999)
        at_middle = rising(middle) - value
        if at_middle < 0.0:
            low, at_low = middle, at_middle
            at_high *= 0.5 if moved < 0 else 1.0  # an end that stays twice is treated as nearer (Illinois)
            moved = -1
        else:
            high, at_high = middle, at_middle
            at_low *= 0.5 if moved > 0 else 1.0
            moved = 1
        if high - low <= _CLOSE * high or abs(at_middle) <= _CLOSE * abs(value):
            break
    return middle


def _evidence(registers: NDArray[np.uint32]) -> tuple[Array, Array]:
    """a_k and b_k: in how many registers the value k is known to have been drawn, and known not to have been."""
    largest = (registers >> np.uint32(WINDOW)).astype(np.int64)
    drawn = np.bincount(largest, minlength=LARGEST + 1).astype(np.float64)
    missing = np.cumsum(drawn) - drawn  # registers whose largest value is below k
    for below in range(1, WINDOW + 1):
        inside = largest > below
        was_drawn = (registers[inside] >> np.uint32(WINDOW - below)) & np.uint32(1) == 1
        values = largest[inside] - below
        drawn += np.bincount(values[was_drawn], minlength=LARGEST + 1)
        missing += np.bincount(values[~was_drawn], minlength=LARGEST + 1)
    return drawn[1:], missing[1:]


def _information(rate: float | Array) -> Array:
    """The terms of J."""
    terms: Array = np.exp(-rate * _BEYOND) * _CHANCE**2 / _expm1(rate * _CHANCE)
    return terms


def _bias(rate: float) -> float:
    """B, the amount by which maximum likelihood overestimates the number of keys."""
    terms = _information(rate)
    return float(terms @ (_BEYOND + 0.5 * _CHANCE)) / float(terms.sum()) ** 2


def _expm1(x: Array) -> Array:
    """e^x - 1 without overflow: anything divided by it there is 0."""
    return np.expm1(np.minimum(x, _MOST_EXPONENT))
