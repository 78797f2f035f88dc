"""Released numbers that say nothing useful: which they are, from their limits alone, so that saying it costs nothing.

A listed group without data has a release too. Its value, if it is one of shares, is wherever the noise has put it, and
its limits are very far apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..bounding.groups import Name
from ..statistic import Statistic
from ..statistic.published import Release
from ..text.visible import visible

if TYPE_CHECKING:
    from .outcome import GroupRelease

_NAMED = 5  # groups, in a sentence


def little_known(statistic: Statistic, releases: Sequence[tuple[Name, Release]]) -> str:
    """Which of the releases say nothing useful, and why; empty if all do. A single release has an empty name."""
    unknown = [(name, orders) for name, release in releases if (orders := _unknown_orders(statistic, release))]
    if not unknown:
        return ""
    named = [visible(", ".join(name)) + _at(orders, statistic) for name, orders in unknown[:_NAMED]]
    others = f" and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
    about = f" about {', '.join(named)}{others}" if unknown[0][0] else named[0]
    whose = "The" if not unknown[0][0] else "Its" if len(unknown) == 1 else "Their"
    return (
        f"Nothing useful is known{about}. {whose} limits allow effective numbers that differ by more than a factor of "
        "10, and the value between them is where the noise has put it. There is too little data for this much noise, "
        "or none."
    )


def known_groups(statistic: Statistic | None, groups: Sequence[GroupRelease]) -> Sequence[GroupRelease]:
    """The groups about which something is known; all of them, if nothing is known about any."""
    if statistic is None:
        return groups
    return [one for one in groups if not _unknown_orders(statistic, one.release)] or groups


def _unknown_orders(statistic: Statistic, release: Release) -> list[float]:
    """The orders at which the limits are so far apart that the value says nothing."""
    limits = [(point.low, point.high) for point in release.points] or [(release.low, release.high)]
    return [own.p for own, ends in zip(statistic.points, limits, strict=True) if own.tells_little(*ends)]


def _at(orders: Sequence[float], statistic: Statistic) -> str:
    """The orders of a profile, unless all are meant."""
    if len(orders) == len(statistic.points):
        return ""
    return f" at order {' and '.join(f'{order:g}' for order in orders)}"
