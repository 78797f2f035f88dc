"""The sketch mechanism: entries, phantoms, an estimate, a grid."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BlobError, NegativeTotal, StreamTooLong
from ..privacy.precision import COVERED_PAIRS, granularity_delta
from ..release import Release
from ..secret import Secret
from ..sketch import Sketch
from ..sketch.estimators import log_estimates
from ..sketch.estimators.pitman import log_estimate
from ..sketch.estimators.pivot import pivot_quantiles
from ..sketch.sketch import log_magnitudes

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["SketchState", "check_promise", "make_release"]

# Rounding to a grid of a quarter of the deviation widens the spread by sqrt(1 + 1/192).
_GRID_SPREAD = math.sqrt(1.0 + 1.0 / 192.0)


class SketchState:
    """The sketch of one collector. Its entries never leave it but through `release` and `to_bytes`."""

    def __init__(self, plan: Plan, secret: Secret | None, sketch: Sketch | None = None) -> None:
        self._plan = plan
        self._sketch = Sketch(plan.statistic.p, plan.size, secret) if sketch is None else sketch

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> SketchState:
        sketch = Sketch.from_bytes(blob, secret)
        if (sketch.p, sketch.size) != (plan.statistic.p, plan.size):
            raise BlobError(
                f"a collector whose plan has p = {plan.statistic.p}, size = {plan.size} and whose sketch has "
                f"p = {sketch.p}, size = {sketch.size}."
            )
        return cls(plan, secret, sketch)

    @property
    def pairs(self) -> int:
        return self._sketch.pairs

    @property
    def secret(self) -> Secret:
        return self._sketch.secret

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        operation = "delete" if negative else "update"
        self._sketch._apply(operation, keys, values, threads, negative, self._plan.privacy.max_value)

    def merge(self, other: SketchState) -> None:
        self._sketch.merge(other._sketch)

    def to_bytes(self) -> bytes:
        return self._sketch.to_bytes()

    def release(self, confidence: float) -> Release:
        """s exp(g (k + 1/2 - u)) - Λ, k = floor(ln T/g + u): T the estimate of F_p + Λ, u uniform from the secret.

        g (k + 1/2 - u) is ln T plus an independent uniform number within g/2 of 0, whose exponential has the mean
        sinh(g/2)/(g/2); s is the inverse, so the value is as unbiased as T.

        The limits are public functions of k: T/(F_p + Λ) is a pivot, whose quantiles depend on p and size alone.
        """
        plan, p = self._plan, self._plan.statistic.p
        check_promise(plan, self._sketch.pairs, self._sketch.total)
        granularity = granularity_delta(plan.privacy.epsilon, plan.step, self._sketch.pairs)
        if granularity > 0.0 and plan.privacy.relation != "replace":
            raise StreamTooLong(
                f"the stream has more than {COVERED_PAIRS:,} pairs. Beyond that, finite precision costs a δ that "
                "depends on their number, which this relation keeps private. Use relation='replace', where the number "
                "is public and the release states its δ; or mechanism='exact'; or release parts, which compose."
            )
        projection = self._sketch._need_projection("release")
        entries, _, _ = self._sketch._snapshot()
        phantoms = plan.phantoms
        if phantoms.count:
            projection.add_phantoms(entries, np.full(phantoms.count, phantoms.weight, dtype=np.int64))
        # 53 bits are a uniform number in [0, 1) that a double holds exactly.
        offset = (int.from_bytes(projection.secret.derive("grid offset", 8), "little") >> 11) / 2.0**53
        logs, signs = log_magnitudes(entries)
        cell = math.floor(float(log_estimates(np.array(logs), np.array(signs), p)) / plan.step + offset)
        half = 0.5 * plan.step
        log_scale = plan.step * (cell + 0.5 - offset) - math.log(math.sinh(half) / half)
        beyond = 0.5 * (1.0 - confidence)
        below, above = pivot_quantiles(log_estimate, p, plan.size, np.array([beyond, 1.0 - beyond]))
        least, most = _public_range(plan, self._sketch.pairs)
        low = min(max(math.exp(log_scale - above * _GRID_SPREAD) - plan.floor, least), most)
        high = max(min(math.exp(log_scale - below * _GRID_SPREAD) - plan.floor, most), low)
        release = make_release(plan, math.exp(log_scale) - plan.floor, low, high, confidence, self._sketch.pairs)
        return replace(release, delta=min(1.0, plan.delta + granularity))


def check_promise(plan: Plan, pairs: int, total: int) -> None:
    """Refuses what no stream of values 1 to max_value can be; then some delete undid no update. No key is looked at."""
    if not 0 <= pairs <= total <= pairs * plan.privacy.max_value:
        raise NegativeTotal(
            "the pairs and the total that are left are not those of any stream with the values of the plan, so "
            "something was deleted that was not there. Send the updates that are missing; every delete must undo one."
        )


def _public_range(plan: Plan, pairs: int) -> tuple[float, float]:
    """What is known of F_p without looking: n pairs of values 1 to M have n^p <= F_p <= n M^p (concavity)."""
    p, privacy = plan.statistic.p, plan.privacy
    if privacy.relation == "replace":
        return float(pairs) ** p, pairs * float(privacy.max_value) ** p
    return float(privacy.pairs) ** p if privacy.pairs else 0.0, math.inf


def make_release(plan: Plan, value: float, low: float, high: float, confidence: float, pairs: int) -> Release:
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
        floor=plan.floor,
    )
