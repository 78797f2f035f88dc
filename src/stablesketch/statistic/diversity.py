"""Diversity of order q: how many equally common keys would be as diverse as the stream.

With x = F_q/N^q = sum over keys of (share of the key)^q, the Hill number is D_q = x^{1/(1-q)}. D_0 is the number of
distinct keys, and D_1 = e^H. Rényi's entropy is ln D_q; Tsallis' is (D_q^{1-q} - 1)/(1-q) = (x - 1)/(1-q), or H at
q = 1. All three increase with D_q. D_2 = N²/F_2 is the inverse of Simpson's index. Exact values can have any order
(log_hill.py); releases go up to order 2.

N is public only if every pair counts 1 and the number of pairs is public (replace). Otherwise it is released too, with
discrete Laplace noise, and its price is composed. Nothing is ever divided by an exact N that is private.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..errors import ArgumentError
from ..numbers.arrays import Array
from ..text.spoken import about, relative_error, short
from ..text.wording import either
from .arguments import Argument, one_order
from .known import Known
from .log_hill import OfHill, is_released, log_hill
from .measured import Distinct, Shannon, Total
from .statistic import ANY, LEAST_ORDER, Statistic, checked_order
from .words import VARIETY, Subject, as_varied, between, entropy, follows_rare_keys, varied_as

if TYPE_CHECKING:
    from .published import Release

NEAR_ENTROPY = 0.9
"""An order near 1 for which sketches have a floor."""

_MOST_LOG = 709.0
_MOST_KEYS_THERE, _MOST_LOG_KEYS = "2^64", 64.0 * math.log(2.0)
_EXACT = either("ss.exact", "stablesketch exact")
_WAY_OUT = "Pass 0 to count keys, or an order from 0.05 to 2: 1 is Shannon's entropy, 2 is Simpson's index"


@dataclass(frozen=True)
class Diversity(OfHill):
    """A function of D_q, for an order q of 0 or more; releases go up to order 2."""

    order: float

    arguments: ClassVar[tuple[Argument, ...]] = (one_order("order"),)
    topic = VARIETY

    def __post_init__(self) -> None:
        way_out = f"Pass an order of 0 or more; those above 2 are only for exact values ({_EXACT})"
        order = checked_order("order", self.order, 0.0, math.inf, ends=True, way_out=way_out)
        object.__setattr__(self, "order", order)

    def check_released(self) -> None:
        if not is_released(self.order):
            raise ArgumentError(
                "order", self.order, f"must be 0, or between {LEAST_ORDER:g} and 2",
                f"{_WAY_OUT}. Exact values, which are not private, can be of any order ({_EXACT})",
            )  # fmt: skip

    @property
    def p(self) -> float:
        return self.order

    def expected_of(self, measured: Statistic, expected: float, pairs: int) -> float | None:
        """F_q = N^q D_q^{1-q} at the least possible N, which is at least D_q; at order 0 the number of keys."""
        if isinstance(measured, Total | Shannon):
            return None
        log_hill = self._log_expected(expected)
        return math.exp(self.order * max(math.log(pairs), log_hill) + (1.0 - self.order) * log_hill)

    def least_total(self, expected: float) -> float:
        """N is at least the number of keys, which is at least D_q."""
        return math.exp(self._log_expected(expected))

    def _log_expected(self, expected: float) -> float:
        """ln D_q where the statistic is `expected`; refuses what no stream can have."""
        most = self.at_log_hill(_MOST_LOG_KEYS)
        if expected > most:
            raise ArgumentError(
                "expected", expected, f"must be at most {most:,.4g}, the {self} of {_MOST_KEYS_THERE} keys",
                "Pass the value you expect, or leave it out",
            )  # fmt: skip
        return self.log_effective(expected)

    def range(self, known: Known = ANY) -> tuple[float, float]:
        """1 <= D_q <= K, the number of keys, and the corresponding limits of a function of D_q."""
        return self.at_log_hill(0.0), self.at_log_hill(math.log(max(known.most_keys, 1.0)))

    def without(self, measured: Statistic) -> Statistic | None:
        """The diversity of an order close to 1 in place of the entropy; None in place of a number of keys."""
        return type(self)(NEAR_ENTROPY) if measured == Shannon() else None

    @property
    def caution_between_groups(self) -> str:
        """Copies of a stream have the same D_q. But a larger sample of one law shows more of its rare keys, and below
        order 1 these matter."""
        return follows_rare_keys(f"The {self} grows") if self.order < 1.0 else ""

    @property
    def comparable(self) -> Statistic:
        return type(self)(1.0) if self.order < 1.0 else self

    def definition(self) -> str:
        """With x as defined above, for any order except 0 and 1."""
        if self.order == 1.0:
            return Shannon().definition()
        if math.isinf(self.order):
            return f"{self.of_largest_share}, where m is the largest share of any key in the total"
        x = f"where x is the sum over all keys of s^{self.order:g}, and s is the key's share of the total"
        return f"{self.in_shares(1.0 - self.order)}, {x}"

    @abstractmethod
    def in_shares(self, one_less: float) -> str:
        """The formula in terms of x = Σ s^q, where 1 - q is `one_less`."""

    @property
    @abstractmethod
    def of_largest_share(self) -> str:
        """The formula of its limit as the order grows, in terms of the largest share m."""

    @abstractmethod
    def at_log_hill(self, log_hill: float) -> float:
        """The statistic at this value of ln D_q."""


@dataclass(frozen=True)
class Hill(Diversity):
    """D_q, the Hill number of order q: the effective number of keys. It can be released up to order 2.

    The default statistic: it answers "how varied", and n copies of a stream have the same value. Default plans measure
    order 0.5 best: on streams with heavy keys its error is 1 to 4%, that of order 1 is 4 to 6% (docs/statistics.md).
    """

    order: float = 0.5

    name: ClassVar[str] = "hill"
    metric: ClassVar[str] = "effective_keys"
    usual: ClassVar[bool] = True
    usual_because: ClassVar[str] = "of order 0.5, the effective number of keys, which a sketch measures best"
    arguments: ClassVar[tuple[Argument, ...]] = (one_order("order", default="0.5"),)
    of_largest_share = "1/m"
    default_error: ClassVar[float] = 0.04

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        if self.order == 0.0:
            return np.maximum(found[Distinct()], 1.0)  # directly, without rounding by logarithms
        # Near order 1 the noise is magnified beyond the range of a double.
        return np.exp(np.minimum(log_hill(self.order, found, pairs), _MOST_LOG))

    def log_effective(self, value: float) -> float:
        return math.log(max(value, 1.0))

    def at_log_hill(self, log_hill: float) -> float:
        return math.exp(log_hill) if log_hill < math.inf else math.inf

    def definition(self) -> str:
        if self.order == 0.0:
            return Distinct().definition()
        return "e^H, where H is Shannon's entropy" if self.order == 1.0 else super().definition()

    def in_shares(self, one_less: float) -> str:
        return f"x^{1.0 / one_less:.4g}"

    def headline(self, release: Release, subject: Subject) -> str:
        return as_varied(release, subject, release.value, release.low, release.high)

    def finding(self, release: Release, subject: Subject) -> str:
        return varied_as(release.value, subject)

    def __str__(self) -> str:
        return f"Hill number of order {self.order:g}"


@dataclass(frozen=True)
class Renyi(Diversity):
    """ln D_q: Rényi's entropy of order q, in nats. It can be released up to order 2."""

    name: ClassVar[str] = "renyi"
    metric: ClassVar[str] = "renyi_entropy_nats"
    of_largest_share = "-ln m"
    relative: ClassVar[bool] = False
    unit: ClassVar[str] = "nats"
    default_error: ClassVar[float] = 0.04

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        return log_hill(self.order, found, pairs)

    def log_effective(self, value: float) -> float:
        return value

    def at_log_hill(self, log_hill: float) -> float:
        return log_hill

    def in_shares(self, one_less: float) -> str:
        return f"(ln x)/{one_less:.4g}"

    def headline(self, release: Release, subject: Subject) -> str:
        return entropy(str(self), release, subject)

    def __str__(self) -> str:
        return f"Rényi entropy of order {self.order:g}"


