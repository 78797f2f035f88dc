"""Plans of distinct counts: registers for the error, a secret number of phantom keys for the privacy.

The price does not depend on the number of registers, and the error of the registers not on the price: it is
0.344/sqrt(registers) of the count, and the phantoms add about sqrt(2) c/ε keys.
"""

from __future__ import annotations

import math

from ..errors import ArgumentError, PlanInfeasible
from ..privacy.distinct import PhantomNumber, distinct_deviation, phantoms_for
from ..sketch.distinct import FEWEST, blob_bytes
from .asked import HEADER_BYTES, LARGEST_SIZE, Asked
from .noise_plan import noise_plan
from .phantoms import Phantoms
from .plan import Accuracy, Cost, Numbers, Plan
from .ways_out import a_larger_error, instead_of

__all__ = ["distinct_plan", "phantom_number"]

_MANY = 1e9  # keys: the error is then that of the registers alone


def phantom_number(plan: Plan) -> PhantomNumber:
    """The law of the number of phantoms of this plan."""
    privacy = plan.privacy
    return PhantomNumber(plan.phantoms.count, privacy.epsilon, privacy.pairs_per_person, privacy.copies)


def distinct_plan(asked: Asked) -> Plan:
    """By the number of registers asked for, the memory, or the error at `expected` keys, by default very many."""
    statistic, privacy = asked.statistic, asked.privacy
    if asked.mechanism == "exact":
        return _exact(asked)
    if asked.deletes:
        without = instead_of(asked.measurement.of or statistic, statistic) or "mechanism='exact'"
        raise ArgumentError(
            "deletes", True, "registers cannot take back a key that they counted",
            f"Leave out deletes=, or pass {without}",
        )  # fmt: skip
    phantoms = phantoms_for(privacy)
    keys = asked.expected or _MANY
    if asked.one_size is not None or asked.memory is not None:
        size = asked.size_within(4.0, FEWEST)
        if size < FEWEST:
            raise ArgumentError(
                "size", size, f"a distinct count has at least {FEWEST} registers", f"Pass size={FEWEST} or more"
            )
    else:
        size = _size_for(asked, keys, phantoms)
    return Plan(
        asked,
        "sketch",
        # There is no pure ε: a release may be of fewer keys than there can be with the phantoms.
        Cost(privacy.epsilon, min(phantoms.delta(privacy.epsilon), privacy.delta)),
        Accuracy(
            distinct_deviation(keys, size, phantoms) / keys,
            True,
            asked.expected or 0.0,
            math.sqrt(2.0) * privacy.pairs_per_person / privacy.epsilon / keys,
        ),
        Numbers(size, step=1.0, phantoms=Phantoms(phantoms.centre, 1), bytes=HEADER_BYTES + blob_bytes(size)),
    )


def _size_for(asked: Asked, keys: float, phantoms: PhantomNumber) -> int:
    """The fewest registers with at most this error."""
    error = asked.error_or(asked.statistic.default_error)
    low, high = FEWEST, LARGEST_SIZE
    if distinct_deviation(keys, high, phantoms) > error * keys:
        best = distinct_deviation(keys, high, phantoms) / keys
        raise PlanInfeasible(
            f"{high:,} registers count {keys:,.6g} keys with an error of {best:.3g}, and {error:g} is asked. "
            f"{a_larger_error(best)}, or pass mechanism='exact'."
        )
    while low < high:
        middle = (low + high) // 2
        enough = distinct_deviation(keys, middle, phantoms) <= error * keys
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def _exact(asked: Asked) -> Plan:
    """All keys in memory, and discrete Laplace noise of scale c/ε on their number."""
    deviation = math.sqrt(2.0) * asked.privacy.pairs_per_person / asked.privacy.epsilon
    return noise_plan(asked, deviation, asked.expected or 0.0)
