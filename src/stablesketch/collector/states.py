"""Which state a plan has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plan.total_plan import is_counted
from ..statistic import Derived, Distinct, Shannon
from .bare_entropy_state import BareEntropyState
from .bare_state import BareState
from .derived_state import DerivedState
from .distinct_state import DistinctState
from .entropy_state import EntropyState
from .exact_entropy_state import ExactEntropyState
from .histogram_state import HistogramState
from .noisy_state import MomentState, NormState
from .sampled_state import SampledState
from .state import MeasuringState, State
from .total_state import TotalState

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["measuring_state_of", "state_of"]


def state_of(plan: Plan) -> type[State]:
    """The class of the states of this plan."""
    return DerivedState if isinstance(plan.statistic, Derived) else measuring_state_of(plan)


def measuring_state_of(plan: Plan) -> type[MeasuringState]:
    """The same, of a statistic that is measured itself."""
    statistic = plan.statistic
    if is_counted(plan):
        return TotalState
    if plan.mechanism == "exact":
        return ExactEntropyState if isinstance(statistic, Shannon) else HistogramState
    if isinstance(statistic, Distinct):
        return DistinctState
    if plan.mechanism == "sketch" and isinstance(statistic, Shannon):
        return EntropyState
    if plan.mechanism == "sketch":
        return MomentState if statistic.p < 1.0 else NormState
    if isinstance(statistic, Shannon):
        return BareEntropyState
    return SampledState if plan.sampled is not None else BareState
