"""The sensitivity of Shannon's entropy: how much can H differ between neighbouring streams?

A stream with totals f_k has H = ln N - Φ/N, where N = Σ f_k and Φ = Σ f_k ln f_k. c is the number of pairs of one
person, M the largest value, u = cM, and n the promised number of pairs.

**The shared part.** Under replace, two streams of n' >= n pairs share n' - c pairs. (If they share more, count the rest
among the c of both streams.) Under add_remove, one neighbour is the shared part. Values are at least 1, so its total s
is an integer from m on, where m = n - c under replace and m = n under add_remove. Every such s occurs: take s pairs of
value 1. With a public lower bound `total` of N, also s >= total - u under replace and s >= total under add_remove. The
shared part can be empty only under replace, for n <= c. Then both entropies lie between 0 and ln c, which is less than
the ln(c + 1) that s = 1 reaches, so it is enough to take m >= 1. Let H₀, Φ₀ and f be the entropy, Φ and the largest
total of the shared part. Φ₀ >= f ln f, and they are equal if all other keys have one pair of value 1.

**Upper bound.** Add a total of v <= u, on at most c keys. With λ = v/(s + v), the entropy is then at most

    (1 - λ) H₀ + λ ln c + h(λ),      h(λ) = -λ ln λ - (1 - λ) ln(1 - λ),

and c new keys of v/c each attain it. Its largest value over λ is ln(e^{H₀} + c), at λ = c/(e^{H₀} + c), that is, at
v = c s e^{-H₀}; if that exceeds u, it is the value at v = u. Call the gain over H₀ E(H₀, s). It is the maximum of
functions that fall with H₀, over a range of λ that shrinks as s grows. So it falls with H₀ and with s.

**Lower bound.** x ln x is convex, so for a given v, Φ grows most if all of v goes to the largest key, which has f. Then
H = ln N - (Φ₀ - f ln f + (f + v) ln(f + v))/N. Its derivative by v is (Φ - N ln(f + v))/N² <= 0, so the minimum is at
v = u.

**Together.** Let Φ₀ grow while f is fixed. Then the upper bound falls at a rate of (1 - λ)/s >= 1/(s + u), H₀ at a rate
of 1/s, and the lower bound at a rate of 1/(s + u). So D₀ = H₀ - (lower bound) and D = D₀ + E = (upper bound) - (lower
bound) are largest for Φ₀ = f ln f. The sensitivities are therefore

    replace:     sup of D₀(f, s) + E(f, s),       add_remove:     sup of max(D₀(f, s), E(f, s)),

over s >= m and 1 <= f <= s, with H₀ = ln s - f ln f/s in E and

    D₀(f, s) = ln s - ln(s + u) - f ln f/s + (f + u) ln(f + u)/(s + u).

**One key** (f = s): D₀ = 0 and H₀ = 0, so D = A(s) = h(λ) + λ ln c at λ = min(u/(s + u), c/(c + 1)); it falls with s.
A(m) is attained: m pairs of value 1 on one key, and c new keys of value min(m, M) against pairs on that one key
(replace) or against nothing (add_remove). For M = 1, A(m) is the sensitivity. Under add_remove, D₀ <= λ H₀ and H₀ <= ln
s with λ = c/(s + c) give D₀ <= A. Under replace, both streams have the same N, so only (ΔΦ)/N matters, and Φ grows by
at least 0 and at most (s + c) ln(s + c) - s ln s.

**Other f.** Let u >= 2 and m >= u/(ln(1 + u) - 1). *Then D and D₀ are greatest at s = m.* Proof: with f = qs >= 1, q
fixed,

    dD₀/ds = u (1 - q)/(s + u)² · (1 + u/s - ln(f + u)) <= 0,

and E falls, because H₀ = (1 - q) ln s - q ln q rises. So lower s with q fixed until s = m or f = 1. From there on,
lower s with f = 1 fixed: D₀ falls in s if s ((1 + u) ln(1 + u) - u) >= u², and the left side is at least
s (1 + u) (ln(1 + u) - 1), which is at least u (1 + u) for s >= m. E falls too. So both are largest at s = m. ∎

At s = m:

- Where f ln f >= m ln M, the v of E is u, and dD/df = ln(1 + u/f)/(m + u) > 0: the greatest D there is A(m).
- For smaller f, E = ln(1 + (c/m) e^{f ln f/m}) rises with f, and D₀ is concave in f: its derivative (ln(1 + u/f) -
  (u/m)(1 + ln f))/(m + u) falls. So on an interval [f₁, f₂], D is at most E(f₂) plus what the tangents of D₀ at both
  ends allow. Intervals whose bound exceeds what is known to be attained are divided further, until the excess is at
  most a thousandth.

If nothing exceeds A(m), the sensitivity is exactly A(m). Otherwise the result is an upper bound: too large by at most
that thousandth, and by what is lost in treating f and v as real numbers.

**Otherwise**, where values are as large as the stream is long, a simpler bound applies. H >= (1 - λ)H₀ gives D₀ <= λH₀
with λ = u/(s + u). λH₀ + E is convex in H₀, so it is largest at H₀ = 0, where it is A(s) <= A(m), or at H₀ = ln s,
where it is at most λ ln s + ln(1 + c/s). λ ln s rises until ln s = 1 + u/s, and falls from there on: **a longer stream
can be more sensitive**. Where both bounds hold, the code takes the smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError
from ...numbers.arrays import Array
from ...numbers.checked import checked_whole
from ...numbers.search import last_whole
from ..neighbours import float_above
from ..privacy import Privacy

# Sums of a few terms, each good to some units in the last place.
_ROUNDING = 1e-13
_CLOSE = 1e-3
_INTERVALS = 64
_PARTS = 8
_ROUNDS = 12
_DIGITS = 90


@dataclass(frozen=True)
class EntropySensitivity:
    """`shift` is the greatest |H - H'| if `exact`, rounded up to a float; otherwise an upper bound of it."""

    shift: float
    exact: bool


