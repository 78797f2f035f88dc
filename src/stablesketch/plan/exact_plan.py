"""Plans of moments by the exact mechanism: all keys in memory, discrete Laplace noise on a grid."""

from __future__ import annotations

import math

from ..errors import PlanInfeasible
from ..privacy import Privacy
from ..statistic import Moment
from .noise_plan import noise_plan
from .plan import Plan
from .sizing import exact_deviation, exact_moment_error
from .ways_out import a_larger_error

__all__ = ["exact_plan", "expected_moment"]


def exact_plan(statistic: Moment, privacy: Privacy, asked: float | None, guess: float, deletes: bool) -> Plan:
    """Exact F_p, or its norm for an order above 1, on a grid plus discrete Laplace noise: pure ε-DP.

    The grid is a thousandth of the noise or of the sensitivity, c M^p or c M, whichever is less: rounding to it adds up
    to a step to the sensitivity, so less than a thousandth to the noise. Where several groups change, each is rounded,
    and the grid is finer by as much.
    """
    deviation = exact_deviation(statistic.p, privacy)
    error = exact_moment_error(statistic.p, privacy, guess)
    if asked is not None and (guess == 0.0 or error > asked):
        if not guess:
            raise PlanInfeasible(
                f"the noise of the exact mechanism is ± {error:.3g} whatever {statistic} is, so no relative error can "
                f"be aimed at. Leave out error=, or pass expected=, the {statistic} you expect."
            )
        raise PlanInfeasible(
            f"the exact mechanism has an error of {error:.3g} at {statistic} = {guess:,.6g}; {asked:g} is asked. "
            f"{a_larger_error(error)}, or a larger ε, or expected= if the value is known to be larger."
        )
    finest = deviation * min(1.0, privacy.epsilon / math.sqrt(2.0)) / (1000.0 * privacy.copies)
    step = 2.0 ** math.floor(math.log2(finest))
    return noise_plan(statistic, privacy, error * (guess or 1.0), guess, step=step, deletes=deletes)


def expected_moment(statistic: Moment, privacy: Privacy, expected: float | None) -> float:
    """F_p for the predicted error. The least that n pairs of value 1 or more can have is n^p, where all are of one key;
    above order 1 it is n, where none are."""
    if expected is None:
        if privacy.unit == "key":  # every key comes once
            return float(privacy.pairs)
        return math.pow(max(privacy.pairs, privacy.total), min(statistic.p, 1.0))
    return expected
