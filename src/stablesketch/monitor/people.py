"""Bounds people in a window: the first rows of each person count, up to a maximum.

**Why that is enough.** Remove all rows of one person from a stream. Whether a row counts depends on how many rows the
same person had in the same window before it, and on nobody else. All rows of others therefore count as before, and each
window has lost at most `most` rows, which is what its plan covers (`pairs_per_person`). For one window, a person is
protected at its ε, whatever they did. If a person has rows in several windows, each costs its ε, and these add up. Rows
must be taken in the order in which they came: an order that somebody else's rows could change would not do.

What is stored about a person is a 128-bit hash under a key of the window, and a number. Two people with the same hash
would share their rows; among a million people in a window, that has probability 2^-89.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.libraries import need
from ..reading.numpy_arrow import to_numpy


class PeopleOfWindow:
    """The number of rows of each person that a window has counted; `changed` are those not stored since."""

    def __init__(self, most: int, key: bytes, counted: dict[bytes, int] | None = None) -> None:
        self._most, self._key = most, key
        self._counted = counted or {}
        self.changed: dict[bytes, int] = {}

    def within(self, persons: Any) -> NDArray[np.int64]:
        """Which of these rows count, in order. From now on they are counted."""
        coded = need("pyarrow.compute").dictionary_encode(persons)
        codes = to_numpy(coded.indices)
        hashes = [self._hash(person) for person in coded.dictionary.to_pylist()]
        before = np.array([self._counted.get(one, 0) for one in hashes], np.int64)
        kept = np.flatnonzero(before[codes] + _ranks(codes) < self._most)
        after = before + np.bincount(codes[kept], minlength=len(hashes))
        for i in np.flatnonzero(after > before):
            self._counted[hashes[i]] = self.changed[hashes[i]] = int(after[i])
        return kept

    def _hash(self, person: str) -> bytes:
        return hashlib.blake2b(person.encode(), key=self._key, digest_size=16).digest()


def _ranks(codes: NDArray[Any]) -> NDArray[np.int64]:
    """How often the same code occurs before each place.

    >>> _ranks(np.array([7, 3, 7, 7, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(first, np.diff(np.append(first, len(codes))))
    return ranks
