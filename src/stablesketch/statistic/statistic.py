"""`Statistic`: what every statistic is asked, whatever it is.

A statistic is either measured by a mechanism of its own (`Moment`, `Shannon`, `Distinct`, `Total`), or computed from
such measurements (`Hill`, `Atkinson`, `Profile`, ...). Which measurements it needs depends on what is public.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arrays import Array
from ..errors import ArgumentError, ArgumentTypeError
from .known import Known

if TYPE_CHECKING:
    from ..privacy import Privacy

__all__ = ["ANY", "LEAST_ORDER", "Array", "Derived", "Statistic", "checked_order", "exact_name"]

ANY = Known()  # nothing is known of the stream
LEAST_ORDER = 0.05  # of a moment: below, entries are beyond what numbers hold


class Statistic(ABC):
    """What to know of a stream: a frozen object that names the statistic and nothing else."""

    name: ClassVar[str]
    """As it is called in JSON and on the command line."""
    relative: ClassVar[bool] = True
    """Whether its error is relative to its value, or absolute."""
    default_error: ClassVar[float] = 0.05
    """What is aimed at where nobody says."""
    of_people: ClassVar[bool] = False
    """Whether it is about people, one for each key."""

    if TYPE_CHECKING:  # a field of some and a property of others

        @property
        def p(self) -> float:
            """Its order: 0 counts every key alike, 1 every pair."""

    def needs(self, privacy: Privacy) -> tuple[Statistic, ...]:
        """What has to be measured, most important first."""
        return (self,)

    @abstractmethod
    def range(self, known: Known = ANY) -> tuple[float, float]:
        """The least and the greatest value it can have on a stream of which so much is known."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]  # all of them are dataclasses


def exact_name(statistic: Statistic) -> str:
    """As it prints, with its order to the last bit where what is printed is not all of it."""
    shown = str(statistic)
    return shown if float(f"{statistic.p:g}") == statistic.p else f"{shown}, {statistic.p.hex()}"


class Derived(Statistic):
    """Computed from measurements, by a function that rises or falls with the first and does the opposite with N."""

    @abstractmethod
    def factor(self, measured: Statistic) -> float:
        """By how much an error of what is measured grows: relative for moments and counts, absolute for entropy."""

    @abstractmethod
    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        """The statistic at given values of what it needs; `pairs` is the number of pairs, where that is public."""

    def likely(self, value: float, found: Mapping[Statistic, float]) -> float:
        """The value, moved to where it can be if what was measured were exact: limits are not."""
        return value

    def expected_of(self, measured: Statistic, expected: float, pairs: int) -> float | None:
        """What is expected of a part where `expected` is of the statistic; None if that does not say."""
        return None


def checked_order(name: str, value: object, low: float, high: float, *, ends: bool, way_out: str) -> float:
    """An order between `low` and `high`, with or without its ends."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(name, value, "an order is a number", way_out)
    try:
        order = float(value)
    except OverflowError:  # an int of 400 digits
        order = math.inf
    inside = low <= order <= high if ends else low < order < high
    if not inside or math.isnan(order):
        raise ArgumentError(name, value, f"it must lie between {low:g} and {high:g}", way_out)
    return order
