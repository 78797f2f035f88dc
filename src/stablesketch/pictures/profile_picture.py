"""The picture of a profile: Hill numbers against their order, with the limits of each; a few groups in one picture.

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
from .style import BLUE, GREEN, INK, LINES, SKY, VERMILION, WIDTH, canvas, plain_ticks, price_line, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (BLUE, VERMILION, GREEN, INK)
MOST_CURVES = len(_COLOURS)
"""The maximum number of groups: readers could not tell more of them apart."""

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
    draw_curve(axes, points, BLUE, "-", 0.0)
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
        draw_curve(axes, one.release.points, _COLOURS[place], LINES[place % len(LINES)], shift)
    _dressed(axes, [one.release for one in ordered], found.of_groups(ordered), found)
    axes.set_xlabel("\n".join(filter(None, [axes.get_xlabel(), found.caution])))
    _names(axes, ordered)
    return figure


def draw_curve(axes: Axes, points: Sequence[Point], colour: str, line: str, shift: float = 0.0, bar: int = 11) -> None:
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
        said = f"{shortened(one.name)}  {about(one.release.points[-1].value)}"
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
    set_heights(axes, [(point.low, point.high) for point in points] + [_band(point) for point in points if banded])


def set_heights(axes: Axes, ends: Sequence[tuple[float, float]]) -> None:
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
