"""The unit of a ledger: what all its releases protect. Costs add up only if they protect the same thing."""

from __future__ import annotations

from dataclasses import replace

from ..errors import UnitMismatch
from ..plan.in_words import act, of_one_person
from ..text.wording import arg, either
from .record import PEOPLE, Ask
from .rows import Head


def require_unit(head: Head, ask: Ask) -> None:
    """Refuses a release that protects something other than the ledger does. Until the unit is fixed, any is allowed."""
    for has, given in ((head.relation, ask.relation), (head.pairs_per_person, ask.pairs_per_person)):
        if has is not None and has != given:
            raise UnitMismatch(_mismatch(head, ask))


def seen_as(head: Head, ask: Ask) -> Ask:
    """The ask, for people if the ledger is for people: a plan does not know whether people will be bounded."""
    return replace(ask, relation=PEOPLE) if (head.relation, ask.relation) == (PEOPLE, "add_remove") else ask


def fix_unit(head: Head, ask: Ask) -> None:
    """The first release fixes the unit, unless the ledger was made with one."""
    require_unit(head, ask)
    head.relation = ask.relation
    if ask.relation != PEOPLE:  # people are protected however many of their pairs a release uses
        head.pairs_per_person = ask.pairs_per_person


_APART = "Their costs cannot be added up"


def _mismatch(head: Head, ask: Ask) -> str:
    """What the ledger is for, what the release protects, and what to do."""
    if ask.relation == head.relation == PEOPLE:
        return (
            f"this ledger is for people with up to {head.pairs_per_person:,} pairs each, but the release uses up to "
            f"{ask.pairs_per_person:,} of each. Plan with {arg('pairs_per_person', head.pairs_per_person)}, or use "
            "another ledger."
        )
    if ask.relation == PEOPLE:
        made = either(
            f"ss.Ledger(path, epsilon=..., delta=..., relation={PEOPLE!r})",
            "stablesketch ledger new FILE --epsilon 3 --people",
        )
        return (
            f"this ledger is for {noun(head.relation)}s, but the release protects people. {_APART}. Create a ledger "
            f"for people: {made}. If this ledger comes from version 0.1.0 and all its releases protected people, "
            "record their cost in the new one."
        )
    if head.relation == PEOPLE:
        return (
            f"this ledger is for people, but the release protects {noun(ask.relation)}s. {_APART}. Name the column "
            f"of people in this release too ({arg('person')}), or use another ledger."
        )
    return (
        f"this ledger protects {_unit(head.relation, head.pairs_per_person)}, but the release protects "
        f"{_unit(ask.relation, ask.pairs_per_person)}. {_APART}. Plan with the unit of the ledger, or use "
        "another ledger."
    )


def noun(relation: str | None) -> str:
    """What neighbours differ by: a pair, unless the relation names something else."""
    return ((relation or "").partition(" of ")[2] or "pairs").removesuffix("s")


def _unit(relation: str | None, pairs_per_person: int | None) -> str:
    """What is protected, and the name of the relation."""
    relation = relation or "add_remove"
    return f"against {act(relation)} any {of_one_person(pairs_per_person or 1, noun(relation))} ({relation})"
