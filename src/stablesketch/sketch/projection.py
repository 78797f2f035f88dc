"""The secret projection: takes keys, and adds weighted columns of the random matrix to exact entries.

X(key, j) is a pseudorandom function of (purpose, law, key, entry): the AES-128 key is derived from the secret for one
law, the purpose is the domain word of the AES block, and the key is its 64-bit fingerprint. See native/entries.hpp.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._native import Accumulator, Entries
from ..secret import Secret
from .columns import MAX_WEIGHT, Fingerprinter, value_column
from .entry_law import EntryLaw
from .workers import TIER, Worker, share

Fingerprints = NDArray[np.uint64]
Totals = NDArray[np.int64]

# The purpose of a block: its domain word.
STREAM = 0
PHANTOMS = 1


class Projection:
    """The r × ∞ matrix of i.i.d. p-stable X that the secret determines; it is computed, never stored.

    The X of different laws come from independent keys. With `buckets`, a key has nonzero X only in the size/buckets
    rows of its bucket (native/buckets.hpp).
    """

    __slots__ = ("_buckets", "_entry_key", "_known_keys", "_law", "_size", "secret")  # no vars() that shows keys

    def __init__(self, law: EntryLaw, size: int, secret: Secret, buckets: int = 1) -> None:
        self.secret = secret
        self._law = law
        self._size = size
        self._buckets = buckets
        self._entry_key = secret.derive(f"entries/p={law.number.hex()}", 16)
        self._known_keys: Fingerprinter | None = None

    @property
    def _fingerprinter(self) -> Fingerprinter:
        """Made on first use: among many groups, one computes the fingerprints for all."""
        if self._known_keys is None:
            self._known_keys = Fingerprinter.of(self.secret)
        return self._known_keys

    def add(
        self, entries: Entries, keys: object, values: object, negative: bool, threads: int, highest: int = MAX_WEIGHT
    ) -> tuple[int, int]:
        """entries ± sum of value × X(key); returns (pairs, total). If it raises an error, `entries` is unchanged.

        A value above `highest` is refused.
        """
        column = self._fingerprinter.column(keys)
        rows = len(column)
        weights = None if values is None else value_column(values, rows, highest=highest)

        def read(to: Accumulator, start: int, stop: int) -> int:
            fingerprints = column.fingerprints(start, stop)
            if weights is None:
                to.add(fingerprints, None, negative)
                return stop - start
            own = weights.unchecked(start, stop)
            high, low, outside = to.add(fingerprints, own, negative, weights.highest)
            if outside >= 0:
                raise weights.refused(int(own[outside]), start + outside)
            return (high << 32) + low

        return rows, self._add(entries, rows, threads, read)

    def add_folded(self, entries: Entries, fingerprints: Fingerprints, totals: Totals, threads: int) -> int:
        """entries + sum of total × X(key); returns the sum of the totals. They must be within ±2^53; this is not
        checked."""

        def read(to: Accumulator, start: int, stop: int) -> int:
            high, low, _ = to.add(fingerprints[start:stop], totals[start:stop], False)
            return (high << 32) + low

        return self._add(entries, len(totals), threads, read, folded=True)

    def _add(
        self,
        entries: Entries,
        rows: int,
        threads: int,
        read: Callable[[Accumulator, int, int], int],
        *,
        folded: bool = False,
    ) -> int:
        """Adds to the entries what `read` makes of each chunk of rows; returns the sum of its return values.

        `folded` says that hardly any key occurs twice, so that a large table to find equal keys is not worthwhile. The
        result does not depend on it.

        The rows are divided in chunks among `threads` workers, each with its own accumulator. The accumulators are
        added only when all rows have been read, and thereby checked. They are integers, so the order does not matter.
        The workers of a large sketch in buckets share intermediate sums.
        """
        accumulators: list[Accumulator] = []
        totals: list[int] = []

        def start(rows_each: int) -> Worker:
            first = accumulators[0] if accumulators else None
            accumulator = Accumulator(
                self._law, self._size, self._entry_key, STREAM, rows_each, TIER, self._buckets, first, folded
            )
            accumulators.append(accumulator)
            return lambda begin, end: totals.append(read(accumulator, begin, end))

        share(rows, threads, start)
        entries.absorb(accumulators)
        return sum(totals)

    def add_phantoms(self, entries: Entries, weights: NDArray[np.int64]) -> None:
        """entries + sum of weight × X over phantom keys 0, 1, ..., in a domain that no key of a stream can reach."""
        accumulator = Accumulator(self._law, self._size, self._entry_key, PHANTOMS, len(weights), TIER, self._buckets)
        accumulator.add(np.arange(len(weights), dtype=np.uint64), weights, False)
        entries.absorb([accumulator])

    def fingerprint(self, keys: object) -> Fingerprints:
        """The fingerprints of a column of keys."""
        return self._fingerprinter.fingerprint(keys)
