"""Shannon's entropy and the number of distinct keys: measured by sketches of their own, not by moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from .known import Known
from .statistic import ANY, Statistic

__all__ = ["Distinct", "Shannon"]


@dataclass(frozen=True)
class Shannon(Statistic):
    """H = -sum over keys of (f/N) ln(f/N), in nats: f is the total of a key, N that of all."""

    name: ClassVar[str] = "shannon"
    relative: ClassVar[bool] = False
    default_error: ClassVar[float] = 0.04

    @property
    def p(self) -> float:
        """Its order as a diversity."""
        return 1.0

    def range(self, known: Known = ANY) -> tuple[float, float]:
        """Of K equally common keys it is ln K, and of no stream more."""
        return 0.0, math.log(max(known.most_keys, 1.0))

    def __str__(self) -> str:
        return "Shannon entropy"


@dataclass(frozen=True)
class Distinct(Statistic):
    """The number of distinct keys, whatever their values."""

    name: ClassVar[str] = "distinct"
    default_error: ClassVar[float] = 0.01

    @property
    def p(self) -> float:
        """Its order as a diversity."""
        return 0.0

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return known.least_keys, known.most_keys

    def __str__(self) -> str:
        return "distinct keys"
