"""The page about a release, made from the releases and their plan; nothing else about the data is known here."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

from .. import __version__
from ..errors import ArgumentError
from ..ledger import Ledger
from ..page import document, escaped, unbroken
from ..pictures.release_picture import release_picture
from ..pictures.save import inline_svg
from ..release.little_known import known_groups
from ..release.outcome import GroupRelease, Outcome, largest_first, to_json
from ..statistic import Statistic, Subject
from ..statistic.published import Point, Release
from ..text.spoken import at_most, but_rivals, short, with_limits
from .commands import commands, remark
from .sentences import Explained, computed

_MOST_ORDERS = 5  # in columns beside each other


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

    `subject` is what the stream contains. `by` is the name of the column of groups, None if there is none. `ledger` is
    the state of the budget after the release, in words.
    """

    date: str
    version: str
    subject: Subject
    by: str | None = None
    groups_per_person: int = 1
    ledger: str | None = None
    named: Named = _NO_NAMES

    @classmethod
    def of(cls, outcome: Outcome, ledger: Ledger | None = None, named: Named = _NO_NAMES) -> Context:
        """The facts, as of today, about a release that `ledger` paid for."""
        question, spent = outcome.question, None
        if ledger is not None:
            during = "" if ledger.period is None else f" in {ledger.period}"
            spent = (
                f"It is recorded in a ledger. All its releases{during} together cost "
                f"ε = {at_most(ledger.spent())} of {ledger.epsilon:g} at δ = {at_most(ledger.delta, 6)}."
            )
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        return cls(
            today,
            __version__,
            outcome.subject(named.noun),
            by=None if question is None else " and ".join(question.columns.by) or None,
            groups_per_person=1 if question is None else question.groups_per_person,
            ledger=spent,
            named=named,
        )


def explained(outcome: Outcome, context: Context, what: str) -> Explained:
    """The release of an outcome, which must have one. `what` is what somebody does with it, for the error."""
    groups = [one.release for one in outcome.releases if isinstance(one, GroupRelease)]
    releases = groups or [one for one in outcome.releases if isinstance(one, Release)]
    if not releases:
        raise ArgumentError(
            "outcome", outcome.releases, "must have at least one release", f"{what} a release, or some groups"
        )
    return Explained(
        outcome.plan, outcome.privacy, releases[0], outcome.shares, len(groups), context.subject.person,
        context.groups_per_person, context.subject.pair, outcome.clipped_to,
        counted=outcome.question is not None and outcome.question.counts_pairs,
    )  # fmt: skip


def report_page(outcome: Outcome, context: Context) -> str:
    """A whole HTML page that needs no network and no script."""
    own = explained(outcome, context, "Report")
    groups = [one for one in outcome.releases if isinstance(one, GroupRelease)]
    plan, subject = outcome.plan, context.subject
    title = plan.statistic.topic.asked(subject, context.by if groups else None)
    picture = release_picture(outcome.releases, outcome.in_order, plan.statistic, subject)
    typed = commands(plan, shared=len(outcome.shares) > 1)
    template = resources.files(__package__).joinpath("report.html").read_text(encoding="utf-8")
    body = Template(template).substitute(
        title=escaped(title),
        named=escaped(_named(context.named)),
        date=escaped(context.date),
        version=escaped(context.version),
        whom=escaped(own.whom()),
        limits=escaped(" ".join(filter(None, [own.limits(), outcome.little_known]))),
        headline=escaped(_headline(plan.statistic, groups, own.release, subject)),
        picture=inline_svg(picture, _described(groups, own.release)),
        groups=_numbers(plan.statistic, groups if outcome.in_order else largest_first(groups), own.release),
        cost=escaped(own.cost()),
        ledger=_paragraph(context.ledger),
        protected=_items(own.protected()),
        not_protected=_items(own.not_protected()),
        asked="".join(
            f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(text)}</td></tr>'
            for name, text in [*own.terms(), ("planned error", outcome.planned_error)]
        ),
        computed=_items([*own.chosen(), *computed(plan)]),
        commands=unbroken("\n".join(typed)),
        remark=_paragraph(remark(typed, counted=f"{own.unit}s" if own.counted else "")),
        plan_json=_attached("plan.json", plan.to_json()),
        json=_attached("release.json", to_json(outcome.releases, grouped=bool(groups))),
    )
    return document(title, body)


