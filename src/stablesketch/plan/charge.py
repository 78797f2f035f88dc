"""What a release by a plan does, in the few numbers its privacy depends on: found anew, whatever the plan claims."""

from __future__ import annotations

from fractions import Fraction

from ..errors import LedgerError
from ..privacy import log_sensitivity
from ..privacy.exact_moment import units_sensitivity
from ..privacy.mechanism import Mechanism
from ..privacy.precision import rounding_delta
from ..privacy.sampling import SampledCurve, Sampling
from .plan import Plan

__all__ = ["charge_of"]


def charge_of(plan: Plan) -> Mechanism:
    """What is charged for a release by this plan. ρ is found anew from the statistic, the privacy and the phantoms."""
    p, privacy = plan.statistic.p, plan.privacy
    if plan.mechanism == "exact":
        step = Fraction(plan.step)
        distance = units_sensitivity(p, privacy.max_value, privacy.pairs_per_person, step)
        return Mechanism("exact", epsilon=privacy.epsilon, distance=distance)
    if plan.sampled is not None:
        return Mechanism("other", epsilon=_sampled_epsilon(plan, plan.sampled.sampling), delta=plan.delta)
    # As in plan/planner.py: the mass is a sum of rounded powers, and taken a little smaller.
    log_rho = log_sensitivity(p, privacy, plan.floor * (1.0 - 1e-12))
    # (1 + e^0) g is what finite precision costs at ε = 0.
    gap = 0.5 * rounding_delta(0.0, plan.step)
    return Mechanism("sketch", p=p, size=plan.size, log_rho=log_rho, gap=gap, epsilon=plan.epsilon, delta=plan.delta)


def _sampled_epsilon(plan: Plan, sampling: Sampling) -> float:
    """The ε of a plan with sampling, checked: the bound of privacy/sampling.py is an (ε, δ), and composed as one."""
    curve = SampledCurve(plan.statistic.p, plan.size, plan.privacy, sampling, plan.floor * (1.0 - 1e-12))
    if curve.delta(plan.epsilon) + rounding_delta(plan.epsilon, plan.step) > plan.delta * (1.0 + 1e-9):
        raise LedgerError(
            f"the plan claims ε = {plan.epsilon:.6g} at δ = {plan.delta:.3g}, and its own size, floor and sampling do "
            "not give that. Make the plan again with ss.plan."
        )
    return plan.epsilon
