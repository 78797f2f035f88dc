"""Distinct keys: registers, phantoms drawn by the secret, an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, BlobError
from ..plan.distinct_plan import phantom_number
from ..privacy.distinct import distinct_deviation, distinct_limits
from ..published import Release, Terms
from ..secret import Secret
from ..sketch.columns import Fingerprinter, value_column
from ..sketch.distinct import DistinctRegisters
from ..sketch.wire import IntegerReader, counts_are_possible, encode_integer
from ..statistic import Array
from .measured import Measured
from .sketch_state import make_release

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["DistinctState"]


class DistinctState:
    """The registers of one collector, without phantoms until the release, and how many pairs there were.

    Phantoms come from the secret and the plan, so that every shard would have the same and a merge has them once.
    """

    def __init__(self, plan: Plan, secret: Secret | None, registers: DistinctRegisters | None = None) -> None:
        self._plan = plan
        self.secret = Secret.generate() if secret is None else secret
        self._fingerprinter = Fingerprinter.of(self.secret)
        self._registers = DistinctRegisters(plan.size, self.secret) if registers is None else registers
        self._pairs = 0

    @property
    def pairs(self) -> int:
        return self._pairs

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        assert not negative  # the plan allows no deletes
        column = self._fingerprinter.column(keys)
        weights = value_column(values, len(column), highest=self._plan.privacy.max_value)
        weights.weights(0, len(column))  # values do not matter, but a wrong one is wrong all the same
        self._registers.add(keys, threads=threads)
        self._pairs += len(column)

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        return self._fingerprinter.fingerprint(keys)

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        self._registers.add_fingerprints(fingerprints)
        self._pairs += pairs

    def replan(self, plan: Plan) -> None:
        self._plan = plan

    def merge(self, other: DistinctState) -> None:
        self._registers.merge(other._registers)
        self._pairs += other._pairs

    def to_bytes(self) -> bytes:
        return encode_integer(self._pairs) + self._registers.to_bytes()

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> DistinctState:
        pairs, registers = _decode(blob, secret)
        if registers.registers != plan.size:
            raise BlobError(
                f"a collector whose plan has {plan.size} registers and whose state has {registers.registers}."
            )
        self = cls(plan, secret, registers)
        self._pairs = pairs
        return self

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        """The union of states of one secret, as bytes, without the secret."""
        (pairs, first), *rest = [_decode(state, None) for state in states]
        for more, other in rest:
            first.merge(other)
            pairs += more
        return encode_integer(pairs) + first.to_bytes()

    def check(self, confidence: float) -> None:
        if not 0.0 < confidence < 1.0 - 1e-9:
            raise ArgumentError(
                "confidence", confidence, "so far out the law of the estimate is not known", "Pass 0.95"
            )

    def release(self, terms: Terms) -> Release:
        """The private value with its limits."""
        found = self.measure(terms.confidence)
        return make_release(self._plan, found.value, found.low, found.high, terms, self._pairs)

    def measure(self, confidence: float) -> Measured:
        """The registers' estimate of keys and phantoms, less the mean number of phantoms: unbiased inside its range."""
        plan, phantoms = self._plan, phantom_number(self._plan)
        # A copy, so that the state at rest is the same whether or not it was looked at.
        counted = DistinctRegisters.from_bytes(self._registers.to_bytes(), self.secret)
        counted.add_phantoms(phantoms.draw(self.secret))
        estimated = counted.estimate()
        value = estimated - phantoms.mean
        low, high = distinct_limits(estimated, plan.size, phantoms, confidence)
        spread = distinct_deviation(max(value, 1.0), plan.size, phantoms)

        def quantiles(probability: Array) -> Array:
            """Normal, to first order."""
            normal = NormalDist()
            scores = np.array([normal.inv_cdf(min(max(each, 1e-15), 1.0 - 1e-15)) for each in probability.tolist()])
            truth: Array = np.maximum(value + spread * scores, 0.0)
            return truth

        return Measured(value, low, high, quantiles).within(*plan.range(self._pairs))


def _decode(blob: bytes, secret: Secret | None) -> tuple[int, DistinctRegisters]:
    reader = IntegerReader(blob, 0)
    pairs = reader.integer()
    if pairs < 0 or not counts_are_possible(pairs):
        raise BlobError("a distinct count with an impossible number of pairs: corrupt data.")
    return pairs, DistinctRegisters.from_bytes(reader.rest(), secret)