def _named(named: Named) -> str:
    """What the release is about, in the publisher's words."""
    facts = (("Data", named.dataset), ("Period", named.period), ("Release", named.label))
    return "".join(f"{what}: {name}. " for what, name in facts if name)


def _paragraph(text: str | None) -> str:
    return f"<p>{escaped(text)}</p>" if text else ""


def _attached(name: str, text: str) -> str:
    """A file inside the page, as a link that saves it without network or script."""
    content = base64.b64encode(f"{text}\n".encode()).decode()
    return f'<a download="{name}" href="data:application/json;base64,{content}">{name}</a>'


def _headline(statistic: Statistic, groups: Sequence[GroupRelease], first: Release, subject: Subject) -> str:
    """The finding in a sentence; for groups, which one leads, and a caution if the value depends on their sizes."""
    if not groups:
        return statistic.headline(first, subject)
    most = max(known_groups(statistic, groups), key=lambda one: one.release.value)
    own = statistic.headline(most.release, subject)
    own = f"For {most.name}, {own[:1].lower()}{own[1:]}"
    if len(groups) == 1:
        return own
    caution = statistic.caution_between_groups
    leads = f"has the largest {statistic.points[0]}" if caution else statistic.topic.leading(subject)
    said = f"Of {len(groups):,} groups, {most.name} {leads}"
    rivals = [one for one in groups if one is not most and one.release.high >= most.release.low]
    return " ".join(filter(None, [f"{said}{but_rivals(len(rivals), len(groups) - 1)}.", own, caution]))


def _described(groups: Sequence[GroupRelease], first: Release) -> str:
    if groups:
        return f"{first.statistic} of {len(groups):,} groups with their intervals; the table below has the numbers."
    if first.points:
        return f"{first.statistic} with their intervals; the table below has the numbers."
    return f"{first.statistic}: {short(first.value)}, interval from {short(first.low)} to {short(first.high)}."


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{escaped(text)}</li>" for text in texts)


def _numbers(statistic: Statistic, ordered: Sequence[GroupRelease], first: Release) -> str:
    """The table of the numbers, if there are several: of groups, or of the orders of a profile. Profiles of groups have
    a column for each order, or a row if there are many.
    """
    limits = f"{100 * first.confidence:g}% from", "to"
    if not ordered:
        found = [(f"order {point.order:g}", _cells(point)) for point in first.points]
        return _table("", (statistic.point_name, *limits), found) if found else ""
    if not first.points:
        return _table("group", (first.statistic, *limits), [(one.name, _cells(one.release)) for one in ordered])
    if len(first.points) <= _MOST_ORDERS:
        sure = f"{100 * first.confidence:g}% limits"
        columns = [f"order {point.order:g}, {sure}" for point in first.points]
        return _table("group", columns, [(one.name, [_in_one(each) for each in one.release.points]) for one in ordered])
    profiles = [(one.name, (f"{point.order:g}", *_cells(point))) for one in ordered for point in one.release.points]
    return _table("group", ("order", statistic.point_name, *limits), profiles)


def _in_one(point: Point) -> str:
    return "{} ({} to {})".format(*with_limits(point.value, point.low, point.high))


def _cells(at: Point | Release) -> tuple[str, str, str]:
    return with_limits(at.value, at.low, at.high, least=4)


def _table(first: str, numbers: Sequence[str], found: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A table in its own scrolling box, so that a narrow screen need not scroll the page; it takes keyboard focus."""
    head = f'<th scope="col">{escaped(first)}</th>'
    head += "".join(f'<th class="number" scope="col">{escaped(name)}</th>' for name in numbers)
    body = "".join(
        f'<tr><th scope="row">{escaped(name)}</th>'
        + "".join(f'<td class="number">{cell}</td>' for cell in cells)
        + "</tr>"
        for name, cells in found
    )
    table = f'<table class="long"><thead><tr>{head}</tr></thead><tbody class="named">{body}</tbody></table>'
    return f'<div class="scrolls" tabindex="0" role="region" aria-label="The numbers">{table}</div>'
