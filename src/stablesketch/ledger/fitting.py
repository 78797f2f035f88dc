"""The price of releases, and whether they would fit, as the books stand now. Nothing is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..numbers.search import last_whole
from ..plan import Plan
from ..privacy.charge import Charge
from .accounting import ComposedCost
from .books import Books
from .composition import Lane
from .preview import Preview, Schedule, largest_epsilon, schedule
from .record import Ask, Entry
from .unit import require_unit, seen_as

MANY = 1_000_000  # releases; a forecast does not count further


def preview_of(books: Books, name: str, asks: Sequence[Ask], times: int, lane: Lane) -> Preview:
    """The preview of releasing each of the asks `times` times, in one lane."""
    for ask in asks:
        require_unit(books.head, seen_as(books.head, ask))
    relation = books.head.relation or (asks[0].relation if asks else "replace")
    limits = books.limits(name, relation)
    totals = books.totals_if(name, asks, times, lane, relation)
    own = limits[0]
    return Preview(
        fits=all(limit.holds(total) for limit, total in zip(limits, totals, strict=True)),
        releases=len(asks) * times,
        asked=tuple((ask.epsilon, ask.delta) for ask in asks),
        spent=own.epsilon_of(own.spent),
        after=own.epsilon_of(totals[0]),
        epsilon=own.epsilon,
        delta=own.delta,
    )


def schedule_of(books: Books, name: str, plan: Plan, releases: int) -> Schedule:
    """The largest ε at which this many releases like `plan` fit."""
    require_unit(books.head, seen_as(books.head, Ask.of_plan(plan)))
    relation = books.head.relation or plan.privacy.protects
    limits = books.limits(name, relation)
    thetas = [books.budgets.lasting(limit.name).theta for limit in limits]
    return schedule(plan, releases, limits, lambda charge, i: ComposedCost.of(charge, relation, thetas[i]))


def would_fit(books: Books, name: str, ask: Ask) -> bool:
    """Whether a release like this one fits into all budgets now."""
    require_unit(books.head, ask)
    relation = books.head.relation or ask.relation
    totals = books.totals_if(name, [ask], 1, Lane(), relation)
    return all(limit.holds(total) for limit, total in zip(books.limits(name, relation), totals, strict=True))


def epsilon_that_fits(books: Books, name: str, entries: Sequence[Entry]) -> float | None:
    """The largest ε at which these releases, all like the first of them, would fit now."""
    ask = entries[0].ask
    limits = books.limits(name, ask.relation)

    def fits(like: Charge) -> bool:
        changed = replace(ask, charge=like)
        alike = [entry._replace(ask=changed) for entry in entries]
        totals = books.totals_with(name, alike, ask.relation)
        return all(limit.holds(total) for limit, total in zip(limits, totals, strict=True))

    return largest_epsilon(ask.charge, fits, most=ask.epsilon)


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
    relation = books.head.relation or ask.relation
    limits = books.limits(name, relation)

    def fits(times: int) -> bool:
        totals = books.totals_if(name, [ask], times, lane, relation)
        return all(limit.holds(total) for limit, total in zip(limits, totals, strict=True))

    low, high = 0, 1
    while high < MANY and fits(high):
        low, high = high, 2 * high
    if high >= MANY and fits(MANY):
        return MANY
    return last_whole(fits, low, min(high, MANY))
