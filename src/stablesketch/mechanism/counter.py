"""The total of all values: one exact counter, released with discrete Laplace noise. F_1 is also the total."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, MergeError
from ..format.framing import Reader, encode_integer
from ..plan.asked import Asked
from ..plan.in_words import a_larger_error, amount, laplace
from ..plan.plan import Plan
from ..privacy import Privacy, discrete_laplace
from ..sketch.columns import value_column
from ..sketch.workers import checked_threads
from ..statistic import Moment, Statistic, Total
from ..statistic.published import NoisyTotal
from ..text.wording import arg
from .exact.number import ExactNumber, noise_plan
from .shared.belief import Belief
from .shared.laplace_noise import check_noise, noise_of, noisy
from .shared.moments import least_moment
from .shared.state import OTHER_SECRET, CountingState, check_promise

if TYPE_CHECKING:
    from ..secret import Secret

_CHUNK = 1 << 20
_HEADER = struct.Struct("<8s")  # fingerprint of the secret
_BYTES = 64


class TotalState(CountingState):
    """The number of pairs, and the sum of their values."""

    def __init__(self, plan: Plan, secret: Secret | None, pairs: int = 0, total: int = 0) -> None:
        super().__init__(plan, secret)
        self._pairs = pairs
        self._total = total

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        checked_threads(threads)
        count = len(self._fingerprinter.column(keys))
        weights = value_column(values, count, highest=self._plan.privacy.max_value)
        chunks = (weights.weights(start, min(start + _CHUNK, count)) for start in range(0, count, _CHUNK))
        total = sum(_sum(chunk) for chunk in chunks)
        sign = -1 if negative else 1
        self._pairs += sign * count
        self._total += sign * total

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        self._pairs += pairs
        self._total += _sum(totals)

    def merge(self, other: TotalState) -> None:
        self._check_secret_of(other)
        self._pairs += other._pairs
        self._total += other._total

    def to_bytes(self) -> bytes:
        return _encode(self.secret.fingerprint, self._pairs, self._total)

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self:
        fingerprint, pairs, total = _decode(blob)
        self = cls(plan, secret, pairs, total)
        self._check_made_with(fingerprint)
        return self

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        found = [_decode(state) for state in states]
        if len({fingerprint for fingerprint, _, _ in found}) > 1:
            raise MergeError(OTHER_SECRET)
        return _encode(found[0][0], sum(pairs for _, pairs, _ in found), sum(total for *_, total in found))

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self._pairs, self._total)
        check_noise(total_scale(self._plan.privacy), Fraction(1))

    def measure(self, confidence: float) -> Belief:
        """N plus noise of scale D/ε, where D is how much neighbours can differ in N: ε-DP."""
        plan = self._plan
        found = noisy(
            self._total, total_scale(plan.privacy), Fraction(1), confidence, noise_of(self.secret, plan.statistic)
        )
        total = NoisyTotal(found.value, float(total_scale(plan.privacy)))
        return replace(found, total=total).within(*plan.range(self._pairs))


class Counter(ExactNumber):
    """Measures the total under any mechanism name, and F_1 under any but "bare"."""

    state = TotalState
    counter = True
    folds = False

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Total) or (statistic == Moment(1.0) and name != "bare")

    def plan(self, asked: Asked) -> Plan:
        """ε-private. The error is that of the noise, relative to `expected`; by default, to the promised pairs."""
        privacy = asked.privacy
        expected = asked.expected or float(max(privacy.pairs, privacy.total))
        deviation = discrete_laplace.variance(total_scale(privacy)) ** 0.5
        error = deviation / expected if expected else deviation
        if asked.error is not None and (not expected or error > asked.error):
            raise ArgumentError(
                "error", asked.error, f"must be above {error:.3g}, the error from noise at a total of {expected:,.6g}",
                f"{a_larger_error(error if expected else math.inf)}, or a larger ε, or {arg('expected')}, the total "
                "you expect",
            )  # fmt: skip
        return noise_plan(asked, deviation, expected, bytes=_BYTES)

    def distance(self, plan: Plan) -> int:
        return total_distance(plan.privacy)

    def noise_scale(self, plan: Plan) -> float:
        return float(total_scale(plan.privacy))

    def noise_deviation(self, plan: Plan) -> float:
        return plan.error * (plan.expected or 1.0)

    def expects_least(self, plan: Plan) -> bool:
        statistic = plan.statistic
        return isinstance(statistic, Moment) and plan.expected == least_moment(1.0, plan.privacy)

    def methods(self, plan: Plan) -> list[str]:
        return [
            "One counter held the total of all values. Noise was drawn exactly, on integers, from the discrete Laplace "
            f"law of scale {amount(self.noise_scale(plan))}, and added."
        ]

    def memory(self) -> str:
        return "one counter"

    def held(self, plan: Plan) -> str:
        return self.memory()

    def row_among_others(self, plan: Plan) -> str:
        return f"one counter, {laplace(self.noise_in_words(plan))}"


def total_distance(privacy: Privacy) -> int:
    """How much N can differ between neighbours: c pairs of value up to M are added, or c pairs change from 1 to M."""
    return max(privacy.pairs_per_person * (privacy.max_value - (privacy.relation == "replace")), 1)


def total_scale(privacy: Privacy) -> Fraction:
    """The scale of the noise: D/ε, so that it is ε-private."""
    return Fraction(total_distance(privacy)) / Fraction(privacy.epsilon)


def _sum(values: NDArray[np.int64]) -> int:
    """The exact sum: in halves, so that 64 bits suffice."""
    return (int(np.sum(values >> 32)) << 32) + int(np.sum(values & 0xFFFFFFFF))


def _encode(fingerprint: bytes, pairs: int, total: int) -> bytes:
    return _HEADER.pack(fingerprint) + encode_integer(pairs) + encode_integer(total)


def _decode(blob: bytes) -> tuple[bytes, int, int]:
    reader = Reader("a collector of a total", blob)
    (fingerprint,) = reader.unpack(_HEADER)
    pairs, total = reader.counts()
    reader.end()
    return fingerprint, pairs, total
