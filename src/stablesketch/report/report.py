"""The page about a release, made from the releases and their plan; nothing else about the data is known here."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from string import Template

from .. import __version__
from ..errors import ArgumentError
from ..ledger import Ledger
from ..page import document, escaped, unbroken
from ..pictures.release_picture import release_picture
from ..pictures.save import inline_svg
from ..plan import Plan
from ..plan.plan import altered
from ..privacy import Relation
from ..release.little_known import known_groups
from ..release.outcome import GroupRelease, Outcome, to_json
from ..release.question import Question
from ..statistic import Statistic, Subject
from ..statistic.published import Release
from ..text.spoken import at_most, but_rivals, short
from . import sentences, tables
from .commands import commands
from .definitions import terms_in_words


@dataclass(frozen=True)
class Named:
    """The user's own names for things, shown to readers of the report; empty if not given.

    `noun` is the plural of the keys: apps, for example.
    """

    dataset: str = ""
    period: str = ""
    label: str = ""
    noun: str = ""


_NO_NAMES = Named()


@dataclass(frozen=True)
class Context:
    """The facts about a release besides its content: all public, none from the data.

    `key`, `value` and `by` are names of columns; None if only a stored sketch is known. `ledger` is the state of the
    budget after the release, in words. `pair` is the word for a pair: a row, unless the table is wide, whose rows have
    many pairs, or is not known.
    """

    date: str
    version: str
    key: str | None = None
    by: str | None = None
    person: bool = False
    groups_per_person: int = 1
    ledger: str | None = None
    value: str | None = None
    named: Named = _NO_NAMES
    pair: str = "row"

    @classmethod
    def of(cls, question: Question | None, ledger: Ledger | None = None, named: Named = _NO_NAMES) -> Context:
        """The facts, as of today, about a release that answers this question, or one from a stored sketch. `ledger`
        paid for it.
        """
        spent = None
        if ledger is not None:
            during = "" if ledger.period is None else f" in {ledger.period}"
            spent = (
                f"It is recorded in a ledger. All its releases{during} together cost "
                f"ε = {at_most(ledger.spent())} of {ledger.epsilon:g} at δ = {at_most(ledger.delta, 6)}."
            )
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        if question is None:
            return cls(today, __version__, ledger=spent, named=named, pair="pair")
        subject = question.subject(named.noun)
        return cls(
            today,
            __version__,
            key=subject.key,
            by=" and ".join(question.columns.by) or None,
            person=subject.person,
            groups_per_person=question.groups_per_person,
            ledger=spent,
            value=subject.value,
            named=replace(named, noun=subject.noun or ""),
            pair=question.pair,
        )


def limits_in_words(plan: Plan, release: Release, context: Context, groups: int) -> str:
    """What the limits of a release mean, in a table of this many groups."""
    of_each = context.groups_per_person if groups else None
    return sentences.limits(plan, release, context.person, of_each, pair=context.pair)


def report_page(outcome: Outcome, context: Context) -> str:
    """A whole HTML page that needs no network and no script."""
    groups = [one for one in outcome.releases if isinstance(one, GroupRelease)]
    singles = [one for one in outcome.releases if isinstance(one, Release)]
    if not groups and not singles:
        raise ArgumentError(
            "outcome", outcome.releases, "must have at least one release", "Report a release, or some groups"
        )
    plan = outcome.plan
    first = groups[0].release if groups else singles[0]
    about = as_asked(plan, first)
    named = context.named
    subject = Subject(context.key, context.value, named.noun or None, context.person, context.pair)
    title = plan.statistic.topic.asked(subject, context.by if groups else None)
    template = resources.files(__package__).joinpath("report.html").read_text(encoding="utf-8")
    body = Template(template).substitute(
        title=escaped(title),
        named=escaped(_named(named)),
        date=escaped(context.date),
        version=escaped(context.version),
        whom=escaped(sentences.whom(about, context.person, first, pair=context.pair)),
        limits=escaped(
            " ".join(filter(None, [limits_in_words(about, first, context, len(groups)), outcome.little_known]))
        ),
        headline=escaped(_headline(plan, groups, first, subject)),
        picture=inline_svg(
            release_picture(outcome.releases, outcome.in_order, plan.statistic, subject), _described(groups, first)
        ),
        groups=_table(plan.statistic, outcome.in_order, groups, first),
        cost=escaped(sentences.cost(about, first, len(groups), context.person, outcome.shares, pair=context.pair)),
        ledger=f"<p>{escaped(context.ledger)}</p>" if context.ledger else "",
        protected=tables.items(sentences.protected(about, context.person, outcome.shares, pair=context.pair)),
        not_protected=tables.items(
            sentences.not_protected(about, first, context.person, len(groups), outcome.shares, pair=context.pair)
        ),
        asked=tables.rows(
            [
                *terms_in_words(about, outcome.shares, person=context.person, pair=context.pair),
                ("planned error", outcome.planned_error),
            ]
        ),
        computed=tables.items(
            [
                *sentences.chosen(about, outcome.shares, context.person, pair=context.pair),
                *sentences.computed(plan),
            ]
        ),
        commands=unbroken("\n".join(commands(plan, shared=len(outcome.shares) > 1))),
        plan_json=_attached("plan.json", plan.to_json()),
        json=_attached("release.json", to_json(outcome.releases, grouped=bool(groups))),
    )
    return document(title, body)


def _named(named: Named) -> str:
    """What the release is about, in the publisher's words."""
    facts = (("Data", named.dataset), ("Period", named.period), ("Release", named.label))
    return "".join(f"{what}: {name}. " for what, name in facts if name)


