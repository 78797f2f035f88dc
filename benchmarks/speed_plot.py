"""The picture of docs/performance.md: how many times as fast, and where the targets are."""

from __future__ import annotations

from pathlib import Path

from speed_table import Row

__all__ = ["draw"]

# Blue and sky blue of Okabe and Ito, vermilion for the targets: told apart by everyone, also in grey.
BLUE, SKY, VERMILION, GREY = "#0072B2", "#8CC8EC", "#D55E00", "#555555"


def draw(rows: list[Row], output: Path) -> None:
    """`output`.svg and `output`.png: a bar for each row, one for the AVX2 tier under it, a mark at the target."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update(
        {"font.size": 11, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "stablesketch"}
    )
    figure, axes = plt.subplots(figsize=(11.0, 0.55 * len(rows) + 1.3), dpi=140, layout="constrained")
    for place, row in enumerate(rows):
        both = row.ratio_avx2 is not None
        axes.barh(place - 0.17 * both, row.ratio, height=0.34 if both else 0.5, color=BLUE)
        axes.text(row.ratio * 1.05, place - 0.17 * both, f"{row.ratio:.3g}", va="center", color=BLUE, fontsize=10)
        if row.ratio_avx2 is not None:
            axes.barh(place + 0.17, row.ratio_avx2, height=0.34, color=SKY)
        if row.target is not None:
            axes.plot([row.target] * 2, [place - 0.4, place + 0.4], color=VERMILION, linewidth=2.5)
    axes.axvline(1.0, color=GREY, linewidth=1, zorder=0)
    axes.set_xscale("log")
    axes.set_xlim(0.1, 2.2 * max(row.ratio for row in rows))
    ticks = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0]
    ticks = [tick for tick in ticks if tick <= 2.2 * max(row.ratio for row in rows)]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(rows)), [f"{row.name}\nagainst {row.peer}" for row in rows], fontsize=9)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_title("Times as fast", loc="left", weight="bold")
    axes.barh([0], [0], color=BLUE, label="best tier")
    axes.barh([0], [0], color=SKY, label="AVX2 tier forced")
    axes.plot([], [], color=VERMILION, linewidth=2.5, label="target")
    axes.legend(loc="lower right", frameon=False)

    output.parent.mkdir(parents=True, exist_ok=True)
    # The same bytes from the same numbers.
    figure.savefig(output.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
    figure.savefig(output.with_suffix(".png"), metadata={"Software": None})
    plt.close(figure)
