"""What of the price of a release goes where: to find max_value, to choose the names of groups, to the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Share", "in_words"]


@dataclass(frozen=True)
class Share:
    """ε and δ of one purpose."""

    purpose: Literal["max_value", "names", "values"]
    epsilon: float
    delta: float


def in_words(shares: tuple[Share, ...], *, grouped: bool) -> str:
    """Each with its ε and δ.

    >>> in_words((Share("max_value", 0.1, 0.0), Share("values", 0.9, 1e-9)), grouped=False)
    'ε = 0.1 to find max_value; ε = 0.9, δ = 1e-09 for the number itself'
    """
    values = "for the numbers of the groups" if grouped else "for the number itself"
    purposes = {"max_value": "to find max_value", "names": "to choose the names of the groups", "values": values}
    return "; ".join(
        f"ε = {one.epsilon:.4g}{f', δ = {one.delta:.3g}' if one.delta else ''} {purposes[one.purpose]}"
        for one in shares
    )
