"""Shannon's entropy and the number of distinct keys: measured by their own sketches, not from moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..numbers.arrays import Array
from ..text.spoken import about, with_limits
from .known import Known
from .statistic import ANY, Measured, Statistic
from .words import VARIETY, Subject, Topic, entropy, sure, too_small

if TYPE_CHECKING:
    from .published import Release


@dataclass(frozen=True)
class Shannon(Measured):
    """H = -sum over keys of (f/N) ln(f/N), in nats; f is the total of a key, N the total of all keys."""

    name: ClassVar[str] = "shannon"
    metric: ClassVar[str] = "entropy_nats"
    relative: ClassVar[bool] = False
    unit: ClassVar[str] = "nats"
    default_error: ClassVar[float] = 0.04
    of_shares: ClassVar[bool] = True

    @property
    def p(self) -> float:
        """Its order as a Hill number."""
        return 1.0

    def range(self, known: Known = ANY) -> tuple[float, float]:
        """From 0 to ln K, the entropy of K equally common keys."""
        return 0.0, math.log(max(known.most_keys, 1.0))

    def without(self, measured: Statistic) -> Statistic | None:
        """Rényi's entropy of an order near 1 for which sketches have a floor."""
        from .diversity import NEAR_ENTROPY, Renyi

        return Renyi(NEAR_ENTROPY)

    def terms(self, totals: Array) -> Array:
        return np.asarray(totals * np.log(totals), dtype=np.float64)

    @property
    def sql_term(self) -> str:
        return "total * ln(total)"

    def of_sum(self, found: float, total: float) -> float:
        """H = ln N - (sum of f ln f)/N; 0 for an empty stream."""
        return float(np.log(total) - found / total) if total else 0.0

    def log_effective(self, value: float) -> float:
        return value

    def definition(self) -> str:
        return "minus the sum over all keys of s ln s, where s is the key's share of the total; in nats"

    @property
    def topic(self) -> Topic:
        return VARIETY

    def headline(self, release: Release, subject: Subject) -> str:
        return entropy("entropy", release, subject)

    def __str__(self) -> str:
        return "Shannon entropy"


@dataclass(frozen=True)
class Distinct(Measured):
    """The number of distinct keys, whatever their values."""

    name: ClassVar[str] = "distinct"
    bare_in_first_version: ClassVar[bool] = False
    metric: ClassVar[str] = "distinct_keys"
    default_error: ClassVar[float] = 0.01

    @property
    def p(self) -> float:
        """Its order as a Hill number."""
        return 0.0

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return known.least_keys, known.most_keys

    def terms(self, totals: Array) -> Array:
        return np.ones_like(totals)

    @property
    def sql_term(self) -> str:
        return "1.0"

    def definition(self) -> str:
        return "the number of different keys, whatever their values"

    @property
    def topic(self) -> Topic:
        return Topic("How many different {keys} are there", "has the most different {keys}")

    def headline(self, release: Release, subject: Subject) -> str:
        if release.value <= 0.0 or release.high <= 0.0:
            return f"{too_small(f'number of different {subject.keys}')}."
        value, low, high = with_limits(release.value, release.low, release.high)
        said = f"between {low} and {high} at {sure(release)} confidence"
        return f"There are about {value} different {subject.keys}: {said}."

    def finding(self, release: Release, subject: Subject) -> str:
        return f"About {about(release.value)} different {subject.keys}"

    def __str__(self) -> str:
        return "distinct keys"
