"""Theorems 1 to 3 of the paper: the sensitivity of F_p, and the ε of one entry.

They are checked by brute force, on every small stream and on a dense grid of the density ratio. Figure 1 has the
sensitivity against p, figure 3 the ε, both as in the paper and exactly.
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np

from ..law import StableLaw
from ..pictures.style import COLOURS, GREY
from ..privacy import Privacy, PrivacyCurve
from ..privacy import sensitivity as exact_sensitivity
from .formulas import epsilon, sensitivity
from .output import Output

PAIRS, KEYS = 2**15, 2**20
VALUES = {1: "1", 2**5: "$2^5$", 2**10: "$2^{10}$", 2**15: "$2^{15}$"}  # of figure 1
MOST, SIZE, DELTA = 2**4, 50, 1e-6  # of figure 3


def brute_force_sensitivity(n: int, m: int, most: int, p: float) -> float:
    """The greatest F_p(S)/F_p(S') over all streams of n pairs, keys 1..m, values 1..most, that differ in one pair."""
    pairs = list(itertools.product(range(m), range(1, most + 1)))
    greatest = 1.0
    for common in itertools.combinations_with_replacement(pairs, n - 1):
        moments = []
        for last in pairs:
            totals: Counter[int] = Counter()
            for key, value in (*common, last):
                totals[key] += value
            moments.append(sum(total**p for total in totals.values()))
        greatest = max(greatest, max(moments) / min(moments))
    return greatest


def ratio_excess(p: float, rho: float) -> tuple[float, float]:
    """How far D_{p,1}/D_{p,ρ} exceeds ρ^{1/p} or falls below ρ^-1, in logarithms, on 20,001 points of ln x.

    Theorem 2 is p = 1. A positive number would refute Theorem 3; rounding gives a few 1e-13.
    """
    y = np.linspace(-40.0 - 8.0 / p, 60.0 / p, 20_001)
    law = StableLaw(p)
    shift = np.log(rho) / p
    log_ratio = law.log_density(y) - law.log_density(y - shift)
    return float(log_ratio.max() - shift), float(-np.log(rho) - log_ratio.min())


def run(output: Output) -> None:
    """theorems-1-to-3.csv."""
    rows: list[tuple[str, float, float, float, float]] = []
    for n, m, most, p in itertools.product((2, 3, 4), (2, 3), (1, 2, 3), (0.05, 0.3, 0.5, 0.8, 1.0)):
        forced = brute_force_sensitivity(n, m, most, p)
        exact = exact_sensitivity(p, Privacy(1.0, 1e-9, n, most, relation="replace"))
        rows.append((f"n={n} m={m} M={most}", p, sensitivity(n, m, most, p), exact, forced))
    output.table("theorem-1", ("stream", "p", "paper_rho", "exact_rho", "brute_force"), rows)
    gap = max(abs(row[3] / row[4] - 1.0) for row in rows)
    over = min(row[2] / row[4] for row in rows)
    output.claim(
        "Theorem 1", "the bound holds for all neighbours", over > 1.0 - 1e-12,
        f"{len(rows)} settings, all streams: bound over greatest ratio {over:.3f} at least; the exact formula "
        f"((n-1)^p + M^p)/n^p is off by {gap:.0e} at most",
    )  # fmt: skip
    orders = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
    excess = [(p, rho, *ratio_excess(p, rho)) for p in orders for rho in (1.0001, 1.1, 2.0, 4.0)]
    output.table("theorems-2-and-3", ("p", "rho", "above_upper", "below_lower"), excess)
    for place, statement, mine in (
        ("Theorem 2", "p = 1: the ratio lies in [1/ρ, ρ]", [row for row in excess if row[0] == 1.0]),
        ("Theorem 3", "the ratio lies in [ρ^-1, ρ^{1/p}]", excess),
    ):
        worst = max(max(row[2:]) for row in mine)
        output.claim(
            place, statement, worst < 1e-9,
            f"{20_001 * len(mine):,} points: it leaves the interval by {max(worst, 0.0):.0e} at most, in logarithms",
        )  # fmt: skip


def figure_1(output: Output) -> None:
    """figure-1-sensitivity: p from 0.05, the least that the library supports, to 1; n = 2^15, m = 2^20."""
    orders = [round(float(p), 4) for p in np.linspace(0.05, 1.0, 39)]
    rows = [
        (
            p,
            most,
            sensitivity(PAIRS, KEYS, most, p),
            exact_sensitivity(p, Privacy(1.0, 1e-9, PAIRS, most, relation="replace")),
        )
        for most in VALUES
        for p in orders
    ]
    output.table("figure-1-sensitivity", ("p", "M", "paper_rho", "exact_rho"), rows)
    figure, axes = output.canvas()
    for colour, (most, label) in zip(COLOURS, VALUES.items(), strict=False):
        mine = [row for row in rows if row[1] == most]
        axes.plot([r[0] for r in mine], [r[2] for r in mine], "--", color=colour, label=f"M = {label}: paper's bound")
        axes.plot([r[0] for r in mine], [r[3] for r in mine], "-", color=colour, label=f"M = {label}: exact")
    axes.set(xlim=(0, 1), ylim=(0.5, 5), xlabel="$p$", ylabel="multiplicative sensitivity ρ")
    axes.set_title("By what factor one pair changes $F_p$")
    axes.legend(ncols=2, loc="upper right", fontsize=10)
    axes.text(0.98, 0.02, "$n = 2^{15}$, $m = 2^{20}$", transform=axes.transAxes, ha="right", color=GREY)
    output.figure("figure-1-sensitivity", figure)

    # "Exact" below means attained: tests/paper/test_theorems.py brute-forces it.
    at_half = next(r for r in rows if r[:2] == (0.5, 1))
    below = all(paper >= exact * (1 - 1e-12) for _, _, paper, exact in rows)
    output.claim(
        "Theorem 1, figure 1", "ρ ≤ 2^{2-2p} ((n-1+M)/(n-1+(m-1)^{(p-1)/p}))^p", below,
        f"valid at all {len(rows)} points, and loose: at p = 0.5, M = 1 the bound is {at_half[2]:.4f}, the exact value "
        f"{at_half[3]:.6f}",
    )  # fmt: skip
    longer = [exact_sensitivity(0.5, Privacy(1.0, 1e-9, n, relation="replace")) for n in (10**4, 10**6, 10**8)]
    output.claim(
        "Section 3.2", "for n ≫ M the sensitivity is about 2^{2-2p}", longer[2] > 1.5,
        f"that is the bound; the sensitivity itself goes to 1: p = 0.5, M = 1, n = 10^4, 10^6, 10^8: "
        f"{longer[0]:.5f}, {longer[1]:.5f}, {longer[2]:.6f}",
    )  # fmt: skip


def figure_3(output: Output) -> None:
    """figure-3-epsilon: one entry as in the paper, and the 50 entries that an estimate needs; M = 2^4."""
    orders = [round(float(p), 4) for p in np.linspace(0.05, 1.0, 20)]
    rows = []
    for p in orders:
        rho = exact_sensitivity(p, Privacy(1.0, DELTA, PAIRS, MOST, relation="replace"))
        one, many = PrivacyCurve(p, 1, rho), PrivacyCurve(p, SIZE, rho)
        rows.append(
            (
                p,
                epsilon(PAIRS, KEYS, MOST, p, 1),
                one.pure_epsilon,
                epsilon(PAIRS, KEYS, MOST, p, SIZE),
                many.pure_epsilon,
                many.epsilon(DELTA),
            )
        )
    header = ("p", "paper_1_entry", "exact_1_entry", f"paper_{SIZE}_entries", f"exact_{SIZE}_pure", f"exact_{SIZE}")
    output.table("figure-3-epsilon", header, rows)
    columns = list(zip(*rows, strict=True))
    figure, (left, right) = output.canvas(12.0, 4.8, columns=2)
    left.plot(columns[0], columns[1], "--", color=COLOURS[1], label="paper: (1/p) ln ρ, its ρ")
    left.plot(columns[0], columns[2], "-", color=COLOURS[0], label="exact ρ")
    left.set(xlim=(0, 1), ylim=(-0.5, 30), xlabel="$p$", ylabel="ε")
    left.set_title("One entry, δ = 0: the paper's axes")
    left.legend()
    left.text(0.98, 0.6, "$n = 2^{15}$, $m = 2^{20}$, $M = 2^4$", transform=left.transAxes, ha="right", color=GREY)
    right.semilogy(columns[0], columns[3], "--", color=COLOURS[1], label="paper's ρ, 50 times one entry")
    right.semilogy(columns[0], columns[4], "-.", color=COLOURS[2], label="exact ρ, 50 times one entry")
    right.semilogy(columns[0], columns[5], "-", color=COLOURS[0], label="exact ρ, exact curve, δ = $10^{-6}$")
    right.set(xlim=(0, 1), xlabel="$p$", ylabel="ε (logarithmic)")
    right.set_title("The 50 entries of an estimate")
    right.legend()
    output.figure("figure-3-epsilon", figure)
    half = next(row for row in rows if row[0] == 0.5)
    output.claim(
        "Theorem 3, figure 3", "one entry is (1/p) ln ρ-private", all(row[1] >= row[2] * (1.0 - 1e-9) for row in rows),
        f"attained with the exact ρ; with the paper's it is loose: {half[1]:.3f} against {half[2]:.4f} at p = 0.5",
    )  # fmt: skip
    output.claim(
        "Section 3.5", "r entries cost r times one entry, so that sub-sampling is called for",
        half[5] > 0.5 * half[4],
        f"50 entries at p = 0.5 have ε = {half[5]:.3f} at δ = 1e-6 by the exact curve, not {half[3]:.1f}",
    )  # fmt: skip
