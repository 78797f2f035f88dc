"""F_p or the norm from exact totals, on a public grid: the integer that the exact mechanism adds its noise to.

F_p = Σ f_k^p is irrational for most p, and noise that is exact needs an integer. So F_p is expressed in units of a
public step g, U = F_p/g rounded. Two things must be certain, whatever the data: how far U can be from F_p/g
(`moment_units`), and therefore how far apart the U of neighbours can be (`units_sensitivity`).

Why F_p changes by at most c M^p between neighbours, for replace and for add or remove alike. Let S'' be the common
pairs and x their F_p. One more pair of value v <= M raises one total f to f + v, and 0 <= (f + v)^p - f^p <= v^p <=
M^p, because the power p <= 1 is increasing and subadditive. So adding up to c pairs takes F_p to a place in [x, x + c
M^p]. Add or remove: one of the neighbours is S'' itself. Replace: both are S'' with up to c pairs added, and both lie
in the same interval. Removing one person's pairs and adding another's move F_p in opposite directions, so the bound is
the larger of the two moves and not their sum. Add or remove attains it, with c values M on keys of their own; replace
comes as near as one likes for p < 1, if the other person's pairs go to a key that already has a large total.

In a table (bounding/groups.py) every group has an F_p, a grid and a U of its own. If c_g of the c pairs are in group g,
that group's F_p moves by at most c_g M^p, and the moves add up to c M^p; but every U that changes was rounded by
itself.

**Orders above 1.** There the norm ‖f‖_p = F_p^{1/p} is released and not F_p, which can move by any amount. A pair of
value v raises one total, and by the triangle inequality the norm by at most v, so neighbours that differ by c pairs of
values up to M have norms at most c M apart. The norm rises with every total, so that holds for replace too: both
neighbours are the shared stream with up to c pairs added, and both norms lie between its norm and that plus c M. In a
table the moves of all groups add up to c M, and every group is rounded by itself. Powers are computed with enough
decimals for the norm to be correct to a tiny part of a unit; squares are whole numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from numbers import Rational

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, ArgumentTypeError, NegativeTotal
from ..numbers.checked import checked_real, checked_whole

# The rounded moment may be this much more than half a unit from the true one. The cost is negligible.
MARGIN = Fraction(1, 1024)
# Totals of more bits are refused, because the error bound below relies on this.
TOTAL_BITS = 128
# Powers of integers of this many bits come from `decimal`, those of larger ones from a series around these; logarithms
# too (entropy/mass.py).
HEAD_BITS = 8


def moment_units(totals: NDArray[np.integer] | Iterable[int], p: float, step: Fraction) -> int:
    """U with |U - F_p/step| <= 1/2 + MARGIN, and <= 1/2 for p = 1, where F_p is a whole number. Equal totals are
    computed once.

    The powers are computed to B bits with a relative error below 2^(4-B) each (`_Powers`), weighted and added without
    further error. As f^p <= f, their sum is within 2^(4-B) Σ f of F_p, and B makes that less than MARGIN·step with
    room.
    """
    p, step = _index(p), _step(step)
    counts = totals_by_size(totals)
    total = sum(f * count for f, count in counts.items())
    if p == 1.0:
        return nearest(total / step)
    bits = 16 + math.ceil(total / (MARGIN * step)).bit_length()
    powers = _Powers(p, bits)
    scaled = sum(powers(f) * count for f, count in counts.items())
    return nearest(Fraction(scaled, 1 << bits) / step)


def units_sensitivity(p: float, max_value: int, pairs_per_person: int, step: Fraction, groups: int = 1) -> int:
    """The largest difference of `moment_units` between neighbours; the same for replace and for add or remove.

    With several `groups`, the largest total difference of the U of all groups, if at most this many change.

    Neighbours' F_p differ by at most s = c M^p/step units (proof above) and each U is within 1/2 + MARGIN of its F_p,
    so the integers differ by at most floor(s + 1 + 2·MARGIN). For p = 1 rounding is exact, and monotone and
    equivariant under whole units: moving by s moves the rounded number by at most ceil(s). M^p is taken from above.
    For k groups with shares s_g > 0 that add up to s, Σ floor(s_g + 1 + 2·MARGIN) <= floor(s + k (1 + 2·MARGIN)), and
    each ceil(s_g) is below s_g + 1, so that their sum is an integer below s + k: at most ceil(s) + k - 1.
    """
    p, step = _index(p), _step(step)
    value, pairs = _count("max_value", max_value), _count("pairs_per_person", pairs_per_person)
    changed = min(_count("groups", groups), pairs)
    if value.bit_length() > TOTAL_BITS:
        raise ArgumentError(
            "max_value", max_value, f"must have at most {TOTAL_BITS} bits", "Use a larger unit of value"
        )
    if p == 1.0:
        return math.ceil(pairs * value / step) + changed - 1
    # As M^p <= M, the error is below 2^(4-bits) · 2^(bits-16), so that s is above the truth by less than MARGIN.
    bits = 16 + math.ceil(pairs * value / step).bit_length()
    power = Fraction(_Powers(p, bits)(value), 1 << bits) / (1 - Fraction(16, 1 << bits))
    return math.floor(pairs * power / step + changed * (1 + 2 * MARGIN))


class _Powers:
    """f^p · 2^bits as an integer with a relative error below 2^(4-bits), for whole f from 1 to 2^TOTAL_BITS and p < 1.

    f = m · 2^e · (1 + t), m the leading 8 bits and 0 <= t < 2^-7, so f^p = m^p · (2^e)^p · Σ C(p, i) t^i. Errors, in
    units of 2^-bits relative to each factor, which are all at least 1: m^p and (2^e)^p at most 1 (`_rounded`); the
    series 5, because

    - the terms after the first two alternate and shrink: what is cut off is less than the first term left out, and
      t^n < 2^-bits: 1;
    - t is rounded down: d(1 + t)^p/dt <= 1, so at most 1; every coefficient likewise: Σ t^i < 1.01;
    - every step of Horner's scheme rounds down once more, and carries on t times what the former ones left: 1.01.

    Two products, rounded down: 2. In all at most 9, with room to 16 for products of errors, bits being at least 16.
    """

    def __init__(self, p: float, bits: int) -> None:
        self._p = p
        self._bits = bits
        self._digits = bits // 3 + 10
        self._known: dict[int, int] = {}
        self._coefficients: list[int] = []
        exact, coefficient = Fraction(p), Fraction(1)
        for i in range(bits // (HEAD_BITS - 1) + 2):
            self._coefficients.append(math.floor(coefficient * (1 << bits)))
            coefficient *= (exact - i) / (i + 1)
        self._coefficients.reverse()

    def __call__(self, f: int) -> int:
        head, e, t = around_head(f, self._bits)
        if e == 0:
            return self._rounded(f)
        product = self._rounded(head) * self._rounded(1 << e) >> self._bits
        return product * horner(self._coefficients, t, self._bits) >> self._bits if t else product

    def _rounded(self, f: int) -> int:
        """f^p 2^bits with a relative error below 2^-bits, as exp(p ln f).

        `decimal` rounds exp, ln and products correctly, each with a relative error of at most u = 10^(1-digits)/2. The
        exponent is at most 128 ln 2 < 89, so it is off by less than 89 · 2.01 u and the power by 180 u. That is below
        10^(3-digits), while 2^-bits/2 > 10^-(bits/3 + 1): ten digits more than bits/3 leave the rounding to an integer.
        """
        if f not in self._known:
            with localcontext(Context(prec=self._digits, rounding=ROUND_HALF_EVEN)) as context:
                power = Fraction(context.exp(context.multiply(Decimal(self._p), context.ln(Decimal(f)))))
            self._known[f] = math.floor(power * (1 << self._bits) + Fraction(1, 2))
        return self._known[f]


def norm_units(totals: NDArray[np.integer] | Iterable[int], p: float, step: Fraction) -> int:
    """U with |U - ‖f‖_p/step| <= 1/2 + MARGIN, for 1 < p <= 2. Equal totals are computed once.

    With d digits every power, sum and root is correct to a relative 10^(2-d), and a few of them together to 10^(3-d).
    The norm is at most the total, and d makes 10^(4-d) of that less than MARGIN·step.
    """
    counts = totals_by_size(totals)
    total = sum(f * count for f, count in counts.items())
    if not total:
        return 0
    digits = 8 + math.ceil(math.log10(math.ceil(total / (MARGIN * step)) + 1)) + math.ceil(math.log10(len(counts) + 1))
    with localcontext(Context(prec=digits)) as context:
        exponent = Decimal(p)  # exactly
        moment = Decimal(0)
        for f, count in counts.items():
            power = Decimal(f * f) if p == 2.0 else context.power(Decimal(f), exponent)
            moment = context.add(moment, context.multiply(power, Decimal(count)))
        norm = context.sqrt(moment) if p == 2.0 else context.power(moment, context.divide(Decimal(1), exponent))
        return nearest(Fraction(norm) / step)


def norm_distance(max_value: int, pairs_per_person: int, step: Fraction, groups: int = 1) -> int:
    """The largest difference of `norm_units` between neighbours, in up to this many groups together: each U is within
    1/2 + MARGIN of its norm, and the norms move by at most c M in all."""
    changed = min(groups, pairs_per_person)
    return math.floor(pairs_per_person * max_value / step + changed * (1 + 2 * MARGIN))


def around_head(f: int, bits: int) -> tuple[int, int, int]:
    """m, e and t 2^bits, rounded down, of f = m · 2^e · (1 + t): m the leading 8 bits, 0 <= t < 2^-7."""
    e = max(f.bit_length() - HEAD_BITS, 0)
    head = f >> e
    return head, e, ((f - (head << e)) << bits) // (head << e)


def horner(coefficients: Sequence[int], t: int, bits: int) -> int:
    """The sum of a series at t, from its last coefficient to its first, all in units of 2^-bits and rounded down."""
    series = 0
    for coefficient in coefficients:
        series = coefficient + (series * t >> bits)
    return series


def totals_by_size(totals: NDArray[np.integer] | Iterable[int]) -> dict[int, int]:
    """How many keys have each total; keys with a total of 0 are left out, because 0^p = 0."""
    if isinstance(totals, np.ndarray):
        if not np.issubdtype(totals.dtype, np.integer):
            raise ArgumentTypeError("totals", totals, f"must be integers, not {totals.dtype}", "Pass whole totals")
        values, repeats = np.unique(totals, return_counts=True)
        counts = dict(zip(values.tolist(), repeats.tolist(), strict=True))
    else:
        counts = Counter(_whole(totals))
    if counts and min(counts) < 0:
        raise NegativeTotal("a key was deleted more often than it was added. Every delete must undo an earlier update.")
    if counts and max(counts).bit_length() > TOTAL_BITS:
        raise ArgumentError(
            "totals", max(counts), f"must have at most {TOTAL_BITS} bits each", "Use a larger unit of value"
        )
    counts.pop(0, None)
    return counts


def _whole(totals: Iterable[int]) -> Iterator[int]:
    """The totals as Python integers, checked one by one: a Counter would treat 1.0 and True as 1."""
    for f in totals:
        yield checked_whole("totals", f, "Pass whole totals", must="must be integers")


def nearest(value: Fraction) -> int:
    """The nearest integer, halves upwards: moving the value by a whole number moves the answer by the same."""
    return math.floor(value + Fraction(1, 2))


def _index(p: object) -> float:
    order = checked_real("p", p, "Pass 0.5, for example")
    if not 0.0 < order <= 1.0:
        raise ArgumentError("p", p, "must be above 0 and at most 1", "Pass 0.5, for example")
    return order


def _step(step: object) -> Fraction:
    if isinstance(step, bool) or not isinstance(step, Rational):
        raise ArgumentTypeError("step", step, "must be a Fraction", "Pass Fraction(1, 1000), for example")
    if step <= 0:
        raise ArgumentError("step", step, "must be positive", "Pass a small part of c M^p")
    return Fraction(step)


def _count(name: str, value: object) -> int:
    return checked_whole(name, value, "Pass an integer of 1 or more", least=1)
