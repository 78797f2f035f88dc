"""A statistic, a way to measure it and one computed from it, as somebody would add them who has the package installed.

How many keys have a total that is no multiple of m, and their share among all keys. Importing this file registers them,
and that is all that the package is told. It is no part of the package and changes nothing in it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from stablesketch.mechanism.exact.number import OfHistogram, noise_plan
from stablesketch.mechanism.shared.belief import Belief
from stablesketch.mechanism.shared.moments import CountsKeys
from stablesketch.plan.asked import Asked
from stablesketch.plan.mechanism import register_mechanism
from stablesketch.plan.plan import Plan
from stablesketch.privacy import Privacy, discrete_laplace
from stablesketch.statistic import (
    Argument,
    Array,
    Derived,
    Distinct,
    Known,
    Measured,
    Option,
    Statistic,
    Subject,
    Topic,
)  # fmt: skip
from stablesketch.statistic import register as register_statistic
from stablesketch.statistic.published import Release

TICK = 2.0
MODULUS = Argument("modulus", Option("modulus", "Of uneven and uneven_share."), read=int, default="2")


# --- the statistic ---


@register_statistic
@dataclass(frozen=True)
class Uneven(Measured):
    """The number of keys whose total is no multiple of `modulus`."""

    modulus: int = 2

    name: ClassVar[str] = "uneven"
    arguments: ClassVar[tuple[Argument, ...]] = (MODULUS,)
    p = 0.0
    topic = Topic("How many {keys} are uneven", "has the most uneven {keys}")

    def range(self, known: Known = Known()) -> tuple[float, float]:  # noqa: B008  # frozen
        return 0.0, known.most_keys

    def terms(self, totals: Array) -> Array:
        return np.asarray(totals % self.modulus != 0, dtype=np.float64)

    @property
    def sql_term(self) -> str:
        return f"(total % {self.modulus} <> 0)::double"

    def definition(self) -> str:
        return f"how many keys have a total that is no multiple of {self.modulus}"

    def headline(self, release: Release, subject: Subject) -> str:
        return f"About {release.value:,.0f} {subject.keys} are uneven, at {release.confidence:.0%} confidence."

    def __str__(self) -> str:
        return f"keys uneven by {self.modulus}"


# --- how it is measured: exactly, with noise ---


def distance(privacy: Privacy) -> int:
    """By how much neighbours can differ: one pair changes the total of one key, and one that is replaced, of two."""
    return privacy.pairs_per_person * (2 if privacy.relation == "replace" else 1)


def scale(privacy: Privacy) -> Fraction:
    """D/ε: an integer with such noise is ε-private."""
    return Fraction(distance(privacy)) / Fraction(privacy.epsilon)


class UnevenCount(CountsKeys, OfHistogram):
    """Serves the statistic under every name but "bare". Its plans have a number of their own: what is published is
    rounded to multiples of the tick, after the noise."""

    own = ("tick",)

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Uneven) and name != "bare"

    def plan(self, asked: Asked) -> Plan:
        deviation = math.sqrt(discrete_laplace.variance(scale(asked.privacy)))
        return replace(noise_plan(asked, deviation, asked.expected or 0.0), own=(("tick", TICK),))

    def distance(self, plan: Plan) -> int:
        return distance(plan.privacy)

    def units(self, plan: Plan, totals: Collection[int]) -> int:
        statistic = plan.statistic
        assert isinstance(statistic, Uneven)
        return sum(total % statistic.modulus != 0 for total in totals)

    def statistic_of(self, plan: Plan, found: Belief, scale: Fraction) -> Belief:
        """Rounded: the value to the nearest multiple, the limits outwards."""
        tick = dict(plan.own)["tick"]
        ends = math.floor(found.low / tick) * tick, math.ceil(found.high / tick) * tick
        return replace(found, value=round(found.value / tick) * tick, low=ends[0], high=ends[1])


register_mechanism(UnevenCount())


# --- what is computed from it ---


@register_statistic
@dataclass(frozen=True)
class UnevenShare(Derived):
    """The share of uneven keys among all keys."""

    modulus: int = 2

    name: ClassVar[str] = "uneven_share"
    arguments: ClassVar[tuple[Argument, ...]] = (MODULUS,)
    p = 0.0

    @property
    def inputs(self) -> tuple[Measured, ...]:
        return Uneven(self.modulus), Distinct()

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        return np.minimum(found[Uneven(self.modulus)] / np.maximum(found[Distinct()], 1.0), 1.0)

    def factor(self, measured: Statistic) -> float:
        return 1.0

    def range(self, known: Known = Known()) -> tuple[float, float]:  # noqa: B008  # frozen
        return 0.0, 1.0

    def definition(self) -> str:
        return f"the share of keys that have a total that is no multiple of {self.modulus}"

    def __str__(self) -> str:
        return f"share of keys uneven by {self.modulus}"
