"""The picture of a release: the value with its interval; for a table, one line for each group, the largest first.

A profile is a curve (profile_picture.py). In a table of profiles each group has a small picture of its own; if there
are too many of them, only the first order is shown.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..release.outcome import GroupRelease, Outcome, largest_first
from ..statistic import Statistic, Subject
from ..statistic.published import Release
from ..text.spoken import short
from . import finding
from .profile_picture import MOST_CURVES, MOST_PANELS, group_panels, group_profiles, profile
from .save import picture_bytes
from .style import BLUE, GREY, INK, SKY, WIDTH, canvas, capital, in_style, price_line, short_name, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMED = 60  # groups: the names of more would not be readable


@in_style
def release_picture(
    releases: list[Release] | list[GroupRelease], in_order: bool = False, statistic: Statistic | None = None,
    subject: Subject = finding.ANYTHING,
) -> Figure:  # fmt: skip
    """One release, or a table of groups, the largest first unless they are in order. Everything shown may be published,
    like the releases. The title uses the words of the statistic, if given, and of the subject."""
    found = finding.Finding(statistic, subject)
    groups = [one for one in releases if isinstance(one, GroupRelease)]
    groups = groups if in_order else largest_first(groups)
    if groups:
        if groups[0].release.points and len(groups) <= MOST_CURVES:
            return group_profiles(groups, found)
        if groups[0].release.points and len(groups) <= MOST_PANELS:
            return group_panels(groups, found)
        return _named(groups, found) if len(groups) <= _NAMED else _ranked(groups, found)
    (only,) = [one for one in releases if isinstance(one, Release)]
    return profile(only, found) if only.points else _single(only, found)


def release_bytes(outcome: Outcome, path: Path, noun: str = "") -> bytes:
    """The picture of a release as the content of the file `path`."""
    title = f"{outcome.plan.statistic}, released privately"
    alt = f"{title}: the value with its interval, {len(outcome.releases):,} of them."
    picture = release_picture(outcome.releases, outcome.in_order, outcome.plan.statistic, outcome.subject(noun))
    return picture_bytes(picture, path, title, alt)


def _single(release: Release, found: finding.Finding) -> Figure:
    figure, (axes,) = canvas(WIDTH, 2.9)
    _interval(axes, release, 0)
    for x, away, where in ((release.low, -8, "right"), (release.high, 8, "left")):
        axes.annotate(short(x), (x, 0), xytext=(away, 0), textcoords="offset points", ha=where, va="center", color=GREY)
    axes.annotate(short(release.value), (release.value, 0), xytext=(0, 14), textcoords="offset points", ha="center",
                  weight="bold", fontsize=16)  # fmt: skip
    span = max(release.high - release.low, 1e-9)
    axes.set_xlim(release.low - 0.45 * span, release.high + 0.45 * span)
    axes.set_ylim(-0.7, 0.9)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    _dressed(axes, release, found.of_one(release))
    axes.set_xlabel(f"{capital(release.statistic)}\n{axes.get_xlabel()}")
    return figure


def _named(ordered: list[GroupRelease], found: finding.Finding) -> Figure:
    figure, (axes,) = canvas(WIDTH, 2.1 + 0.42 * len(ordered))
    for place, one in enumerate(ordered):
        _interval(axes, one.release, place)
        said = f"{short(one.release.value)}  ({short(one.release.low)} to {short(one.release.high)})"
        axes.annotate(said, (1.0, place), xycoords=("axes fraction", "data"), xytext=(8, 0), fontsize=12,
                      textcoords="offset points", ha="left", va="center", color=BLUE)  # fmt: skip
    axes.set_yticks(range(len(ordered)), [short_name(one.name) for one in ordered])
    axes.set_ylim(len(ordered) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", visible=False)
    _dressed(axes, ordered[0].release, "")
    titled(figure, found.of_groups(ordered))
    name = f"{capital(found.named(ordered[0].release))} of {len(ordered):,} groups"
    axes.set_xlabel("\n".join(filter(None, [name, axes.get_xlabel(), found.caution])))
    return figure


def _ranked(groups: list[GroupRelease], found: finding.Finding) -> Figure:
    """For too many groups to name: values by rank, with their intervals as a band. The table has the names."""
    ordered = sorted((one.release for one in groups), key=lambda one: -one.value)
    figure, (axes,) = canvas(WIDTH, 5.0)
    ranks = range(1, len(ordered) + 1)
    axes.vlines(ranks, [one.low for one in ordered], [one.high for one in ordered], color=SKY, linewidth=1.5)
    axes.plot(ranks, [one.value for one in ordered], color=BLUE, linewidth=2.5)
    _dressed(axes, ordered[0], found.of_groups(groups))
    rank = f"rank of the group, of {len(ordered):,} groups"
    axes.set_xlabel("\n".join(filter(None, [rank, axes.get_xlabel(), found.caution])))
    axes.set_ylabel(found.named(ordered[0]))
    return figure


def _interval(axes: Axes, release: Release, place: int) -> None:
    axes.plot([release.low, release.high], [place, place], color=SKY, linewidth=9, solid_capstyle="butt", zorder=2)
    axes.plot([release.value], [place], "o", color=BLUE, markersize=8, zorder=3)


def _dressed(axes: Axes, release: Release, title: str) -> None:
    axes.set_title(title, color=INK)
    axes.set_xlabel(price_line(release))
    axes.locator_params(axis="x", nbins=6)
    axes.xaxis.set_major_formatter(lambda value, _: "" if value < 0.0 <= release.low else short(value))
