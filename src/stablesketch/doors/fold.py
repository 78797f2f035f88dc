"""Folding a long stream: equal keys are added up over many batches before they cost a column of the projection.

The sketch is linear, so a key that comes a million times may be counted once with a million. `update` does that within
one call; here it is done across calls, in bounded memory. A buffer of fingerprints is sorted, its runs are counted, and
the runs are merged into a sorted table. When the table is full, its lighter half goes to the sketch and the heavy keys
stay. The state of the collector is the same to the last bit, whatever the order, the batches or the room.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_FOLDED", "Fold"]

Fingerprints = NDArray[np.uint64]
Totals = NDArray[np.int64]
Codes = NDArray[np.int32]

_BUFFER = 1 << 19  # rows, and keys in the table: 8 and 16 bytes each, some of it twice
_TABLE = 1 << 20
_SENT = 1 << 17
# The sum of a buffer of such values, on top of a total that is not yet too heavy for the table, is below 2^53.
LARGEST_FOLDED = 1 << 31
_HEAVY = 1 << 52
_FEW_KNOWN = 16  # new keys for each that is known
_MOST_PASSED = 7


class Fold:
    """Pairs in by `add`, totals of keys out through `sink(code, fingerprints, totals)`; `finish` sends what is left.

    `code` is the number of a group, 0 where there are none. Values must not exceed LARGEST_FOLDED.
    """

    def __init__(
        self,
        sink: Callable[[int, Fingerprints, Totals], None],
        *,
        weighted: bool,
        grouped: bool,
        buffer: int = _BUFFER,
        table: int = _TABLE,
    ) -> None:
        self._sink = sink
        self._room = table
        self._filled = 0
        self._passed = 0  # buffers in a row that did not go through the table
        self._keys = np.empty(buffer, np.uint64)
        self._values = np.empty(buffer, np.int64) if weighted else None
        self._codes = np.empty(buffer, np.int32) if grouped else None
        self._clear()

    def _clear(self) -> None:
        self._table_keys = np.empty(0, np.uint64)
        self._table_totals = np.empty(0, np.int64)
        self._table_codes = None if self._codes is None else np.empty(0, np.int32)

    def add(self, keys: Fingerprints, values: Totals | None = None, codes: Codes | None = None) -> None:
        """Counts pairs: fingerprints, their values (1 each if None) and the groups they are in."""
        done = 0
        while done < len(keys):
            count = min(len(keys) - done, len(self._keys) - self._filled)
            here, there = slice(self._filled, self._filled + count), slice(done, done + count)
            self._keys[here] = keys[there]
            if self._values is not None:
                self._values[here] = 1 if values is None else values[there]
            if self._codes is not None:
                assert codes is not None
                self._codes[here] = codes[there]
            self._filled += count
            done += count
            if self._filled == len(self._keys):
                self._fold()

    def finish(self) -> None:
        """Sends all that is held to the sink."""
        self._fold()
        self._send(np.ones(len(self._table_keys), bool))
        self._clear()

    def _fold(self) -> None:
        keys, self._filled = self._keys[: self._filled], 0
        if not len(keys):
            return
        values = None if self._values is None else self._values[: len(keys)]
        codes = None if self._codes is None else self._codes[: len(keys)]
        if codes is not None:
            self._merge_groups(keys, np.ones(len(keys), np.int64) if values is None else values, codes)
        elif values is not None:
            order = np.argsort(keys)
            self._merge(*_runs(keys[order], values[order]))
        else:
            keys.sort()
            self._merge(*_counts(keys))

    def _merge(self, keys: Fingerprints, totals: Totals) -> None:
        """Adds sorted distinct keys to the sorted table, which loses its lighter half first if they do not fit."""
        place, known = self._places(keys)
        self._table_totals[place[known]] += totals[known]
        keys, totals = keys[~known], totals[~known]
        if len(self._table_keys) + len(keys) > self._room:
            if len(keys) > _FEW_KNOWN * np.count_nonzero(known) and self._passed < _MOST_PASSED:
                # Hardly any key comes again, so there is nothing to gain from making room: they go as they are. Now
                # and then room is made all the same, since the stream may change.
                self._passed += 1
                self._pass_on(keys, totals)
                return
            self._passed = 0
            self._make_room()
            place, known = self._places(keys)
        else:
            place = place[~known]
        self._table_keys = np.insert(self._table_keys, place, keys)
        self._table_totals = np.insert(self._table_totals, place, totals)
        self._drop_heavy()

    def _pass_on(self, keys: Fingerprints, totals: Totals) -> None:
        for begin in range(0, len(keys), _SENT):
            self._sink(0, keys[begin : begin + _SENT], totals[begin : begin + _SENT])
        self._drop_heavy()

    def _places(self, keys: Fingerprints) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where sorted keys belong in the table, and which of them are there."""
        place = np.searchsorted(self._table_keys, keys)
        if not len(self._table_keys):
            return place, np.zeros(len(keys), bool)
        return place, self._table_keys[np.minimum(place, len(self._table_keys) - 1)] == keys

    def _merge_groups(self, keys: Fingerprints, values: Totals, codes: Codes) -> None:
        """The same for (group, key): sorted by both."""
        assert self._table_codes is not None
        all_keys = np.concatenate([self._table_keys, keys])
        all_codes = np.concatenate([self._table_codes, codes])
        order = np.lexsort((all_keys, all_codes))
        all_keys, all_codes = all_keys[order], all_codes[order]
        first = _first_of_runs(all_keys, all_codes)
        totals = np.concatenate([self._table_totals, values])[order]
        self._table_keys, self._table_codes = all_keys[first], all_codes[first]
        self._table_totals = np.add.reduceat(totals, first)
        if len(self._table_totals) > self._room:
            self._make_room()
        self._drop_heavy()

    def _make_room(self) -> None:
        """The lighter half goes."""
        totals = self._table_totals
        if not len(totals):
            return
        middle = np.partition(totals, len(totals) // 2)[len(totals) // 2]
        self._drop(totals <= middle)  # all of equal weight, so that at most half stays

    def _drop_heavy(self) -> None:
        if len(self._table_totals) and int(self._table_totals.max()) >= _HEAVY:
            self._drop(self._table_totals >= _HEAVY)

    def _drop(self, leaving: NDArray[np.bool_]) -> None:
        self._send(leaving)
        stay = ~leaving
        self._table_keys, self._table_totals = self._table_keys[stay], self._table_totals[stay]
        if self._table_codes is not None:
            self._table_codes = self._table_codes[stay]

    def _send(self, leaving: NDArray[np.bool_]) -> None:
        if self._table_codes is None:
            for begin in range(0, len(leaving), _SENT):  # in pieces, so that no copy of the table is made
                part = slice(begin, begin + _SENT)
                keys = self._table_keys[part][leaving[part]]
                if len(keys):
                    self._sink(0, keys, self._table_totals[part][leaving[part]])
            return
        keys, totals = self._table_keys[leaving], self._table_totals[leaving]
        codes = self._table_codes[leaving]
        if not len(codes):
            return
        begins = _first_of_runs(codes)
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(codes)], strict=True):
            self._sink(int(codes[begin]), keys[begin:end], totals[begin:end])


def _counts(keys: Fingerprints) -> tuple[Fingerprints, Totals]:
    first = _first_of_runs(keys)
    return keys[first], np.diff(first, append=len(keys))


def _runs(keys: Fingerprints, values: Totals) -> tuple[Fingerprints, Totals]:
    first = _first_of_runs(keys)
    return keys[first], np.add.reduceat(values, first)


def _first_of_runs(*columns: NDArray[np.uint64] | NDArray[np.int32]) -> NDArray[np.intp]:
    """The first rows of runs of equal rows in sorted columns that are not empty."""
    begins = np.ones(len(columns[0]), bool)
    begins[1:] = False
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(begins)
