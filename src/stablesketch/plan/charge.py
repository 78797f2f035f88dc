"""What a release by a plan does, in the few numbers its privacy depends on: found anew, whatever the plan claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ..errors import LedgerError
from ..privacy import log_sensitivity
from ..privacy.charge import Charge
from ..privacy.entropy_neighbours import entropy_sensitivity
from ..privacy.exact_moment import units_sensitivity
from ..privacy.exact_norm import norm_distance
from ..privacy.precision import ENTROPY_ERROR, rounding_delta
from ..privacy.sampling import SampledCurve, Sampling
from ..statistic import Distinct, Shannon
from .distinct_plan import phantom_number
from .entropy_plan import entropy_noise
from .noisy_measure import released_by
from .plan import Plan
from .total_plan import is_counted, total_distance

__all__ = ["charge_of", "composed_epsilon", "exact_distance"]

_MOST_EPSILON = 1e6


def charge_of(plan: Plan) -> Charge:
    """What is charged for a release by this plan. ρ is found anew from the statistic, the privacy and the phantoms.

    Of the plan of a group (`privacy.groups` above 1) it is the charge of the whole table, once: bounding/groups.py.
    """
    p, privacy, statistic = plan.statistic.p, plan.privacy, plan.statistic
    if len(plan.parts) == 1:
        return charge_of(plan.parts[0])
    if plan.parts:
        return _together(plan.parts, plan.epsilon, plan.delta)
    if isinstance(statistic, Shannon) and plan.mechanism != "bare":
        return entropy_noise(plan).charge()
    if isinstance(statistic, Shannon):
        gap = 0.5 * rounding_delta(0.0, plan.step, ENTROPY_ERROR)
        shift = entropy_sensitivity(privacy, privacy.total or None)
        return Charge("shift", size=plan.size, log_rho=shift, gap=gap, epsilon=plan.epsilon, delta=plan.delta)
    if isinstance(statistic, Distinct) and plan.mechanism == "sketch":
        return _distinct(plan)
    if plan.mechanism == "exact":
        return Charge("exact", epsilon=privacy.epsilon, distance=exact_distance(plan))
    if plan.mechanism == "sketch":
        return _estimate(plan)
    if plan.sampled is not None:
        return Charge("other", epsilon=_sampled_epsilon(plan, plan.sampled.sampling), delta=plan.delta)
    # As in plan/planner.py: the mass is a sum of rounded powers, and taken a little smaller.
    log_rho = log_sensitivity(p, privacy, plan.floor * (1.0 - 1e-12))
    # (1 + e^0) g is what finite precision costs at ε = 0.
    gap = 0.5 * rounding_delta(0.0, plan.step)
    return Charge("sketch", p=p, size=plan.size, log_rho=log_rho, gap=gap, epsilon=plan.epsilon, delta=plan.delta)


def _estimate(plan: Plan) -> Charge:
    """An estimate with noise, as it is released: Δ and what computing costs are found anew."""
    p, released = plan.statistic.p, released_by(plan)
    gap, added = 0.5 * released.precision.failures, released.precision.shift(released.noise)
    return Charge(
        "estimate", p=p, size=released.entries, gap=gap, epsilon=plan.epsilon, delta=plan.delta,
        estimate="power" if p < 1.0 else "norm", noise=released.noise, added=added, copies=released.copies,
    )  # fmt: skip


def exact_distance(plan: Plan) -> int:
    """D of an exact plan: by how many units of its grid neighbours can differ, in all groups of a table together."""
    privacy, statistic = plan.privacy, plan.statistic
    if is_counted(plan):
        return total_distance(privacy)
    if isinstance(statistic, Distinct):
        return privacy.pairs_per_person  # c pairs come and go with at most c keys, whatever the relation
    step, changed = Fraction(plan.step), privacy.copies
    if statistic.p > 1.0:
        return norm_distance(privacy.max_value, privacy.pairs_per_person, step, changed)
    return units_sensitivity(statistic.p, privacy.max_value, privacy.pairs_per_person, step, changed)


def composed_epsilon(parts: Sequence[Plan], relation: str, delta: float) -> float:
    """The least ε, nearly, at which all parts together are (ε, delta)-private: certified, by their composed losses or
    by adding up.
    """
    whole = _together(parts, math.inf, delta)
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


def _distinct(plan: Plan) -> Charge:
    """Discrete Laplace noise on the number of keys, but for the chance that the phantoms are fewer than none.

    The δ of the plan is that of privacy/distinct.py, computed anew.
    """
    phantoms = phantom_number(plan)
    if plan.epsilon < phantoms.epsilon or phantoms.delta(plan.epsilon) > plan.delta * (1.0 + 1e-9):
        raise LedgerError(
            f"the plan claims ε = {plan.epsilon:.6g} at δ = {plan.delta:.3g}, and its own phantoms do not give that. "
            "Make the plan again with ss.plan."
        )
    distance = plan.privacy.pairs_per_person
    return Charge("exact", epsilon=phantoms.epsilon, delta=plan.delta, distance=distance, gap=phantoms.gap)


def _together(parts: Sequence[Plan], epsilon: float, delta: float) -> Charge:
    """All parts side by side; one that is several itself, as exact entropy is, adds each of them."""
    charges = [charge_of(part) for part in parts]
    each = tuple(one for charge in charges for one in charge.parts or (charge,))
    return Charge("all", epsilon=epsilon, delta=delta, parts=each)


def _sampled_epsilon(plan: Plan, sampling: Sampling) -> float:
    """The ε of a plan with sampling, checked: the bound of privacy/sampling.py is an (ε, δ), and composed as one."""
    curve = SampledCurve(plan.statistic.p, plan.size, plan.privacy, sampling, plan.floor * (1.0 - 1e-12))
    if curve.delta(plan.epsilon) + rounding_delta(plan.epsilon, plan.step) > plan.delta * (1.0 + 1e-9):
        raise LedgerError(
            f"the plan claims ε = {plan.epsilon:.6g} at δ = {plan.delta:.3g}, and its own size, floor and sampling do "
            "not give that. Make the plan again with ss.plan."
        )
    return plan.epsilon
