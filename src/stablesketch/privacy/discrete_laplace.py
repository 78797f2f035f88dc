"""Laplace noise on the integers, drawn exactly: P(X = k) = (1 - q)/(1 + q) · q^|k|, q = exp(-1/b), b a fraction.

Why it is private. Let an integer be computed from the data, with neighbouring data giving integers m, m' at most D
apart. For every output z

    P(m + X = z) / P(m' + X = z) = exp((|z - m'| - |z - m|)/b) <= exp(|m - m'|/b) <= exp(D/b),

by the triangle inequality. So releasing m + X is ε-private with ε = D/b and δ = 0; at z = m the bound is attained.
Nothing here is rounded, which is the point. Laplace noise in floating point has gaps in its set of values, and the gaps
depend on m: some outputs are then possible for only one of two neighbours, and no ε holds.

This assumes that the integers below n that `below` returns are uniform and independent, and that the observer does not
see how long the draw took, because the number of draws depends on the noise. They come from the operating system's
generator (`secrets.randbelow`), or from a key (`KeyedIntegers`): then the same secret and the same data give the same
value. The key is derived for one purpose (`Secret.derive`) from the collector's secret, which has one release. Anyone
who does not know the secret cannot distinguish these integers from fresh random ones, by the same assumption as for the
projection.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from numbers import Rational

from ..errors import ArgumentError, ArgumentTypeError

Below = Callable[[int], int]

# Digits of the first attempt at a quantile; more are used until the answer is certain.
_DIGITS = 40
_BLOCK = 256  # bytes that a key gives at a time


def sample(scale: Fraction, below: Below = secrets.randbelow) -> int:
    """One draw of the law for the scale b = t/s in lowest terms, using integers only (Canonne, Kamath, Steinke).

    Proof that the law is exact. U is uniform on 0..t-1 and kept with probability exp(-U/t); V is a number of
    consecutive successes of probability exp(-1). Hence P(U + tV = x) is proportional to exp(-U/t) exp(-V) = exp(-x/t)
    for x = 0, 1, ... The s values of x with floor(x/s) = y together have a probability proportional to exp(-ys/t) =
    q^y. A fair sign, with "minus zero" drawn again, makes that q^|k| on all integers, with 0 counted once.

    `below(n)` must return a uniform integer from 0 to n - 1. It takes 10 to 15 draws on average, whatever the scale.
    """
    t, s = _fraction("scale", scale).as_integer_ratio()
    uniform = _checked(below)
    while True:
        drawn = _attempt(t, s, uniform)
        if drawn is not None:
            return drawn


def _attempt(t: int, s: int, below: Below) -> int | None:
    """One pass of `sample`, or None if it must start again."""
    u = below(t)
    if not _bernoulli_exp(u, t, below):
        return None
    v = 0
    while _bernoulli_exp(1, 1, below):
        v += 1
    magnitude = (u + t * v) // s
    if below(2) == 0:
        return magnitude
    return -magnitude if magnitude else None


def _bernoulli_exp(numerator: int, denominator: int, below: Below) -> bool:
    """True with probability exp(-γ), γ = numerator/denominator between 0 and 1.

    Trials i = 1, 2, ... succeed with probability γ/i until one fails, after K successes. P(K >= k) = γ^k/k!, so
    P(K even) = Σ over even k of γ^k/k! - γ^(k+1)/(k+1)! = Σ over all k of (-γ)^k/k! = exp(-γ).
    """
    successes = 0
    while below(denominator * (successes + 1)) < numerator:
        successes += 1
    return successes % 2 == 0


def variance(scale: Fraction) -> float:
    """The variance 2q/(1 - q)², q = exp(-1/b): near 2b² for large b. A float, correct to rounding; for reports only."""
    b = _fraction("scale", scale)
    # Beyond 800 the true variance is less than the smallest float.
    inverse = float(min(1 / b, Fraction(800)))
    if inverse < 1e-150:
        raise ArgumentError(
            "scale", scale, "must be small enough for its variance to be a float", "Pass a scale below 1e150"
        )
    return 2.0 * math.exp(-inverse) / math.expm1(-inverse) ** 2


def quantile(scale: Fraction, probability: Fraction | float) -> int:
    """The least k with P(X <= k) >= probability, exactly.

    For an interval of confidence c, |X| <= quantile(scale, (1 + Fraction(c))/2) with probability at least c.

    For k >= 0, P(X > k) = q^(k+1)/(1 + q); for k > 0, P(X <= -k) = q^k/(1 + q). With a the lesser of probability and
    1 - probability, and z = b ln(1/(a (1 + q))) > 0, the least k is therefore ceil(z) - 1 in the upper half and
    -floor(z) in the lower. z is never an integer j: that would be a + aq = q^j, a polynomial with rational
    coefficients, not all 0, and e to a rational power other than 0 is transcendental (Lindemann). So the answer is
    floor(z) with the sign of the half, and computing z with more and more digits, between certain bounds, ends with
    both bounds having one floor.
    """
    return _quantile(_fraction("scale", scale), _probability(probability))


@lru_cache(maxsize=64)
def _quantile(b: Fraction, chance: Fraction) -> int:
    """Computed once for all groups of a table, because their noise has the same scale."""
    tail = min(chance, 1 - chance)
    digits = _DIGITS
    while True:
        log, error = _log_inverse(tail, b, digits)
        low, high = math.floor(b * (log - error)), math.floor(b * (log + error))
        if low == high:
            return low if 2 * chance >= 1 else -low
        digits *= 2


def _log_inverse(tail: Fraction, b: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """ln(1/(a (1 + q))) and a bound on its error, for a = tail.

    With u = 10^(1-digits) every operation has a relative error of at most u/2; exp and ln are correctly rounded too.
    The exponent -1/b is off by u/(2b), which moves q by at most u/2 since x exp(-x) < 1. So q is off by at most u, 1
    + q by 2u relative to itself, a by u/2 and the product by 3u. Its logarithm is off by at most 4u, and by u times
    itself.
    """
    with localcontext(Context(prec=digits, rounding=ROUND_HALF_EVEN)) as context:
        q = context.exp(context.divide(Decimal(-b.denominator), Decimal(b.numerator)))
        a = context.divide(Decimal(tail.numerator), Decimal(tail.denominator))
        log = -Fraction(context.ln(context.multiply(a, context.add(Decimal(1), q))))
    return log, (4 + abs(log)) * Fraction(10) ** (1 - digits)


def _checked(below: Below) -> Below:
    """`below` with its results checked: a float or a number out of range would silently break the guarantee."""

    def uniform(n: int) -> int:
        drawn = below(n)
        if type(drawn) is not int:
            raise ArgumentTypeError("below", drawn, f"must return an integer for below({n})", "Use secrets.randbelow")
        if not 0 <= drawn < n:
            raise ArgumentError(
                "below", drawn, f"must return a number between 0 and {n - 1} for below({n})", "Use secrets.randbelow"
            )
        return drawn

    return uniform


def _fraction(name: str, value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, Rational):
        raise ArgumentTypeError(name, value, "must be a Fraction", "Pass Fraction(x), which represents a float exactly")
    if value <= 0:
        raise ArgumentError(name, value, "must be positive", "Pass sensitivity / epsilon as a Fraction")
    return Fraction(value)


def _probability(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, Fraction | int | float):
        raise ArgumentTypeError("probability", value, "must be a real number", "Pass a Fraction or a float")
    if not 0 < value < 1:
        raise ArgumentError("probability", value, "must be between 0 and 1", "Pass 0.975, for example")
    return Fraction(value)


class KeyedIntegers:
    """SHAKE-256(key, counter), cut to as many bits as are needed."""

    __slots__ = ("_counter", "_key", "_left")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0
        self._left = b""

    def below(self, n: int) -> int:
        """Uniform on 0..n-1: a number that is not below n is drawn again."""
        bits = (n - 1).bit_length()
        while True:
            drawn = int.from_bytes(self._take(-(-bits // 8)), "little") & ((1 << bits) - 1)
            if drawn < n:
                return drawn

    def _take(self, count: int) -> bytes:
        while len(self._left) < count:
            block = hashlib.shake_256(self._key + self._counter.to_bytes(8, "little")).digest(_BLOCK)
            self._left += block
            self._counter += 1
        taken, self._left = self._left[:count], self._left[count:]
        return taken