def entropy_sensitivity(privacy: Privacy, total: int | None = None) -> float:
    """How much the entropy, in nats, can differ between neighbouring streams of `privacy.pairs` pairs or more.

    It is an upper bound, exact if `worst_entropy` says so. `total` is a public lower bound of the total value of either
    neighbour, if more is known than that values are at least 1. The result is infinite if no pairs are promised: the
    entropy of an empty stream is undefined. The proof is at the top of this file.

    >>> round(entropy_sensitivity(Privacy(epsilon=1.0, delta=1e-9, pairs=1_000_000, relation="replace")), 9)
    1.4816e-05
    """
    return worst_entropy(privacy, total).shift


def worst_entropy(privacy: Privacy, total: int | None = None) -> EntropySensitivity:
    """The sensitivity, and whether it is exact."""
    if not isinstance(privacy, Privacy):
        raise ArgumentTypeError(
            "privacy", privacy, "must be a Privacy", "Pass Privacy(epsilon=..., delta=..., pairs=...)"
        )
    must = "must be an integer or None"
    if total is not None and checked_whole("total", total, "Pass the total, or None", must=must) < 0:
        raise ArgumentError("total", total, "must not be negative", "Pass a known lower bound of the total, or None")
    if privacy.pairs == 0:
        return EntropySensitivity(math.inf, False)
    person, replace = privacy.pairs_per_person, privacy.relation == "replace"
    most = person * privacy.max_value
    shared = max(privacy.pairs - person if replace else privacy.pairs, 1)
    if total is not None:
        shared = max(shared, int(total) - most if replace else int(total))
    one_key = _one_key(shared, person, privacy.max_value)
    if privacy.max_value == 1:
        return EntropySensitivity(one_key, True)
    bound = _simple(shared, person, most, replace)
    if most >= 2 and shared * (math.log1p(most) - 1.0) >= most * (1.0 + _ROUNDING):
        bound = min(bound, _at_the_shortest(shared, person, privacy.max_value, replace, one_key))
    # With a public total, streams short enough for c + 1 equal keys to be the worst case may not be allowed.
    attained = total is None or privacy.max_value <= shared
    return EntropySensitivity(max(one_key, bound), bound <= one_key and attained)


def _one_key(shared: int, person: int, max_value: int) -> float:
    """A(m): m on one key, and c keys of min(m, M)."""
    each = min(shared, max_value)
    with localcontext(Context(prec=_DIGITS)):
        everything = Decimal(shared + person * each)
        inside = Decimal(shared) * Decimal(shared).ln() + person * each * Decimal(each).ln()
        return float_above((everything.ln() - inside / everything) * (1 + Decimal(10) ** -30))


