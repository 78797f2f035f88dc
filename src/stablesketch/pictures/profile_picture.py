"""The picture of a profile: Hill numbers against their order, with the limits of each; a few groups in one picture.

Many groups have a small picture each, all to the same scale, because a single picture with all curves would be
unreadable. Behind each curve, all others are drawn in grey, to show where the group stands among them.

Bars are the limits of each order by itself. The band holds for all orders at once. It is usually wider, but it also
uses the fact that the curve falls. Between the orders it is drawn as straight lines. Releases of version 0.1.0 have no
band.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..release.outcome import GroupRelease
from ..statistic.published import Point, Release
from ..text.spoken import about, short
from . import finding
from .style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    LINES,
    SKY,
    VERMILION,
    WIDTH,
    canvas,
    plain_ticks,
    price_line,
    short_name,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (BLUE, VERMILION, GREEN, INK)
MOST_CURVES = len(_COLOURS)
"""The maximum number of groups in one picture: readers could not tell more of them apart."""

MOST_PANELS = 30
"""The maximum number of groups with a picture each: nobody would look at more small pictures."""

_COLUMNS = 4
_DODGE = 0.022  # in units of order: the distance between the bars of two groups
_APART = 0.055  # as a share of the height: the distance between two labels


def profile(release: Release, found: finding.Finding) -> Figure:
    """One curve with its band, and every value beside its point."""
    figure, (axes,) = canvas(WIDTH, 5.2)
    points = release.points
    band = [(point.order, *_band(point)) for point in points if point.band_low is not None]
    if band:
        orders, low, high = zip(*band, strict=True)
        axes.fill_between(orders, low, high, color=SKY, alpha=0.35, linewidth=1)
    _draw_curve(axes, points, BLUE, "-", 0.0)
    for point in points:
        axes.annotate(about(point.value), (point.order, point.value), xytext=(10, 8),
                      textcoords="offset points", weight="bold", color=INK)  # fmt: skip
    _dressed(axes, [release], found.of_one(release), found)
    return figure


def group_profiles(ordered: Sequence[GroupRelease], found: finding.Finding) -> Figure:
    """One curve for each of a few groups, the name at its end."""
    figure, (axes,) = canvas(WIDTH, 5.4)
    for place, one in enumerate(ordered):
        shift = _DODGE * (place - 0.5 * (len(ordered) - 1))
        _draw_curve(axes, one.release.points, _COLOURS[place], LINES[place % len(LINES)], shift)
    _dressed(axes, [one.release for one in ordered], found.of_groups(ordered), found)
    axes.set_xlabel("\n".join(filter(None, [axes.get_xlabel(), found.caution])))
    _names(axes, ordered)
    return figure


def group_panels(ordered: Sequence[GroupRelease], found: finding.Finding) -> Figure:
    """A small picture of each group, row by row."""
    rows = math.ceil(len(ordered) / _COLUMNS)
    figure, places = canvas(11.0, 1.6 + 2.1 * rows, _COLUMNS, rows)
    ends = [(point.low, point.high) for one in ordered for point in one.release.points]
    orders = [point.order for point in ordered[0].release.points]
    for one, axes in zip(ordered, places, strict=False):
        for other in ordered:
            axes.plot(
                orders, [point.value for point in other.release.points], color=GREY, alpha=0.3, linewidth=1, zorder=1
            )
        _draw_curve(axes, one.release.points, BLUE, "-", bar=8)
        axes.set_title(short_name(one.name, 22), fontsize=12, color=INK)
        axes.set_xticks(orders, [f"{order:g}" for order in orders])
        axes.tick_params(labelsize=10)
        _set_heights(axes, ends)
        axes.label_outer()
    for axes in places[len(ordered) :]:
        axes.set_visible(False)
    for axes in places[max(len(ordered) - _COLUMNS, 0) : len(ordered)]:  # the last one in each column
        axes.tick_params(labelbottom=True)
    titled(figure, found.of_groups(ordered))
    held = price_line(ordered[0].release, "at each order by itself")
    below = f"{found.kind.order_axis}; grey: the other groups\n{held}"
    figure.supxlabel("\n".join(filter(None, [below, found.caution])), fontsize=12, color=INK)
    figure.supylabel(found.axis, fontsize=12, color=INK)
    return figure


def _draw_curve(axes: Axes, points: Sequence[Point], colour: str, line: str, shift: float = 0.0, bar: int = 11) -> None:
    """The values of all orders with their limits as bars: broad and light, with a small dot, so that they are visible
    even if they are short, as on a logarithmic axis.
    """
    orders, values = [point.order + shift for point in points], [point.value for point in points]
    ends = [point.low for point in points], [point.high for point in points]
    axes.vlines(orders, *ends, color=colour, linewidth=bar, alpha=0.3, zorder=2)
    for limits in ends:
        axes.scatter(orders, limits, marker="_", color=colour, s=bar**2, linewidths=1.2, zorder=3)
    axes.plot(orders, values, color=colour, linestyle=line, linewidth=1.4, marker="o", markersize=3.5, zorder=4)


def _band(point: Point) -> tuple[float, float]:
    """Its limits in the band, or its own limits if there is no band or the band is infinite."""
    low = point.low if point.band_low is None else point.band_low
    high = point.high if point.band_high is None or math.isinf(point.band_high) else point.band_high
    return low, high


def _names(axes: Axes, ordered: Sequence[GroupRelease]) -> None:
    """Puts the names at the right, where the curves end, and pushes them apart if they would overlap."""
    ends = axes.transData.transform([(0.0, one.release.points[-1].value) for one in ordered])
    wanted = axes.transAxes.inverted().transform(ends)[:, 1].tolist()
    height = -1.0
    for i, one in sorted(enumerate(ordered), key=lambda each: (wanted[each[0]], each[0])):
        height = max(wanted[i], height + _APART)
        said = f"{short_name(one.name)}  {about(one.release.points[-1].value)}"
        axes.annotate(said, (1.0, height), xycoords="axes fraction", xytext=(8, 0), textcoords="offset points",
                      ha="left", va="center", color=_COLOURS[i], weight="bold")  # fmt: skip


def _dressed(axes: Axes, releases: Sequence[Release], title: str, found: finding.Finding) -> None:
    points = [point for release in releases for point in release.points]
    orders = sorted({point.order for point in points})
    axes.set_title(title, color=INK)
    banded = len(releases) == 1 and points[0].band_low is not None
    held = price_line(releases[0], "" if banded else "at each order by itself")
    if banded:
        held = held.replace("bars hold", "bars and band hold")
        held += "\nbars: at each order by itself; band: at all orders at once"
    axes.set_xlabel(f"{textwrap.fill(found.kind.order_axis, 54)}\n{held}")
    axes.set_ylabel(found.axis)
    axes.set_xticks(orders, [f"{order:g}" for order in orders])
    axes.set_xlim(orders[0] - 0.04, orders[-1] + 0.04 + 0.06 * max(orders[-1] - orders[0], 0.5))
    _set_heights(axes, [(point.low, point.high) for point in points] + [_band(point) for point in points if banded])


def _set_heights(axes: Axes, ends: Sequence[tuple[float, float]]) -> None:
    """Sets the axis of values so that it shows all of these limits; logarithmic if they are far apart."""
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if high > 10.0 * low:
        axes.set_yscale("log")
        room = (high / low) ** 0.1
        axes.set_ylim(low / room, high * room)
        plain_ticks(axes, y=True)
    else:
        axes.set_ylim(max(low - 0.25 * (high - low), 0.0), high + 0.15 * (high - low) + 1e-9)
        axes.locator_params(axis="y", nbins=6)
        axes.yaxis.set_major_formatter(lambda value, _: short(value))
