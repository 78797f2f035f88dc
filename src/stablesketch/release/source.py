"""`Source`: what a release asks of data, on this machine or on Spark (`engines/`).

A Beam pipeline is not a `Source`: it runs later, elsewhere and window by window, so nobody can ask it for a number and
wait. It calls `decide`, `names_shown` and `publish`, as `run_source` does, in steps of its own.

`Progress` is told how much has been read.
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
    """Receives the progress of a reading."""

    def begin(self, what: str, total: int | None) -> None:
        """Work begins; `total` is the number of steps, if known."""

    def advance(self, steps: int) -> None:
        """This many more steps are done."""


class Source(Protocol):
    """The pairs of one question: read, checked, with people bounded, under a secret of its own.

    An invalid row raises a `DataError` in the method that reads it, and nothing is returned.
    """

    @property
    def name(self) -> str:
        """The name of the source in messages."""

    @property
    def secret(self) -> Secret:
        """The secret of the release, which nobody else knows; the source collects under it."""

    @property
    def countable(self) -> bool:
        """Whether pairs can be counted before they are collected: a pipe can be read only once."""

    def count(self) -> int:
        """The number of pairs, or of keys if whole keys are protected."""

    def skipped(self) -> int | None:
        """The number of invalid rows, if it is known and was asked for."""

    def digits(self) -> DigitCounts:
        """The numbers of values with 0, 1, 2, ... binary digits."""

    def group_counts(self) -> Iterator[tuple[Name, int]]:
        """The number of people of each group, or of pairs if there is no person column."""

    def collected(self, plan: Plan) -> tuple[Collector, int]:
        """A collector of all pairs, and their number."""

    def collected_groups(self, plan: Plan, names: Sequence[Name]) -> Iterator[Collector]:
        """The collectors of these groups, in this order, under `group_secret`. All pairs are read before it returns."""
