"""Several releases of one stream as one charge: composing their losses gives their total cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..numbers.search import least_above
from .charge import MOST_CHARGES, MOST_EPSILON, Charge


def composed(charges: Sequence[Charge], relation: str, delta: float) -> Charge:
    """One charge for all of them, with nearly the least ε at which they are (ε, delta)-private together.

    That ε is certified: by their composed losses, or by adding up their own (ε, δ) if that is less. A charge that is
    composed itself, like that of exact entropy, adds each of its own. If there are too many, they are added up.
    """
    single = tuple(one for charge in charges for one in charge.charges or (charge,))
    added = math.fsum(charge.epsilon for charge in charges) * (1.0 + 1e-15)
    if math.fsum(charge.delta for charge in charges) > delta:
        added = math.inf
    if len(single) > MOST_CHARGES:
        return Charge("other", epsilon=added, delta=delta)
    whole = Charge("all", epsilon=added, delta=delta, charges=single)
    if delta == 0.0:
        return whole
    laws = whole.laws(relation)

    def holds(epsilon: float) -> bool:
        return all(law.delta(epsilon) <= delta for law in laws)

    found = least_above(holds, 1.0, 1e-4, most=2.0 * min(added, MOST_EPSILON))
    return whole if found is None or found >= added else Charge("all", epsilon=found, delta=delta, charges=single)
