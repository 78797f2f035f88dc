"""`Source`: what a release asks of data, wherever they are (`engines/`).

Every engine has one. It turns the pairs of a question into collectors, which is all that a pipeline of Beam can do: it
is described first, and runs later and elsewhere. Where data can be asked while somebody waits, as on this machine and
on Spark, the source is an `AnsweringSource`, and `run_source` (run.py) goes from there to releases. Beam's transform
goes the same way in steps of its pipeline: `decide`, `Source.collected`, `names_shown`, `publish`.

`Progress` is told how much has been read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..bounding.groups import Name
from ..collector import Collector
from ..plan import Plan
from ..secret import Secret

if TYPE_CHECKING:
    from ..bounding.max_value import DigitCounts

Collected = TypeVar("Collected", covariant=True)


class Progress(Protocol):
    """Receives the progress of a reading."""

    def begin(self, what: str, total: int | None) -> None:
        """Work begins; `total` is the number of steps, if known."""

    def advance(self, steps: int) -> None:
        """This many more steps are done."""


class Source(Protocol[Collected]):
    """The pairs of one question: read, checked, with people bounded, under a secret of its own."""

    def collected(self, plan: Plan, names: Sequence[Name] | None = None) -> Collected:
        """The collectors of these groups, each under `group_secret`, even of those without pairs; in a pipeline with
        windows, of those that turn up in each. Without names, the collector of all pairs; in a pipeline that has
        groups, of every group that turns up, from which the next step chooses.
        """


class AnsweringSource(Source[Iterator[Collector]], Protocol):
    """A source that answers at once. Collectors come in the order of their names, and all pairs are read before
    `collected` returns.

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
