"""Every error the library raises on purpose: typed, naming the argument, its value and the way out.

All of them are a `StablesketchError`; those about arguments are also the built-in `ValueError` or `TypeError`, so that
code which knows nothing of this library catches them as it would expect to.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from .spoken import at_least, at_most
from .visible import visible
from .wording import in_python, subject

_LONG = 100


class Shown(str):
    """A description that stands in an error where a value would: shown as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


HIDDEN = Shown("<hidden>")
"""In the place of a value that an error does not show."""


class StablesketchError(Exception):
    """The root of all errors raised on purpose by stablesketch.

    A message may contain names from the data; they are shown so that no terminal obeys them. `wording` is the message
    before its arguments are spelt for Python (wording.py).
    """

    def __init__(self, message: str = "") -> None:
        self.wording = message
        super().__init__(visible(in_python(message), keep="\n"))


class ArgumentError(StablesketchError, ValueError):
    """An argument has a value that cannot be used: "size must be positive, got -1. Pass 200, for example."

    `must` follows the name of the argument: what it must be, or what it cannot be used with; `because` says why. A
    value that is not to be shown is HIDDEN.
    """

    def __init__(self, argument: str, value: object, must: str, way_out: str, *, because: str = "") -> None:
        self.argument = argument
        self.value = value
        got = "" if value is HIDDEN else f", got {shortened(value)}"
        reason = f": {because}" if because else ""
        super().__init__(f"{subject(argument)} {must}{got}{reason}. {sentence(way_out)}")


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a type or dtype the library will not convert silently."""


class DataError(StablesketchError, ValueError):
    """Data that cannot be read, or that break a promise. `source`, `row` (from 1) and `column` say where."""

    def __init__(
        self, source: str, problem: str, way_out: str, *, row: int | None = None, column: str | None = None
    ) -> None:
        self.source, self.row, self.column = source, row, column
        where = source + (f", row {row:,}" if row is not None else "") + (f", column {column}" if column else "")
        between = " " if column and problem.startswith(("is ", "has ")) else ": "  # the column is the subject
        super().__init__(f"{where}{between}{sentence(problem)} {sentence(way_out)}")


class LibraryMissing(StablesketchError, ImportError):
    """Reading this needs a library that is not installed; the message names the command that installs it."""


class MergeError(StablesketchError, ValueError):
    """Two sketches cannot be added because they are not the same projection: p, law, size or secret differ."""


class SecretMissing(StablesketchError, RuntimeError):
    """The operation needs the secret, and this copy (unpickled, or read without one) does not have it."""


class SecretMismatch(StablesketchError, ValueError):
    """A secret was given that is not the one the blob was made with."""


class SecretNotPicklable(StablesketchError, TypeError):
    """A secret never leaves its process by pickle; save it to a file instead."""


class SecretFileError(StablesketchError, OSError):
    """A secret file is missing, malformed, readable by others, or already there."""


class BlobError(StablesketchError, ValueError):
    """Bytes that claim to be a sketch are truncated, corrupted or not in canonical form."""


class ForeignBlob(BlobError):
    """The bytes are not a stablesketch blob at all."""


class UnsupportedVersion(BlobError):
    """The blob was written by a newer version of the wire format than this library reads."""


class NegativeTotal(StablesketchError, ValueError):
    """More was deleted than had been added: no frequency moment exists."""


class PlanInfeasible(StablesketchError, ValueError):
    """No mechanism reaches what was asked; the message says what would."""


class ReleasedAlready(StablesketchError, RuntimeError):
    """A collector releases once: a second release of one secret would reveal what the first one hid."""


class SecretSpent(ReleasedAlready):
    """The secret was already used for its one release, here, in another process, or according to a ledger."""


class CountInterrupted(StablesketchError, RuntimeError):
    """The collector was interrupted while it counted: which pairs it has is not known, so it cannot be released."""


class StreamTooShort(StablesketchError, ValueError):
    """The stream has fewer pairs than the plan was made for, so its guarantee would not hold."""


class ShardMergedTwice(MergeError):
    """The shard was already merged: its pairs would count twice."""


class ShardsMissing(StablesketchError, ValueError):
    """The collector was opened with a list of shards, and some are not merged yet. `missing` names them."""

    def __init__(self, missing: list[str]) -> None:
        self.missing = missing
        named = ", ".join(repr(name) for name in missing[:5]) + (", ..." if len(missing) > 5 else "")
        super().__init__(
            f"{len(missing)} of the listed shards are missing: {named}. Merge them first; if one is lost for good, "
            "collect again with a list that leaves it out."
        )


class CheckpointError(StablesketchError, OSError):
    """A checkpoint cannot be written or read, or is not the one that this collector wrote last."""


class NotDelivered(CheckpointError):
    """Windows were released and paid for, but their output is closed. The message says where the records are."""


class LedgerError(StablesketchError, RuntimeError):
    """The ledger could not be read or written: nothing was recorded, nothing released. The message says why."""


class LedgerCorrupt(LedgerError):
    """The file of a ledger is damaged, or is not a ledger."""


class LedgerMismatch(LedgerError):
    """The ledger exists with another budget, or has no budget of this name."""


class UnitMismatch(LedgerError, ValueError):
    """The release protects something other than the ledger: another relation, other pairs per person, or people."""


class ClockWentBackwards(LedgerError):
    """The clock is behind the last time that the ledger recorded."""


class BudgetExceeded(StablesketchError, RuntimeError):
    """The release would exceed the budget. Nothing was released and nothing spent.

    `asked` is the (ε, δ) of the release, `spent` the ε spent so far and `left` the rest of the budget's, both at the
    budget's δ; `after` is the ε there would be. `fits` is the largest ε that would fit, everything else unchanged; None
    if none does. `renews` is the day on which a budget by period is whole again, else None.
    """

    def __init__(
        self, budget: str, limit: tuple[float, float], asked: tuple[float, float], spent: float, after: float,
        fits: float | None, renews: str | None = None,
    ) -> None:  # fmt: skip
        self.budget, self.limit, self.asked, self.spent, self.after = budget, limit, asked, spent, after
        self.fits, self.renews = fits, renews
        self.left = max(0.0, limit[0] - spent)
        way_out = (
            f"The same release with ε = {fits:.6g} would fit."
            if fits is not None
            else "No release of this kind fits any more: it needs a new budget, or data that no release has used yet."
            if renews is None
            else "No release of this kind fits in this period any more."
        )
        way_out += "" if renews is None else f" The budget renews on {renews} (UTC)."
        super().__init__(
            f"the budget{f' {budget!r}' if budget else ''} is ε = {limit[0]:.6g} at δ = {limit[1]:.3g}; spent "
            f"{at_most(spent, 6)}, left {at_least(self.left, 6)}. "
            f"This release costs ε = {at_most(asked[0], 6)}, δ = {at_most(asked[1], 3)}, which would bring the "
            "total to "
            f"{at_most(after, 6)}. {way_out}"
        )


class GroupsNotComparable(UserWarning):
    """A table of a statistic that follows the sizes of its groups; the message says what compares them."""


class ReleaseInterrupted(KeyboardInterrupt):
    """Ctrl-C came after a release was paid for. It was finished first: `releases` has what was released.

    Like every KeyboardInterrupt it is not an `Exception`. The text has the values, so that a traceback shows them.
    """

    def __init__(self, releases: Sequence[Any], paid: str) -> None:
        self.releases = list(releases)
        shown = "; ".join(map(str, self.releases[:20])) + ("; ..." if len(self.releases) > 20 else "")
        where = f" ({paid})" if paid else ""
        super().__init__(f"Ctrl-C was pressed after the release was paid for{where}, so it was finished: {shown}")


def sentence(text: str) -> str:
    """With one full stop at its end; a question mark, and three dots for what was left out, stay as they are.

    >>> sentence("is below 1"), sentence("is below 1."), sentence("cast it: select ...")
    ('is below 1.', 'is below 1.', 'cast it: select ...')
    """
    text = text.rstrip()
    return text if text.endswith(("...", "…", "?")) else f"{text.rstrip('.')}."


def did_you_mean(typed: str, there: Iterable[str]) -> str:
    """A question with what is spelt nearly so; empty if nothing is. Only for names that may be shown.

    >>> did_you_mean("shanon", ["shannon", "simpson", "hill"]), did_you_mean("xyz", ["hill"])
    ('Did you mean shannon?', '')
    """
    from difflib import get_close_matches

    letters = {one.casefold(): one for one in there}
    close = [letters[one] for one in get_close_matches(typed.casefold(), letters, n=3, cutoff=0.7)]
    return f"Did you mean {' or '.join(close)}?" if close else ""


def in_one_line(text: str, most: int = 400) -> str:
    """The text, in one line; of a long one its beginning, and dots that say so."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most].rstrip()} ..."


def shortened(value: object) -> str:
    """A repr that never fills the screen, and never shows what a huge argument holds beyond its start.

    Of a long text or list only the start is looked at: an error about a gigabyte does not take another one. What has
    no repr (an integer of 5,000 digits, lists nested 10,000 deep) is described by its type.
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
