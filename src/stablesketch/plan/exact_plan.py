"""Plans of moments by the exact mechanism: all keys in memory, discrete Laplace noise on a grid."""

from __future__ import annotations

import math

from ..errors import PlanInfeasible
from ..privacy import Privacy
from .asked import Asked
from .noise_plan import noise_plan
from .plan import Plan
from .sizing import exact_deviation, exact_moment_error
from .ways_out import a_larger_error

__all__ = ["exact_plan", "expected_moment", "least_moment"]


def exact_plan(asked: Asked, guess: float) -> Plan:
    """Exact F_p, or its norm for an order above 1, on a grid plus discrete Laplace noise: pure ε-DP.

    The grid is a thousandth of the noise or of the sensitivity, c M^p or c M, whichever is less: rounding to it adds up
    to a step to the sensitivity, so less than a thousandth to the noise. Where several groups change, each is rounded,
    and the grid is finer by as much.
    """
    statistic, privacy = asked.statistic, asked.privacy
    deviation = exact_deviation(statistic.p, privacy)
    error = exact_moment_error(statistic.p, privacy, guess)
    if asked.error is not None and (guess == 0.0 or error > asked.error):
        if not guess:
            raise PlanInfeasible(
                f"the noise of the exact mechanism is ± {error:.3g} whatever {statistic} is, so no relative error can "
                f"be aimed at. Leave out error=, or pass expected=, the {statistic} you expect."
            )
        raise PlanInfeasible(
            f"the exact mechanism has an error of {error:.3g} at {statistic} = {guess:,.6g}; {asked.error:g} is asked. "
            f"{a_larger_error(error)}, or a larger ε, or expected= if the value is known to be larger."
        )
    finest = deviation * min(1.0, privacy.epsilon / math.sqrt(2.0)) / (1000.0 * privacy.copies)
    step = 2.0 ** math.floor(math.log2(finest))
    return noise_plan(asked, error * (guess or 1.0), guess, step=step)


def expected_moment(asked: Asked) -> float:
    """F_p for the predicted error: what is expected, or the least there can be."""
    return least_moment(asked.statistic.p, asked.privacy) if asked.expected is None else asked.expected


def least_moment(p: float, privacy: Privacy) -> float:
    """The least that n pairs of value 1 or more can have is n^p, where all are of one key; above order 1 it is n, where
    none are."""
    if privacy.unit == "key":  # every key comes once
        return float(privacy.pairs)
    return math.pow(max(privacy.pairs, privacy.total), min(p, 1.0))
