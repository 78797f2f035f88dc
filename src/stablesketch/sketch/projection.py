"""The secret projection: keys in, weighted columns of the random matrix added to exact entries.

X(key, j) is a pseudorandom function of (purpose, p, key, entry): the AES-128 key is derived from the secret for one p,
the purpose is the domain word of the AES block, the key its 64-bit fingerprint. See native/entries.hpp.
"""

from __future__ import annotations

from .._native import Accumulator, Entries
from ..secret import Secret
from .columns import Fingerprinter, KeyColumn, ValueColumn, value_column
from .columns.canonical import Domain
from .tier import TIER
from .workers import share

__all__ = ["STREAM", "Projection"]

STREAM = 0  # the domain word of the stream itself


class Projection:
    """The r × ∞ matrix of i.i.d. symmetric p-stable X that a secret stands for; it is computed, never stored."""

    def __init__(self, p: float, size: int, secret: Secret) -> None:
        self.secret = secret
        self._p = p
        self._size = size
        self._entry_key = secret.derive(f"entries/p={p.hex()}", 16)
        self._fingerprinter = Fingerprinter(b"".join(secret.derive(f"fingerprint/{d.name}", 16) for d in Domain))

    def add(self, entries: Entries, keys: object, values: object, negative: bool, threads: int) -> tuple[int, int]:
        """entries ± sum of value × X(key); returns (pairs, total). If it raises, `entries` is as it was.

        The rows are shared out in chunks among `threads` workers, each with an accumulator of its own. Only when all
        rows have been read, and so checked, are the accumulators added: integers, so in whatever order.
        """
        column = self._fingerprinter.column(keys)
        rows = len(column)
        weights = None if values is None else value_column(values, rows)

        def start(rows_each: int) -> _Worker:
            accumulator = Accumulator(self._p, self._size, self._entry_key, STREAM, rows_each, TIER)
            return _Worker(accumulator, column, weights, negative)

        workers = share(rows, threads, start)
        for worker in workers:
            entries.absorb(worker.accumulator)
        return rows, sum(worker.total for worker in workers)


class _Worker:
    """Reads chunks of rows into an accumulator of its own."""

    def __init__(
        self, accumulator: Accumulator, keys: KeyColumn, weights: ValueColumn | None, negative: bool
    ) -> None:
        self.accumulator = accumulator
        self.total = 0
        self._keys = keys
        self._weights = weights
        self._negative = negative

    def __call__(self, start: int, stop: int) -> None:
        fingerprints = self._keys.fingerprints(start, stop)
        weights = None if self._weights is None else self._weights.weights(start, stop)
        high, low = self.accumulator.add(fingerprints, weights, self._negative)
        self.total += (high << 32) + low
