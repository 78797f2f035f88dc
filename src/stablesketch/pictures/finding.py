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
    """The largest of the values, as released; what the limits leave open, one sees."""
    orders = [point.order for point in groups[0].release.points]
    leaders = [max(groups, key=lambda one: one.release.points[i].value) for i in range(len(orders))]
    first, last = shortened(leaders[0].name), shortened(leaders[-1].name)
    if all(leader is leaders[0] for leader in leaders):
        return _lines(f"Largest value at every order: {first}")
    if leaders[0] is leaders[-1]:
        return _lines(f"Largest values at orders {orders[0]:g} and {orders[-1]:g}: {first}")
    return _lines(f"Largest value at order {orders[0]:g}: {first}; at order {orders[-1]:g}: {last}")


def _lines(text: str) -> str:
    return "\n".join(textwrap.wrap(text, _WIDTH))
