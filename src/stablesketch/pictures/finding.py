"""What a picture of releases shows, in one line: its title."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ..published import Release
from ..release.outcome import GroupRelease
from ..spoken import about
from ..statistic import Profile
from .style import capital, shortened

_WIDTH = 60  # characters of a title in one line


def of_one(release: Release) -> str:
    """The number; of a profile, where its curve begins and ends."""
    if release.points:
        first, last = release.points[0], release.points[-1]
        ends = f"{about(first.value)} at order {first.order:g} to {about(last.value)} at order {last.order:g}"
        return _lines(f"{Profile.point_name}s go from {ends}")
    if release.value <= 0.0:
        return _lines(f"{capital(release.statistic)} cannot be told from 0")
    return _lines(f"{capital(release.statistic)} is about {about(release.value)}")


def of_groups(groups: Sequence[GroupRelease]) -> str:
    """Which group comes first, and how many cannot be told from it: their intervals meet.

    That intervals do not meet is more than a difference needs, so nothing is called different that may be equal.
    """
    if len(groups) == 1:
        return _lines(f"{shortened(groups[0].name)}: {of_one(groups[0].release)}")
    if groups[0].release.points:
        return _of_profiles(groups)
    first = max(groups, key=lambda one: one.release.value)
    rivals = sum(one is not first and one.release.high >= first.release.low for one in groups)
    value = about(first.release.value)
    if rivals == len(groups) - 1:
        return _lines(f"No group can be told from the first, {shortened(first.name)}, with about {value}")
    but = f", but {rivals:,} more of {len(groups):,} groups cannot be told from it" if rivals else ""
    return _lines(f"{shortened(first.name)} comes first with about {value}{but}")


def _of_profiles(groups: Sequence[GroupRelease]) -> str:
    """Which group comes first at which orders: only where its interval lies above those of all others."""
    orders = [point.order for point in groups[0].release.points]
    led: dict[str, list[float]] = {}
    open_at = []
    for i, order in enumerate(orders):
        first = max(groups, key=lambda one: one.release.points[i].value)
        low = first.release.points[i].low
        if any(one is not first and one.release.points[i].high >= low for one in groups):
            open_at.append(order)
        else:
            led.setdefault(shortened(first.name), []).append(order)
    if not led:
        return _lines("At no order can one group be told from all others")
    if len(led) == 1 and not open_at:
        return _lines(f"Largest value at every order: {next(iter(led))}")
    said = [f"at {_orders(where)}: {name}" for name, where in led.items()]
    undecided = [f"no group stands out at {_orders(open_at)}"] if open_at else []
    return _lines(f"Largest value {'; '.join([*said, *undecided])}")


def _orders(orders: Sequence[float]) -> str:
    said = [f"{order:g}" for order in orders]
    return f"order {said[0]}" if len(said) == 1 else f"orders {', '.join(said[:-1])} and {said[-1]}"


def _lines(text: str) -> str:
    return "\n".join(textwrap.wrap(text, _WIDTH))
