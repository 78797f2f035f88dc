"""Frequency moments, and the total of all values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..law.stable import checked_p
from .known import Known
from .statistic import ANY, Statistic

__all__ = ["Moment", "Total"]


@dataclass(frozen=True)
class Moment(Statistic):
    """F_p = sum over keys of (total of the key)^p, for p in [0.05, 1]: the larger, the more diverse the stream."""

    p: float

    name: ClassVar[str] = "moment"

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", checked_p(self.p))

    def range(self, known: Known = ANY) -> tuple[float, float]:
        """N^p <= F_p <= n M^p by concavity: all of one key, or each pair a key of its own; a key has 1 or more."""
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
