"""Plans of distinct counts: registers for the error, a secret number of phantom keys for the privacy.

The price does not depend on the number of registers, and the error of the registers not on the price: it is
0.344/sqrt(registers) of the count, and the phantoms add about sqrt(2) c/ε keys.
"""

from __future__ import annotations

import math

from ..errors import ArgumentError, PlanInfeasible
from ..privacy import Privacy
from ..privacy.distinct import PhantomNumber, distinct_deviation, phantoms_for
from ..sketch.distinct import FEWEST, blob_bytes
from ..statistic import Distinct
from .noise_plan import noise_plan
from .phantoms import Phantoms
from .plan import Plan
from .wanted import HEADER_BYTES, LARGEST_SIZE, Wanted
from .ways_out import a_larger_error, instead_of

__all__ = ["distinct_plan", "phantom_number"]

_MANY = 1e9  # keys: the error is then that of the registers alone


def phantom_number(plan: Plan) -> PhantomNumber:
    """The law of the number of phantoms of this plan."""
    privacy = plan.privacy
    return PhantomNumber(plan.phantoms.count, privacy.epsilon, privacy.pairs_per_person, privacy.copies)


def distinct_plan(statistic: Distinct, privacy: Privacy, wanted: Wanted) -> Plan:
    """By the number of registers asked for, the memory, or the error at `expected` keys, by default very many."""
    if wanted.mechanism == "exact":
        return _exact(statistic, privacy, wanted)
    if wanted.deletes:
        without = instead_of(wanted.part_of or statistic, statistic) or "mechanism='exact'"
        raise ArgumentError(
            "deletes", True, "registers cannot take back a key that they counted",
            f"Leave out deletes=, or pass {without}",
        )  # fmt: skip
    phantoms = phantoms_for(privacy)
    keys = wanted.expected or _MANY
    if wanted.size is not None or wanted.memory is not None:
        size = wanted.size_within(4.0, FEWEST)
        if size < FEWEST:
            raise ArgumentError(
                "size", size, f"a distinct count has at least {FEWEST} registers", f"Pass size={FEWEST} or more"
            )
    else:
        size = _size_for(wanted, statistic, keys, phantoms)
    return Plan(
        statistic=statistic,
        privacy=privacy,
        mechanism="sketch",
        size=size,
        phantoms=Phantoms(phantoms.centre, 1),
        step=1.0,
        epsilon=privacy.epsilon,
        delta=min(phantoms.delta(privacy.epsilon), privacy.delta),
        pure_epsilon=math.inf,  # of fewer keys than there can be with the phantoms
        error=distinct_deviation(keys, size, phantoms) / keys,
        relative=True,
        expected=wanted.expected or 0.0,
        bytes=HEADER_BYTES + blob_bytes(size),
        exact_error=math.sqrt(2.0) * privacy.pairs_per_person / privacy.epsilon / keys,
    )


def _size_for(wanted: Wanted, statistic: Distinct, keys: float, phantoms: PhantomNumber) -> int:
    """The fewest registers with at most this error."""
    error = wanted.error_or(statistic.default_error)
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


def _exact(statistic: Distinct, privacy: Privacy, wanted: Wanted) -> Plan:
    """All keys in memory, and discrete Laplace noise of scale c/ε on their number."""
    deviation = math.sqrt(2.0) * privacy.pairs_per_person / privacy.epsilon
    return noise_plan(statistic, privacy, deviation, wanted.expected or 0.0, deletes=wanted.deletes)
