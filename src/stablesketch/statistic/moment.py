"""Frequency moments, and the total of all values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .known import Known
from .statistic import ANY, LEAST_ORDER, Statistic, checked_order

__all__ = ["Moment", "Total"]


@dataclass(frozen=True)
class Moment(Statistic):
    """F_p = sum over keys of (total of the key)^p, for p from 0.05 to 2.

    Below 1 it grows with diversity: every key counts, heavy ones for little more. Above 1 it grows with concentration:
    F_2 is the sum of squares. F_1 is the total.
    """

    p: float

    name: ClassVar[str] = "moment"

    def __post_init__(self) -> None:
        way_out = "Pass one from 0.05 to 2, such as ss.Moment(0.5); ss.Distinct() counts keys"
        object.__setattr__(self, "p", checked_order("p", self.p, LEAST_ORDER, 2.0, ends=True, way_out=way_out))

    def range(self, known: Known = ANY) -> tuple[float, float]:
        """Up to 1, N^p <= F_p <= n M^p by concavity: all is of one key, or each pair has a key of its own. No key has
        less than 1. Above 1 it is the other way round: F_p is N^p if all is of one key, and at least N.
        """
        if self.p > 1.0:
            return known.least_total, known.most_total**self.p
        return max(known.least_total**self.p, known.least_keys), known.most_sum(self.p)

    def __str__(self) -> str:
        return f"F_{self.p:g}"


@dataclass(frozen=True)
class Total(Statistic):
    """N, the sum of all values: one exact counter, released with discrete Laplace noise."""

    name: ClassVar[str] = "total"

    @property
    def p(self) -> float:
        """It is F_1."""
        return 1.0

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return known.least_total, known.most_total

    def __str__(self) -> str:
        return "total"
