"""The unit of a ledger: what all its releases protect. Only what protects the same adds up."""

from __future__ import annotations

from dataclasses import replace

from ..errors import UnitMismatch
from ..wording import arg
from .record import PEOPLE, Ask
from .rows import Head


def require_unit(head: Head, ask: Ask) -> None:
    """Refuses what protects something else than the ledger does; a unit that is not fixed yet refuses nothing."""
    for has, given in ((head.relation, ask.relation), (head.pairs_per_person, ask.pairs_per_person)):
        if has is not None and has != given:
            raise UnitMismatch(
                f"the ledger protects {_unit(head.relation, head.pairs_per_person)}, the release "
                f"{_unit(ask.relation, ask.pairs_per_person)}. What protects different things does not add up: "
                f"{_way_out(head.relation, ask.relation)}."
            )


def seen_as(head: Head, ask: Ask) -> Ask:
    """The same, of people where the ledger is: a plan does not know by whom its pairs will be bounded."""
    return replace(ask, relation=PEOPLE) if (head.relation, ask.relation) == (PEOPLE, "add_remove") else ask


def fix_unit(head: Head, ask: Ask) -> None:
    """The first release fixes the unit, unless the ledger was made with one."""
    require_unit(head, ask)
    head.relation = ask.relation
    if ask.relation != PEOPLE:  # a person is a person, however many pairs of theirs a release takes
        head.pairs_per_person = ask.pairs_per_person


def _unit(relation: str | None, pairs_per_person: int | None) -> str:
    """What is protected, in the words of the arguments."""
    if relation == PEOPLE:
        return (
            f"all that one person did{'' if pairs_per_person is None else f', {pairs_per_person:,} pairs of it used'}"
        )
    return f"{arg('relation', relation)} with {arg('pairs_per_person', pairs_per_person)}"


def _way_out(has: str | None, given: str | None) -> str:
    if has == PEOPLE:
        return f"name the person column ({arg('person')}) in this release too, or keep another ledger"
    if given == PEOPLE:
        return (
            "keep another ledger for people: stablesketch ledger new --people, or in Python one whose relation is "
            f"{PEOPLE!r}. If this one is of version 0.1.0 and all that it has were people, record there what was spent"
        )
    return "plan with the unit of the ledger, or keep another one"
