"""The statistics that are measured by themselves: moments, the total, Shannon's entropy, and the number of keys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..numbers.arrays import Array
from ..text.spoken import about, with_limits
from ..text.wording import stat
from .arguments import ORDER, Argument, Option
from .known import Known
from .statistic import ANY, LEAST_ORDER, Measured, Statistic, checked_order
from .words import CONCENTRATION, VARIETY, Subject, Topic, as_varied, between, entropy, sure, too_small

if TYPE_CHECKING:
    from ..privacy import Privacy
    from .published import Release

_WAY_OUT = f"Pass one from 0.05 to 2, such as {stat('Moment', 0.5)}; {stat('Distinct')} counts keys"


class _P(Option):
    def refusal(self, statistic: type[Statistic], given: object) -> str:
        orders = any(argument.option == ORDER for argument in statistic.arguments)
        here = "has --order instead" if orders else "has none"
        return f"--p is the order of a moment, and {statistic.name} {here}. Leave out --p."


@dataclass(frozen=True)
class Moment(Measured):
    """F_p = sum over keys of (total of the key)^p, for p from 0.05 to 2.

    Below order 1 it grows with diversity: every key counts, and a heavy one counts little more. Above order 1 it grows
    with concentration: F_2 is the sum of squares. F_1 is the total.
    """

    p: float

    name: ClassVar[str] = "moment"
    rises: ClassVar[bool] = True
    by_option: ClassVar[bool] = True
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument(
            "p",
            _P("p", "The order of the moment F_p, from 0.05 to 2.", float),
            read=float,
            written=repr,
            missing="--p must be given: the order of the moment, from 0.05 to 2. Try --p 0.5.",
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", checked_order("p", self.p, LEAST_ORDER, 2.0, ends=True, way_out=_WAY_OUT))

    def range(self, known: Known = ANY) -> tuple[float, float]:
        """Up to order 1, N^p <= F_p <= n M^p by concavity: all pairs have one key, or each has its own. No key has a
        total below 1. Above order 1 it is the other way round: F_p is N^p if all pairs have one key, and at least N.
        """
        if self.p > 1.0:
            return known.least_total, known.most_total**self.p
        return max(known.least_total**self.p, known.least_keys), known.most_sum(self.p)

    @property
    def worst_on_one_key(self) -> bool:
        """True above order 1, where the noise is on the norm (privacy/noisy_norm.py)."""
        return self.p > 1.0

    def terms(self, totals: Array) -> Array:
        return totals**self.p

    @property
    def sql_term(self) -> str:
        return f"pow(total, {self.p!r})"

    def definition(self) -> str:
        return f"the sum over all keys of (total of the key)^{self.p:g}"

    @property
    def topic(self) -> Topic:
        return CONCENTRATION if self.p > 1.0 else VARIETY

    def headline(self, release: Release, subject: Subject) -> str:
        if release.value <= 0.0 or release.high <= 0.0:
            return f"{too_small(f'variety of {subject.keys}')}."
        value, *ends = (self.effective(f, release) for f in (release.value, release.low, release.high))
        known = [end or 0.0 for end in ends]
        if value is not None and any(known):  # above order 1, the effective number decreases with the moment
            return as_varied(release, subject, value, min(known), max(known))
        what = "concentration" if self.p > 1.0 else "variety"
        said = f"The {what} of {subject.keys}, measured as {self}, is about {about(release.value)}"
        return f"{said}: {between(release, about)}."

    def effective(self, f: float, release: Release) -> float | None:
        """(F/n^p)^{1/(1-p)}: how many equally frequent keys would be as varied, if n is public and every pair counts 1.

        None if it is unknown: n is private, values vary, or p is so near 1 that the magnified error of F would make it
        useless.
        """
        near_one = 0.9 < self.p < 1.5
        if release.pairs is None or release.max_value != 1 or near_one or f <= 0.0:
            return None
        return float((f / float(release.pairs) ** self.p) ** (1.0 / (1.0 - self.p)))

    @property
    def caution_between_groups(self) -> str:
        """F_p of n copies of a stream is n^p F_p."""
        return (
            f"{self} grows with the number of rows, not with variety alone, so it does not compare groups of different "
            "sizes. A Hill number does, best of order 1 or 2."
        )

    @property
    def comparable(self) -> Statistic:
        from .diversity import Hill

        return Hill(1.0)

    @classmethod
    def refusal(cls, option: Option, given: object) -> str:
        """Like that of any statistic, but the order of a moment has its own option."""
        if option == ORDER:
            return "--order is for other statistics: the order of a moment is --p."
        return super().refusal(option, given)

    def __str__(self) -> str:
        return f"F_{self.p:g}"


@dataclass(frozen=True)
class Total(Measured):
    """N, the sum of all values: one exact counter, released with discrete Laplace noise."""

    name: ClassVar[str] = "total"
    rises: ClassVar[bool] = True
    metric: ClassVar[str] = "sum"
    on_command_line: ClassVar[bool] = False
    p = 1.0  # it is F_1
    sql_term = "total"
    topic = Topic("How much is there of {amount}", "has the largest total")

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return known.least_total, known.most_total

    def is_public(self, privacy: Privacy) -> bool:
        return total_is_public(privacy)

    def terms(self, totals: Array) -> Array:
        return totals

    def definition(self) -> str:
        return "the sum of all values"

    def headline(self, release: Release, subject: Subject) -> str:
        return f"The total{subject.of_value} is about {about(release.value)}: {between(release, about)}."

    def __str__(self) -> str:
        return "total"


def total_is_public(privacy: Privacy) -> bool:
    """Whether N is the public number of pairs."""
    return privacy.relation == "replace" and privacy.max_value == 1


@dataclass(frozen=True)
class Shannon(Measured):
    """H = -sum over keys of (f/N) ln(f/N), in nats; f is the total of a key, N the total of all keys."""

    name: ClassVar[str] = "shannon"
    metric: ClassVar[str] = "entropy_nats"
    relative: ClassVar[bool] = False
    unit: ClassVar[str] = "nats"
    default_error: ClassVar[float] = 0.04
    of_shares: ClassVar[bool] = True
    p = 1.0  # its order as a Hill number
    sql_term = "total * ln(total)"
    topic = VARIETY

    def range(self, known: Known = ANY) -> tuple[float, float]:
        """From 0 to ln K, the entropy of K equally common keys."""
        return 0.0, math.log(max(known.most_keys, 1.0))

    def without(self, measured: Statistic) -> Statistic | None:
        """Rényi's entropy of an order near 1 for which sketches have a floor."""
        from .diversity import NEAR_ENTROPY, Renyi

        return Renyi(NEAR_ENTROPY)

    def terms(self, totals: Array) -> Array:
        return np.asarray(totals * np.log(totals), dtype=np.float64)

    def of_sum(self, found: float, total: float) -> float:
        """H = ln N - (sum of f ln f)/N; 0 for an empty stream."""
        return float(np.log(total) - found / total) if total else 0.0

    def log_effective(self, value: float) -> float:
        return value

    def definition(self) -> str:
        return "minus the sum over all keys of s ln s, where s is the key's share of the total; in nats"

    def headline(self, release: Release, subject: Subject) -> str:
        return entropy("entropy", release, subject)

    def __str__(self) -> str:
        return "Shannon entropy"


@dataclass(frozen=True)
class Distinct(Measured):
    """The number of distinct keys, whatever their values."""

    name: ClassVar[str] = "distinct"
    rises: ClassVar[bool] = True
    bare_in_first_version: ClassVar[bool] = False
    metric: ClassVar[str] = "distinct_keys"
    default_error: ClassVar[float] = 0.01
    p = 0.0  # its order as a Hill number
    sql_term = "1.0"
    topic = Topic("How many different {keys} are there", "has the most different {keys}")

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return known.least_keys, known.most_keys

    def terms(self, totals: Array) -> Array:
        return np.ones_like(totals)

    def definition(self) -> str:
        return "the number of different keys, whatever their values"

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
