"""The exact mechanism: every key's total in memory, F_p on a public grid, discrete Laplace noise. The honest baseline.

Keys are held as fingerprints under the secret, so the state is no list of keys; but with the secret it is a
histogram of people's keys at rest, which is what the sketch avoids.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import BlobError, MergeError, NegativeTotal, SecretMismatch
from ..plan.charge import exact_distance
from ..privacy import discrete_laplace
from ..privacy.exact_moment import moment_units
from ..privacy.exact_norm import norm_units
from ..published import Release, Terms
from ..secret import Secret
from ..sketch.columns import Fingerprinter, value_column
from ..sketch.wire import IntegerReader, counts_are_possible, encode_integer
from ..sketch.workers import checked_threads
from ..statistic import Distinct
from .measured import Measured, moment_of
from .sketch_state import check_promise, make_release
from .total_state import OTHER_SECRET, check_noise, noise_of, noisy

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["HistogramState"]

_CHUNK = 1 << 20
_HEADER = struct.Struct("<8sQ")  # fingerprint of the secret, number of keys


class HistogramState:
    """Totals by fingerprint."""

    def __init__(self, plan: Plan, secret: Secret | None) -> None:
        self._plan = plan
        self.secret = Secret.generate() if secret is None else secret
        self._fingerprinter = Fingerprinter.of(self.secret)
        self._totals: dict[int, int] = {}
        self._pairs = 0

    @property
    def pairs(self) -> int:
        return self._pairs

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        checked_threads(threads)  # one is enough here, but a wrong argument is wrong whatever the mechanism
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

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        return self._fingerprinter.fingerprint(keys)

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        self._apply(dict(_group(fingerprints, totals)), pairs)

    def replan(self, plan: Plan) -> None:
        self._plan = plan

    def merge(self, other: HistogramState) -> None:
        if other.secret != self.secret:
            raise MergeError(OTHER_SECRET)
        self._apply(other._totals, other._pairs)

    def to_bytes(self) -> bytes:
        return _encode(self.secret.fingerprint, self._pairs, self._totals)

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> HistogramState:
        self = cls(plan, secret)
        fingerprint, self._pairs, self._totals = _decode(blob)
        if fingerprint != self.secret.fingerprint:
            raise SecretMismatch(
                "this secret is not the one the collector was made with. Load the one it was made with."
            )
        return self

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self._pairs, sum(self._totals.values()))
        check_noise(self._scale(), Fraction(self._plan.step))
        if self._plan.privacy.unit == "key" and len(self._totals) != self._pairs:
            raise NegativeTotal(
                "some key came more than once, and with unit='key' every key has one pair: its whole total. Add the "
                "pairs of each key up before they are counted."
            )
        if any(total < 0 for total in self._totals.values()):
            raise NegativeTotal("some key was deleted more often than it was there. Send the updates it is missing.")

    def release(self, terms: Terms) -> Release:
        """The private value with its limits."""
        found = self.measure(terms.confidence)
        return make_release(self._plan, found.value, found.low, found.high, terms, self._pairs)

    def measure(self, confidence: float) -> Measured:
        """(units of F_p or its norm, + noise) · step: an integer of sensitivity D with noise of scale D/ε is ε-DP."""
        plan = self._plan
        found = noisy(
            self._units(), self._scale(), Fraction(plan.step), confidence, noise_of(self.secret, plan.statistic)
        )
        if self._plan.statistic.p > 1.0:
            deviation = discrete_laplace.variance(self._scale()) * plan.step**2
            found = moment_of(found, plan.statistic.p, 0.0, deviation if plan.statistic.p == 2.0 else 0.0)
        return found.within(*plan.range(self._pairs))

    def _scale(self) -> Fraction:
        """Of the noise, in units of the grid."""
        return Fraction(exact_distance(self._plan)) / Fraction(self._plan.privacy.epsilon)

    def _units(self) -> int:
        plan = self._plan
        if isinstance(plan.statistic, Distinct):
            return len(self._totals)
        units = norm_units if plan.statistic.p > 1.0 else moment_units
        return units(self._totals.values(), plan.statistic.p, Fraction(plan.step))

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        """The sum of states of one secret, as bytes, without the secret."""
        fingerprint, pairs, totals = _decode(states[0])
        for state in states[1:]:
            other, more, amounts = _decode(state)
            if other != fingerprint:
                raise MergeError(
                    "collectors under different secrets cannot be merged: give every shard the same secret."
                )
            pairs += more
            for key, amount in amounts.items():
                totals[key] = totals.get(key, 0) + amount
        return _encode(fingerprint, pairs, {key: total for key, total in totals.items() if total})


def _encode(fingerprint: bytes, pairs: int, totals: dict[int, int]) -> bytes:
    parts = [_HEADER.pack(fingerprint, len(totals)), encode_integer(pairs)]
    for key in sorted(totals):
        parts += [struct.pack("<Q", key), encode_integer(totals[key])]
    return b"".join(parts)


def _decode(blob: bytes) -> tuple[bytes, int, dict[int, int]]:
    """(fingerprint of the secret, pairs, totals), or a typed error."""
    if len(blob) < _HEADER.size:
        raise BlobError("a collector whose state ends too early.")
    fingerprint, count = _HEADER.unpack_from(blob)
    reader = IntegerReader(blob, _HEADER.size)
    pairs = reader.integer()
    if not counts_are_possible(pairs):
        raise BlobError("a collector of more pairs than any stream can have.")
    totals: dict[int, int] = {}
    last = -1
    for _ in range(count):
        (key,) = struct.unpack("<Q", reader.take(8))
        total = reader.integer()
        if key <= last or not total or not counts_are_possible(0, total):
            raise BlobError("a collector whose state is not in canonical form.")
        totals[key] = total
        last = key
    reader.end()
    return fingerprint, pairs, totals


def _group(keys: np.ndarray, weights: np.ndarray) -> list[tuple[int, int]]:
    """The exact sum of the weights of each distinct key; in halves, so that 64 bits suffice."""
    if not len(keys):
        return []
    order = np.argsort(keys, kind="stable")
    ordered, own = keys[order], weights[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    high = np.add.reduceat(own >> 32, first).tolist()
    low = np.add.reduceat(own & 0xFFFFFFFF, first).tolist()
    return [(key, (h << 32) + m) for key, h, m in zip(ordered[first].tolist(), high, low, strict=True)]
