"""Figure 1 of the paper: the multiplicative sensitivity against p, n = 2^15, m = 2^20; the exact value beside it."""

from __future__ import annotations

import numpy as np

from ..pictures.style import COLOURS, GREY
from ..privacy import Privacy
from ..privacy import sensitivity as exact_sensitivity
from .formulas import sensitivity
from .output import Output

PAIRS, KEYS = 2**15, 2**20
VALUES = {1: "1", 2**5: "$2^5$", 2**10: "$2^{10}$", 2**15: "$2^{15}$"}


def run(output: Output) -> None:
    """figure-1-sensitivity: p from 0.05, the least that the library supports, to 1."""
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
