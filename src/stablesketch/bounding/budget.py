"""Dividing ε and δ so that the shares never add up to more than the whole, to the last bit.

Sequential composition: mechanisms that are (ε₁, δ₁)- and (ε₂, δ₂)-private, the second chosen after seeing the first,
are together (ε₁ + ε₂, δ₁ + δ₂)-private. Shares of a budget may therefore be spent one after the other. Sums are taken
as fractions: in floating point a sum could come out smaller than it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from ..numbers.checked import checked_share


def split(whole: float, share: float) -> tuple[float, float]:
    """(portion, rest): share · whole in twelve digits and what is left, with portion + rest <= whole exactly."""
    portion = float(f"{whole * share:.12g}")  # so that a tenth of 1e-9 prints as 1e-10
    rest = whole - portion
    while Fraction(portion) + Fraction(rest) > Fraction(whole):
        rest = math.nextafter(rest, 0.0)
    return portion, rest


def divided(whole: float, times: int) -> float:
    """The largest float whose `times`-fold is at most the whole, or the float next to it."""
    each = whole / times
    while Fraction(each) * times > Fraction(whole):
        each = math.nextafter(each, 0.0)
    return each


def total(portions: Iterable[tuple[float, int]]) -> float:
    """The sum of value · times, rounded up."""
    exact = sum((Fraction(value) * times for value, times in portions), Fraction(0))
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def share_of_budget(name: str, share: float) -> float:
    """A share of the budget: more than nothing and less than everything."""
    return checked_share(name, share, "Pass 0.1 for a tenth")