@dataclass(frozen=True)
class Tsallis(Diversity):
    """(D_q^{1-q} - 1)/(1-q): Tsallis' entropy of order q. It can be released up to order 2.

    With T the statistic, its error is relative to (1-q) T + 1 = F_q/N^q, which below order 1 is nearly proportional to
    T if T is large. At order 1 it is Shannon's entropy, and the error is absolute.
    """

    name: ClassVar[str] = "tsallis"
    metric: ClassVar[str] = "tsallis_entropy"
    of_largest_share = "0 whatever the data"

    def factor(self, measured: Statistic) -> float:
        return self.order if isinstance(measured, Total) else 1.0

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        log = log_hill(self.order, found, pairs)
        if math.isinf(self.order):
            return np.zeros_like(log)
        return log if self.order == 1.0 else np.expm1((1.0 - self.order) * log) / (1.0 - self.order)

    def log_effective(self, value: float) -> float:
        if self.order == 1.0:
            return value
        grown = (1.0 - self.order) * value
        return math.log1p(grown) / (1.0 - self.order) if grown > -1.0 else math.inf

    def at_log_hill(self, log_hill: float) -> float:
        if self.order == 1.0 or log_hill == math.inf:
            return log_hill
        return math.expm1((1.0 - self.order) * log_hill) / (1.0 - self.order)

    def in_shares(self, one_less: float) -> str:
        return f"(x - 1)/{one_less:.4g}"

    def headline(self, release: Release, subject: Subject) -> str:
        keys = about(math.exp(self.log_effective(release.value)))
        return (
            f"The {self} of {subject.keys} is about {short(release.value)}, as varied as about {keys} "
            f"{subject.equal_keys}: {between(release, short)}."
        )

    def error_in_words(self, error: float) -> str:
        """Relative to what it is computed from; s is the share of a key."""
        if self.order == 1.0:
            return Shannon().error_in_words(error)
        return f"{relative_error(error)} of {f'Σ s^{self.order:g}' if self.order else 'the number of keys'}"

    def __str__(self) -> str:
        return f"Tsallis entropy of order {self.order:g}"
