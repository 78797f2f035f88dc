"""Folding a long stream: equal keys are added up over many batches before each costs a column of the projection.

The sketch is linear, so a key that occurs a million times can be counted once, with a million. `update` does that
within one call. This module does it across calls, in a table of bounded size (native/stream_fold.hpp): of the keys that
share a line of the table, the lightest is evicted first, and the heavy ones stay. If hardly any key recurs, rows bypass
the table. The state of the collector is the same to the last bit, whatever the order, the batches or the table size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..._native import StreamFold
from ...errors import DataError
from ...sketch.projection import Fingerprints, Totals
from ...sketch.workers import TIER

Codes = NDArray[np.int32]
FoldedSink = Callable[[int, Fingerprints, Totals, int], None]

_LINES = 19  # log2: lines of 64 bytes, of four keys each, or of three with groups
_PART = 1 << 16  # rows
_SENT = 1 << 18  # keys to hold before sending them: many, so that each bucket of a sketch gets some of them
_SENT_OF_GROUPS = 1 << 19  # more, because the keys of each group are sent separately


class Fold:
    """Takes pairs by `add` and sends totals of keys to `sink(code, fingerprints, totals, pairs)`; `finish` sends the
    rest.

    `code` is the number of a group, or 0 if there are no groups. Values are from 1 to 2^53, and so are totals. A key
    may be sent more than once. `pairs` is the number of the group's pairs since the last call. In the end it covers all
    of them, because the key of every later pair is in the table or waiting, and is sent in a later call. With
    `individuals`, a row counts as many pairs as its value says (pour.py).
    """

    def __init__(self, sink: FoldedSink, *, grouped: bool, individuals: bool = False, lines: int = _LINES) -> None:
        self._sink = sink
        self._grouped, self._individuals = grouped, individuals
        self._most = _SENT_OF_GROUPS if grouped else _SENT
        self._fold = StreamFold(lines, grouped, TIER)
        # Unsent pairs of each group. Individuals, up to 2^53 in a row, are Python integers, which do not overflow.
        self._pairs = np.zeros(1, object if individuals else np.int64)

    def add(self, keys: Fingerprints, values: Totals | None = None, codes: Codes | None = None) -> None:
        """Counts pairs: fingerprints, their values (1 each if None) and the groups they are in."""
        for begin in range(0, len(keys), _PART):
            part = slice(begin, begin + _PART)
            own = None if codes is None else codes[part]
            each = None if values is None else values[part]
            self._fold.add(keys[part], each, own)
            self._count(len(keys[part]), own, each if self._individuals else None)
            if self._fold.waiting >= self._most:
                self._send()

    def _count(self, rows: int, codes: Codes | None, pairs: Totals | None) -> None:
        if codes is None:
            self._pairs[0] += rows if pairs is None else _total(pairs)
            return
        counted = np.bincount(codes, minlength=len(self._pairs)).astype(self._pairs.dtype)
        if pairs is not None:
            counted[:] = 0
            np.add.at(counted, codes, pairs.astype(object))
        counted[: len(self._pairs)] += self._pairs
        self._pairs = counted

    def finish(self) -> None:
        """Sends everything that is held to the sink."""
        while self._fold.drain(self._most):
            self._send()
        self._send()

    def _send(self) -> None:
        keys, totals, codes = self._fold.take()
        for code, own, their in _by_group(keys, totals, codes if self._grouped else None):
            pairs = _countable(int(self._pairs[code]))
            self._pairs[code] = 0
            self._sink(code, own, their, pairs)


class Unfolded:
    """Like `Fold`, but nothing is added up: rows are passed on as they come, those of groups many at a time."""

    def __init__(self, sink: FoldedSink, *, individuals: bool = False) -> None:
        self._sink, self._individuals = sink, individuals
        self._waiting: list[tuple[Fingerprints, Totals, Codes]] = []
        self._rows = 0

    def add(self, keys: Fingerprints, values: Totals | None = None, codes: Codes | None = None) -> None:
        ones = np.ones(len(keys), np.int64) if values is None else values
        if codes is None:
            self._sink(0, keys, ones, self._pairs(ones))
            return
        self._waiting.append((keys, ones, codes))
        self._rows += len(keys)
        if self._rows >= _SENT_OF_GROUPS:
            self.finish()

    def finish(self) -> None:
        if not self._waiting:
            return
        keys, totals, codes = (np.concatenate(columns) for columns in zip(*self._waiting, strict=True))
        self._waiting, self._rows = [], 0
        for code, own, their in _by_group(keys, totals, codes):
            self._sink(code, own, their, self._pairs(their))

    def _pairs(self, values: Totals) -> int:
        return _countable(_total(values)) if self._individuals else len(values)


def _countable(pairs: int) -> int:
    if pairs >= 2**63:
        raise DataError(
            "the data", "the values add up to 2^63 individuals or more, which is more than a collector can hold",
            "Use a coarser unit of value",
        )  # fmt: skip
    return pairs


def _total(values: Totals) -> int:
    """The sum as a Python integer. For up to 2^31 rows, each half of the bits adds up within 64 bits."""
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def _by_group(keys: Fingerprints, totals: Totals, codes: Codes | None) -> Iterator[tuple[int, Fingerprints, Totals]]:
    """The rows of each group that has some, in their order."""
    if not len(keys):
        return
    if codes is None:
        yield 0, keys, totals
        return
    order = np.argsort(codes, kind="stable")
    keys, totals, codes = keys[order], totals[order], codes[order]
    begins = np.flatnonzero(np.diff(codes, prepend=-1))
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(codes)], strict=True):
        yield int(codes[begin]), keys[begin:end], totals[begin:end]
