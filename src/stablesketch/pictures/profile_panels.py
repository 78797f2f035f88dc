"""Profiles of many groups: a small picture for each, all to the same scale, because a single picture with all curves
would be unreadable.

Behind each curve, all others are drawn in grey, to show where the group stands among them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..release.outcome import GroupRelease
from . import finding
from .profile_picture import draw_curve, set_heights
from .style import BLUE, GREY, INK, canvas, price_line, shortened, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 30
"""The maximum number of groups: nobody would look at more small pictures."""

_COLUMNS = 4


def panels(ordered: Sequence[GroupRelease], found: finding.Finding) -> Figure:
    """The small pictures, row by row."""
    rows = math.ceil(len(ordered) / _COLUMNS)
    figure, places = canvas(11.0, 1.6 + 2.1 * rows, _COLUMNS, rows)
    ends = [(point.low, point.high) for one in ordered for point in one.release.points]
    orders = [point.order for point in ordered[0].release.points]
    for one, axes in zip(ordered, places, strict=False):
        for other in ordered:
            axes.plot(
                orders, [point.value for point in other.release.points], color=GREY, alpha=0.3, linewidth=1, zorder=1
            )
        draw_curve(axes, one.release.points, BLUE, "-", bar=8)
        axes.set_title(shortened(one.name, 22), fontsize=12, color=INK)
        axes.set_xticks(orders, [f"{order:g}" for order in orders])
        axes.tick_params(labelsize=10)
        set_heights(axes, ends)
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
