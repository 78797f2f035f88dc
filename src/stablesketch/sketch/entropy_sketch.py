"""The linear sketch of Shannon's entropy: the same sketch with the maximally skewed law instead of a symmetric one.

Entries hold -Σ f_k R_kj, where the R_kj are independent draws from the law of law/skewed.py. Let N be the total of all
values, which a sketch knows exactly. Then y_j = Σ (f_k/N) R_kj is distributed as R - H.

With buckets, the same holds for each bucket, with the total N_b of its keys, which is kept beside its entries, and the
entropy of its keys.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .._native import Entries
from ..errors import ArgumentError, DataError
from ..numbers.arrays import Array
from ..secret import Secret
from .entry_law import ENTROPY, EntryLaw
from .entry_values import integer_entries, quotients
from .estimates import BEST, check_order, owed
from .estimators import Estimate, checked_confidence
from .estimators.entropy import entropy_deviation, entropy_estimate, entropy_pivot
from .sketch import Sketch

_METHOD = "pitman"


class EntropySketch(Sketch):
    """A linear sketch of Shannon's entropy. It updates, merges and stores like a `Sketch`, and estimates H in nats.

    With `size` entries the error is about 1.7/sqrt(size) nats, whatever the stream. Estimates are **not private**:
    nothing here accounts for privacy.

    >>> sketch = EntropySketch(400)
    >>> sketch.update(["ape", "bee"])
    >>> sketch.hill().low < 2 < sketch.hill().high * 1.5
    True
    """

    def __init__(self, size: int, secret: Secret | None = None, buckets: int = 1) -> None:
        self._open(ENTROPY, size, secret, buckets)

    @staticmethod
    def _checked_law(law: EntryLaw) -> EntryLaw:
        if law != ENTROPY:
            raise ArgumentError("p", law.p, "must be 1 for a sketch of entropy", "Read it with Sketch.from_bytes")
        return law

    def estimate(self, method: str = BEST, confidence: float = 0.95) -> Estimate:
        """Shannon's entropy in nats with its confidence limits. **Not private.** nan for an empty stream.

        With buckets, H = Σ (N_b/N) (H_b - ln(N_b/N)), and the limits are those of a normal law.

        Raises:
            NegativeTotal: more was deleted than was added.
        """
        if method not in (BEST, _METHOD):
            raise ArgumentError("method", method, f'must be "{_METHOD}" for entropy', "Leave it out")
        sure, (entries, pairs, total) = checked_confidence(confidence), self._snapshot()
        if pairs < 0 or total < 0:
            raise owed(pairs, total)
        if total == 0:
            return Estimate(math.nan, math.nan, math.nan, sure, _METHOD, "H")
        if entries.buckets == 1:
            value = float(entropy_estimate(self.locations()))
            low, high = entropy_pivot(entries.size).limits(sure)
            return _within(value, value - high, value - low, total, sure)
        shares = self.bucket_totals() / total
        there = shares > 0.0
        own = shares[there]
        value = float(own @ (entropy_estimate(self.bucket_locations()[there]) - np.log(own)))
        deviation = entropy_deviation(entries.size // entries.buckets) * math.sqrt(float(own @ own))
        reach = NormalDist().inv_cdf(0.5 + 0.5 * sure) * deviation
        return _within(value, value - reach, value + reach, total, sure)

    def entropy(self, order: float | None = None, *, confidence: float = 0.95) -> Estimate:
        """The same as `estimate`. **Not private.** `order`, if given, must be 1."""
        check_order(order, self.p)
        return self.estimate(confidence=confidence)

    def locations(self) -> Array:
        """y_j, each the float nearest to the exact quotient; the stream must not be empty."""
        entries, _, total = self._snapshot()
        unit = total << entries.resolution
        return np.array([-value / unit for value in integer_entries(entries)])

    def bucket_totals(self) -> NDArray[np.int64]:
        """N_b, the exact sum of the values of the keys in each bucket."""
        entries, _, total = self._snapshot()
        return _totals(entries, total)

    def bucket_locations(self) -> Array:
        """y_j of each bucket (rows), from its own total; arbitrary finite numbers for a bucket whose total is 0.

        Entry, total and quotient are each rounded to floats once, so y_j is correct to two units in the last place.
        """
        entries, _, total = self._snapshot()
        totals = _totals(entries, total)
        divisors = np.repeat(np.where(totals == 0, 1, totals), entries.size // entries.buckets)
        return -quotients(entries, divisors.astype(np.float64)).reshape(entries.buckets, -1)


def _within(value: float, low: float, high: float, total: int, confidence: float) -> Estimate:
    """Keeps 0 <= H <= ln N, which holds because values are whole numbers of 1 or more."""
    value, low, high = (min(max(each, 0.0), math.log(total)) for each in (value, low, high))
    return Estimate(value, low, high, confidence, _METHOD, "H")


def _totals(entries: Entries, total: int) -> NDArray[np.int64]:
    if entries.buckets == 1:
        fits, totals = -(2**63) <= total < 2**63, np.array([total % 2**64], np.uint64).view(np.int64)
    else:
        high, low = entries.totals()
        totals = low.view(np.int64)
        fits = np.array_equal(high, totals >> 63)
    if not fits:
        raise DataError("the sketch", "the total of a bucket is above 2^63", "Release parts of the stream")
    return totals
