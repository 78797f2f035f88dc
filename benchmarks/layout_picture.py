"""Error against entries touched per key, and against the time of an update, for both layouts.

    python benchmarks/layout_picture.py [--output docs/images/layouts.svg]

p = 0.5, the sketch alone. Without buckets a key touches all entries there are; with buckets it touches g of 5,000,
20,000 or 80,000. Lines are what the formula says of the real stream with the largest error, dots what was measured.
Times are processor times divided by that of an exact group-by of the same keys. All numbers come from docs/layouts.csv
(benchmarks/layouts.py), so the picture needs no data and is reproducible.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stablesketch.mechanism.noisy.measure import measure_of
from stablesketch.pictures import picture_bytes
from stablesketch.pictures.style import BLUE, GREY, INK, VERMILION, WHITE, WIDTH, canvas, in_style, plain_ticks
from stream_study import rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).parents[1]
P, DEFAULT = 0.5, (64, 20_000)
IN_ALL = ((5_000, ":"), (20_000, "-"), (80_000, "--"))
TITLE = "Error against entries touched per key"
ALT = "Two panels: relative error against entries touched per key, and against the time of an update."


def error_of(per_key: int, entries: int, spread: float) -> float:
    """sqrt(v_g (1/B + S (1 - 1/B)))"""
    buckets = max(entries // per_key, 1)
    return measure_of(P).relative_error(per_key) * math.sqrt(1.0 / buckets + spread * (1.0 - 1.0 / buckets))


@in_style
def draw(output: Path) -> None:
    found = [row for row in rows(ROOT / "docs" / "layouts.csv") if float(row["p"]) == P]
    spread = max(float(row["spread"]) for row in found if row["spread"])
    figure, (upper, lower) = canvas(WIDTH, 9.6, rows=2)
    by_entries(upper, found, spread)
    by_time(lower, found, spread)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(picture_bytes(figure, output, TITLE, ALT))
    print(f"{output}: {output.stat().st_size:,} bytes")


def by_entries(axes: Axes, found: list[dict[str, str]], spread: float) -> None:
    flat = np.unique(np.geomspace(6, 16_384, 40).astype(int))
    axes.plot(flat, [error_of(int(r), int(r), 1.0) for r in flat], color=VERMILION, linewidth=3.5)
    axes.text(420, 0.075, "every key touches all entries", color=VERMILION, weight="bold")
    axes.text(420, 0.055, "(and in buckets, if one key holds all)", color=VERMILION, fontsize=11)
    few = np.arange(6, 257, 2)
    for entries, line in IN_ALL:
        errors = [error_of(int(g), entries, spread) for g in few]
        axes.plot(few, errors, color=BLUE, linestyle=line, linewidth=3.5 if entries == DEFAULT[1] else 2.5)
        axes.text(280, errors[-1], f"{entries:,} in buckets", color=BLUE, va="center", fontsize=11)
    dots = [(int(row["per_key"]), float(row["measured"])) for row in found if row["measured"]]
    axes.plot(*zip(*dots, strict=True), "o", color=BLUE, markersize=8, markeredgecolor=WHITE, zorder=5)
    at = error_of(*DEFAULT, spread)
    axes.annotate(
        "default", (DEFAULT[0], at), (24, 0.0016), color=INK, weight="bold", ha="center",
        arrowprops={"arrowstyle": "-", "color": INK, "shrinkB": 6},
    )  # fmt: skip
    axes.set(xlabel="entries that a key touches", xlim=(6, 16_384))
    axes.set_xscale("log", base=2)
    axes.set_xticks([8, 16, 64, 256, 1024, 4096, 16_384], ["8", "16", "64", "256", "1,024", "4,096", "16,384"])
    error_axis(axes)


def by_time(axes: Axes, found: list[dict[str, str]], spread: float) -> None:
    timed = {(int(row["per_key"]), int(row["entries"])): float(row["time"]) for row in found if row["time"]}
    flat = sorted((time, r, error_of(r, r, 1.0)) for (r, entries), time in timed.items() if r == entries)
    buckets = sorted((time, g, error_of(g, n, spread)) for (g, n), time in timed.items() if g != n)
    for points, colour, above in ((flat, VERMILION, 1.25), (buckets, BLUE, 1.35)):
        axes.plot([time for time, _, _ in points], [error for _, _, error in points], "o-", color=colour, linewidth=3)
        for time, count, error in points:
            place = 0.62 if count == 16 and colour == BLUE else above  # beside 8 there is no room for it
            axes.text(0.97 * time, place * error, f"{count:,}", color=colour, ha="center", fontsize=11)
    axes.axvline(1.0, color=GREY, linestyle=":")
    axes.text(1.08, 0.36, "exact group-by", color=GREY, fontsize=11)
    axes.text(buckets[0][0], 0.52 * buckets[-1][2], "20,000 entries\nin buckets,\nso many a key", color=BLUE,
              va="top", fontsize=12)  # fmt: skip
    axes.text(flat[-1][0], 2.2 * flat[-1][2], "every key\ntouches all", color=VERMILION, ha="right",
              fontsize=12)  # fmt: skip
    axes.set(xscale="log", xlabel="processor time of an update, exact group-by = 1")
    low, high = min(timed.values()), max(timed.values())
    axes.set_xlim(0.7 * low, 1.5 * high)
    axes.set_xticks([t for t in (0.1, 0.3, 1, 3, 10) if 0.7 * low <= t <= 1.5 * high])
    plain_ticks(axes, x=True)
    error_axis(axes)


def error_axis(axes: Axes) -> None:
    axes.set(yscale="log", ylim=(0.001, 0.5), ylabel="relative error of the sketch")
    axes.set_yticks([1e-3, 1e-2, 1e-1], ["0.1%", "1%", "10%"])
    axes.minorticks_off()
    axes.tick_params(axis="x", pad=9)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Error against entries touched per key: a picture of docs/accuracy.md."
    )
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images" / "layouts.svg")
    draw(parser.parse_args().output)


if __name__ == "__main__":
    main()
