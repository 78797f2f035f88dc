"""Every key's total in memory: what exact mechanisms hold.

Keys are held as fingerprints under the secret, so the state is not a list of keys. But with the secret it is a stored
histogram of people's keys, which is what a sketch avoids.
"""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import BlobError, MergeError, NegativeTotal
from ...format.framing import Reader, counts_are_possible, encode_integer
from ...plan.plan import Plan
from ...sketch.columns import value_column
from ...sketch.workers import checked_threads
from ...text.wording import arg
from ..shared.laplace_noise import check_noise
from ..shared.state import OTHER_SECRET, CountingState, check_promise

if TYPE_CHECKING:
    from ...secret import Secret

_CHUNK = 1 << 20
_HEADER = struct.Struct("<8sQ")  # fingerprint of the secret, number of keys
_KEY = struct.Struct("<Q")


class HistogramState(CountingState):
    """Totals by fingerprint."""

    def __init__(self, plan: Plan, secret: Secret | None) -> None:
        super().__init__(plan, secret)
        self._totals: dict[int, int] = {}

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        checked_threads(threads)  # one thread is enough here, but a wrong argument is an error all the same
        column = self._fingerprinter.column(keys)
        weights = value_column(values, len(column), highest=self._plan.privacy.max_value)
        sign = -1 if negative else 1
        change: dict[int, int] = {}
        for start in range(0, len(column), _CHUNK):
            stop = min(start + _CHUNK, len(column))
            for key, total in _group(column.fingerprints(start, stop), weights.weights(start, stop)):
                change[key] = change.get(key, 0) + sign * total
        self._apply(change, sign * len(column))

    def _apply(self, change: dict[int, int], pairs: int) -> None:
        for key, amount in change.items():
            total = self._totals.get(key, 0) + amount
            if total:
                self._totals[key] = total
            else:
                self._totals.pop(key, None)
        self._pairs += pairs

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        self._apply(dict(_group(fingerprints, totals)), pairs)

    def merge(self, other: HistogramState) -> None:
        self._check_secret_of(other)
        self._apply(other._totals, other._pairs)

    def to_bytes(self) -> bytes:
        return _encode(self.secret.fingerprint, self._pairs, self._totals)

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self:
        self = cls(plan, secret)
        fingerprint, self._pairs, self._totals = _decode(blob)
        self._check_made_with(fingerprint)
        return self

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self._pairs, sum(self._totals.values()))
        check_noise(self._scale(), Fraction(self._plan.step))
        if self._plan.privacy.unit == "key" and len(self._totals) != self._pairs:
            raise NegativeTotal(
                f"a key occurs more than once, but with {arg('unit', 'key')} every key has one "
                "pair, its whole total. Add up the pairs of each key first."
            )
        if any(total < 0 for total in self._totals.values()):
            raise NegativeTotal("a key was deleted more often than it was added. Send the missing updates.")

    @abstractmethod
    def _scale(self) -> Fraction:
        """The scale of the noise, in units of the grid."""

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        fingerprint, pairs, totals = _decode(states[0])
        for state in states[1:]:
            other, more, amounts = _decode(state)
            if other != fingerprint:
                raise MergeError(OTHER_SECRET)
            pairs += more
            for key, amount in amounts.items():
                totals[key] = totals.get(key, 0) + amount
        return _encode(fingerprint, pairs, {key: total for key, total in totals.items() if total})


def _encode(fingerprint: bytes, pairs: int, totals: dict[int, int]) -> bytes:
    parts = [_HEADER.pack(fingerprint, len(totals)), encode_integer(pairs)]
    for key in sorted(totals):
        parts += [_KEY.pack(key), encode_integer(totals[key])]
    return b"".join(parts)


def _decode(blob: bytes) -> tuple[bytes, int, dict[int, int]]:
    """(fingerprint of the secret, pairs, totals), or a typed error."""
    reader = Reader("a collector of totals by key", blob)
    fingerprint, count = reader.unpack(_HEADER)
    pairs = reader.integer()
    if not counts_are_possible(pairs):
        raise BlobError("impossible number of pairs in a collector: corrupt data.")
    totals: dict[int, int] = {}
    last = -1
    for _ in range(count):
        (key,) = reader.unpack(_KEY)
        total = reader.integer()
        if key <= last or not total or not counts_are_possible(0, total):
            raise BlobError("invalid state of a collector (not in canonical form): corrupt data.")
        totals[key] = total
        last = key
    reader.end()
    return fingerprint, pairs, totals


def _group(keys: np.ndarray, weights: np.ndarray) -> list[tuple[int, int]]:
    """The exact sum of the weights of each distinct key, computed in halves so that 64 bits suffice."""
    if not len(keys):
        return []
    order = np.argsort(keys, kind="stable")
    ordered, own = keys[order], weights[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    high = np.add.reduceat(own >> 32, first).tolist()
    low = np.add.reduceat(own & 0xFFFFFFFF, first).tolist()
    return [(key, (h << 32) + m) for key, h, m in zip(ordered[first].tolist(), high, low, strict=True)]
