"""Theorems 1 to 3 of the paper, checked by brute force: every small stream, and the density ratio on a dense grid."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np

from ..law import StableLaw
from ..privacy import Privacy
from ..privacy import sensitivity as exact_sensitivity
from .formulas import sensitivity
from .output import Output


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
