"""Shannon's entropy: a sketch of the skewed law, its location estimated, rounded to a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import PlanInfeasible
from ..plan.plan import Plan
from ..privacy.charge import Charge
from ..privacy.entropy_neighbours import entropy_sensitivity
from ..privacy.precision import ENTROPY_ERROR, entropy_is_covered, rounding_delta
from ..sketch.entropy_sketch import EntropySketch
from ..sketch.estimators.entropy import entropy_estimate, entropy_pivot
from ..sketch.estimators.pivot import PivotLaw
from ..sketch.sketch import Sketch
from ..statistic import Array, Shannon, Statistic
from .bare import Bare, BareState
from .measured import Measured

if TYPE_CHECKING:
    from ..secret import Secret

__all__ = ["BareEntropy", "BareEntropyState", "absolute_error"]


class BareEntropyState(BareState):
    """As `BareState`; its entries are divided by the exact total before anything is computed from them."""

    @staticmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        return EntropySketch(plan.size, secret)

    @staticmethod
    def _read(blob: bytes, secret: Secret | None) -> Sketch:
        return EntropySketch.from_bytes(blob, secret)

    def _check_precision(self) -> None:
        # By what the total can be at most: the total itself is private.
        if not entropy_is_covered(self.pairs, self.pairs * self._plan.privacy.max_value):
            raise PlanInfeasible(
                "the stream is too long for the δ of the plan: the largest R would be cut off too often. Release "
                "parts, which compose."
            )

    def _shorter(self) -> str:
        if self._plan.privacy.relation == "replace":
            return super()._shorter()
        return "plan with a smaller pairs=, or with pairs=0 and ss.Renyi(0.9), which is safe for streams of any length"

    def _pivot(self) -> PivotLaw:
        return entropy_pivot(self._plan.size)

    def measure(self, confidence: float) -> Measured:
        """g (k + 1/2 - u), k = floor(H/g + u) for the estimate H: H itself and an independent uniform number.

        Estimate and entropy differ by a pivot, whose law depends on the size and g alone.
        """
        plan, pivot = self._plan, self._pivot()
        assert isinstance(self._sketch, EntropySketch)
        rounded = self._rounded(float(entropy_estimate(self._sketch.locations())))
        below, above = pivot.limits(confidence, plan.step)

        def quantiles(probability: Array) -> Array:
            return rounded - pivot.quantiles(1.0 - probability, plan.step)

        return Measured(rounded, rounded - above, rounded - below, quantiles).within(*plan.range(self.pairs))


class BareEntropy(Bare):
    """There is no floor, so privacy decides how many entries there may be."""

    state = BareEntropyState
    monotone = False

    def serves(self, statistic: Statistic, name: str, *, sampled: bool) -> bool:
        return isinstance(statistic, Shannon) and name == "bare"

    def cost(self, plan: Plan) -> Charge:
        gap = 0.5 * rounding_delta(0.0, plan.step, ENTROPY_ERROR)
        shift = entropy_sensitivity(plan.privacy, plan.privacy.total or None)
        return Charge("shift", size=plan.size, log_rho=shift, gap=gap, epsilon=plan.epsilon, delta=plan.delta)

    def error_in_words(self, plan: Plan) -> str:
        return absolute_error(plan)


def absolute_error(plan: Plan) -> str:
    """Of a statistic whose errors are absolute; that of entropy is the same whatever the stream."""
    return f"{plan.error:.3g} absolute{', where everybody has the least' if plan.privacy.unit == 'key' else ''}"