def _simple(shared: int, person: int, most: int, replace: bool) -> float:
    """The greatest λ ln s over s >= m, plus ln(1 + c/m) under replace; the caller handles A(m).

    If λ ln s still rises, the peak is bracketed between integers; the first one at which it falls is the upper end.
    """

    def rises(s: int) -> bool:
        return math.log(s) < 1.0 + most / s

    low = high = shared
    if rises(shared):
        high = 2 * shared
        while rises(high):
            low, high = high, 2 * high
        low = last_whole(rises, low, high)
        high = low + 1
    # Between low and high the peak is at most the greater λ times the greater logarithm.
    falling = most / (low + most) * math.log(high)
    return (falling + (math.log1p(person / shared) if replace else 0.0)) * (1.0 + _ROUNDING)


def _at_the_shortest(shared: int, person: int, max_value: int, replace: bool, one_key: float) -> float:
    """A bound for D or D₀ at s = m over 1 <= f with f ln f <= m ln M, to about one part in a thousand.

    If it cannot exceed `one_key`, it returns `one_key`, which is the greatest value in the rest of the range.
    """
    m, u = float(shared), float(person * max_value)
    last = m if max_value >= shared or not replace else _solve(m * math.log(max_value))
    # Slightly beyond the end, so that rounding leaves no gap.
    edges = np.minimum(np.geomspace(1.0, min(last * (1.0 + 1e-12), m), _INTERVALS + 1), m)
    left, right = edges[:-1], edges[1:]
    reached, settled = one_key, 0.0
    for _ in range(_ROUNDS):
        (at_left, slope_left), (at_right, slope_right) = (_drop(f, m, u) for f in (left, right))
        gain_left, gain_right = (np.log1p(person / m * np.exp(f * np.log(f) / m)) * replace for f in (left, right))
        width = right - left
        inner = np.minimum(at_left + slope_left * width, at_right - slope_right * width)
        highest = np.where(slope_left <= 0.0, at_left, np.where(slope_right >= 0.0, at_right, inner))
        bound = (np.maximum(highest, np.maximum(at_left, at_right)) + gain_right) * (1.0 + _ROUNDING)
        reached = max(reached, float(np.max(at_left + gain_left)), float(np.max(at_right + gain_right)))
        # An interval that does not exceed `one_key` is done; one that does is divided until the bound is close.
        limit = one_key if reached == one_key else reached * (1.0 + _CLOSE)
        open_ = bound > limit
        settled = max(settled, float(np.max(bound[~open_], initial=0.0)))
        if not open_.any():
            return settled if settled > one_key else one_key
        steps = np.arange(_PARTS + 1) / _PARTS
        cut = left[open_, None] + width[open_, None] * steps
        cut[:, -1] = right[open_]
        left, right = cut[:, :-1].ravel(), cut[:, 1:].ravel()
    return max(settled, float(np.max(bound[open_])))


def _drop(f: Array, m: float, u: float) -> tuple[Array, Array]:
    """D₀(f, m) and its derivative by f, both raised by the possible error of the terms.

    With q = f/m, t = u/m it is (1 - q) t/(1 + t) ln m - ln(1 + t) + (q ln(1 + t/q) + t ln(q + t) - t q ln q)/(1 + t):
    every term is of the order of t, however small t is.
    """
    q, t = f / m, u / m
    terms = np.array(
        [
            (m - f) / m * (t / (1.0 + t)) * math.log(m),
            np.full_like(f, -math.log1p(t)),
            q * np.log1p(t / q) / (1.0 + t),
            t * np.log(q + t) / (1.0 + t),
            -t * q * np.log(q) / (1.0 + t),
        ]
    )
    value: Array = terms.sum(axis=0) + _ROUNDING * np.abs(terms).sum(axis=0)
    return value, (np.log1p(u / f) - t * (1.0 + np.log(f))) / (m + u)


def _solve(target: float) -> float:
    """The f >= 1 with f ln f = target >= 0, by Newton's method from above: f ln f is convex, so it stays above."""
    f = target + math.e
    for _ in range(60):
        f -= (f * math.log(f) - target) / (1.0 + math.log(f))
    return max(f, 1.0)
