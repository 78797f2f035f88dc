"""Previews of prices and of what would fit. Nothing is recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import PlanInfeasible
from ..plan import Plan
from ..plan.mechanism import charge_of, mechanism_of
from ..privacy import PrivacyCurve
from ..privacy.charge import Charge
from ..text.spoken import at_least, at_most
from .accounting import ComposedCost

# A budget of 0.3 must allow releases of 0.1 and 0.2, whose floats add up to slightly more: nine digits count.
NINE_DIGITS = 1.0 + 1e-9
_STEPS = 14
_CLOSE = 1.003
_MOST = 100.0  # ε, or ln ρ: beyond this there is no privacy left


@dataclass(frozen=True)
class Limit:
    """A budget, and how much of it has been spent."""

    name: str
    epsilon: float
    delta: float
    spent: ComposedCost

    def holds(self, cost: ComposedCost) -> bool:
        """Whether this total is within the budget: at the budget's ε, its δ is at most the budget's."""
        return cost.delta(self.epsilon * NINE_DIGITS) <= self.delta * NINE_DIGITS

    def epsilon_of(self, cost: ComposedCost) -> float:
        """The certified ε of this total at the budget's δ."""
        return cost.epsilon(self.delta * NINE_DIGITS)


@dataclass(frozen=True)
class Preview:
    """The price of some releases if they were made now. `spent` and `after` are certified ε at the budget's δ."""

    fits: bool
    releases: int
    asked: tuple[tuple[float, float], ...]
    spent: float
    after: float
    epsilon: float
    delta: float

    @property
    def left(self) -> float:
        """The ε of the budget that would be left."""
        return max(0.0, self.epsilon - self.after)

    def __str__(self) -> str:
        verdict = "fits" if self.fits else "does not fit"
        after = f"ε = {at_most(self.after, 6)}, left {at_least(self.left, 6)}"
        if math.isinf(self.after):
            after = "no ε is enough: the δ of all releases together is above that of the budget"
        return (
            f"{self.releases:,} release(s): {verdict}\n"
            f"budget  ε = {self.epsilon:.6g} at δ = {self.delta:.3g}\n"
            f"spent   ε = {at_most(self.spent, 6)}\n"
            f"after   {after}"
        )


@dataclass(frozen=True)
class Schedule:
    """A schedule: `releases` releases by `plan` fit into what is left. `plan` is the plan you asked about, with the ε
    that fits.
    """

    releases: int
    plan: Plan
    spent: float
    after: float

    @property
    def epsilon(self) -> float:
        """ε of each release."""
        return self.plan.epsilon

    @property
    def delta(self) -> float:
        """δ of each release."""
        return self.plan.delta

    def __str__(self) -> str:
        return (
            f"{self.releases:,} release(s) of {self.plan.statistic}\n"
            f"each    ε = {at_most(self.epsilon, 6)} at δ = {at_most(self.delta, 3)}\n"
            f"spent   ε = {at_most(self.spent, 6)}\n"
            f"after   ε = {at_most(self.after, 6)}\n"
            f"error   {mechanism_of(self.plan).error_in_words(self.plan)}; for each"
        )


def largest_epsilon(charge: Charge, fits: Callable[[Charge], bool], *, most: float = math.inf) -> float | None:
    """Approximately the largest ε (at most `most`, at the δ of `charge`) for which a charge like it fits, or None.

    The search is over how much neighbours change, or over ε itself for noise: less of it means less cost.
    """
    size = charge.log_rho if charge.kind == "sketch" else charge.epsilon
    low = high = 1.0
    if fits(charge.scaled(1.0)):
        while 4.0 * low * size < _MOST and fits(charge.scaled(4.0 * low)):
            low *= 4.0
        high = 4.0 * low
    else:
        while not fits(charge.scaled(low)):
            low, high = low / 4.0, low
            if low < 1e-6:
                return None
    for _ in range(_STEPS):
        if high <= low * _CLOSE:
            break
        middle = math.sqrt(low * high)
        low, high = (middle, high) if fits(charge.scaled(middle)) else (low, middle)
    if charge.kind != "sketch":
        # Noise on an estimate is not quite proportional to 1/ε: a little less is certain to fit.
        sure = 0.98 if "estimate" in {charge.kind, *(one.kind for one in charge.charges)} else 1.0
        return min(sure * low * charge.epsilon, most)
    curve = PrivacyCurve.from_log(charge.p, charge.size, low * charge.log_rho)
    # A plan for this ε or less has at most this sensitivity: the lower end of the bracket is not above the true value.
    epsilon = curve.bracket(0.5 * charge.delta)[0]
    left = charge.delta - (1.0 + math.exp(min(epsilon, 700.0))) * charge.gap
    return min(curve.bracket(left)[0] if left > 0.0 else epsilon, most)


def schedule(
    plan: Plan, releases: int, limits: Sequence[Limit], cost_of: Callable[[Charge, int], ComposedCost]
) -> Schedule:
    """The largest ε at which `releases` releases fit into all limits, planned and checked."""

    def fits(charge: Charge) -> bool:
        return all(limit.holds(limit.spent + cost_of(charge, i).times(releases)) for i, limit in enumerate(limits))

    epsilon = largest_epsilon(charge_of(plan), fits)
    for attempt in range(_STEPS if epsilon is not None else 0):
        assert epsilon is not None
        candidate = plan.again(epsilon=epsilon, same_size=True)
        charge = charge_of(candidate)
        if fits(charge):
            after = limits[0].epsilon_of(limits[0].spent + cost_of(charge, 0).times(releases))
            return Schedule(releases, candidate, limits[0].epsilon_of(limits[0].spent), after)
        epsilon *= 0.999**2**attempt  # plans use round numbers, and may need a little more
    raise PlanInfeasible(
        f"what is left of the budget is too little for {releases:,} releases at any ε. Ask for fewer releases, "
        "a smaller δ for each (all of them together must fit), a plan with fewer entries (which loses less to finite "
        "precision), or a larger budget."
    )
