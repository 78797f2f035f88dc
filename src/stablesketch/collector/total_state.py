"""The total of all values: one exact counter, released with discrete Laplace noise."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import BlobError, MergeError, PlanInfeasible, SecretMismatch
from ..plan.total_plan import total_scale
from ..privacy import discrete_laplace
from ..privacy.keyed_integers import KeyedIntegers
from ..published import Release, Terms
from ..secret import Secret
from ..sketch.columns import Fingerprinter, value_column
from ..sketch.wire import IntegerReader, encode_integer
from ..sketch.workers import checked_threads
from ..statistic import Array, Statistic, exact_name
from .measured import Measured
from .sketch_state import check_promise, make_release

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["OTHER_SECRET", "TotalState", "check_noise", "noise_of", "noisy"]

OTHER_SECRET = "collectors under different secrets cannot be merged: give every shard the same secret."
_CHUNK = 1 << 20
_MOST_NOISE = 10**250  # a sample is hardly ever more than 700 times its scale: floats end at 10^308
_HEADER = struct.Struct("<8s")  # fingerprint of the secret


def check_noise(scale: Fraction, step: Fraction) -> None:
    """Refuses noise that no float can hold, before the release is paid."""
    if scale * step > _MOST_NOISE:
        raise PlanInfeasible(
            "the noise of this plan is larger than any number that can be published. Plan with a larger ε, or bound "
            "max_value or pairs_per_person lower."
        )


def noise_of(secret: Secret, what: object) -> Callable[[int], int]:
    """Uniform integers for the noise of one measurement, from its secret: same secret and data, same value.

    What is measured must be named exactly: two of one name would have the same noise.
    """
    name = exact_name(what) if isinstance(what, Statistic) else what
    return KeyedIntegers(secret.derive(f"noise/{name}")).below


def noisy(units: int, scale: Fraction, step: Fraction, confidence: float, below: Callable[[int], int]) -> Measured:
    """(units + discrete Laplace noise of this scale) · step, and where the truth is believed to be."""
    value = float((units + discrete_laplace.sample(scale, below)) * step)
    # The noise is symmetric: half its two-sided quantile either way, and half a step for the grid.
    reach = float((discrete_laplace.quantile(scale, (1 + Fraction(confidence)) / 2) + 1) * step)
    low = max(value - reach, 0.0)
    width = float(scale * step)

    def quantiles(probability: Array) -> Array:
        """Of the continuous law, whose quantiles are within a step of the discrete one's."""
        side = np.minimum(probability, 1.0 - probability)
        shift: Array = np.sign(probability - 0.5) * -width * np.log(2.0 * np.maximum(side, 1e-300))
        return np.maximum(value + shift, 0.0)

    return Measured(value, low, max(value + reach, low), quantiles)


class TotalState:
    """How many pairs there are, and the sum of their values."""

    def __init__(self, plan: Plan, secret: Secret | None, pairs: int = 0, total: int = 0) -> None:
        self._plan = plan
        self.secret = Secret.generate() if secret is None else secret
        self._fingerprinter = Fingerprinter.of(self.secret)
        self._pairs = pairs
        self._total = total

    @property
    def pairs(self) -> int:
        return self._pairs

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        checked_threads(threads)
        count = len(self._fingerprinter.column(keys))
        weights = value_column(values, count, highest=self._plan.privacy.max_value)
        # In halves, so that 64 bits suffice.
        total = 0
        for start in range(0, count, _CHUNK):
            own = weights.weights(start, min(start + _CHUNK, count))
            total += (int(np.sum(own >> 32)) << 32) + int(np.sum(own & 0xFFFFFFFF))
        sign = -1 if negative else 1
        self._pairs += sign * count
        self._total += sign * total

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        return self._fingerprinter.fingerprint(keys)

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        self._pairs += pairs
        self._total += (int(np.sum(totals >> 32)) << 32) + int(np.sum(totals & 0xFFFFFFFF))

    def replan(self, plan: Plan) -> None:
        self._plan = plan

    def merge(self, other: TotalState) -> None:
        if other.secret != self.secret:
            raise MergeError(OTHER_SECRET)
        self._pairs += other._pairs
        self._total += other._total

    def to_bytes(self) -> bytes:
        return _encode(self.secret.fingerprint, self._pairs, self._total)

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> TotalState:
        fingerprint, pairs, total = _decode(blob)
        self = cls(plan, secret, pairs, total)
        if fingerprint != self.secret.fingerprint:
            raise SecretMismatch(
                "this secret is not the one the collector was made with. Load the one it was made with."
            )
        return self

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        """The sum of states of one secret, as bytes, without the secret."""
        found = [_decode(state) for state in states]
        if len({fingerprint for fingerprint, _, _ in found}) > 1:
            raise MergeError(OTHER_SECRET)
        return _encode(found[0][0], sum(pairs for _, pairs, _ in found), sum(total for *_, total in found))

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self._pairs, self._total)
        check_noise(total_scale(self._plan.privacy), Fraction(1))

    def release(self, terms: Terms) -> Release:
        """The private value with its limits."""
        found = self.measure(terms.confidence)
        return make_release(self._plan, found.value, found.low, found.high, terms, self._pairs)

    def measure(self, confidence: float) -> Measured:
        """N plus noise of scale D/ε, D being by how much neighbours can differ in N: ε-DP."""
        plan = self._plan
        found = noisy(
            self._total, total_scale(plan.privacy), Fraction(1), confidence, noise_of(self.secret, plan.statistic)
        )
        return found.within(*plan.range(self._pairs))


def _encode(fingerprint: bytes, pairs: int, total: int) -> bytes:
    return _HEADER.pack(fingerprint) + encode_integer(pairs) + encode_integer(total)


def _decode(blob: bytes) -> tuple[bytes, int, int]:
    if len(blob) < _HEADER.size:
        raise BlobError("a collector whose state ends too early.")
    reader = IntegerReader(blob, _HEADER.size)
    pairs, total = reader.counts()
    reader.end()
    return _HEADER.unpack_from(blob)[0], pairs, total
