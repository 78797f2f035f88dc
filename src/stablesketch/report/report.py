"""The page about a release, from the releases and their plan; nothing else of the data is known here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

from ..doors import GroupRelease, Outcome
from ..errors import ArgumentError
from ..page import document, escaped
from ..pictures import release_picture
from ..pictures.save import inline_svg
from ..pictures.words import short
from ..plan import Plan
from ..release import Release
from . import sentences

__all__ = ["Context", "report_page"]


@dataclass(frozen=True)
class Context:
    """What is said of a release beside what is in it: all of it public, none of it from the data.

    `key` and `by` are names of columns, None where only a stored sketch is known; `ledger` what
    the budget says after it.
    """

    date: str
    version: str
    key: str | None = None
    by: str | None = None
    person: bool = False
    ledger: str | None = None


def report_page(outcome: Outcome, context: Context) -> str:
    """A whole page of HTML, which needs no network and no script."""
    groups = [one for one in outcome.releases if isinstance(one, GroupRelease)]
    singles = [one for one in outcome.releases if isinstance(one, Release)]
    if not groups and not singles:
        raise ArgumentError("outcome", outcome.releases, "nothing was released", "Report a release, or some groups")
    first = groups[0].release if groups else singles[0]
    key = f"values of {context.key}" if context.key else "lines"
    title = f"How varied is {context.key or 'the stream'}{f', by {context.by}' if groups and context.by else ''}?"
    template = resources.files(__package__).joinpath("report.html").read_text(encoding="utf-8")
    body = Template(template).substitute(
        title=escaped(title),
        date=escaped(context.date),
        version=escaped(context.version),
        headline=escaped(_headline(groups, first, key)),
        picture=inline_svg(release_picture(outcome.releases), _described(groups, first)),
        groups=_group_table(groups) if groups else "",
        cost=escaped(sentences.cost(first, len(groups))),
        ledger=f"<p>{escaped(context.ledger)}</p>" if context.ledger else "",
        protected=_items(sentences.protected(first, context.person)),
        not_protected=_items(sentences.not_protected(first, context.person, len(groups))),
        asked=_rows(sentences.asked(outcome.plan, first, bool(groups))),
        each="; this is the plan of each group" if groups else "",
        plan=escaped(str(outcome.plan)),
        computed=_items(sentences.computed(outcome.plan, first)),
        commands=escaped("\n".join(commands(outcome.plan))),
        plan_json=escaped(outcome.plan.to_json()),
        json=escaped("\n".join(one.to_json() for one in outcome.releases)),
    )
    return document(title, body)


def commands(plan: Plan) -> list[str]:
    """What makes the plan again, number by number, and tests its claim. Plans that sample are made from Python only."""
    privacy = plan.privacy
    words = [
        f"--p {plan.statistic.p!r} --epsilon {privacy.epsilon!r} --delta {privacy.delta!r}",
        f"--relation {privacy.relation} --pairs {privacy.pairs} --max-value {privacy.max_value}",
        f"--pairs-per-person {privacy.pairs_per_person}",
        "--mechanism exact" if plan.mechanism == "exact" else f"--size {plan.size}",
        *([f"--expected {plan.expected!r}"] if plan.relative else []),
    ]
    again = [f"stablesketch plan {' '.join(words)} -o plan.json"] if plan.sampled is None else []
    return [*again, "stablesketch inspect plan.json", "stablesketch audit plan.json"]


def _headline(groups: Sequence[GroupRelease], first: Release, key: str) -> str:
    if not groups:
        return sentences.headline(first, key)
    most = max(groups, key=lambda one: one.release.value)
    said = f"Of {len(groups):,} groups, {', '.join(most.group)} has the greatest variety of {key}"
    if len(groups) == 1:
        return f"{', '.join(most.group)}: {sentences.headline(first, key)}"
    rivals = [one for one in groups if one is not most and one.release.high >= most.release.low]
    sure = f", though {len(rivals):,} more cannot be told from it" if rivals else ""
    low, high = short(most.release.low), short(most.release.high)
    return f"{said}{sure}: {first.statistic} is about {short(most.release.value)}, between {low} and {high}."


def _described(groups: Sequence[GroupRelease], first: Release) -> str:
    if groups:
        return f"{first.statistic} of {len(groups):,} groups with their intervals; the table below has the numbers."
    return f"{first.statistic}: {short(first.value)}, interval from {short(first.low)} to {short(first.high)}."


def _group_table(groups: Sequence[GroupRelease]) -> str:
    ordered = sorted(groups, key=lambda one: (-one.release.value, one.group))
    confidence = f"{100 * ordered[0].release.confidence:g}%"
    head = "".join(
        f'<th{kind} scope="col">{escaped(name)}</th>'
        for name, kind in (
            ("group", ""),
            (ordered[0].release.statistic, ' class="number"'),
            (f"{confidence} from", ' class="number"'),
            ("to", ' class="number"'),
        )
    )
    rows = "".join(
        f'<tr><th scope="row">{escaped(", ".join(one.group))}</th>'
        + "".join(
            f'<td class="number">{short(value)}</td>'
            for value in (one.release.value, one.release.low, one.release.high)
        )
        + "</tr>"
        for one in ordered
    )
    return f'<table class="long"><thead><tr>{head}</tr></thead><tbody class="named">{rows}</tbody></table>'


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{escaped(text)}</li>" for text in texts)


def _rows(facts: Iterable[tuple[str, str]]) -> str:
    return "".join(f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(text)}</td></tr>' for name, text in facts)
