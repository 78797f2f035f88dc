"""What a picture of releases shows, in one line: its title."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from ..release.little_known import known_groups
from ..release.outcome import GroupRelease
from ..statistic import Statistic, Subject
from ..statistic.published import Release
from ..text.spoken import about, but_rivals
from .style import capital, short_name

ANYTHING = Subject()
_WIDTH = 60  # characters of a title in one line
_OVERLAP = "intervals overlap"


@dataclass(frozen=True)
class Finding:
    """Titles for releases of a statistic of a subject. Without a statistic, they use only the words of the release."""

    statistic: Statistic | None = None
    subject: Subject = ANYTHING

    @property
    def axis(self) -> str:
        """What several numbers measure, in the user's own words if given."""
        return self.kind.point_axis(self.subject)

    @property
    def kind(self) -> type[Statistic]:
        """What knows the words for several numbers."""
        return Statistic if self.statistic is None else type(self.statistic)

    def named(self, release: Release) -> str:
        """What a picture of one number for each group shows; of several numbers, the first."""
        return release.statistic if self.statistic is None else str(self.statistic.points[0])

    def of_one(self, release: Release) -> str:
        """The number, in the words of its users; for a profile, where its curve begins and ends."""
        if release.points:
            first, last = release.points[0], release.points[-1]
            ends = f"{about(first.value)} at order {first.order:g} to {about(last.value)} at order {last.order:g}"
            return _lines(f"{capital(self.kind.point_name)}s go from {ends}")
        if release.value <= 0.0:
            return _lines(f"{capital(release.statistic)} cannot be distinguished from 0")
        if self.statistic is not None:
            return _lines(self.statistic.finding(release, self.subject))
        return _lines(f"{capital(release.statistic)} is about {about(release.value)}")

    def of_groups(self, groups: Sequence[GroupRelease]) -> str:
        """Which group comes first, and how many others may be as large because their intervals overlap.

        Intervals that do not overlap prove more than a difference, so no groups are called different that may be equal.
        If values depend on the sizes of groups, the title does not say that a group comes first, only that it has the
        largest value.
        """
        if len(groups) == 1:
            return _lines(f"{short_name(groups[0].name)}: {self.of_one(groups[0].release)}")
        if groups[0].release.points:
            return _of_profiles(groups)
        first = max(known_groups(self.statistic, groups), key=lambda one: one.release.value)
        rivals = sum(one is not first and one.release.high >= first.release.low for one in groups)
        value, name = about(first.release.value), short_name(first.name)
        if rivals == len(groups) - 1:
            return _lines(f"No group clearly comes first: the largest value is about {value}, of {name}")
        leads = f"has the largest value, about {value}" if self.caution else f"comes first with about {value}"
        return _lines(f"{name} {leads}{but_rivals(rivals, len(groups) - 1)}")

    @property
    def caution(self) -> str:
        """A warning for those who compare groups; empty if none is needed."""
        if self.statistic is None or not self.statistic.caution_between_groups:
            return ""
        low = "below order 1 values grow" if self.statistic.several else "values grow"
        return f"{low} with the number of rows too:\ncompare only groups of one size"


def _of_profiles(groups: Sequence[GroupRelease]) -> str:
    """Which group comes first at which orders: only where its interval is above those of all others."""
    orders = [point.order for point in groups[0].release.points]
    led: dict[str, list[float]] = {}
    open_at = []
    for i, order in enumerate(orders):
        first = max(groups, key=lambda one: one.release.points[i].value)
        low = first.release.points[i].low
        if any(one is not first and one.release.points[i].high >= low for one in groups):
            open_at.append(order)
        else:
            led.setdefault(short_name(first.name), []).append(order)
    if not led:
        return _lines(f"At no order does one group clearly have the largest value: {_OVERLAP}")
    if len(led) == 1 and not open_at:
        return _lines(f"Largest value at every order: {next(iter(led))}")
    said = [f"at {_orders(where)}: {name}" for name, where in led.items()]
    undecided = [f"not clear at {_orders(open_at)}: {_OVERLAP}"] if open_at else []
    return _lines(f"Largest value {'; '.join([*said, *undecided])}")


def _orders(orders: Sequence[float]) -> str:
    said = [f"{order:g}" for order in orders]
    return f"order {said[0]}" if len(said) == 1 else f"orders {', '.join(said[:-1])} and {said[-1]}"


def _lines(text: str) -> str:
    return "\n".join(textwrap.wrap(text, _WIDTH))
