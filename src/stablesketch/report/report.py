"""The page about a release, from the releases and their plan; nothing else of the data is known here."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from string import Template

from .. import __version__
from ..errors import ArgumentError
from ..ledger import Ledger
from ..page import document, escaped
from ..pictures.profile_picture import shown_name
from ..pictures.release_picture import release_picture
from ..pictures.save import inline_svg
from ..plan import Plan
from ..privacy import Relation
from ..published import Release
from ..release.outcome import GroupRelease, Outcome
from ..release.question import Question
from ..spoken import at_most, short
from ..statistic import Subject
from . import sentences, tables
from .commands import commands
from .definitions import asked


@dataclass(frozen=True)
class Context:
    """What is said of a release beside what is in it: all of it public, none of it from the data.

    `key`, `value` and `by` are names of columns, None where only a stored sketch is known; `ledger` what
    the budget says after it.
    """

    date: str
    version: str
    key: str | None = None
    by: str | None = None
    person: bool = False
    ledger: str | None = None
    value: str | None = None

    @classmethod
    def of(cls, question: Question | None, ledger: Ledger | None = None) -> Context:
        """What is known today of a release by this question, or from a stored sketch; `ledger` is where it was paid."""
        spent = None
        if ledger is not None:
            spent = (
                f"It is recorded in a ledger. All releases there, {len(ledger):,} so far, cost "
                f"ε = {at_most(ledger.spent())} of {ledger.epsilon:g} at δ = {ledger.delta:g} together."
            )
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        if question is None:
            return cls(today, __version__, ledger=spent)
        columns = question.columns
        return cls(
            today,
            __version__,
            key=None if columns.key == ("line",) else " and ".join(columns.key),
            by=" and ".join(columns.by) or None,
            person=columns.person is not None,
            ledger=spent,
            value=columns.value,
        )


def report_page(outcome: Outcome, context: Context) -> str:
    """A whole page of HTML, which needs no network and no script."""
    groups = [one for one in outcome.releases if isinstance(one, GroupRelease)]
    singles = [one for one in outcome.releases if isinstance(one, Release)]
    if not groups and not singles:
        raise ArgumentError("outcome", outcome.releases, "nothing was released", "Report a release, or some groups")
    plan = outcome.plan
    first = groups[0].release if groups else singles[0]
    about = _as_asked(plan, first)
    subject = Subject(context.key, context.value)
    title = plan.statistic.topic.asked(subject, context.by if groups else None)
    template = resources.files(__package__).joinpath("report.html").read_text(encoding="utf-8")
    body = Template(template).substitute(
        title=escaped(title),
        date=escaped(context.date),
        version=escaped(context.version),
        headline=escaped(_headline(plan, groups, first, subject)),
        picture=inline_svg(release_picture(outcome.releases), _described(groups, first)),
        groups=tables.group_table(groups) if groups else tables.order_table(first) if first.points else "",
        cost=escaped(sentences.cost(about, first, len(groups), context.person, outcome.shares)),
        ledger=f"<p>{escaped(context.ledger)}</p>" if context.ledger else "",
        protected=tables.items(sentences.protected(about, context.person, outcome.shares)),
        not_protected=tables.items(sentences.not_protected(about, first, context.person, len(groups), outcome.shares)),
        asked=tables.rows(asked(about, bool(groups), outcome.shares)),
        known=_known(outcome),
        each=_whose(bool(groups), len(outcome.shares) > 1),
        plan=escaped(str(plan)),
        computed=tables.items([*sentences.chosen(outcome.shares, context.person), *sentences.computed(plan)]),
        commands=escaped("\n".join(commands(plan))),
        plan_json=escaped(plan.to_json()),
        json=escaped("\n".join(one.to_json() for one in outcome.releases)),
    )
    return document(title, body)


def _known(outcome: Outcome) -> str:
    if any(share.purpose == "max_value" for share in outcome.shares):
        return "Made from public numbers and from the max_value that was found privately"
    return "Made from public numbers, before any data were read"


def _whose(grouped: bool, divided: bool) -> str:
    """What the plan is of, where that is not all that was paid for."""
    if not grouped:
        return "; this is the plan of the number itself, with its share of ε and δ" if divided else ""
    return f"; this is the plan of each group{', with their share of ε and δ' if divided else ''}"


def _as_asked(plan: Plan, release: Release) -> Plan:
    """The plan with what the release protects: that of a group is made for pairs that may leave it for another."""
    relation: Relation = "replace" if release.relation == "replace" else "add_remove"
    privacy = replace(plan.privacy, relation=relation, pairs_per_person=release.pairs_per_person, groups=1)
    return plan.altered(privacy=privacy)


def _headline(plan: Plan, groups: Sequence[GroupRelease], first: Release, subject: Subject) -> str:
    if not groups:
        return plan.statistic.headline(first, subject)
    if len(groups) == 1:
        return f"{groups[0].name}: {plan.statistic.headline(first, subject)}"
    most = max(groups, key=lambda one: one.release.value)
    said = f"Of {len(groups):,} groups, {most.name} {plan.statistic.topic.leading(subject)}"
    rivals = [one for one in groups if one is not most and one.release.high >= most.release.low]
    sure = f", though {len(rivals):,} more cannot be told from it" if rivals else ""
    low, high = short(most.release.low), short(most.release.high)
    return f"{said}{sure}: {shown_name(first)} is about {short(most.release.value)}, between {low} and {high}."


def _described(groups: Sequence[GroupRelease], first: Release) -> str:
    if groups:
        return f"{first.statistic} of {len(groups):,} groups with their intervals; the table below has the numbers."
    if first.points:
        return f"{first.statistic} with their intervals; the table below has the numbers."
    return f"{first.statistic}: {short(first.value)}, interval from {short(first.low)} to {short(first.high)}."
