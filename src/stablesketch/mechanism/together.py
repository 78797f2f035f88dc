"""What several releases of one stream cost together."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..plan.mechanism import charge_of
from ..plan.plan import Plan
from ..privacy.charge import Charge

__all__ = ["composed_epsilon", "together"]

_MOST_EPSILON = 1e6


def composed_epsilon(parts: Sequence[Plan], relation: str, delta: float) -> float:
    """The least ε, nearly, at which all parts together are (ε, delta)-private: certified, by their composed losses or
    by adding up.
    """
    whole = together(parts, math.inf, delta)
    added = math.fsum(part.epsilon for part in parts) * (1.0 + 1e-15)
    if math.fsum(part.delta for part in parts) > delta:
        added = math.inf
    if delta == 0.0:
        return added
    laws = whole.laws(relation)

    def holds(epsilon: float) -> bool:
        return all(law.delta(epsilon) <= delta for law in laws)

    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 2.0 * high
        if low > added or low > _MOST_EPSILON:
            return added
    while high - low > 1e-4 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return min(high, added)


def together(parts: Sequence[Plan], epsilon: float, delta: float) -> Charge:
    """All parts side by side; one that is several itself, as exact entropy is, adds each of them."""
    charges = [charge_of(part) for part in parts]
    each = tuple(one for charge in charges for one in charge.parts or (charge,))
    return Charge("all", epsilon=epsilon, delta=delta, parts=each)
