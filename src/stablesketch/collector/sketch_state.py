"""The sketch mechanism: entries, phantoms, an estimate, a grid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..release import Release
from ..secret import Secret
from ..sketch import Sketch
from ..sketch.estimators import log_estimates
from ..sketch.estimators.pitman import log_estimate
from ..sketch.estimators.pivot import pivot_quantiles
from ..sketch.sketch import log_magnitudes

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["SketchState"]

# Rounding to a grid of a quarter of the deviation widens the spread by sqrt(1 + 1/192).
_GRID_SPREAD = math.sqrt(1.0 + 1.0 / 192.0)


class SketchState:
    """The sketch of one collector. Its entries never leave it but through `release` and `to_bytes`."""

    def __init__(self, plan: Plan, secret: Secret | None, sketch: Sketch | None = None) -> None:
        self._plan = plan
        self._sketch = Sketch(plan.statistic.p, plan.size, secret) if sketch is None else sketch

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> SketchState:
        return cls(plan, secret, Sketch.from_bytes(blob, secret))

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
        """exp(g (k + 1/2 - u)) - Λ, k = floor(ln T/g + u): T the estimate of F_p + Λ, u uniform from the secret.

        The limits are public functions of k: T/(F_p + Λ) is a pivot, whose quantiles depend on p and size alone.
        """
        plan, p = self._plan, self._plan.statistic.p
        projection = self._sketch._need_projection("release")
        entries, _, _ = self._sketch._snapshot()
        phantoms = plan.phantoms
        weights = [phantoms.weight] * phantoms.count + ([phantoms.last] if phantoms.last else [])
        if weights:
            projection.add_phantoms(entries, np.array(weights, dtype=np.int64))
        # 53 bits are a uniform number as fine as a double in [0, 1) can be.
        offset = int.from_bytes(projection.secret.derive("grid offset", 8), "little") / 2.0**64
        logs, signs = log_magnitudes(entries)
        cell = math.floor(float(log_estimates(np.array(logs), np.array(signs), p)) / plan.step + offset)
        log_scale = plan.step * (cell + 0.5 - offset)
        beyond = 0.5 * (1.0 - confidence)
        below, above = pivot_quantiles(log_estimate, p, plan.size, np.array([beyond, 1.0 - beyond]))
        least, most = _public_range(plan, self._sketch.pairs)
        low = min(max(math.exp(log_scale - above * _GRID_SPREAD) - plan.floor, least), most)
        high = max(min(math.exp(log_scale - below * _GRID_SPREAD) - plan.floor, most), low)
        return make_release(plan, math.exp(log_scale) - plan.floor, low, high, confidence, self._sketch.pairs)


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
