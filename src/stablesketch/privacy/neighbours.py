"""The sensitivity ρ: the largest factor by which F_p plus a floor can differ between neighbouring streams.

Λ >= 0 is the floor, c the number of pairs of one person, M the largest value, and n the promised number of pairs.

**Adding pairs.** Let x be F_p of a stream and s its total value. Add c pairs with values from 1 to M.

- *Upper bound*: (f + v)^p <= f^p + v^p, so F_p grows by at most c M^p. It grows by exactly that if the pairs are c new
  keys of value M.
- *Lower bound*: the sum of (f_k + b_k)^p is concave in the additions b. For a given total b it is therefore smallest if
  all of b goes to one key; of all keys, if it goes to the largest, f_max <= s; and of all totals, if b = c. So F_p
  grows by at least (s+c)^p - s^p. It grows by exactly that if one key holds everything and the pairs have value 1.
- x >= s^p, because (Σ f_k)^p <= Σ f_k^p. They are equal if one key holds everything.

A promised total t of either stream is a lower bound of s, as the number of pairs is. Where pairs are added, s >= t, so
n stands for the larger of the two. The paragraph on replace says what t does there.

**Add or remove.** The smaller stream has s >= n, so the ratio is at most 1 + c M^p/(Λ + x) <= 1 + c M^p/(Λ + n^p).
It is attained: by n pairs of value 1 on one key, to which c new keys of value M are added.

**Replace.** Two streams of n' >= n pairs that differ in up to c pairs share n' - c pairs (or none, if n' < c). If they
share more, count some of the shared pairs among the c of both streams. Let x and s be F_p and the total of the shared
part. Then

    ratio <= (Λ + x + c M^p) / (Λ + x + (s+c)^p - s^p) <= g(s) = (Λ + s^p + c M^p) / (Λ + (s+c)^p),

where the second step holds because the ratio falls as x grows ((s+c)^p - s^p <= c^p <= c M^p) and x >= s^p. g(s) is
attained: one key holds s, and c new keys of value M in one stream stand against c more pairs of value 1 on that key in
the other. So ρ is the largest g(s) over the totals s that can occur. These are all integers from max(n - c, 0) on,
because s pairs of value 1 are a shared part with total s. (Streams of k < c pairs give (Λ + kM^p)/(Λ + k^p), which
grows with k up to g(0).) In streams of exactly n pairs, s is at most (n-c)M.

Now let a total t be promised. The c pairs of the smaller stream add up to some b >= c with s + b >= t, and F_p grows by
at least (s+b)^p - s^p, which is at most b^p <= (cM)^p <= c M^p. As before, the ratio is at most (Λ + s^p + c M^p)/(Λ +
(s+b)^p). For s < t - c this is at most (Λ + s^p + c M^p)/(Λ + t^p), which rises with s up to g(t - c). From there on,
b = c gives g(s). So it is enough to consider s >= t - c. g(t - c) is attained by t pairs of value 1 on one key, c of
which are replaced by new keys of value M.

**Where g is greatest.** Its logarithmic derivative has the sign of

    e(s) = Λ ((1 + c/s)^{1-p} - 1) + c s^{p-1} - c M^p,

and every term of e falls with s. So g rises, then falls. It has one peak s₀, and its largest value over integers is at
one of the two integers around s₀, or at the end of the range that is nearest to it. For Λ = 0 and s >= 1, e(s) <= 0, so
ρ = ((n-c)^p + c M^p)/n^p if n > c. For Λ > 0 the peak can lie beyond n - c: **a longer stream can be more sensitive**.
This is why the promise `pairs` means "at least".

**Keys as units.** With unit="key" no two pairs have the same key, so F_p is the sum of v^p over all pairs. Adding c
keys adds at least c and at most c M^p, and the n - c shared keys have F_p of at least n - c. So ρ = 1 + c M^p/(Λ + n)
under add or remove, and ρ = (Λ + n - c + c M^p)/(Λ + n) under replace. Shared keys of value 1 attain both. The fewer
keys there are, the larger ρ is.

The code evaluates these formulas in decimal arithmetic, with enough digits that the result is exact to 1e-25, and
rounds up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext

from ..errors import ArgumentError, ArgumentTypeError
from ..law import StableLaw
from ..numbers.checked import checked_real
from ..numbers.search import last_whole
from .privacy import Privacy

# Digits beyond those that the largest integer cancels; the rest is exact far beyond the precision of a float.
_SPARE_DIGITS = 50
# No stream within the limits of Privacy has a larger F_p; a larger floor would protect nothing that can exist.
MOST_FLOOR = 2.0**106


@dataclass(frozen=True)
class WorstNeighbours:
    """The two neighbours that differ most: `shared` pairs of value 1 on one key, and in addition

    - the larger has `pairs_per_person` pairs of value `max_value`, each on a new key;
    - the smaller has, under replace, as many more pairs of value 1 on the shared key, and under add_remove nothing
      more.

    With unit="key" every pair, shared or additional, has its own key.

    `rho` is the factor between their F_p + floor and `log_rho` its logarithm, both exact and rounded up to a float.
    """

    rho: float
    log_rho: float
    shared: int


def sensitivity(p: float, privacy: Privacy, floor: float = 0.0) -> float:
    """ρ, the greatest ratio of F_p + floor between neighbouring streams with `privacy.pairs` pairs or more.

    It is the exact value, attained by two streams and rounded up to a float, if there are more than
    `privacy.pairs_per_person` possible keys; with fewer keys it is an upper bound. It is infinite if there is no floor
    and one neighbour may be empty while the other is not. The proof is at the top of this file.

    >>> round(sensitivity(0.5, Privacy(epsilon=1.0, delta=1e-9, pairs=1_000_000, relation="replace")), 12)
    1.0009995
    """
    return worst_neighbours(p, privacy, floor).rho


def log_sensitivity(p: float, privacy: Privacy, floor: float = 0.0) -> float:
    """ln ρ, rounded up, with all its digits even if ρ is so close to 1 that a float cannot hold the difference."""
    return worst_neighbours(p, privacy, floor).log_rho


def worst_neighbours(p: float, privacy: Privacy, floor: float = 0.0, *, exactly: bool = False) -> WorstNeighbours:
    """Two neighbours that attain the sensitivity, and its value.

    With `exactly`, for replace only, both streams have exactly `privacy.pairs` pairs. Their ρ is smaller only if the
    floor is of the order of the number of pairs, so that longer streams are more sensitive. Their shared pairs may need
    values above 1; `shared` is then their total.
    """
    p = StableLaw(p).p
    if not isinstance(privacy, Privacy):
        raise ArgumentTypeError(
            "privacy", privacy, "must be a Privacy", "Pass Privacy(epsilon=..., delta=..., pairs=...)"
        )
    floor = _floor(floor)
    if privacy.unit == "key":
        return _keys(p, privacy, floor)
    if privacy.relation == "add_remove":
        if exactly:
            raise ArgumentError(
                "exactly", exactly, "cannot be used with add_remove",
                "Leave it out",
                because="the number of pairs changes",
            )  # fmt: skip
        return _add_remove(p, privacy, floor)
    return _replace(p, privacy, floor, exactly)


def _add_remove(p: float, privacy: Privacy, floor: float) -> WorstNeighbours:
    if max(privacy.pairs, privacy.total) == 0 and floor == 0.0:
        return WorstNeighbours(math.inf, math.inf, 0)
    with localcontext(_context(privacy, floor)):
        index = Decimal(p)
        gain = privacy.pairs_per_person * Decimal(privacy.max_value) ** index
        least = max(privacy.pairs, privacy.total)
        return _rounded_up(gain / (Decimal(floor) + _power(least, index)), least)


def _keys(p: float, privacy: Privacy, floor: float) -> WorstNeighbours:
    """Streams in which every key occurs once: the shortest, exactly as long as promised, are the worst."""
    changed, add_remove = privacy.pairs_per_person, privacy.relation == "add_remove"
    keys = privacy.pairs if add_remove else max(privacy.pairs, changed)
    if keys == 0 and floor == 0.0:
        return WorstNeighbours(math.inf, math.inf, 0)
    with localcontext(_context(privacy, floor)):
        gain = changed * Decimal(privacy.max_value) ** Decimal(p) - (0 if add_remove else changed)
        return _rounded_up(gain / (Decimal(floor) + keys), keys if add_remove else keys - changed)


def _replace(p: float, privacy: Privacy, floor: float, exactly: bool) -> WorstNeighbours:
    replaced = min(privacy.pairs_per_person, privacy.pairs) if exactly else privacy.pairs_per_person
    if replaced == 0:
        # Two empty streams are the same stream.
        return WorstNeighbours(1.0, 0.0, 0)
    least = max(privacy.pairs - replaced, 0)
    if not exactly:
        least = max(least, privacy.total - replaced)
    most = least * privacy.max_value if exactly else None
    with localcontext(_context(privacy, floor)):
        index, added = Decimal(p), Decimal(floor)
        gain = replaced * Decimal(privacy.max_value) ** index

        def excess(shared: int) -> Decimal:
            """g(s) - 1."""
            after = _power(shared + replaced, index)
            return (_power(shared, index) + gain - after) / (added + after)

        def rising(shared: int) -> bool:
            """e(s) > 0."""
            if shared == 0:
                return index < 1
            stretch = (1 + Decimal(replaced) / shared) ** (1 - index) - 1
            return added * stretch + replaced * Decimal(shared) ** (index - 1) - gain > 0

        around = _last_rising(rising, least, most)
        return max((_rounded_up(excess(s), s) for s in around), key=lambda worst: worst.log_rho)


def _last_rising(rising: Callable[[int], bool], least: int, most: int | None) -> tuple[int, ...]:
    """The last integer in [least, most] at which g still rises, and the next: the greatest g is at one of them."""
    if not rising(least):
        return (least,)
    low, step = least, 1
    while (most is None or low + step < most) and rising(low + step):
        low, step = low + step, 2 * step
    high = low + step if most is None else min(low + step, most)
    last = last_whole(rising, low, high)
    return (last, min(last + 1, high))


def _context(privacy: Privacy, floor: float) -> Context:
    """Enough digits: (s+c)^p - s^p cancels at most as many digits as s has, and s is of the order of the inputs."""
    largest = max(privacy.pairs, privacy.total) + privacy.pairs_per_person
    largest = max(largest, privacy.max_value, math.ceil(floor))
    return Context(prec=_SPARE_DIGITS + 3 * len(str(largest)))


def _power(base: int, index: Decimal) -> Decimal:
    return Decimal(base) ** index if base else Decimal(0)


def _rounded_up(excess: Decimal, shared: int) -> WorstNeighbours:
    # With this many digits, it is larger than any rounding so far and smaller than the precision of a float.
    excess += excess * Decimal(10) ** -30
    return WorstNeighbours(float_above(1 + excess), float_above((1 + excess).ln()), shared)


def float_above(value: Decimal) -> float:
    """The least float that is not below the value."""
    nearest = float(value)
    return nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)


def _floor(floor: object) -> float:
    number = checked_real("floor", floor, "Pass 0.0 for no floor")
    if not 0.0 <= number <= MOST_FLOOR:
        raise ArgumentError("floor", floor, "must be between 0 and 2^106", "Pass 0.0 for no floor")
    return number
