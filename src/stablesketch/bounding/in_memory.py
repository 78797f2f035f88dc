"""Bounding people whose rows fit into memory: the rule of `bounding/persons.py`, several times as fast as in SQL.

Every column is encoded as whole numbers, one for each different cell, and rows become one whole number each. Sorting
these brings the rows of a person together, within them those of a group, and within them identical ones. Ranks are
those of ranks.py, so the same rows are kept under the same secret, in any order and in any batches.

Equal ranks of a person, one in 2^64 pairs of rows, are left to SQL, where the columns break the tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.libraries import need
from ..reading.numpy_arrow import from_numpy, to_numpy
from ..sketch.workers import checked_threads
from .ranks import Ranks

MOST_BYTES = 1 << 27
"""Of the rows in memory; sorting takes about as much again."""

_MOST_CODES = 2**62

RowNumbers = NDArray[np.int64]
CellCodes = NDArray[np.signedinteger[Any]]


def held(batches: Iterator[Any], most: int = MOST_BYTES) -> Any:
    """All batches as an Arrow table, or None if they are larger than `most` bytes, or without rows."""
    found, size = [], 0
    with closing(batches):  # type: ignore[type-var]  # a generator
        for batch in batches:
            found.append(batch)
            size += batch.nbytes
            if size > most:
                return None
    return need("pyarrow").Table.from_batches(found) if any(batch.num_rows for batch in found) else None


def kept_in_memory(
    rows: Any, keys: Sequence[str], marks: Sequence[str], *, pairs: int, groups: int, ranks: Ranks
) -> Any:
    """The rows to keep of an Arrow table, or None if two ranks are equal.

    `keys` are its columns of keys and values, `marks` those of groups; `u` is the person.
    """
    names = ("u", *marks, *keys)
    with ThreadPoolExecutor(min(checked_threads(None), len(names))) as threads:
        cells = dict(zip(names, threads.map(lambda name: _Encoded(rows.column(name)), names), strict=True))
    try:
        first, copies = _different(_folded([cells[name] for name in names]))
        if marks:
            here = _in_chosen_groups([cells[name] for name in ("u", *marks)], first, groups, ranks)
            first, copies = first[here], copies[here]
        of_rows = ranks.of_pairs(*(cells[name].taken(first) for name in ("u", *keys, *marks)))
        used = first[_drawn(cells["u"].codes[first], of_rows, copies, pairs, ranks)]
    except _EqualRanks:
        return None
    return need("pyarrow").table({name: cells[name].plain(used) for name in (*keys, *marks, "u")})


class _EqualRanks(Exception):
    """Two ranks of a person are equal, and which row comes first is undecided."""


def _different(rows: RowNumbers) -> tuple[RowNumbers, RowNumbers]:
    """The place of one row of each kind, in order, and how many such rows there are."""
    order = np.argsort(rows)
    begins = _begins(rows[order])
    return order[begins], np.diff(begins, append=len(order))


def _in_chosen_groups(columns: Sequence[_Encoded], first: RowNumbers, groups: int, ranks: Ranks) -> NDArray[np.bool_]:
    """Which rows are in the groups of their person that are chosen. Rows of a group are adjacent."""
    begins = _begins(_folded(columns)[first])
    one = first[begins]  # a row of each group of each person
    of_groups = ranks.of_groups(*(column.taken(one) for column in columns))
    chosen = _smallest(columns[0].codes[one], of_groups, groups)
    return np.repeat(chosen, np.diff(begins, append=len(first)))


def _drawn(people: CellCodes, of_rows: NDArray[np.uint64], copies: RowNumbers, pairs: int, ranks: Ranks) -> RowNumbers:
    """The places of the rows to keep, each as often as it is kept, if there are `copies` of each."""
    place = np.repeat(np.arange(len(copies)), copies)
    number = np.arange(len(place)) - np.repeat(np.cumsum(copies) - copies, copies)
    of_copies, again = of_rows[place], number > 0
    of_copies[again] = ranks.of_copies(of_copies[again], number[again])
    return place[_smallest(people[place], of_copies, pairs)]


class _Encoded:
    """A column as whole numbers: `codes`, of which there are `size`, are the places of its cells in a dictionary."""

    def __init__(self, column: Any) -> None:
        dictionary = need("pyarrow.types").is_dictionary(column.type)
        coded = (column.unify_dictionaries() if dictionary else column.dictionary_encode()).combine_chunks()
        self._dictionary, self.size = coded.dictionary, max(len(coded.dictionary), 1)
        self.codes = to_numpy(coded.indices)

    def taken(self, places: RowNumbers) -> Any:
        """The cells at these places, as an Arrow array that refers to the dictionary."""
        return need("pyarrow").DictionaryArray.from_arrays(from_numpy(self.codes[places]), self._dictionary)

    def plain(self, places: RowNumbers) -> Any:
        """The cells at these places, as an Arrow array of its own."""
        return self._dictionary.take(from_numpy(self.codes[places]))


def _folded(columns: Sequence[_Encoded]) -> RowNumbers:
    """One number for each row, which orders rows by the codes of the first column, then by those of the next."""
    found, size = columns[0].codes.astype(np.int64), columns[0].size
    for column in columns[1:]:
        if size * column.size > _MOST_CODES:
            values, found = np.unique(found, return_inverse=True)
            size = len(values)
        found *= column.size
        found += column.codes
        size *= column.size
    return found


def _begins(ordered: RowNumbers) -> RowNumbers:
    """Where runs of equal numbers begin."""
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))


def _smallest(people: CellCodes, ranks: NDArray[np.uint64], most: int) -> NDArray[np.bool_]:
    """Which rows have the `most` smallest ranks of their person, whose rows are adjacent.

    Raises:
        _EqualRanks: the last one that is kept, and the first one that is not.
    """
    begins = _begins(people)
    counts = np.diff(begins, append=len(people))
    if most == 1:
        kept: NDArray[np.bool_] = ranks == np.repeat(np.minimum.reduceat(ranks, begins), counts)
        if np.count_nonzero(kept) != len(begins):
            raise _EqualRanks
        return kept
    kept = np.ones(len(people), bool)
    more = counts > most
    rows, counts = np.flatnonzero(np.repeat(more, counts)), counts[more]
    if not len(rows):
        return kept
    begins = np.cumsum(counts) - counts
    order = np.lexsort((ranks[rows], np.repeat(np.arange(len(counts)), counts)))
    ordered = ranks[rows[order]]
    if np.any(ordered[begins + most - 1] == ordered[begins + most]):
        raise _EqualRanks
    place = np.arange(len(rows)) - np.repeat(begins, counts)
    kept[rows[order[place >= most]]] = False
    return kept
