"""`Share`: a part of the price of a release, and what it is paid for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ..text.spoken import at_most


@dataclass(frozen=True)
class Share:
    """ε and δ of one purpose: to find the maximum value, to choose the names of groups, or for the numbers."""

    purpose: Literal["max_value", "names", "values"]
    epsilon: float
    delta: float


def in_words(shares: tuple[Share, ...], epsilon: float, *, grouped: bool) -> str:
    """The shares in words, each with its ε and δ; and `epsilon`, the ε of all together, if it is less than their sum.

    >>> in_words((Share("max_value", 0.1, 0.0), Share("values", 0.9, 1e-9)), 1.0, grouped=False)
    'ε = 0.1 to find the maximum value; ε = 0.9, δ = 1e-09 for the number itself'
    >>> in_words((Share("names", 0.05, 1e-10), Share("values", 0.45, 9e-10)), 0.49, grouped=True).split("; ")[-1]
    'together they cost ε = 0.49, less than the sum'
    """
    values = "for the numbers of the groups" if grouped else "for the number itself"
    purposes = {
        "max_value": "to find the maximum value",
        "names": "to choose the names of the groups",
        "values": values,
    }
    each = "; ".join(
        f"ε = {at_most(one.epsilon)}{f', δ = {at_most(one.delta, 3)}' if one.delta else ''} {purposes[one.purpose]}"
        for one in shares
    )
    if epsilon > 0.9999 * math.fsum(share.epsilon for share in shares):
        return each
    return f"{each}; together they cost ε = {at_most(epsilon)}, less than the sum"
