"""The secret projection: keys in, weighted columns of the random matrix added to exact entries.

X(key, j) is a pseudorandom function of (purpose, p, key, entry): the AES-128 key is derived from the secret for one p,
the purpose is the domain word of the AES block, the key its 64-bit fingerprint. See native/entries.hpp.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._native import Entries
from ..secret import Secret
from .columns import Fingerprinter, value_column
from .columns.canonical import Domain

__all__ = ["STREAM", "Projection"]

STREAM = 0  # the domain word of the stream itself

_CHUNK = 1 << 20  # rows at a time: bounds the memory of an update whatever the length of the columns


class Projection:
    """The r × ∞ matrix of i.i.d. symmetric p-stable X that a secret stands for; it is computed, never stored."""

    def __init__(self, p: float, size: int, secret: Secret) -> None:
        self.secret = secret
        self._p = p
        self._size = size
        self._entry_key = secret.derive(f"entries/p={p.hex()}", 16)
        self._fingerprinter = Fingerprinter(b"".join(secret.derive(f"fingerprint/{d.name}", 16) for d in Domain))

    def add(self, entries: Entries, keys: object, values: object, negative: bool) -> tuple[int, int]:
        """entries ± sum of value × X(key); returns (pairs, total). If it raises, `entries` is as it was."""
        column = self._fingerprinter.column(keys)
        rows = len(column)
        weights = None if values is None else value_column(values, rows)
        # One chunk is wholly read, and so wholly checked, before anything is added; more go to a scratch copy first.
        target = entries if rows <= _CHUNK else Entries(self._p, self._size)
        total = 0
        for start in range(0, rows, _CHUNK):
            stop = min(start + _CHUNK, rows)
            fingerprints = column.fingerprints(start, stop)
            chunk = None if weights is None else weights.weights(start, stop)
            target.add(self._entry_key, STREAM, fingerprints, chunk, negative)
            total += stop - start if chunk is None else _exact_total(chunk)
        if target is not entries:
            entries.merge(target)
        return rows, total


def _exact_total(weights: NDArray[np.int64]) -> int:
    """The sum as an unbounded integer: half-words cannot overflow 64 bits within a chunk."""
    return (int((weights >> 32).sum()) << 32) + int((weights & 0xFFFFFFFF).sum())
