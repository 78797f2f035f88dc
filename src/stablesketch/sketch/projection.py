"""The secret projection: keys in, weighted columns of the random matrix added to exact entries.

X(key, j) is a pseudorandom function of (purpose, law, key, entry): the AES-128 key is derived from the secret for one
law, the purpose is the domain word of the AES block, the key its 64-bit fingerprint. See native/entries.hpp.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._native import Accumulator, Entries
from ..secret import Secret
from .columns import MAX_WEIGHT, Fingerprinter, KeyColumn, ValueColumn, value_column
from .entry_law import EntryLaw
from .tier import TIER
from .workers import share

__all__ = ["PHANTOMS", "STREAM", "Projection"]

# The purpose of a block: its domain word.
STREAM = 0
PHANTOMS = 1


class Projection:
    """The r × ∞ matrix of i.i.d. p-stable X that a secret stands for; it is computed, never stored.

    The X of different laws come from independent keys. With `buckets` a key has X other than 0 in size/buckets of the
    rows, those of its bucket (native/buckets.hpp).
    """

    __slots__ = ("_buckets", "_entry_key", "_fingerprinter", "_law", "_size", "secret")  # no vars() to print keys from

    def __init__(self, law: EntryLaw, size: int, secret: Secret, buckets: int = 1) -> None:
        self.secret = secret
        self._law = law
        self._size = size
        self._buckets = buckets
        self._entry_key = secret.derive(f"entries/p={law.number.hex()}", 16)
        self._fingerprinter = Fingerprinter.of(secret)

    def add(
        self,
        entries: Entries,
        keys: object,
        values: object,
        negative: bool,
        threads: int,
        highest: int = MAX_WEIGHT,
        *,
        folded: bool = False,
    ) -> tuple[int, int]:
        """entries ± sum of value × X(key); returns (pairs, total). If it raises, `entries` is as it was.

        A value above `highest` is refused. `folded` says that hardly any key is there twice, so that looking for equal
        ones is not worth a large table; the result does not depend on it.

        The rows are shared out in chunks among `threads` workers, each with an accumulator of its own. Only when all
        rows have been read, and so checked, are the accumulators added: integers, so in whatever order. Those of a
        large sketch in buckets share what they sum on the way.
        """
        first: Accumulator | None = None
        column = self._fingerprinter.column(keys)
        rows = len(column)
        weights = None if values is None else value_column(values, rows, highest=highest)

        def start(rows_each: int) -> _Worker:
            nonlocal first
            expected = 0 if folded else rows_each
            accumulator = Accumulator(
                self._law, self._size, self._entry_key, STREAM, expected, TIER, self._buckets, first
            )
            first = first or accumulator
            return _Worker(accumulator, column, weights, negative)

        workers = share(rows, threads, start)
        entries.absorb([worker.accumulator for worker in workers])
        return rows, sum(worker.total for worker in workers)

    def add_phantoms(self, entries: Entries, weights: NDArray[np.int64]) -> None:
        """entries + sum of weight × X over phantom keys 0, 1, ..., in a domain that no key of a stream can reach."""
        accumulator = Accumulator(self._law, self._size, self._entry_key, PHANTOMS, len(weights), TIER, self._buckets)
        accumulator.add(np.arange(len(weights), dtype=np.uint64), weights, False)
        entries.absorb([accumulator])

    def fingerprints(self, keys: object) -> KeyColumn:
        """The column of keys as fingerprints."""
        return self._fingerprinter.column(keys)


class _Worker:
    """Reads chunks of rows into an accumulator of its own."""

    def __init__(self, accumulator: Accumulator, keys: KeyColumn, weights: ValueColumn | None, negative: bool) -> None:
        self.accumulator = accumulator
        self.total = 0
        self._keys = keys
        self._weights = weights
        self._negative = negative

    def __call__(self, start: int, stop: int) -> None:
        fingerprints = self._keys.fingerprints(start, stop)
        if self._weights is None:
            self.accumulator.add(fingerprints, None, self._negative)
            self.total += stop - start
            return
        weights = self._weights.unchecked(start, stop)
        high, low, outside = self.accumulator.add(fingerprints, weights, self._negative, self._weights.highest)
        if outside >= 0:
            raise self._weights.refused(int(weights[outside]), start + outside)
        self.total += (high << 32) + low
