"""A plan as a table for people. It is made from the plan alone, so it reveals nothing about the data."""

from __future__ import annotations

import textwrap

from ..privacy import Privacy, delta_advice, epsilon_advice
from ..text.spoken import price_in_words
from .exact_instead import in_an_example
from .in_words import act, change, promised
from .mechanism import mechanism_of, needs_promise
from .plan import Plan

_LEAST_WIDTH = 70  # of a note
_WIDEST = 100  # rule, however long a row is


def plan_table(plan: Plan, whose: Privacy | None = None, *, person: bool = False, pair: str = "row") -> str:
    """What was asked for, what is reached, what it costs, and how the exact mechanism compares.

    `whose` is what the release protects, if the plan itself is for other neighbours (in a table, or if the pairs of
    each person are bounded). `person` says that the release protects people, and `pair` is the word for their pairs.
    """
    privacy = plan.privacy
    rows = [
        ("statistic", str(plan.statistic)),
        ("protects", _protected(plan, whose or privacy, person, pair)),
        ("asked", f"ε = {privacy.epsilon:g}, δ = {privacy.delta:g}"),
        ("reached", price_in_words(plan.epsilon, plan.delta)),
        *mechanism_of(plan).rows(plan),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {text}" for name, text in rows]
    title = f"Plan: {plan.statistic} by the {plan.mechanism} mechanism"
    rule = "─" * min(max(len(line) for line in [title, *lines]), _WIDEST)
    within = max(len(rule) - width - 2, _LEAST_WIDTH)
    for note in _notes(plan):
        first, *rest = textwrap.wrap(note, within)
        lines += [f"{'note'.ljust(width)}  {first}", *(f"{' ' * width}  {line}" for line in rest)]
    return "\n".join([title, rule, *lines])


def _notes(plan: Plan) -> list[str]:
    better = "" if plan.expected else in_an_example(plan)  # where a value is expected, its error is among the rows
    return [note for note in (better, epsilon_advice(plan.privacy), plan.delta and delta_advice(plan.privacy)) if note]


def _protected(plan: Plan, privacy: Privacy, person: bool, pair: str) -> str:
    """What is protected: in any stream, or in one that keeps these promises."""
    if not needs_promise(plan):
        public = f"; the number of {privacy.unit}s is public" if privacy.relation == "replace" else ""
        return f"{change(privacy, person=person, pair=pair)}{public}"
    privacy = plan.privacy
    of = "of" if privacy.relation == "replace" else "in a stream of"
    changed = f"{act(privacy.relation)} up to {privacy.pairs_per_person:,}"
    return f"{changed} {of} {promised(privacy)}, values up to {privacy.max_value:,}"
