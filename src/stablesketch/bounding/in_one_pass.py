"""Bounding people where there is no DuckDB: the rule of `bounding/persons.py`, row by row, in one pass.

For each person, the groups and then the pairs with the smallest ranks (ranks.py) are kept, at most a given number of
each. Which are kept is a function of that person's rows and of the secret alone, which is all the proof there needs.
The ranks are the same as there, so the same secret keeps the same rows. For that, identical rows of a person must first
be brought together and numbered: Spark sorts them, Beam counts them.

**Candidates.** `Candidates` holds what may still be kept of one person, whatever rows follow, and no more:

- If `groups` groups seen so far have a smaller rank than a given group, at least that many do at the end. So only the
  `groups` smallest are held. A group that was dropped is never readmitted, because those before it are replaced only by
  smaller ones.
- In the same way, a pair is not kept at the end if `pairs` others in its group have a smaller rank, so each group needs
  only its `pairs` smallest.

The candidates then include the `groups` smallest groups and, of all their pairs, the `pairs` smallest, whichever rows
came first and whichever candidates were merged: the smallest of a union are among the smallest of its parts. At most
`groups` times 4 · `pairs` candidates of one person are held, however many rows the person has.

`kept_rows` applies the rule to sorted rows, engines/beam/persons.py to candidates that are merged.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..numbers.checked import checked_whole
from ..reading.libraries import need
from ..reading.numpy_arrow import from_numpy
from ..secret import Secret
from .ranks import Ranks

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
Texts = tuple[str, ...]
Rank = tuple[int, tuple[Any, ...]]  # the cells break ties
Row = TypeVar("Row")  # anything that identifies a row


class Candidates(Generic[Row]):
    """What may still be kept of one person: each group with its rank, and rows with theirs."""

    __slots__ = ("groups",)

    def __init__(self) -> None:
        self.groups: dict[Texts, tuple[Rank, list[tuple[Rank, Row]]]] = {}

    def rows(self) -> Iterator[Row]:
        """All rows that are held."""
        return (row for _, ones in self.groups.values() for _, row in ones)


@dataclass(frozen=True)
class Bounding:
    """The rule: at most `pairs` pairs of a person, in at most `groups` groups; `group_columns` columns name a group."""

    pairs: int
    groups: int
    group_columns: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", groups_of_person(self.groups))

    def take(self, found: Candidates[Row], group: Texts, of_group: Callable[[], int], rank: Rank, row: Row) -> None:
        """Remembers a row of this rank if it may still be kept. `of_group` computes the rank of its group."""
        if group not in found.groups and not self._admitted(found, group, (of_group() if group else 0, group)):
            return
        ones = found.groups[group][1]
        ones.append((rank, row))
        if len(ones) >= 4 * self.pairs:
            self._cut(ones)

    def merge(self, found: Candidates[Row], others: Candidates[Row]) -> None:
        """Adds candidates of the same person that were collected elsewhere."""
        for group, (rank, theirs) in others.groups.items():
            if group in found.groups or self._admitted(found, group, rank):
                ones = found.groups[group][1]
                ones.extend(theirs)
                self._cut(ones)

    def kept(self, found: Candidates[Row]) -> list[Row]:
        """The rows to keep, once all have been seen."""
        ones = [one for _, ones in found.groups.values() for one in ones]
        self._cut(ones)
        return [row for _, row in ones]

    def _admitted(self, found: Candidates[Row], group: Texts, rank: Rank) -> bool:
        """Whether the group is among the smallest so far. If so it is opened, and the largest one makes room for it."""
        found.groups[group] = (rank, [])
        if len(found.groups) > self.groups:
            worst = max(found.groups, key=lambda name: found.groups[name][0])
            del found.groups[worst]
            return worst != group
        return True

    def _cut(self, ones: list[tuple[Rank, Row]]) -> None:
        ones.sort(key=lambda one: one[0])
        del ones[self.pairs :]


def groups_of_person(groups: object) -> int:
    """How many groups of a person count at most."""
    return checked_whole(
        "groups_per_person", groups, "Pass 1, or a few", least=1, most=2**31, must="must be at least 1"
    )


def kept_rows(batches: Iterable[Any], bounding: Bounding, secret: Secret) -> Iterator[Any]:
    """The rows to keep. Rows must be sorted by person, then by all other columns, so that identical rows are adjacent.
    The columns are k0, ..., v, g0, ..., u, and no cell is null.
    """
    ranks, numbered = Ranks(secret), _Numbered()
    held: dict[int, Any] = {}  # batches with candidates of the current person
    person: Any = None
    found: Candidates[tuple[int, int]] = Candidates()  # (batch, row)
    for number, batch in enumerate(batches):
        held[number] = batch
        chosen: list[tuple[int, int]] = []
        *columns, people = batch.columns
        names = columns[len(columns) - bounding.group_columns :]
        of_groups = ranks.of_groups(people, *names).tolist()
        shared = ranks.of_pairs(people, *columns)
        of_pairs = ranks.of_copies(shared, numbered.next(shared)).tolist()
        for row, (own, *cells) in enumerate(zip(*map(_cells, [people, *columns]), strict=True)):
            if own != person:
                chosen += bounding.kept(found)
                person, found = own, Candidates()
            group = tuple(cells[len(cells) - bounding.group_columns :])
            of_group, rank = partial(of_groups.__getitem__, row), (of_pairs[row], tuple(cells))
            bounding.take(found, group, of_group, rank, (number, row))
        yield from _taken(held, chosen)
        still = {which for which, _ in found.rows()}
        held = {which: batch for which, batch in held.items() if which in still}
    yield from _taken(held, bounding.kept(found))


class _Numbered:
    """Numbers identical rows 0, 1, 2, ...; they are adjacent, in one batch or across several."""

    def __init__(self) -> None:
        self._last: np.uint64 | None = None
        self._number = 0

    def next(self, shared: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The numbers of the next rows. `shared` is equal only for identical rows."""
        if not len(shared):
            return np.empty(0, np.int64)
        begins = np.flatnonzero(np.concatenate([[True], shared[1:] != shared[:-1]]))
        copies = np.diff(begins, append=len(shared))
        numbers = np.arange(len(shared)) - np.repeat(begins, copies)
        if shared[0] == self._last:  # the run continues from the last batch
            numbers[: copies[0]] += self._number + 1
        self._last, self._number = shared[-1], int(numbers[-1])
        return numbers


def _taken(held: dict[int, Any], chosen: list[tuple[int, int]]) -> Iterator[Any]:
    places: dict[int, list[int]] = {}
    for which, row in sorted(chosen):
        places.setdefault(which, []).append(row)
    return (held[which].take(from_numpy(np.array(rows))) for which, rows in places.items())


def _cells(column: Any) -> list[Any]:
    if need("pyarrow.types").is_timestamp(column.type):  # Python's have no nanoseconds
        column = column.cast(need("pyarrow").int64())
    cells: list[Any] = column.to_pylist()
    return cells


def text_of(cell: Any) -> str:
    """A cell as text; bytes in hexadecimal, a time in microseconds since 1970."""
    if isinstance(cell, bytes):
        return cell.hex()
    if isinstance(cell, datetime.datetime):
        since = cell - (_EPOCH if cell.tzinfo is not None else _EPOCH.replace(tzinfo=None))
        return str(since // datetime.timedelta(microseconds=1))
    return str(cell)
