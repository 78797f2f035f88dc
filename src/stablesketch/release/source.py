"""`Source`: what a release asks of data: of this machine, or of Spark (`engines/`).

A pipeline of Beam is none: it runs when it was built, elsewhere and window by window, so that nobody can ask it for a
number and wait. It calls `decide`, `names_shown` and `one_number`, as `run_source` does, as steps of its own.

`Progress`: who is told how far it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from ..bounding.groups import Name
from ..collector import Collector
from ..plan import Plan
from ..secret import Secret

if TYPE_CHECKING:
    from ..bounding.max_value import DigitCounts


class Progress(Protocol):
    """Somebody who wants to see how far a reading is."""

    def begin(self, what: str, total: int | None) -> None:
        """Something begins, of so many steps where that is known."""

    def advance(self, steps: int) -> None:
        """So many more are done."""


class Source(Protocol):
    """The pairs of one question: read, checked, people bounded, under one secret of its own.

    Whatever is wrong with a row is raised as a `DataError` by the method that meets it, and nothing is given out.
    """

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def secret(self) -> Secret:
        """The secret of the release, known to nobody else; the source collects under it."""

    @property
    def countable(self) -> bool:
        """Whether pairs can be counted before they are collected; a pipe is read once."""

    def count(self) -> int:
        """The number of pairs, or of keys where they are what is protected."""

    def skipped(self) -> int | None:
        """How many rows are not pairs, where that is known and was asked for."""

    def digits(self) -> DigitCounts:
        """How many values have 0, 1, 2, ... binary digits."""

    def group_counts(self) -> Iterator[tuple[Name, int]]:
        """How many people each group has, or pairs where there is no person column."""

    def collected(self, plan: Plan) -> tuple[Collector, int]:
        """A collector of all pairs, and how many they are."""

    def collected_groups(self, plan: Plan, names: Sequence[Name]) -> Iterator[Collector]:
        """The collectors of these groups, in this order, under `group_secret`. All pairs are read before it returns."""
