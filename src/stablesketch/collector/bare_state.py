"""Entries that are private by themselves (mechanism="bare"): phantoms, an estimate, a grid in ln T."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..errors import PlanInfeasible, StreamTooShort
from ..privacy.precision import is_covered
from ..secret import Secret
from ..sketch import Sketch
from ..sketch.estimators import log_estimates
from ..sketch.estimators.pitman import log_estimate
from ..sketch.estimators.pivot import PivotLaw, pivot_law
from ..sketch.sketch import log_magnitudes
from ..statistic import Array, exact_name
from .measured import Measured, uniform_offset
from .sketch_state import SketchState, check_promise

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["BareState"]


class BareState(SketchState):
    """Symmetric entries; the stream is held to what the plan promises of it."""

    @staticmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        return Sketch(plan.statistic.p, plan.size, secret, law="symmetric")

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
        return "plan with mechanism='sketch', which is safe for streams of any length"

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
        offset = uniform_offset(self.secret.derive(f"grid offset/{exact_name(plan.statistic)}", 8))
        return plan.step * (math.floor(estimate / plan.step + offset) + 0.5 - offset)

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
        phantoms = self._plan.phantoms
        weights = np.full(phantoms.count, phantoms.weight, dtype=np.int64)
        return log_magnitudes(sketch.entries(phantoms=weights if phantoms.count else None))

    def _answer(self, value: float, low: float, high: float, confidence: float) -> tuple[float, float, float]:
        """What is said of F_p, from value and limits of what was sketched: here they are the same."""
        return value, low, high
