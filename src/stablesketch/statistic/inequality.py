"""Inequality of the totals of keys, where every key is one person (`Privacy(unit="key")`).

Let K keys have the mean total N/K, and let x = F_p K^{p-1}/N^p = mean of (total/mean total)^p. It is 1 if all totals
are equal and less otherwise (concavity).

- Atkinson's index of aversion e is 1 - x^{1/p} with p = 1 - e: the share of the total that could be given up if the
  rest were spread evenly, when incomes are valued by their p-th powers.
- Generalised entropy of order p is (1 - x)/(p (1 - p)).

K is the number of pairs, because every key has one (privacy/privacy.py), and is public under replace. Plans predict
errors for a mean total of `expected`; the default is 1, the least possible.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..errors import ArgumentError
from ..numbers.arrays import Array
from ..text.spoken import percent, short
from ..text.wording import arg
from .arguments import Argument, one_order
from .known import Known
from .measured import Moment, Total
from .statistic import ANY, LEAST_ORDER, Derived, Measured, Statistic, checked_order
from .words import Subject, Topic, between

if TYPE_CHECKING:
    from ..privacy import Privacy
    from .published import Release


class _Inequality(Derived):
    relative: ClassVar[bool] = False
    of_people: ClassVar[bool] = True
    of_shares: ClassVar[bool] = True
    topic = Topic("How unequal is {amount}", "is the most unequal{in_value}")

    @property
    def inputs(self) -> tuple[Measured, ...]:
        return (Moment(self.p), Total())

    def needs(self, privacy: Privacy) -> tuple[Statistic, ...]:
        if privacy.unit != "key":
            relation = "" if privacy.relation == "replace" else f" and {arg('relation', 'replace')}"
            raise ArgumentError(
                "unit", privacy.unit, f"must be 'key' for {self.name}",
                f"Pass {arg('unit', 'key')}{relation}. Then {arg('max_value')} is the largest total of a key",
                because="every key is a person",
            )  # fmt: skip
        if privacy.relation != "replace":
            raise ArgumentError(
                "relation", privacy.relation, f"must be 'replace' for {self.name}",
                f"Pass {arg('relation', 'replace')}",
                because="it needs a public number of people",
            )  # fmt: skip
        return self.inputs

    def expected_of(self, measured: Statistic, expected: float, pairs: int) -> float | None:
        """Here `expected` is the mean total of a key; F_p is expected to be about its value for equal totals."""
        return pairs * (expected if isinstance(measured, Total) else expected**self.p)

    def _x(self) -> str:
        return f"where x is the mean over all people of (total/mean total)^{self.p:g}"

    def _least_evenness(self, known: Known) -> float:
        """x if one of K people has everything: F_p >= N^p, so x >= K^{p-1}."""
        return math.pow(max(known.most_keys, 1.0), self.p - 1.0)

    def _evenness(self, found: Mapping[Statistic, Array], people: int) -> Array:
        """x, at most 1; ln x = ln F + (p - 1) ln K - p ln N."""
        p = self.p
        moment, total = np.maximum(found[Moment(p)], 1.0), np.maximum(found[Total()], 1.0)
        log = np.log(moment) + (p - 1.0) * np.log(max(people, 1)) - p * np.log(total)
        return np.asarray(np.minimum(np.exp(log), 1.0), dtype=np.float64)


@dataclass(frozen=True)
class Atkinson(_Inequality):
    """Atkinson's index, for an aversion in (0, 1): 0 if all totals are equal, near 1 if one person has nearly all."""

    aversion: float

    name: ClassVar[str] = "atkinson"
    arguments: ClassVar[tuple[Argument, ...]] = (one_order("aversion"),)
    default_error: ClassVar[float] = 0.03

    def __post_init__(self) -> None:
        way_out = "Pass an aversion such as 0.5"
        object.__setattr__(
            self, "aversion", checked_order("aversion", self.aversion, 0.0, 0.95, ends=False, way_out=way_out)
        )

    @property
    def p(self) -> float:
        """The order of the moment it is computed from."""
        return 1.0 - self.aversion

    def factor(self, measured: Statistic) -> float:
        return 1.0 if isinstance(measured, Total) else 1.0 / self.p

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        return np.asarray(1.0 - self._evenness(found, pairs) ** (1.0 / self.p))

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return 0.0, 1.0 - self._least_evenness(known) ** (1.0 / self.p)

    def definition(self) -> str:
        return f"1 - x^{1.0 / self.p:.4g}, {self._x()}"

    def headline(self, release: Release, subject: Subject) -> str:
        return (
            f"About {percent(release.value)} of the total{subject.of_value} could be given up if the rest were spread "
            f"evenly, and everyone together would be as well off (for an aversion to inequality of {self.aversion:g}): "
            f"{between(release, percent)}."
        )

    def __str__(self) -> str:
        return f"Atkinson index of aversion {self.aversion:g}"


@dataclass(frozen=True)
class GeneralisedEntropy(_Inequality):
    """Generalised entropy of the totals, of an order in (0, 1): 0 if all are equal."""

    order: float

    name: ClassVar[str] = "generalised_entropy"
    arguments: ClassVar[tuple[Argument, ...]] = (one_order("order"),)
    default_error: ClassVar[float] = 0.06

    def __post_init__(self) -> None:
        way_out = "Pass an order such as 0.5"
        order = checked_order("order", self.order, 0.0, 1.0, ends=False, way_out=way_out)
        checked_order("order", order, LEAST_ORDER, 1.0, ends=True, way_out=way_out)
        object.__setattr__(self, "order", order)

    @property
    def p(self) -> float:
        """The order of the moment it is computed from."""
        return self.order

    def factor(self, measured: Statistic) -> float:
        whole = 1.0 / (self.p * (1.0 - self.p))
        return self.p * whole if isinstance(measured, Total) else whole

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        return np.asarray((1.0 - self._evenness(found, pairs)) / (self.p * (1.0 - self.p)))

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return 0.0, (1.0 - self._least_evenness(known)) / (self.p * (1.0 - self.p))

    def definition(self) -> str:
        return f"(1 - x)/{self.p * (1.0 - self.p):.4g}, {self._x()}"

    def headline(self, release: Release, subject: Subject) -> str:
        return (
            f"The inequality{subject.of_value}, measured as {self}, is about {short(release.value)} (0 if all had the "
            f"same, at most {short(self.range()[1])}): {between(release, short)}."
        )

    def __str__(self) -> str:
        return f"generalised entropy of order {self.order:g}"
