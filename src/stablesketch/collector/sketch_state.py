"""The sketch mechanism: entries, phantoms, an estimate, a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import BlobError, NegativeTotal, PlanInfeasible, StreamTooShort
from ..privacy.precision import is_covered
from ..release import Point, Release
from ..secret import Secret
from ..sketch import Sketch
from ..sketch.columns import KeyColumn
from ..sketch.estimators import log_estimates
from ..sketch.estimators.pitman import log_estimate
from ..sketch.estimators.pivot import PivotLaw, pivot_law
from ..sketch.sketch import log_magnitudes
from ..statistic import Array
from .measured import Measured, uniform_offset

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["SketchState", "check_promise", "make_release"]


class SketchState:
    """The sketch of one collector. Its entries never leave it but through `release` and `to_bytes`."""

    def __init__(self, plan: Plan, secret: Secret | None, sketch: Sketch | None = None) -> None:
        self._plan = plan
        self._sketch = self._opened(plan, secret) if sketch is None else sketch

    @staticmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        return Sketch(plan.statistic.p, plan.size, secret, law="symmetric")

    @staticmethod
    def _read(blob: bytes, secret: Secret | None) -> Sketch:
        return Sketch.from_bytes(blob, secret)

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self:
        sketch = cls._read(blob, secret)
        wanted = cls._opened(plan, secret)
        if (sketch.p, sketch.law, sketch.size) != (wanted.p, wanted.law, wanted.size):
            raise BlobError(
                f"a collector whose plan has p = {wanted.p}, size = {wanted.size} and {wanted.law} entries, and whose "
                f"sketch has p = {sketch.p}, size = {sketch.size} and {sketch.law} entries."
            )
        return cls(plan, secret, sketch)

    @property
    def pairs(self) -> int:
        return self._sketch.pairs

    @property
    def total(self) -> int:
        return self._sketch.total

    @property
    def secret(self) -> Secret:
        return self._sketch.secret

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        operation = "delete" if negative else "update"
        self._sketch._apply(operation, keys, values, threads, negative, self._plan.privacy.max_value)

    def fingerprints(self, keys: object) -> KeyColumn:
        return self._sketch._need_projection("update").fingerprints(keys)

    def add_totals(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        # An integer is its own fingerprint, so a fingerprint passed as an integer is the key it came from.
        if len(fingerprints):
            self._sketch._apply("update", fingerprints.view(np.int64), totals, None, negative=False, folded=True)
        self._sketch._pairs += pairs - len(fingerprints)

    def replan(self, plan: Plan) -> None:
        self._plan = plan

    def merge(self, other: SketchState) -> None:
        self._sketch.merge(other._sketch)

    def to_bytes(self) -> bytes:
        return self._sketch.to_bytes()

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        """The sum of states of one secret, as bytes, without the secret."""
        first, *rest = [cls._read(state, None) for state in states]
        for other in rest:
            first.merge(other)
        return first.to_bytes()

    def check(self, confidence: float) -> None:
        plan, pairs = self._plan, self.pairs
        if pairs < plan.privacy.pairs:
            raise StreamTooShort(
                f"the stream has fewer pairs than the {plan.privacy.pairs:,} the plan was made for, so its guarantee "
                f"would not hold. Collect more, or {self._shorter()}."
            )
        check_promise(plan, pairs, self.total)
        if self.total < plan.privacy.total:
            raise StreamTooShort(
                f"the values add up to less than the {plan.privacy.total:,} the plan was made for, so its guarantee "
                "would not hold. Collect more, or pass total=0 to the plan, which promises nothing."
            )
        self._check_precision()
        # Public, and refused before the release is paid.
        self._pivot().limits(self._pivot_confidence(confidence), plan.step)

    def _shorter(self) -> str:
        """What to plan for, if the stream is as short as it is; its length is told only where it is public."""
        if self._plan.privacy.relation == "replace":
            return f"plan with pairs={self.pairs}, which is how many there are"
        return "plan with pairs=0, which is safe for streams of any length"

    def _pivot_confidence(self, confidence: float) -> float:
        return confidence

    def _check_precision(self) -> None:
        plan, pairs = self._plan, self.pairs
        if not is_covered(pairs, pairs * float(plan.privacy.max_value) ** plan.statistic.p + plan.floor):
            raise PlanInfeasible(
                f"the stream is too long for the δ of the plan with values up to {plan.privacy.max_value:,}: the "
                "largest X would be cut off too often. Release parts, which compose, or plan with a smaller max_value."
            )

    def _pivot(self) -> PivotLaw:
        return pivot_law(log_estimate, self._plan.statistic.p, self._plan.size)

    def _rounded(self, estimate: float) -> float:
        """g (k + 1/2 - u), k = floor(estimate/g + u): what may be published of an estimate. u comes from the secret.

        It is the estimate plus an independent uniform number within g/2 of 0 (privacy/precision.py).
        """
        plan = self._plan
        offset = uniform_offset(self.secret.derive(f"grid offset/{plan.statistic}", 8))
        return plan.step * (math.floor(estimate / plan.step + offset) + 0.5 - offset)

    def release(self, confidence: float) -> Release:
        """The private value with its limits."""
        found = self.measure(confidence)
        return make_release(self._plan, found.value, found.low, found.high, confidence, self.pairs)

    def measure(self, confidence: float) -> Measured:
        """s exp(g (k + 1/2 - u)) - Λ, k = floor(ln T/g + u): T the estimate of F_p + Λ, u uniform from the secret.

        The exponential of what rounding adds to ln T has the mean sinh(g/2)/(g/2); s is the inverse, so the value is
        as unbiased as T, but at the ends of the range that it can have.

        The limits are public functions of k: g (k + 1/2 - u) - ln(F_p + Λ) is a pivot, whose law depends on p, the
        size and g alone.
        """
        plan, p = self._plan, self._plan.statistic.p
        logs, signs = self._entry_logs()
        rounded = self._rounded(float(log_estimates(np.array(logs), np.array(signs), p)))
        half = 0.5 * plan.step
        log_scale = rounded - math.log(math.sinh(half) / half)
        pivot = self._pivot()
        below, above = pivot.limits(self._pivot_confidence(confidence), plan.step)
        shown = [math.exp(log) - plan.floor for log in (log_scale, rounded - above, rounded - below)]
        value, low, high = self._answer(shown[0], shown[1], shown[2], confidence)

        def quantiles(probability: Array) -> Array:
            truth: Array = np.exp(rounded - pivot.quantiles(1.0 - probability, plan.step)) - plan.floor
            return truth

        return Measured(value, low, high, quantiles).within(*plan.range(self.pairs))

    def _entry_logs(self) -> tuple[list[float], list[float]]:
        """ln|a_j| and signs of the entries, phantoms included."""
        return self._logs_with_phantoms(self._sketch)

    def _logs_with_phantoms(self, sketch: Sketch) -> tuple[list[float], list[float]]:
        entries, _, _ = sketch._snapshot()
        phantoms = self._plan.phantoms
        if phantoms.count:
            weights = np.full(phantoms.count, phantoms.weight, dtype=np.int64)
            sketch._need_projection("release").add_phantoms(entries, weights)
        return log_magnitudes(entries)

    def _answer(self, value: float, low: float, high: float, confidence: float) -> tuple[float, float, float]:
        """What is said of F_p, from value and limits of what was sketched: here they are the same."""
        return value, low, high


def check_promise(plan: Plan, pairs: int, total: int) -> None:
    """Refuses what no stream of values 1 to max_value can be; then some delete undid no update. No key is looked at."""
    if not 0 <= pairs <= total <= pairs * plan.privacy.max_value:
        raise NegativeTotal(
            "the pairs and the total that are left are not those of any stream with the values of the plan, so "
            "something was deleted that was not there. Send the updates that are missing; every delete must undo one."
        )


def make_release(
    plan: Plan, value: float, low: float, high: float, confidence: float, pairs: int, points: tuple[Point, ...] = ()
) -> Release:
    """The fields of a release that come from the plan; the number of pairs only where it is public."""
    privacy = plan.privacy
    return Release(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        statistic=str(plan.statistic),
        p=plan.statistic.p,
        epsilon=plan.epsilon,
        delta=plan.delta,
        relation=privacy.relation,
        pairs=pairs if privacy.relation == "replace" else None,
        pairs_per_person=privacy.pairs_per_person,
        max_value=privacy.max_value,
        mechanism=plan.mechanism,
        size=plan.size,
        floor=plan.parts[0].floor if plan.parts else plan.floor,
        points=points,
    )
