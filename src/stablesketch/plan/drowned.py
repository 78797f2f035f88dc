"""Whether the noise drowns the answer in a typical stream: computed from the plan alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..text.spoken import about

if TYPE_CHECKING:
    from .mechanism import Mechanism
    from .plan import Plan

_PAIRS, _KEYS = 10**5, 10**3  # of the example, if the length of the stream is not public
_MOST_NOISE = 0.5  # of the value: a 95% interval reaches twice as far, which is the whole value


def drowned(plan: Plan, way: Mechanism) -> str:
    """Says, with an example, that no useful answer can be expected. Empty if one can, or if the plan's error already
    includes the noise.

    The example has as many pairs as are promised, otherwise 100,000; 1,000 equally common keys; and values halfway
    between 1 and the maximum on a logarithmic scale, because few values reach the maximum.
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
