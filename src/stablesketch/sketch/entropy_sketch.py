"""The linear core of Shannon's entropy: the same sketch with the maximally skewed law in the place of a symmetric one.

Entries hold -Σ f_k R_kj, R independent draws of the law of law/skewed.py. With N the total of all values, which a
sketch knows exactly, y_j = Σ (f_k/N) R_kj is distributed as R - H.

In buckets the same holds of each, with the total N_b of its keys, which is kept beside its entries, and their entropy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._native import Entries
from ..arrays import Array
from ..errors import ArgumentError, DataError
from ..secret import Secret
from .entry_law import ENTROPY, EntryLaw
from .entry_values import integer_entries, quotients
from .sketch import Sketch


class EntropySketch(Sketch):
    """As `Sketch`, whatever it says of moments left aside; `locations` are what entropy is estimated from."""

    def __init__(self, size: int, secret: Secret | None = None, buckets: int = 1) -> None:
        self._open(ENTROPY, size, secret, buckets)

    @staticmethod
    def _checked_law(law: EntryLaw) -> EntryLaw:
        if law != ENTROPY:
            raise ArgumentError("p", law.p, "this is not a sketch of entropy", "Read it with Sketch.from_bytes")
        return law

    def locations(self) -> Array:
        """y_j, each the nearest float to the exact quotient; the stream must not be empty."""
        entries, _, total = self._snapshot()
        unit = total << entries.resolution
        return np.array([-value / unit for value in integer_entries(entries)])

    def bucket_totals(self) -> NDArray[np.int64]:
        """N_b, the sum of the values of the keys of each bucket, exactly."""
        entries, _, total = self._snapshot()
        return _totals(entries, total)

    def bucket_locations(self) -> Array:
        """y_j of each bucket (rows), from its own total; of a bucket whose total is 0 some finite numbers.

        Entry, total and quotient are rounded to floats once each, so y_j is right to two units in the last place.
        """
        entries, _, total = self._snapshot()
        totals = _totals(entries, total)
        divisors = np.repeat(np.where(totals == 0, 1, totals), entries.size // entries.buckets)
        return -quotients(entries, divisors.astype(np.float64)).reshape(entries.buckets, -1)


def _totals(entries: Entries, total: int) -> NDArray[np.int64]:
    if entries.buckets == 1:
        fits, totals = -(2**63) <= total < 2**63, np.array([total % 2**64], np.uint64).view(np.int64)
    else:
        high, low = entries.totals()
        totals = low.view(np.int64)
        fits = np.array_equal(high, totals >> 63)
    if not fits:
        raise DataError("the sketch", "the total of a bucket is beyond 2^63", "Release parts of the stream")
    return totals
