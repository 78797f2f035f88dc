"""Distinct keys: registers for the error, a secret number of phantom keys for the privacy, and an estimate.

The price does not depend on the number of registers, and the error of the registers does not depend on the price: it is
0.344/sqrt(registers) of the count. The phantoms add an error of about sqrt(2) c/ε keys.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, BlobError, LedgerError, PlanInfeasible
from ..format.framing import Reader, counts_are_possible, encode_integer
from ..numbers.arrays import Array
from ..plan.arguments import LARGEST_SIZE
from ..plan.asked import HEADER_BYTES, Asked
from ..plan.in_words import a_larger_error, amount, both_errors, instead_of
from ..plan.phantoms import Phantoms
from ..plan.plan import Plan
from ..privacy.charge import Charge
from ..privacy.distinct import PhantomNumber, distinct_deviation, distinct_limits, phantoms_for
from ..sketch.columns import value_column
from ..sketch.distinct import FEWEST, DistinctRegisters, blob_bytes
from ..statistic import Distinct, Statistic
from ..text.wording import arg
from .shared.belief import Belief
from .shared.moments import CountsKeys, exact_deviation
from .shared.state import CountingState

if TYPE_CHECKING:
    from ..secret import Secret

_MANY = 1e9  # keys: so many that the error is that of the registers alone


class RegistersState(CountingState):
    """The registers of one collector, without phantoms until the release, and the number of pairs.

    Phantoms depend on the secret and the plan, so every shard would have the same ones, and a merge has them once.
    """

    def __init__(self, plan: Plan, secret: Secret | None, registers: DistinctRegisters | None = None) -> None:
        super().__init__(plan, secret)
        self._registers = DistinctRegisters(plan.size, self.secret) if registers is None else registers

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        assert not negative  # the plan does not allow deletes
        column = self._fingerprinter.column(keys)
        weights = value_column(values, len(column), highest=self._plan.privacy.max_value)
        weights.weights(0, len(column))  # values do not matter, but an invalid one is still an error
        self._registers.add(keys, threads=threads)
        self._pairs += len(column)

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        self._registers.add_fingerprints(fingerprints)
        self._pairs += pairs

    def merge(self, other: RegistersState) -> None:
        self._registers.merge(other._registers)
        self._pairs += other._pairs

    def to_bytes(self) -> bytes:
        return encode_integer(self._pairs) + self._registers.to_bytes()

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self:
        pairs, registers = _decode(blob, secret)
        if registers.registers != plan.size:
            raise BlobError(
                f"the plan of a collector has {plan.size} registers and its state {registers.registers}: corrupt data."
            )
        self = cls(plan, secret, registers)
        self._pairs = pairs
        return self

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        (pairs, first), *rest = [_decode(state, None) for state in states]
        for more, other in rest:
            first.merge(other)
            pairs += more
        return encode_integer(pairs) + first.to_bytes()

    def check(self, confidence: float) -> None:
        if not 0.0 < confidence < 1.0 - 1e-9:
            raise ArgumentError(
                "confidence", confidence, "must be smaller",
                "Pass 0.95",
                because="the tails of the estimate are not known that far out",
            )  # fmt: skip

    def measure(self, confidence: float) -> Belief:
        """The estimated number of keys and phantoms, less the mean number of phantoms: unbiased within its range."""
        plan, phantoms = self._plan, phantom_number(self._plan)
        # A copy, so that measuring leaves the state unchanged.
        counted = DistinctRegisters.from_bytes(self._registers.to_bytes(), self.secret)
        counted.add_phantoms(phantoms.draw(self.secret))
        estimated = counted.estimate()
        value = estimated - phantoms.mean
        low, high = distinct_limits(estimated, plan.size, phantoms, confidence)
        spread = distinct_deviation(max(value, 1.0), plan.size, phantoms)

        def quantiles(probability: Array) -> Array:
            """Quantiles of a normal law, to first order."""
            normal = NormalDist()
            scores = np.array([normal.inv_cdf(min(max(each, 1e-15), 1.0 - 1e-15)) for each in probability.tolist()])
            truth: Array = np.maximum(value + spread * scores, 0.0)
            return truth

        return Belief(value, low, high, quantiles).within(*plan.range(self._pairs))


class Registers(CountsKeys):
    """The noise is the number of phantoms, so the registers reveal only a noisy number of keys."""

    name = "sketch"
    state = RegistersState
    fewest = FEWEST
    folds = False  # updating a register is faster than folding
    entries_named = ("register", "registers")

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Distinct) and name != "exact"  # distinct keys have no bare mechanism

    def plan(self, asked: Asked) -> Plan:
        """By the given number of registers, memory, or error at `expected` keys; by default, at very many keys."""
        statistic, privacy = asked.statistic, asked.privacy
        if asked.deletes:
            without = instead_of(asked.measurement.of or statistic, statistic) or arg("mechanism", "exact")
            raise ArgumentError(
                "deletes", True, "cannot be used with registers",
                f"Leave out {arg('deletes')}, or pass {without}", because="they cannot remove a key",
            )  # fmt: skip
        phantoms = phantoms_for(privacy)
        keys = asked.expected or _MANY
        if asked.one_size is not None or asked.memory is not None:
            size = asked.size_within(4.0, FEWEST)
            if size < FEWEST:
                raise ArgumentError(
                    "size", size, f"must be at least {FEWEST} for a distinct count",
                    f"Pass {arg('size', FEWEST)} or more",
                )  # fmt: skip
        else:
            size = _size_for(asked, keys, phantoms)
        return Plan(
            asked,
            "sketch",
            # There is no pure ε: a release may show fewer keys than are possible with the phantoms.
            epsilon=privacy.epsilon,
            delta=min(phantoms.delta(privacy.epsilon), privacy.delta),
            error=distinct_deviation(keys, size, phantoms) / keys,
            relative=True,
            expected=asked.expected or 0.0,
            exact_error=exact_deviation(0.0, privacy) / keys,
            size=size,
            step=1.0,
            phantoms=Phantoms(phantoms.centre, 1),
            bytes=HEADER_BYTES + blob_bytes(size),
        )

    def cost(self, plan: Plan) -> Charge:
        """Discrete Laplace noise on the number of keys, except for the chance of a negative number of phantoms.

        The δ of the plan is that of privacy/distinct.py, computed again.
        """
        phantoms = phantom_number(plan)
        if plan.epsilon < phantoms.epsilon or phantoms.delta(plan.epsilon) > plan.delta * (1.0 + 1e-9):
            raise LedgerError(
                f"the plan claims ε = {plan.epsilon:.6g} at δ = {plan.delta:.3g}, which its phantoms do not support. "
                "Make the plan again with ss.plan."
            )
        distance = plan.privacy.pairs_per_person
        return Charge("exact", epsilon=phantoms.epsilon, delta=plan.delta, distance=distance, gap=phantoms.gap)

    def noise_scale(self, plan: Plan) -> float:
        return plan.privacy.pairs_per_person / plan.privacy.epsilon

    def methods(self, plan: Plan) -> list[str]:
        return [
            f"The keys were counted by {plan.size:,} registers of 32 bits, which remember the largest random numbers "
            "that keys drew. No key was stored.",
            f"A secret random number of made-up keys, about {plan.phantoms.count:,}, was added, so that the registers "
            "reveal only a noisy number of keys. The mean of that number was subtracted. This is private for any "
            "stream.",
        ]

    def error_beside_noise(self, plan: Plan) -> str:
        return f"{both_errors(plan, ' of the number of keys')}, and ± {amount(self.noise_deviation(plan))}"

    def exact_beside_noise(self, plan: Plan) -> str:
        return f"± {amount(self.noise_deviation(plan))}"


def phantom_number(plan: Plan) -> PhantomNumber:
    """The law of the number of phantoms of this plan."""
    privacy = plan.privacy
    return PhantomNumber(plan.phantoms.count, privacy.epsilon, privacy.pairs_per_person, privacy.copies)


def _size_for(asked: Asked, keys: float, phantoms: PhantomNumber) -> int:
    """The fewest registers with at most this error."""
    error = asked.aim
    least = distinct_deviation(keys, LARGEST_SIZE, phantoms)
    if least > error * keys:
        best = least / keys
        raise PlanInfeasible(
            f"{LARGEST_SIZE:,} registers count {keys:,.6g} keys with an error of {best:.3g}, but {error:g} was asked "
            f"for. {a_larger_error(best)}, or pass {arg('mechanism', 'exact')}."
        )
    sizes = range(LARGEST_SIZE)
    return bisect_left(sizes, True, FEWEST, key=lambda size: distinct_deviation(keys, size, phantoms) <= error * keys)


def _decode(blob: bytes, secret: Secret | None) -> tuple[int, DistinctRegisters]:
    reader = Reader("a collector of distinct keys", blob)
    pairs = reader.integer()
    if pairs < 0 or not counts_are_possible(pairs):
        raise BlobError("a distinct count with an impossible number of pairs: corrupt data.")
    return pairs, DistinctRegisters.from_bytes(reader.rest(), secret)
