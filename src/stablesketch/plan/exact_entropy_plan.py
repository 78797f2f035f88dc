"""Plans of Shannon's entropy from exact totals: noise on its mass G = N H, and on N where that is private.

What is released, and why it is private: privacy/exact_entropy.py.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ..errors import PlanInfeasible
from ..privacy import Privacy
from ..privacy.exact_entropy import failure, mass_distance, mass_step
from ..privacy.mechanism import Mechanism
from ..statistic import Shannon, total_is_public
from .noise_plan import noise_plan
from .plan import Plan
from .total_plan import total_distance
from .wanted import Wanted

__all__ = ["entropy_charge", "exact_entropy_deviation", "exact_entropy_plan", "mass_epsilon", "total_epsilon"]


def total_epsilon(privacy: Privacy) -> float:
    """What of ε goes to N: half of it where N is private. The noise of both is then of one order."""
    return 0.0 if total_is_public(privacy) else 0.5 * privacy.epsilon


def mass_epsilon(privacy: Privacy) -> float:
    """What is left for G."""
    return privacy.epsilon - total_epsilon(privacy)


def exact_entropy_plan(statistic: Shannon, privacy: Privacy, wanted: Wanted) -> Plan:
    """For streams of any length; the error is that in a stream of as many pairs as are promised."""
    error = exact_entropy_deviation(privacy)
    if wanted.error is not None and error > wanted.error:
        promised = f"among {privacy.pairs:,} pairs" if privacy.pairs else "in a stream of which nothing is promised"
        raise PlanInfeasible(
            f"the exact mechanism has an error of {error:.3g} nats {promised}, and {wanted.error:g} is asked. Leave "
            "out error=, which changes nothing here, or promise more pairs (pairs=)."
        )
    step = float(mass_step(privacy, _least_total(privacy)))
    planned = noise_plan(statistic, privacy, error, 0.0, step=step, deletes=wanted.deletes)
    delta = 0.0 if total_is_public(privacy) else privacy.delta
    return replace(planned, delta=delta, pure_epsilon=privacy.epsilon if delta == 0.0 else math.inf)


def exact_entropy_deviation(privacy: Privacy) -> float:
    """Of H = G/N at the least N there can be, to first order: noise of G, and H <= ln N times that of N."""
    total = _least_total(privacy)
    deviation = mass_distance(privacy) * float(mass_step(privacy, total)) / mass_epsilon(privacy)
    if not total_is_public(privacy):
        deviation = math.hypot(deviation, math.log(total) * total_distance(privacy) / total_epsilon(privacy))
    return math.sqrt(2.0) * deviation / total


def entropy_charge(plan: Plan) -> Mechanism:
    """What is charged: the noise of G, and that of N with the chance that G was given too little, in all groups."""
    privacy = plan.privacy
    if total_is_public(privacy):
        return Mechanism("exact", epsilon=privacy.epsilon, distance=mass_distance(privacy))
    own = mass_epsilon(privacy)
    lost = failure(own, privacy.delta)
    mass = Mechanism("exact", epsilon=own, delta=lost, distance=mass_distance(privacy), gap=lost)
    counted = Mechanism("exact", epsilon=total_epsilon(privacy), distance=total_distance(privacy))
    return Mechanism("all", epsilon=plan.epsilon, delta=plan.delta, parts=(mass, counted))


def _least_total(privacy: Privacy) -> int:
    return max(privacy.pairs, privacy.total, 1)
