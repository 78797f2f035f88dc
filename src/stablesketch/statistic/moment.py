"""Frequency moments, and the total of all values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..law import StableLaw
from .statistic import Statistic

__all__ = ["Moment", "Total"]


@dataclass(frozen=True)
class Moment(Statistic):
    """F_p = sum over keys of (total of the key)^p, for p in [0.05, 1]: the larger, the more diverse the stream."""

    p: float

    name: ClassVar[str] = "moment"

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", StableLaw(self.p).p)  # which refuses a p that is not one

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

    def __str__(self) -> str:
        return "total"
