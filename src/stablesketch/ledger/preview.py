"""The price of further releases, and whether they would fit, as the books stand now. Nothing is recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..errors import PlanInfeasible
from ..numbers.search import last_whole
from ..plan import Plan
from ..plan.mechanism import charge_of, mechanism_of
from ..privacy import PrivacyCurve
from ..privacy.charge import Charge
from ..text.spoken import at_least, at_most
from .accounting import ComposedCost
from .books import Books
from .composition import Composition, Lane
from .record import Ask, Entry
from .rows import Budget
from .unit import require_unit, seen_as

MANY = 1_000_000  # releases; a forecast does not count further
_STEPS = 14
_CLOSE = 1.003
_MOST = 100.0  # ε, or ln ρ: beyond this there is no privacy left


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
            f"{many_releases(self.releases)}: {verdict}\n"
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
            f"{many_releases(self.releases)} of {self.plan.statistic}\n"
            f"each    ε = {at_most(self.epsilon, 6)} at δ = {at_most(self.delta, 3)}\n"
            f"spent   ε = {at_most(self.spent, 6)}\n"
            f"after   ε = {at_most(self.after, 6)}\n"
            f"error   {mechanism_of(self.plan).error_in_words(self.plan)}; for each"
        )


def many_releases(number: int) -> str:
    """How many releases, in words."""
    return f"{number:,} release{'s' * (number != 1)}"


def preview_of(books: Books, name: str, asks: Sequence[Ask], times: int, lane: Lane) -> Preview:
    """The preview of releasing each of the asks `times` times, in one lane."""
    for ask in asks:
        require_unit(books.head, seen_as(books.head, ask))
    charges = [ask.charge for ask in asks]
    limits = books.limits(name, books.head.relation or (asks[0].relation if asks else "replace"))
    totals = [composition.total_if(charges, times, lane) for _, composition in limits]
    own, composition = limits[0]
    return Preview(
        fits=all(budget.holds(total) for (budget, _), total in zip(limits, totals, strict=True)),
        releases=len(asks) * times,
        asked=tuple((ask.epsilon, ask.delta) for ask in asks),
        spent=own.epsilon_of(composition.total()),
        after=own.epsilon_of(totals[0]),
        epsilon=own.epsilon,
        delta=own.delta,
    )


def would_fit(books: Books, name: str, ask: Ask) -> bool:
    """Whether a release like this one fits into all budgets."""
    require_unit(books.head, ask)
    return _fit(books.limits(name, books.head.relation or ask.relation), [ask.charge], 1, Lane())


def how_many(books: Books, name: str, ask: Ask | None) -> int | None:
    """How many releases like this one, or like the last one of the budget, fit now; at most MANY."""
    lane = Lane()
    if ask is None:
        last = books.last(name)
        if last is None:
            return None
        ask, lane = last
    ask = seen_as(books.head, ask)
    require_unit(books.head, ask)
    limits, charges = books.limits(name, books.head.relation or ask.relation), [ask.charge]

    def fits(times: int) -> bool:
        return _fit(limits, charges, times, lane)

    low, high = 0, 1
    while high < MANY and fits(high):
        low, high = high, 2 * high
    if high >= MANY and fits(MANY):
        return MANY
    return last_whole(fits, low, min(high, MANY))


def _fit(limits: list[tuple[Budget, Composition]], charges: Sequence[Charge], times: int, lane: Lane) -> bool:
    """Whether each of these charges fits `times` times, in one lane."""
    return all(budget.holds(composition.total_if(charges, times, lane)) for budget, composition in limits)


def epsilon_that_fits(books: Books, name: str, entries: Sequence[Entry]) -> float | None:
    """The largest ε at which these releases, all like the first of them, would fit now."""
    ask = entries[0].ask

    def fits(like: Charge) -> bool:
        changed = replace(ask, charge=like)
        alike = [entry._replace(ask=changed) for entry in entries]
        limiting = books.budgets.limiting(name)
        return all(budget.holds(books.composition(budget, ask.relation, alike).total()) for budget in limiting)

    return _largest_epsilon(ask.charge, fits, most=ask.epsilon)


def schedule_of(books: Books, name: str, plan: Plan, releases: int) -> Schedule:
    """The largest ε at which this many releases like `plan` fit into all budgets, planned and checked."""
    require_unit(books.head, seen_as(books.head, Ask.of_plan(plan)))
    relation = books.head.relation or plan.privacy.protects
    spent = [(budget, composition.total()) for budget, composition in books.limits(name, relation)]

    def after(charge: Charge) -> Iterator[tuple[Budget, ComposedCost]]:
        for budget, cost in spent:
            yield budget, cost + ComposedCost.of(charge, relation, budget.theta).times(releases)

    def fits(charge: Charge) -> bool:
        return all(budget.holds(cost) for budget, cost in after(charge))

    epsilon = _largest_epsilon(charge_of(plan), fits)
    for attempt in range(_STEPS if epsilon is not None else 0):
        assert epsilon is not None
        candidate = plan.again(epsilon=epsilon, same_size=True)
        charge = charge_of(candidate)
        if fits(charge):
            (own, before), (_, cost) = spent[0], next(after(charge))
            return Schedule(releases, candidate, own.epsilon_of(before), own.epsilon_of(cost))
        epsilon *= 0.999**2**attempt  # plans use round numbers, and may need a little more
    raise PlanInfeasible(
        f"what is left of the budget is too little for {releases:,} releases at any ε. Ask for fewer releases, a "
        "smaller δ for each (all of them together must fit), a plan with fewer entries (which loses less to finite "
        "precision), or a larger budget."
    )


def _largest_epsilon(charge: Charge, fits: Callable[[Charge], bool], *, most: float = math.inf) -> float | None:
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