def _attached(name: str, text: str) -> str:
    """A file inside the page, as a link that saves it without network or script."""
    content = base64.b64encode(f"{text}\n".encode()).decode()
    return f'<a download="{name}" href="data:application/json;base64,{content}">{name}</a>'


def as_asked(plan: Plan, release: Release) -> Plan:
    """The plan with the privacy of the release. The plan of a group also covers pairs that move to another group."""
    relation: Relation = "replace" if release.relation == "replace" else "add_remove"
    privacy = replace(plan.privacy, relation=relation, pairs_per_person=release.pairs_per_person, groups=1)
    return altered(plan, privacy=privacy)


def _table(statistic: Statistic, in_order: bool, groups: Sequence[GroupRelease], first: Release) -> str:
    """The table of the numbers, if there are several."""
    if not groups:
        return tables.order_table(first, statistic) if first.points else ""
    return tables.group_table(groups, statistic, in_order)


def _headline(plan: Plan, groups: Sequence[GroupRelease], first: Release, subject: Subject) -> str:
    """The finding in a sentence; for groups, which one leads, and a caution if the value depends on their sizes."""
    if not groups:
        return plan.statistic.headline(first, subject)
    most = max(known_groups(plan.statistic, groups), key=lambda one: one.release.value)
    own = plan.statistic.headline(most.release, subject)
    own = f"For {most.name}, {own[:1].lower()}{own[1:]}"
    if len(groups) == 1:
        return own
    caution = plan.statistic.caution_between_groups
    leads = f"has the largest {plan.statistic.points[0]}" if caution else plan.statistic.topic.leading(subject)
    said = f"Of {len(groups):,} groups, {most.name} {leads}"
    rivals = [one for one in groups if one is not most and one.release.high >= most.release.low]
    return " ".join(filter(None, [f"{said}{but_rivals(len(rivals), len(groups) - 1)}.", own, caution]))


def _described(groups: Sequence[GroupRelease], first: Release) -> str:
    if groups:
        return f"{first.statistic} of {len(groups):,} groups with their intervals; the table below has the numbers."
    if first.points:
        return f"{first.statistic} with their intervals; the table below has the numbers."
    return f"{first.statistic}: {short(first.value)}, interval from {short(first.low)} to {short(first.high)}."
