"""Error against ε, for the stream of the README and for a short one: a sketch now and before, exact, and the paper.

    python benchmarks/error_picture.py [--output docs/images/error.svg]

p = 0.5, δ = 1e-9, one pair; "now" is the default plan. "Before" is mechanism="bare" with 500 entries, private by
themselves with a floor of phantoms, without promises. In the paper ε cannot be chosen: it is (r/p) ln ρ with the
paper's ρ (keys among 2^20), and follows from the size r. The line goes from 5 entries to 500, estimated by the
geometric mean as in the paper. Lines show what plans say, with the formula for the share of these keys; dots are the
root mean square error of 200 releases each. Secrets are fixed, so the picture is reproducible.
"""

from __future__ import annotations

import argparse
import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import stablesketch as ss
from layout_picture import error_of
from stablesketch.pictures import picture_bytes
from stablesketch.pictures.style import BLUE, GREY, INK, PURPLE, VERMILION, WHITE, WIDTH, canvas, in_style, plain_ticks
from stream_study import bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P, DELTA, SIZE, RELEASES = 0.5, 1e-9, 500, 200
STREAMS = ((10_000, 700), (1_000, 70))  # pairs, keys: every key equally often, as in the README, or nearly
EPSILONS = np.geomspace(0.01, 1_000.0, 31)
DOTS = (0.01, 0.1, 1.0, 10.0)
TITLE = "Error against ε"
ALT = "Two panels, a stream of 10,000 pairs and one of 1,000: relative error against ε."


def moment(pairs: int, keys: int) -> float:
    more, least = pairs % keys, pairs // keys
    return float(more * (least + 1) ** P + (keys - more) * least**P)


def planned(epsilon: float, truth: float, mechanism: str) -> float:
    privacy = ss.Privacy(epsilon, DELTA)
    size = SIZE if mechanism == "bare" else None
    return ss.plan(ss.Moment(P), privacy, size=size, mechanism=mechanism, expected=truth).error  # type: ignore[arg-type]


def now_at(epsilon: float, pairs: int, truth: float) -> float:
    """As planned, plus, in squares, what keys with such shares add: S = Σ f^(2p)/F_p² is pairs/F_p² here."""
    plan = ss.plan(ss.Moment(P), ss.Privacy(epsilon, DELTA), expected=truth)
    layout = plan.entries_per_key, plan.size
    return math.sqrt(plan.error**2 + error_of(*layout, pairs / truth**2) ** 2 - error_of(*layout, 0.0) ** 2)


def before(truth: float) -> list[tuple[float, float]]:
    """Up to the ε that finite precision leaves within reach at this δ."""
    found = []
    for epsilon in EPSILONS:
        try:
            found.append((float(epsilon), planned(float(epsilon), truth, "bare")))
        except ss.PlanInfeasible:
            break
    return found


def by_the_paper(pairs: int) -> list[tuple[float, float]]:
    """ε and error of 5 to 500 entries; the variance of the geometric mean of r entries is π²(p² + 2)/(12 r)."""
    variance = math.pi**2 * (P**2 + 2.0) / 12.0
    sizes = (5, 10, 20, 50, 100, 200, 500)
    return [(ss.paper.epsilon(pairs, 2**20, 1, P, size), math.sqrt(variance / size)) for size in sizes]


def measured(epsilon: float, pairs: int, keys: int) -> float:
    plan = ss.plan(ss.Moment(P), ss.Privacy(epsilon, DELTA))
    truth, squares = moment(pairs, keys), 0.0
    stream = np.arange(pairs) % keys
    for number in range(RELEASES):
        label = f"error picture, {epsilon}, {pairs}, {number}"
        collector = plan.open(ss.Secret.from_bytes(hashlib.sha256(label.encode()).digest()))
        collector.update(stream)
        squares += (collector.release().value / truth - 1.0) ** 2
    return math.sqrt(squares / RELEASES)


@in_style
def draw(output: Path) -> None:
    figure, panels = canvas(WIDTH, 9.6, rows=2)
    for axes, (pairs, keys) in zip(panels, STREAMS, strict=True):
        panel(axes, pairs, keys)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(picture_bytes(figure, output, TITLE, ALT))
    print(f"{output}: {output.stat().st_size:,} bytes")


def panel(axes: Axes, pairs: int, keys: int) -> None:
    truth = moment(pairs, keys)
    now = [(float(epsilon), now_at(float(epsilon), pairs, truth)) for epsilon in EPSILONS]
    exact = [(float(epsilon), planned(float(epsilon), truth, "exact")) for epsilon in EPSILONS]
    old, paper = before(truth), by_the_paper(pairs)
    dots = [(epsilon, measured(epsilon, pairs, keys)) for epsilon in bar(DOTS, f"{pairs:,} pairs")]
    axes.plot(*zip(*paper, strict=True), color=PURPLE, linestyle="-.")
    axes.plot(*zip(*old, strict=True), color=GREY, linestyle=":", linewidth=3)
    axes.plot(*zip(*now, strict=True), color=BLUE, linewidth=3.5)
    axes.plot(*zip(*exact, strict=True), color=VERMILION, linestyle="--")
    axes.plot(*zip(*dots, strict=True), "o", color=BLUE, markersize=9, markeredgecolor=WHITE, zorder=5, clip_on=False)
    axes.set(xscale="log", yscale="log", xlim=(0.01, 1_000), ylim=(1e-4, 5.0), xlabel="ε, at δ = 1e-9",
             ylabel="relative error")  # fmt: skip
    axes.set_title(f"{pairs:,} pairs of {keys} keys")
    end, halfway = now[-1][1], len(EPSILONS) // 3
    axes.text(900, 0.8 * end, "sketch, now", color=BLUE, weight="bold", ha="right", va="top")
    axes.text(900, 0.5 * end, "default plan; dots are measured", color=BLUE, ha="right", va="top", fontsize=11)
    axes.text(old[6][0], 1.25 * old[6][1], "sketch, before", color=GREY, weight="bold")
    axes.text(paper[2][0], 1.3 * paper[2][1], "the paper", color=PURPLE, weight="bold")
    axes.text(0.8 * exact[halfway][0], 0.75 * exact[halfway][1], "exact + noise", color=VERMILION, ha="right",
              va="top", weight="bold")  # fmt: skip
    axes.axvline(1.0, color=INK, linewidth=1.0, alpha=0.4)
    plain_ticks(axes, x=True)
    axes.set_yticks([1e-4, 1e-3, 1e-2, 1e-1, 1.0], ["0.01%", "0.1%", "1%", "10%", "100%"])
    axes.minorticks_off()
    axes.tick_params(axis="x", pad=9)


def main() -> None:
    parser = argparse.ArgumentParser(description="Error against ε: the second picture of the README.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "docs" / "images" / "error.svg")
    draw(parser.parse_args().output)


if __name__ == "__main__":
    main()
