"""A release for people: its numbers, what it protects, its price and how it was made, in lines."""

from __future__ import annotations

from rich.text import Text

from ..plan.in_words import change, promised
from ..plan.mechanism import mechanism_of, needs_promise
from ..release.outcome import GroupRelease, Outcome
from ..statistic.published import Release
from ..text.spoken import price_in_words
from .screen import fact_lines, number, table_lines


def release_lines(outcome: Outcome) -> list[Text]:
    """A release, or a table of them, in lines."""
    if outcome.grouped:
        return _group_lines(outcome)
    only = outcome.releases[0]
    assert isinstance(only, Release)
    return fact_lines("Private release", _facts(only, outcome))


def release_notes(outcome: Outcome) -> list[str]:
    """Notes for standard error, beside the numbers."""
    found = []
    if outcome.grouped and not outcome.releases:
        found += nothing_shown(outcome)
    if outcome.little_known:
        found.append(outcome.little_known)
    if outcome.clipped_to is not None:
        found.append(f"values above {outcome.clipped_to:,} were clipped to it; how many there were is private")
    if outcome.skipped is not None:
        found.append(f"{outcome.skipped:,} invalid rows were skipped; under replace their number is public")
    return found


def nothing_shown(outcome: Outcome) -> list[str]:
    """The note that no group is shown. That is an answer too, and has its price."""
    return [
        "no group is large enough for its name to be shown. List public names (--groups), or pass a larger ε.",
        f"the release is paid for even so: {price_in_words(*outcome.price)}",
    ]


def _facts(release: Release, outcome: Outcome) -> list[tuple[str, str]]:
    share = f"{100 * release.confidence:g}% interval"
    facts = [
        (release.statistic, number(release.value)),
        (share, f"{number(release.low)} to {number(release.high)}"),
    ]
    if release.points:
        facts = [
            (f"order {point.order:g}", f"{number(point.value)}, {share} {number(point.low)} to {number(point.high)}")
            for point in release.points
        ]
    facts += _price(release, outcome)
    if release.pairs is not None:
        facts.append((f"{outcome.privacy.unit}s", f"{release.pairs:,}"))
    return facts


def _price(release: Release, outcome: Outcome) -> list[tuple[str, str]]:
    plan, privacy = outcome.plan, outcome.privacy
    facts = [
        ("protects", change(privacy, person=release.person, pair=outcome.subject().pair)),
        ("price", price_in_words(release.epsilon, release.delta)),
        ("planned error", outcome.planned_error),
        ("method", mechanism_of(plan).in_a_line(plan)),
    ]
    if needs_promise(plan) and privacy.pairs and release.pairs is None:
        facts.append(("promised", promised(privacy)))
    return facts


def _group_lines(outcome: Outcome) -> list[Text]:
    groups = [one for one in outcome.releases if isinstance(one, GroupRelease)]
    if not groups:
        return []
    first = groups[0].release
    lines = fact_lines(f"Private release of {len(groups):,} groups", _price(first, outcome))
    if first.points:
        profiles = [
            [one.name, f"{point.order:g}", number(point.value), number(point.low), number(point.high)]
            for one in groups
            for point in one.release.points
        ]
        return lines + table_lines(
            ["group", "order", outcome.plan.statistic.point_name, "low", "high"], profiles, numbers=4
        )
    rows = [[one.name, number(one.release.value), number(one.release.low), number(one.release.high)] for one in groups]
    return lines + table_lines(["group", first.statistic, "low", "high"], rows, numbers=3)
