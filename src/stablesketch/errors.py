"""Every error that the library raises on purpose: typed, naming the argument, its value and the way out.

Each is a `StablesketchError`. Those about arguments are also the built-in `ValueError` or `TypeError`, so that code
which does not know this library can catch them as usual.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from types import UnionType
from typing import Any

from .text.spoken import at_least, at_most
from .text.visible import visible
from .text.wording import in_python, subject

_LONG = 100


class Shown(str):
    """A description that an error shows in place of a value: as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


HIDDEN = Shown("<hidden>")
"""Passed in place of a value that an error must not show."""


class StablesketchError(Exception):
    """The base class of all errors that stablesketch raises on purpose.

    A message may contain names from the data; they are escaped, so that no terminal obeys them. `wording` is the
    message before its arguments are spelt for Python (text/wording.py).
    """

    def __init__(self, message: str = "") -> None:
        self.wording = message
        super().__init__(visible(in_python(message), keep="\n"))


class ArgumentError(StablesketchError, ValueError):
    """An argument has a value that cannot be used: "size must be positive, got -1. Pass 200, for example."

    `must` follows the name of the argument: what it must be, or what it cannot be used with. `because` says why. Pass
    HIDDEN in place of a value that must not be shown.
    """

    def __init__(self, argument: str, value: object, must: str, way_out: str, *, because: str = "") -> None:
        self.argument = argument
        self.value = value
        got = "" if value is HIDDEN else f", got {shortened(value)}"
        reason = f": {because}" if because else ""
        super().__init__(f"{subject(argument)} {must}{got}{reason}. {sentence(way_out)}")


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument has a type or dtype that the library does not convert silently."""


class DataError(StablesketchError, ValueError):
    """The data cannot be read, or break a promise. `source`, `row` (from 1) and `column` say where."""

    def __init__(
        self, source: str, problem: str, way_out: str, *, row: int | None = None, column: str | None = None
    ) -> None:
        self.source, self.row, self.column = source, row, column
        where = source + (f", row {row:,}" if row is not None else "") + (f", column {column}" if column else "")
        between = " " if column and problem.startswith(("is ", "has ")) else ": "  # the column is the subject
        super().__init__(f"{where}{between}{sentence(problem)} {sentence(way_out)}")


class LibraryMissing(StablesketchError, ImportError):
    """A required library is not installed; the message names the command that installs it."""


class MergeError(StablesketchError, ValueError):
    """Two sketches cannot be merged because their projections differ: in p, law, size or secret."""


class SecretMissing(StablesketchError, RuntimeError):
    """The operation needs the secret, but this copy (unpickled, or read without a secret) does not have it."""


class SecretMismatch(StablesketchError, ValueError):
    """The given secret is not the one that the blob was made with."""


class SecretNotPicklable(StablesketchError, TypeError):
    """A secret cannot be pickled; save it to a file instead."""


class SecretFileError(StablesketchError, OSError):
    """A secret file is missing, malformed or readable by others, or it already exists."""


class BlobError(StablesketchError, ValueError):
    """A blob, plan or release is truncated, corrupt or not in canonical form."""


class ForeignBlob(BlobError):
    """The bytes are not a stablesketch blob at all."""


class UnsupportedVersion(BlobError):
    """The blob has a newer wire format than this version of the library can read."""


class NegativeTotal(StablesketchError, ValueError):
    """More was deleted than was added, so no frequency moment exists."""


class PlanInfeasible(StablesketchError, ValueError):
    """No mechanism can reach what was asked for; the message says what is possible.

    `best` is the smallest error possible, if the error is what is out of reach and that is known.
    """

    def __init__(self, message: str = "", best: float | None = None) -> None:
        self.best = best
        super().__init__(message)


class ReleasedAlready(StablesketchError, RuntimeError):
    """A collector releases once: a second release under the same secret would reveal what the first one hid."""


class SecretSpent(ReleasedAlready):
    """The secret was already used for its one release, here, in another process, or according to a ledger."""


class CountInterrupted(StablesketchError, RuntimeError):
    """The collector was interrupted while it counted. It is not known which pairs it has, so it cannot be released."""


class StreamTooShort(StablesketchError, ValueError):
    """The stream has fewer pairs than the plan was made for, so its guarantee would not hold."""


class ShardMergedTwice(MergeError):
    """The shard was already merged; its pairs would count twice."""


class ShardsMissing(StablesketchError, ValueError):
    """The collector was opened with a list of shards, and some have not been merged yet. `missing` names them."""

    def __init__(self, missing: list[str]) -> None:
        self.missing = missing
        named = ", ".join(repr(name) for name in missing[:5]) + (", ..." if len(missing) > 5 else "")
        super().__init__(
            f"{len(missing)} of the listed shards are missing: {named}. Merge them first; if one is lost for good, "
            "collect again with a list that leaves it out."
        )


class CheckpointError(StablesketchError, OSError):
    """A checkpoint cannot be written or read, or is not the last one that this collector wrote."""


class NotDelivered(CheckpointError):
    """Windows were released and paid for, but their output is closed. The message says where the records are."""


class LedgerError(StablesketchError, RuntimeError):
    """The ledger could not be read or written. Nothing was recorded and nothing released. The message says why."""


class LedgerCorrupt(LedgerError):
    """The ledger file is damaged, or is not a ledger."""


class LedgerMismatch(LedgerError):
    """The ledger has a different budget, or no budget of this name."""


class UnitMismatch(LedgerError, ValueError):
    """The release protects something other than the ledger: another relation, other pairs per person, or people."""


class ClockWentBackwards(LedgerError):
    """The clock is behind the latest time in the ledger."""


class BudgetExceeded(StablesketchError, RuntimeError):
    """The release would exceed the budget. Nothing was released and nothing spent.

    `asked` is the (ε, δ) of the release. `spent` is the ε spent so far and `left` what remains of the budget, both at
    the budget's δ; `after` is the ε that would have been spent. `fits` is the largest ε that would fit with everything
    else unchanged; None if none would. `renews` is the day on which a budget by period is renewed, otherwise None.
    """

    def __init__(
        self, budget: str, limit: tuple[float, float], asked: tuple[float, float], spent: float, after: float,
        fits: float | None, renews: str | None = None,
    ) -> None:  # fmt: skip
        self.budget, self.limit, self.asked, self.spent, self.after = budget, limit, asked, spent, after
        self.fits, self.renews = fits, renews
        self.left = max(0.0, limit[0] - spent)
        more = fits is not None and fits > self.left
        composed = ", although less is left, because releases cost less together than their sum" if more else ""
        way_out = (
            f"The same release with ε = {fits:.6g} would fit{composed}."
            if fits is not None
            else "No release of this kind fits any more: it needs a new budget, or data that no release has used yet."
            if renews is None
            else "No release of this kind fits in this period any more."
        )
        way_out += "" if renews is None else f" The budget renews on {renews} (UTC)."
        super().__init__(
            f"the budget{f' {budget!r}' if budget else ''} is ε = {limit[0]:.6g} at δ = {limit[1]:.3g}; spent "
            f"{at_most(spent, 6)}, left {at_least(self.left, 6)}. This release costs ε = {at_most(asked[0], 6)}, "
            f"δ = {at_most(asked[1], 3)}, which would bring the total to {at_most(after, 6)}. {way_out}"
        )


class GroupsNotComparable(UserWarning):
    """The statistic of this table depends on the sizes of its groups; the message says which one compares them."""


class ReleaseInterrupted(KeyboardInterrupt):
    """Ctrl-C was pressed after a release was paid for. The release was finished first: it is in `releases`.

    Like every KeyboardInterrupt it is not an `Exception`. The message has the values, so that a traceback shows them.
    """

    def __init__(self, releases: Sequence[Any], paid: str) -> None:
        self.releases = list(releases)
        shown = "; ".join(map(str, self.releases[:20])) + ("; ..." if len(self.releases) > 20 else "")
        where = f" ({paid})" if paid else ""
        super().__init__(f"Ctrl-C was pressed after the release was paid for{where}, so it was finished: {shown}")


def check_type(argument: str, value: object, kind: type | UnionType, must: str, way_out: str) -> None:
    """Refuses a value of another type; the error shows that type, never the value."""
    if not isinstance(value, kind):
        raise ArgumentTypeError(argument, type(value), must, way_out)


def check_choice(argument: str, value: object, choices: Collection[str]) -> None:
    """Refuses a value that is not one of these."""
    if value not in choices:
        raise ArgumentError(argument, value, f"must be one of {', '.join(choices)}", "Choose one of these")


def sentence(text: str) -> str:
    """The text with one full stop at its end; a question mark or three dots at the end stay as they are.

    >>> sentence("is below 1"), sentence("is below 1."), sentence("cast it: select ...")
    ('is below 1.', 'is below 1.', 'cast it: select ...')
    """
    text = text.rstrip()
    return text if text.endswith(("...", "…", "?")) else f"{text.rstrip('.')}."


def did_you_mean(typed: str, there: Iterable[str]) -> str:
    """A question that suggests similar names; empty if there are none. Only for names that may be shown.

    >>> did_you_mean("shanon", ["shannon", "simpson", "hill"]), did_you_mean("xyz", ["hill"])
    ('Did you mean shannon?', '')
    """
    from difflib import get_close_matches

    letters = {one.casefold(): one for one in there}
    close = [letters[one] for one in get_close_matches(typed.casefold(), letters, n=3, cutoff=0.7)]
    return f"Did you mean {' or '.join(close)}?" if close else ""


def in_one_line(text: str, most: int = 400) -> str:
    """The text in one line; a long text is cut, and ends in dots."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most].rstrip()} ..."


def shortened(value: object) -> str:
    """A repr that never fills the screen, and shows only the start of a huge argument.

    It reads only the start of a long text or list, so that an error about a gigabyte does not need another one. What
    has no repr (an integer of 5,000 digits, lists nested 10,000 deep) is described by its type.
    """
    try:
        if isinstance(value, str | bytes | bytearray) and len(value) > _LONG:
            value = value[:_LONG]
        elif isinstance(value, list | tuple | dict | set | frozenset) and len(value) > _LONG:
            value = list(itertools.islice(value, _LONG))
        text = value.__name__ if isinstance(value, type) else repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:77]}..."
