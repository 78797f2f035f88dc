"""Whether the exact mechanism would be the better choice: from the plan alone, so that it tells nothing of the data."""

from __future__ import annotations

import math

from ..errors import StablesketchError
from ..spoken import about, short
from ..wording import arg
from .mechanism import mechanism_of
from .plan import Plan

_MANY = 1_000_000  # pairs, where nobody says how many there are
_WORTH_SAYING = 2.0


def exact_instead(plan: Plan) -> str:
    """By how much `mechanism="exact"` would be more accurate, and what it needs; empty if by less than twice.

    At the value that is expected; else in a stream of the promised length, or of a million pairs, whose value is the
    least that so many can have: there noise, which is all that the exact mechanism has, counts the most, and in every
    other stream of that length the ratio is larger, to first order.
    """
    if mechanism_of(plan).exact or (plan.asked.expected is not None and not plan.expected):
        return ""  # a part of the error is that at the value expected, and no length says the rest
    if plan.expected:
        times, how = _ratio(plan.error, plan.exact_error), "about"
        where = f"at {plan.statistic} = {about(plan.expected)}"
    else:
        pairs = plan.privacy.pairs or _MANY
        try:
            exact = plan.again(mechanism="exact")
        except StablesketchError:  # there is none that reaches this
            return ""
        own = math.hypot(plan.error, mechanism_of(plan).noise_at(plan, pairs)) if plan.size else 0.0
        times, how = _ratio(own, mechanism_of(exact).noise_at(exact, pairs)), "at least"
        where = f"in a stream of {pairs:,} {plan.privacy.unit}s"
    if times < _WORTH_SAYING:
        return ""
    needs = "It holds every key in memory, so it is for data whose keys fit there and may be held"
    return (
        f"{arg('mechanism', 'exact')} would be {how} {short(float(f'{times:.2g}'))} times as accurate {where}. {needs}."
    )


def _ratio(error: float, exact: float) -> float:
    """0 where nothing can be said: noise on a number of keys is compared with their number, which no length tells."""
    return error / exact if exact > 0.0 and math.isfinite(error) else 0.0
