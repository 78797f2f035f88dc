"""Bounding people where SQL must not see the salt: the rule of `bounding/persons.py`, row by row, in one pass.

Of each person the groups, then the pairs, with the smallest SHA-256(salt, person, what the pair is), of which the first
64 bits count, are kept, at most so many of each: a function of that person's rows and of the secret alone, which is all
that the proof there needs. Hashes are taken of the same text as there for numbers, text and dates, so the same rows are
kept under the same secret; bytes and times are written otherwise, and of those others may be kept.

**Candidates.** `Candidates` holds what may still be kept of one person, whatever else is met, and no more:

- A group with `groups` others of smaller hash among those met so far has as many when all are met. So only the
  `groups` smallest are held; and one that was let go comes back in vain, since those before it never leave but for
  smaller ones.
- In the same way a pair with `pairs` others of smaller hash in its own group is not kept at the end, and each group
  needs its `pairs` smallest.

The `groups` smallest of all groups, and of all their pairs the `pairs` smallest, are then among the candidates,
whichever rows came first and whichever candidates were merged: the smallest of a union are among the smallest of its
parts. No more than `groups` times 4 · `pairs` candidates of one person are held, however many rows the person has.

`kept_rows` uses the rule on rows that are sorted by person, `persons_on_beam.py` on candidates that are merged.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..errors import ArgumentError
from ..reading.libraries import need
from ..secret import Secret

_BETWEEN = "\x1f"
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
Texts = tuple[str, ...]
Rank = tuple[bytes, Texts]  # a hash; between equal ones the texts decide
Row = TypeVar("Row")  # whatever finds a row again


@dataclass(frozen=True)
class Bounding:
    """At most `pairs` pairs of a person, in at most `groups` groups; `group_columns` columns name a group."""

    pairs: int
    groups: int
    group_columns: int = 0

    def __post_init__(self) -> None:
        whole = isinstance(self.groups, int) and not isinstance(self.groups, bool)
        if not whole or not 1 <= self.groups <= 2**31:
            raise ArgumentError("groups_per_person", self.groups, "must be at least 1", "Pass 1, or a few")


class Candidates(Generic[Row]):
    """What may be kept of one person: of each group its rank, and rows by theirs."""

    __slots__ = ("groups",)

    def __init__(self) -> None:
        self.groups: dict[Texts, tuple[Rank, list[tuple[Rank, Row]]]] = {}

    def rows(self) -> Iterator[Row]:
        """All that are held."""
        return (row for _, ones in self.groups.values() for _, row in ones)


class Rule:
    """Which rows are kept, under one secret. It holds the salt: make it where it is used."""

    def __init__(self, bounding: Bounding, secret: Secret) -> None:
        self._most = bounding
        self._salt = secret.derive("bounding persons").hex()

    def take(self, found: Candidates[Row], person: str, columns: Texts, group: Texts, row: Row) -> None:
        """Remembers a row, if it can still be one of those that are kept. `columns` are all, those of the group too."""
        if group not in found.groups:
            rank = (self._hash("group", person, *group) if group else b"", group)
            if not self._admitted(found, group, rank):
                return
        ones = found.groups[group][1]
        ones.append(((self._hash("pair", person, *columns), columns), row))
        if len(ones) >= 4 * self._most.pairs:
            self._cut(ones)

    def merge(self, found: Candidates[Row], others: Candidates[Row]) -> None:
        """Adds the candidates of the same person that were met elsewhere."""
        for group, (rank, theirs) in others.groups.items():
            if group in found.groups or self._admitted(found, group, rank):
                ones = found.groups[group][1]
                ones.extend(theirs)
                self._cut(ones)

    def kept(self, found: Candidates[Row]) -> list[Row]:
        """The rows that are kept, once all have been met."""
        ones = [one for _, ones in found.groups.values() for one in ones]
        self._cut(ones)
        return [row for _, row in ones]

    def _admitted(self, found: Candidates[Row], group: Texts, rank: Rank) -> bool:
        """Opens a group; whether it is among the smallest so far, the last of which makes room for it."""
        found.groups[group] = (rank, [])
        if len(found.groups) > self._most.groups:
            worst = max(found.groups, key=lambda name: found.groups[name][0])
            del found.groups[worst]
            return worst != group
        return True

    def _cut(self, ones: list[tuple[Rank, Row]]) -> None:
        ones.sort(key=lambda one: one[0])
        del ones[self._most.pairs :]

    def _hash(self, purpose: str, *texts: str) -> bytes:
        return hashlib.sha256(f"{self._salt}{purpose}{_BETWEEN.join(texts)}".encode()).digest()[:8]


def kept_rows(batches: Iterable[Any], bounding: Bounding, secret: Secret) -> Iterator[Any]:
    """The rows that are kept of rows sorted by person; the columns are k0, ..., v, g0, ..., u, and no cell is null."""
    rule = Rule(bounding, secret)
    held: dict[int, Any] = {}  # batches with candidates of a person that is not finished
    person: str | None = None
    found: Candidates[tuple[int, int]] = Candidates()  # of batches and rows
    for number, batch in enumerate(batches):
        held[number] = batch
        chosen: list[tuple[int, int]] = []
        for row, texts in enumerate(zip(*(_texts(column) for column in batch.columns), strict=True)):
            *columns, own = texts
            if own != person:
                chosen += rule.kept(found)
                person, found = own, Candidates()
            group = tuple(columns[len(columns) - bounding.group_columns :])
            rule.take(found, own, tuple(columns), group, (number, row))
        yield from _taken(held, chosen)
        still = {which for which, _ in found.rows()}
        held = {which: batch for which, batch in held.items() if which in still}
    yield from _taken(held, rule.kept(found))


def bounded_by_spark(rows: Any, kept: Callable[[Iterator[Any]], Iterator[Any]]) -> Any:
    """The rows that `kept` keeps of a DataFrame: those of a person have to meet for that, and are shuffled by it."""
    together = rows.repartition("u").sortWithinPartitions("u")
    return together.mapInArrow(kept, together.schema)


def _taken(held: dict[int, Any], chosen: list[tuple[int, int]]) -> Iterator[Any]:
    places: dict[int, list[int]] = {}
    for which, row in sorted(chosen):
        places.setdefault(which, []).append(row)
    return (held[which].take(need("pyarrow").array(rows)) for which, rows in places.items())


def _texts(column: Any) -> list[str]:
    if need("pyarrow.types").is_timestamp(column.type):
        column = column.cast(need("pyarrow").int64())
    return [text_of(cell) for cell in column.to_pylist()]


def text_of(cell: Any) -> str:
    """A cell as text, as SQL would write it; bytes in hexadecimal, a time in microseconds since 1970."""
    if isinstance(cell, bytes):
        return cell.hex()
    if isinstance(cell, datetime.datetime):
        since = cell - (_EPOCH if cell.tzinfo is not None else _EPOCH.replace(tzinfo=None))
        return str(since // datetime.timedelta(microseconds=1))
    return str(cell)
