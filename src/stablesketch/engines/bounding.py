"""Bounding people where SQL must not see the salt: the rule of `doors/persons.py`, row by row, in one pass.

The rows come sorted by person, all rows of a person together. Of each person the groups, then the pairs, with the
smallest SHA-256(salt, person, what the pair is) are kept, at most so many of each: a function of that person's rows and
of the secret alone, which is all that the proof there needs. Hashes are taken of the same text as there for numbers,
text and dates, so the same rows are kept under the same secret; bytes and times are written otherwise, and of those
others may be kept.

A group that is not among the smallest so far never will be, and neither will a pair within its group. So no more than
`groups` times 4 · `pairs` candidates of one person are held, however many rows the person has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..doors.libraries import need
from ..errors import ArgumentError
from ..secret import Secret

__all__ = ["Bounding", "kept_rows"]

_BETWEEN = "\x1f"
_Candidate = tuple[bytes, tuple[str, ...], int, int]  # hash, texts (they decide between equal hashes), batch, row


@dataclass(frozen=True)
class Bounding:
    """At most `pairs` pairs of a person, in at most `groups` groups; `parts` columns name a group."""

    pairs: int
    groups: int
    parts: int

    def __post_init__(self) -> None:
        if not 1 <= self.groups <= 2**31:
            raise ArgumentError("groups_per_person", self.groups, "at least one group", "Pass 1, or a few")


@dataclass
class _Person:
    """What may be kept of one person."""

    name: str
    groups: dict[tuple[str, ...], tuple[tuple[bytes, tuple[str, ...]], list[_Candidate]]] = field(default_factory=dict)


def kept_rows(batches: Iterable[Any], bounding: Bounding, secret: Secret) -> Iterator[Any]:
    """The rows that are kept; the columns are k0, ..., v, g0, ..., u, and no cell is null."""
    rule = _Rule(bounding, secret)
    held: dict[int, Any] = {}  # batches with candidates of a person that is not finished
    person: _Person | None = None
    for number, batch in enumerate(batches):
        held[number] = batch
        rows = list(zip(*(_texts(column) for column in batch.columns), strict=True))
        chosen: dict[int, list[int]] = {}
        for row, texts in enumerate(rows):
            if person is None or texts[-1] != person.name:
                rule.finish(person, chosen)
                person = _Person(texts[-1])
            rule.take(person, texts, number, row)
        yield from (held[which].take(_indices(places)) for which, places in sorted(chosen.items()))
        still = set() if person is None else {one[2] for _, ones in person.groups.values() for one in ones}
        held = {which: batch for which, batch in held.items() if which in still}
    chosen = {}
    rule.finish(person, chosen)
    yield from (held[which].take(_indices(places)) for which, places in sorted(chosen.items()))


class _Rule:
    def __init__(self, bounding: Bounding, secret: Secret) -> None:
        self._most = bounding
        self._salt = secret.derive("bounding persons").hex()

    def take(self, person: _Person, texts: tuple[str, ...], batch: int, row: int) -> None:
        """Remembers a row, if it can still be one of those that are kept."""
        *columns, own = texts
        group = tuple(columns[len(columns) - self._most.parts :]) if self._most.parts else ()
        found = person.groups.get(group)
        if found is None:
            rank = (self._hash("group", own, *group) if group else b"", group)
            found = person.groups[group] = (rank, [])
            if len(person.groups) > self._most.groups:
                worst = max(person.groups, key=lambda name: person.groups[name][0])
                del person.groups[worst]
                if worst == group:
                    return
        candidates = found[1]
        candidates.append((self._hash("pair", own, *columns), tuple(columns), batch, row))
        if len(candidates) >= 4 * self._most.pairs:
            candidates.sort()
            del candidates[self._most.pairs :]

    def finish(self, person: _Person | None, chosen: dict[int, list[int]]) -> None:
        """Adds the rows of a finished person that are kept."""
        if person is None:
            return
        every = sorted(one for _, ones in person.groups.values() for one in ones)
        for _, _, batch, row in every[: self._most.pairs]:
            chosen.setdefault(batch, []).append(row)

    def _hash(self, purpose: str, *texts: str) -> bytes:
        return hashlib.sha256(f"{self._salt}{purpose}{_BETWEEN.join(texts)}".encode()).digest()


def _indices(rows: list[int]) -> Any:
    return need("pyarrow").array(sorted(rows))


def _texts(column: Any) -> list[str]:
    """The cells as text, as SQL would write them; bytes in hexadecimal."""
    pa, types = need("pyarrow"), need("pyarrow.types")
    if types.is_binary(column.type) or types.is_large_binary(column.type):
        return [cell.hex() for cell in column.to_pylist()]
    if types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return [str(cell) for cell in column.to_pylist()]
