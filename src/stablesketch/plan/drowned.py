"""Whether the noise drowns any answer, in a stream such as people have: from the plan alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..spoken import about

if TYPE_CHECKING:
    from .mechanism import Mechanism
    from .plan import Plan

_PAIRS, _KEYS = 10**5, 10**3  # of a stream, where nobody says how long it is
_MOST_NOISE = 0.5  # of the value: twice that, which is what an interval of 95% takes, is all of it


def drowned(plan: Plan, way: Mechanism) -> str:
    """That no useful answer can be expected, with an example; empty where one can, or where the error has the noise in
    it and says so itself.

    The example has as many pairs as are promised, else 100,000; 1,000 keys, equally common; and values half way from 1
    to the largest, by their digits: few are as large as the largest that may be.
    """
    if not plan.statistic.relative or way.includes_noise(plan):
        return ""
    pairs, unit = plan.privacy.pairs or _PAIRS, plan.privacy.unit
    value = round(math.sqrt(plan.privacy.max_value))
    keys = min(_KEYS, pairs)
    noise = way.noise_at(plan, float(pairs * value), float(keys))
    if noise <= _MOST_NOISE:
        return ""
    of_keys = "" if unit == "key" else f" of {keys:,} keys"
    values = f" with {'totals' if unit == 'key' else 'values'} of {value:,}" if value > 1 else ""
    times = "about as large as" if noise < 1.5 else f"about {about(noise)} times"
    return (
        f"no useful answer can be expected: in a stream of {pairs:,} {unit}s{of_keys}{values}, for example, the noise "
        f"is {times} the value. More data, a larger ε or tighter bounds would help"
    )
