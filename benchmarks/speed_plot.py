"""The picture of docs/performance.md: how many times as fast, and where the targets are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from speed_table import Row
from stablesketch.pictures import picture_bytes
from stablesketch.pictures.style import BLUE, GREY, SKY, VERMILION, WIDTH, canvas, in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]


@in_style
def draw(rows: list[Row], output: Path) -> None:
    """A bar for each row, one for the AVX2 tier under it, a mark at the target.

    Rows that have neither (the plain tier) are only in the table.
    """
    rows = [row for row in rows if row.target is not None or row.ratio_avx2 is not None]
    figure, (axes,) = canvas(WIDTH, 0.72 * len(rows) + 1.6)
    for place, row in enumerate(rows):
        both = row.ratio_avx2 is not None
        axes.plot([1.0, 1.0], [place - 0.25, place + 0.25], color=GREY, linewidth=1, zorder=0)
        # On a logarithmic axis a bar must start somewhere: it starts where both are equally fast.
        axes.barh(place - 0.1 * both, row.ratio - 1.0, left=1.0, height=0.2 if both else 0.4, color=BLUE)
        axes.text(
            0.0,
            place - 0.27,
            f"{row.name}\nagainst {row.peer}",
            transform=axes.get_yaxis_transform(),
            fontsize=10,
            va="bottom",
        )
        column(axes, 1.05, place, shown(row.ratio), BLUE)
        if row.ratio_avx2 is not None:
            axes.barh(place + 0.1, row.ratio_avx2 - 1.0, left=1.0, height=0.2, color=SKY)
            column(axes, 1.15, place, shown(row.ratio_avx2), GREY)
        if row.target is not None:
            axes.plot([row.target] * 2, [place - 0.25, place + 0.25], color=VERMILION, linewidth=2.5)
            column(axes, 1.25, place, shown(row.target), VERMILION)
    for x, heading, colour in ((1.05, "best", BLUE), (1.15, "AVX2", GREY), (1.25, "target", VERMILION)):
        column(axes, x, -0.55, heading, colour)

    ratios = [ratio for row in rows for ratio in (row.ratio, row.ratio_avx2, row.target) if ratio is not None]
    axes.set_xscale("log")
    axes.set_xlim(min(0.45, 0.8 * min(ratios)), 1.3 * max(ratios))
    low, high = axes.get_xlim()
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.minorticks_off()
    axes.grid(visible=False)  # lines would cross the words above the bars
    axes.set_yticks([])
    axes.set_ylim(len(rows) - 0.6, -0.9)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.barh([0], [0], left=1.0, color=BLUE, label="best tier")
    axes.barh([0], [0], left=1.0, color=SKY, label="AVX2 tier forced")
    axes.plot([], [], color=VERMILION, linewidth=2.5, label="target of the best tier")
    figure.legend(loc="outside lower right", ncols=3, frameon=False)
    axes.set_xlabel("times as fast", loc="left")

    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(picture_bytes(figure, output, "How many times as fast", "How many times as fast"))


def column(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    """A number to the right of the plot: x in widths of it, y in rows."""
    axes.text(x, y, text, color=colour, ha="center", va="center", fontsize=10, transform=axes.get_yaxis_transform())


def shown(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10.0 else f"{ratio:.1f}"


if __name__ == "__main__":  # draws the picture again from the table, without measuring anything
    from speed_table import read

    docs = Path(__file__).parents[1] / "docs"
    draw(read(docs / "performance.csv"), docs / "images" / "performance.svg")
