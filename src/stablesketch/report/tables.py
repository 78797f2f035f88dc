"""The tables of a report: groups, and the orders of a profile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..page import escaped
from ..release.outcome import GroupRelease, largest_first
from ..statistic import Statistic
from ..statistic.published import Release
from ..text.spoken import with_limits

_MOST_ORDERS = 5  # in columns beside each other


def group_table(groups: Sequence[GroupRelease], statistic: Statistic, in_order: bool) -> str:
    """The groups, largest first unless they have an order of their own. A profile has a column for each order, or a
    row if there are many.
    """
    ordered = groups if in_order else largest_first(groups)
    first = ordered[0].release
    if not first.points:
        found = [(one.name, _cells(one.release.value, one.release.low, one.release.high)) for one in ordered]
        return _table("group", (first.statistic, *_limits(first)), found)
    if len(first.points) <= _MOST_ORDERS:
        said = [
            (
                one.name,
                ["{} ({} to {})".format(*with_limits(each.value, each.low, each.high)) for each in one.release.points],
            )
            for one in ordered
        ]
        sure = f"{100 * first.confidence:g}% limits"
        return _table("group", [f"order {point.order:g}, {sure}" for point in first.points], said)
    profiles = [
        (one.name, [f"{point.order:g}", *_cells(point.value, point.low, point.high)])
        for one in ordered
        for point in one.release.points
    ]
    return _table("group", ("order", statistic.point_name, *_limits(first)), profiles)


def order_table(release: Release, statistic: Statistic) -> str:
    """Every order of a profile."""
    found = [(f"order {point.order:g}", _cells(point.value, point.low, point.high)) for point in release.points]
    return _table("", (statistic.point_name, *_limits(release)), found)


def items(texts: Iterable[str]) -> str:
    """A list."""
    return "".join(f"<li>{escaped(text)}</li>" for text in texts)


def rows(facts: Iterable[tuple[str, str]]) -> str:
    """Names with their values."""
    return "".join(f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(text)}</td></tr>' for name, text in facts)


def _limits(release: Release) -> tuple[str, str]:
    return f"{100 * release.confidence:g}% from", "to"


def _cells(value: float, low: float, high: float) -> tuple[str, str, str]:
    return with_limits(value, low, high, least=4)


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
