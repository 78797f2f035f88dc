"""How accurate every estimator is: simulated sketches, one table.

    python benchmarks/accuracy.py [--sketches 5000] [--size 50] [--markdown]

The entries of a sketch are independent draws of F^{1/p} X, with X stable, whatever the stream was. Sketches with F = 1
are therefore drawn from the law itself. For each p and estimator the table gives

- the root mean square error of F_hat/F, divided by the Cramér-Rao bound 1/sqrt(size · information);
- the bias, mean(F_hat/F) - 1, in percent;
- the share of 95% intervals that contain the true F, in percent;
- the mean width of the intervals, divided by the root mean square error (3.92 for a normal law).
"""

from __future__ import annotations

import argparse
import math
import sys
import time

import numpy as np

from stablesketch.errors import ArgumentError
from stablesketch.law import StableLaw
from stablesketch.sketch.estimators import METHODS, log_intervals

INDICES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
HEADINGS = ("p", "estimator", "RMSE ÷ bound", "bias %", "covered %", "width ÷ RMSE")
# A seed that the library's own simulations do not use.
SEED = 31_415


def measure(p: float, method: str, sketches: int, size: int) -> tuple[str, ...]:
    """One row of the table; the same sketches for every method."""
    law = StableLaw(p)
    log_magnitudes, signs = law.sample_logs((sketches, size), np.random.default_rng(SEED))
    try:
        value, low, high = (np.exp(part) for part in log_intervals(log_magnitudes, signs, p, method))
    except ArgumentError:
        return (f"{p:g}", method, "not defined", "", "", "")
    error = math.sqrt(np.mean((value - 1.0) ** 2))
    bound = 1.0 / math.sqrt(size * law.fisher_information)
    return (
        f"{p:g}",
        method,
        f"{error / bound:.3f}",
        f"{100.0 * (np.mean(value) - 1.0):+.2f}",
        f"{100.0 * np.mean((low < 1.0) & (high > 1.0)):.1f}",
        f"{np.mean(high - low) / error:.2f}",
    )


def table(rows: list[tuple[str, ...]], *, markdown: bool) -> str:
    if markdown:
        lines = [HEADINGS, tuple("---" for _ in HEADINGS), *rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)
    widths = [max(len(line[k]) for line in [HEADINGS, *rows]) for k in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in [HEADINGS, *rows]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy of the estimators, by simulation.")
    parser.add_argument("--sketches", type=int, default=5_000, help="simulated sketches for each p (default 5000)")
    parser.add_argument("--size", type=int, default=50, help="entries of a sketch (default 50)")
    parser.add_argument("--markdown", action="store_true", help="print the table as markdown")
    options = parser.parse_args()
    started = time.perf_counter()
    rows = []
    for p in INDICES:
        for method in METHODS:
            print(f"\rp = {p:g}, {method:<20}", end="", file=sys.stderr, flush=True)
            rows.append(measure(p, method, options.sketches, options.size))
    print(f"\r{time.perf_counter() - started:.0f} seconds{'':<20}", file=sys.stderr)
    print(table(rows, markdown=options.markdown))


if __name__ == "__main__":
    main()
