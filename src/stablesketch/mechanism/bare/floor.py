"""The mathematics of bare plans: how much sensitivity (ε, δ) allows, the floor that achieves it, the grid, and the
remaining error.

Let ρ be the sensitivity and V the variance of one entry about ln F_p. An estimate has the relative error
sqrt(V/size) (1 + Λ/F_p); the floor Λ buys privacy with error. As a guide, never a guarantee, the release is as private
as a Gaussian one with μ = ln ρ · sqrt(size/V). What is reported comes from the certified curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from ...errors import PlanInfeasible
from ...law import StableLaw
from ...numbers.search import least_between
from ...privacy import Privacy, PrivacyCurve
from ...privacy.neighbours import MOST_FLOOR, log_sensitivity
from ...privacy.precision import NUMERICAL_ERROR, coarse_enough_step, rounded_deviation, rounding_delta
from ...text.wording import arg, subject

PRECISION_SHARE = 0.75  # the largest part of δ that finite precision may take
_NORMAL = NormalDist()


def relative_deviation(p: float, size: int) -> float:
    """The relative standard deviation of the estimate of the scale of `size` entries.

    sqrt(V/size) is the Cramér-Rao bound; at finite size the exact estimator exceeds it by about 1/size (measured:
    1.020 at size 50, docs/accuracy.md).
    """
    return math.sqrt(1.0 / (size * StableLaw(p).fisher_information)) * (1.0 + 1.0 / size)


@dataclass(frozen=True)
class Grid:
    """The grid for an estimate of this deviation before it is rounded, and what it costs in δ.

    `curve_delta` is the part of δ left for the entries after finite precision has taken its share; None if it takes
    more than its share even on the coarsest grid.
    """

    deviation: float
    step: float
    cost: float
    curve_delta: float | None

    @classmethod
    def of(cls, deviation: float, privacy: Privacy, numerical_error: float = NUMERICAL_ERROR) -> Grid:
        share = PRECISION_SHARE * privacy.delta
        step = coarse_enough_step(deviation, privacy.epsilon, share, numerical_error)
        cost = rounding_delta(privacy.epsilon, step, numerical_error)
        return cls(deviation, step, cost, privacy.delta - cost if cost <= share else None)

    @property
    def spread(self) -> float:
        """The relative deviation after rounding ln T."""
        return rounded_deviation(self.deviation, self.step)


def gaussian_guide(epsilon: float, delta: float) -> float:
    """μ of Gaussian differential privacy with δ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2), by bisection: a guide only."""
    low, high = 1e-12, 100.0
    for _ in range(200):
        mu = math.sqrt(low * high)
        value = _NORMAL.cdf(-epsilon / mu + mu / 2) - math.exp(min(epsilon, 700.0)) * _NORMAL.cdf(
            -epsilon / mu - mu / 2
        )
        low, high = (mu, high) if value < delta else (low, mu)
    return low


@lru_cache(maxsize=4096)
def largest_log_rho(p: float, size: int, epsilon: float, delta: float) -> float:
    """The largest ln ρ (within half a percent) at which the certified curve of `size` entries still gives δ(ε) <=
    delta.

    ε and δ grow with ρ (privacy/entries/curve.py), so a bracket of ln ρ closes on the answer; its safe end is returned.
    """
    safe = epsilon * p / size * (1.0 - 1e-12)  # pure ε by basic composition: δ = 0 there
    guide = gaussian_guide(epsilon, delta) * math.sqrt(1.0 / (size * StableLaw(p).fisher_information))
    unsafe = math.inf
    trial = max(guide * 0.97, safe)
    for _ in range(24):
        if PrivacyCurve.from_log(p, size, trial).delta(epsilon) <= delta:
            safe = max(safe, trial)
        else:
            unsafe = min(unsafe, trial)
        if unsafe <= safe * 1.005:
            break
        trial = safe * 1.02 if math.isinf(unsafe) else math.sqrt(safe * unsafe) if unsafe < 1.3 * safe else safe * 1.15
    return safe


def floor_for(p: float, privacy: Privacy, log_rho: float, *, within: float = 1e-6) -> float:
    """The least floor Λ (to a relative accuracy of `within`, rounded up) with sensitivity at most ρ; 0 if none is
    needed.

    Raises:
        PlanInfeasible: the floor would exceed any possible stream.
    """
    if log_sensitivity(p, privacy, 0.0) <= log_rho:
        return 0.0
    # ρ <= 1 + c M^p/Λ for any stream (privacy/neighbours.py), so this floor is enough.
    change = privacy.pairs_per_person * math.pow(privacy.max_value, p)
    excess = math.expm1(log_rho)
    if change * 1.01 > excess * MOST_FLOOR:
        raise PlanInfeasible(
            f"a person can change F_{p:g} by {change:.3g}, which no floor can hide at ε = {privacy.epsilon:g}, δ = "
            f"{privacy.delta:g}. Pass {arg('mechanism', 'exact')}, or a larger ε, or a smaller {subject('max_value')} "
            f"or {subject('pairs_per_person')}."
        )

    def enough(floor: float) -> bool:
        return log_sensitivity(p, privacy, floor) <= log_rho

    high = change / excess * (1.0 + 1e-9)
    while not enough(high):
        high *= 1.0 + 1e-6
    return least_between(enough, 0.0, high, within)
