"""Whether the exact mechanism would be the better choice.

It is computed from the plan alone, so it reveals nothing about the data.
"""

from __future__ import annotations

import math

from ..errors import StablesketchError
from ..text.spoken import about, short
from ..text.wording import arg
from .mechanism import mechanism_of, needs_promise
from .plan import Plan

_EXAMPLES = (10**6, 10**9)  # pairs, if their number is not public
_WORTH_SAYING = 2.0


def exact_instead(plan: Plan) -> str:
    """How many times as accurate `mechanism="exact"` would be, and what it needs; empty if less than twice."""
    better = in_an_example(plan, arg("mechanism", "exact"))
    needs = "It holds every key in memory, so use it only if the keys fit there and may be held"
    return f"{better[:1].upper()}{better[1:]}. {needs}." if better else ""


def in_an_example(plan: Plan, exactly: str = "the exact mechanism") -> str:
    """How many times as accurate it would be, as part of a sentence; empty if less than twice.

    Compares the errors at the expected value. Without one, it takes a stream of the promised length, or of a million
    pairs, or of a billion where noise drowns a million, in both extreme cases: one key holds everything, or all keys
    differ. One of them has the least value and the other the greatest, so they bound what the noise adds, which is the
    whole error of the exact mechanism.
    """
    if mechanism_of(plan).exact or not plan.size:
        return ""
    if plan.expected:
        times = _ratio(plan.error, plan.exact_error)
        at = f"at {plan.statistic} = {about(plan.expected)}"
        return f"{at} {exactly} would be {_times(times)}" if times >= _WORTH_SAYING else ""
    if needs_promise(plan):  # its error is the one at a floor, for any length
        return ""
    if plan.asked.expected is not None:  # of a measurement: the length does not determine the rest
        plan = plan.again(expected=None, same_size=True)
    try:
        exact = plan.again(mechanism="exact")
    except StablesketchError:  # no exact plan reaches this
        return ""
    unit = plan.privacy.unit
    for pairs in (plan.privacy.pairs,) if plan.privacy.pairs else _EXAMPLES:
        one, many = map(_ratio, errors_at_both_ends(plan, pairs), errors_at_both_ends(exact, pairs))
        if max(one, many) >= _WORTH_SAYING:
            where = f"in a stream of {pairs:,} {unit}s, for example, {exactly} would be"
            if unit == "key" or _times(one) == _times(many):
                return f"{where} {_times(many)}"
            ends = ((one, "if one key holds everything"), (many, "if all keys differ"))
            return f"{where} {', and '.join(f'{_times(ratio)} {end}' for ratio, end in ends if ratio)}"
    return ""


def errors_at_both_ends(plan: Plan, pairs: int) -> list[float]:
    """The errors in a stream of this many pairs if one key holds everything, and if all keys differ."""
    way = mechanism_of(plan)
    sketch = (0.0, 0.0) if way.exact else (plan.worst_error, plan.error)
    return [
        math.hypot(error, way.noise_at(plan, pairs, keys))
        for keys, error in zip((1.0, float(pairs)), sketch, strict=True)
    ]


def _ratio(error: float, exact: float) -> float:
    """The ratio of the errors; 0 if it is unknown."""
    return error / exact if exact > 0.0 and math.isfinite(error) else 0.0


def _times(ratio: float) -> str:
    """The ratio in words, with two digits; without a number if it is below 1.

    >>> [_times(ratio) for ratio in (0.94, 1.0, 57.3)]
    ['no more accurate', 'as accurate', '57 times as accurate']
    """
    said = short(float(f"{ratio:.2g}"))
    if said == "1":
        return "as accurate"
    return f"{said} times as accurate" if ratio > 1.0 else "no more accurate"
