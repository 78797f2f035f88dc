"""How much noise a plan adds, and in how long a stream it is less than what the sketch errs by.

Noise is absolute and the error of a sketch relative, so the longer the stream the less the noise says. With n pairs of
value 1 or more, F_p is at least n^p for p <= 1 (all of one key), at least n for p > 1 (each a key of its own), and at
least n where every key comes once; the total is at least n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..statistic import Derived, Distinct, Moment, Profile, Shannon, Total
from .entropy_plan import entropy_noise
from .exact_entropy_plan import exact_entropy_deviation
from .plan import Plan
from .sizing import exact_deviation
from .total_plan import is_counted, total_scale

__all__ = ["is_included", "noise_deviation", "noise_scale", "pairs_for_noise_below"]

_MOST_PAIRS = 2.0**53


def noise_scale(part: Plan) -> float:
    """b, the scale of the Laplace noise on what is measured: F_p, its norm above order 1, a total, a number of keys.

    0 where there is none, or where it depends on the length of the stream, as that of entropy does.
    """
    privacy = part.privacy
    if isinstance(part.statistic, Shannon):
        return part.noise if is_included(part) else 0.0
    if part.noise or part.mechanism == "bare":
        return part.noise
    if is_counted(part):
        return float(total_scale(privacy))
    if isinstance(part.statistic, Distinct):
        return privacy.pairs_per_person / privacy.epsilon
    if isinstance(part.statistic, Moment):
        return exact_deviation(part.statistic.p, privacy) / math.sqrt(2.0)
    return 0.0


def is_included(part: Plan) -> bool:
    """Whether the error of the plan has that of its noise in it: a value is expected, or for entropy a length."""
    if isinstance(part.statistic, Shannon):
        return max(part.privacy.pairs, part.privacy.total) > 0
    return part.expected > 0.0


def noise_deviation(part: Plan) -> float:
    """The standard deviation of that noise: sqrt(2) b, less where noise of few integers is drawn."""
    if is_counted(part):
        return part.error * (part.expected or 1.0)
    return math.sqrt(2.0) * noise_scale(part)


def pairs_for_noise_below(plan: Plan, error: float) -> float:
    """The number of pairs from which on the noise adds less than `error`, in the unit of the statistic.

    Only noise that is not in `plan.error` counts (`is_included`), and all of it for exact plans. Noise on the number of
    keys is left out: many pairs may be of few keys. Infinite if no stream is long enough, 0 if there is no such noise.
    """
    if _noise_at(plan, _MOST_PAIRS) > error:
        return math.inf
    low, high = 0.0, math.log(_MOST_PAIRS)
    if _noise_at(plan, 1.0) <= error:
        return 0.0
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _noise_at(plan, math.exp(middle)) > error else (low, middle)
    return math.exp(high)


def _noise_at(plan: Plan, pairs: float) -> float:
    """What the noise alone adds to the error in a stream of so many pairs, to first order; of a profile, the most."""
    statistic, parts = plan.statistic, plan.parts or (plan,)
    if isinstance(statistic, Profile):
        return max(
            _combined(point, [part for part in parts if part.statistic in point.needs(plan.privacy)], pairs)
            for point in statistic.points
        )
    return _combined(statistic, parts, pairs) if isinstance(statistic, Derived) else _part_noise(plan, pairs)


def _combined(statistic: Derived, parts: Sequence[Plan], pairs: float) -> float:
    # Not as a sum of squares: a square may be more than a float holds, and then Python raises.
    return math.hypot(*(statistic.factor(part.statistic) * _part_noise(part, pairs) for part in parts))


def _part_noise(part: Plan, pairs: float) -> float:
    """Relative to the least that so many pairs have; of entropy absolute."""
    statistic = part.statistic
    if isinstance(statistic, Shannon) and part.mechanism == "exact":
        return exact_entropy_deviation(replace(part.privacy, pairs=math.ceil(pairs)))
    if is_included(part) or isinstance(statistic, Distinct):
        return 0.0
    if isinstance(statistic, Shannon):
        return entropy_noise(part).noise_deviation(pairs)
    if statistic.p > 1.0:  # the noise is on the norm F^(1/p), and F errs by p times as much
        return statistic.p * noise_deviation(part) / math.pow(pairs, 1.0 / statistic.p)
    if isinstance(statistic, Total) or part.privacy.unit == "key":
        return noise_deviation(part) / pairs
    return noise_deviation(part) / math.pow(pairs, statistic.p)
