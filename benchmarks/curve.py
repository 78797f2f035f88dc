"""How tight, fast and small PrivacyCurve is, over the settings it is made for.

    python benchmarks/curve.py [--quick] [--markdown]

For every p, size and ρ - 1: `bracket(δ)` for each δ, and `delta_bracket(ε)` for each ε. The width is that of brackets
of ε, relative to the upper end, if that is between 1e-3 and 20; a bracket of δ counts as the distance between the ε at
which its two ends are reached, if δ is from 1e-12 to 0.1. Times are processor seconds of one call on a new curve, after
the tables of p were built (warm-up). Memory is the peak of Python and numpy, by tracemalloc, in a separate call,
because tracing slows calls down.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from dataclasses import dataclass, field

from stablesketch import PrivacyCurve
from stablesketch.privacy.entries.fine_density import fine_log_density

ORDERS = (0.05, 0.25, 0.5, 0.75, 0.999, 1.0)
SIZES = (1, 50, 500, 10_000)
EXCESSES = (1e-7, 1e-4, 1e-2, 1.0)
DELTAS = (1e-12, 1e-9, 1e-6, 1e-3)
EPSILONS = (1e-3, 0.1, 1.0, 20.0)
LEAST_EPSILON, MOST_EPSILON = 1e-3, 20.0


@dataclass
class Row:
    """What was found at one p."""

    calls: int = 0
    width: float = 0.0
    at: str = ""
    seconds: list[float] = field(default_factory=list)
    memory: float = 0.0


def width_as_epsilon(curve: PrivacyCurve, epsilon: float, ends: tuple[float, float]) -> float | None:
    """The width of a bracket of δ(ε), as a share of ε; None if δ is out of range."""
    low, high = ends
    if not 1e-12 <= high <= 0.1 or low <= 0.0:
        return None
    return (curve.bracket(low)[1] - curve.bracket(high)[0]) / epsilon


def measure(p: float, sizes: tuple[int, ...], excesses: tuple[float, ...]) -> Row:
    fine_log_density(p)
    row = Row()
    for size in sizes:
        for excess in excesses:
            rho = 1.0 + excess
            for delta in DELTAS:
                began = time.process_time()
                low, high = PrivacyCurve(p, size, rho).bracket(delta)
                row.seconds.append(time.process_time() - began)
                row.calls += 1
                if not LEAST_EPSILON <= high <= MOST_EPSILON:
                    continue
                if (high - low) / high > row.width:
                    row.width, row.at = (high - low) / high, f"size {size}, ρ - 1 = {excess:g}, δ = {delta:g}"
                tracemalloc.start()
                PrivacyCurve(p, size, rho).bracket(delta)
                row.memory = max(row.memory, tracemalloc.get_traced_memory()[1] / 2**20)
                tracemalloc.stop()
            for epsilon in EPSILONS:
                curve, began = PrivacyCurve(p, size, rho), time.process_time()
                ends = curve.delta_bracket(epsilon)
                row.seconds.append(time.process_time() - began)
                row.calls += 1
                width = width_as_epsilon(curve, epsilon, ends)
                if width is not None and width > row.width:
                    row.width, row.at = width, f"size {size}, ρ - 1 = {excess:g}, ε = {epsilon:g}"
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description="Width, time and memory of PrivacyCurve.")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and ρ")
    parser.add_argument("--markdown", action="store_true", help="print the table as markdown")
    parser.add_argument("--p", type=float, nargs="*", default=ORDERS, help="the orders")
    options = parser.parse_args()
    sizes, excesses = ((50, 10_000), (1e-7, 1e-2, 1.0)) if options.quick else (SIZES, EXCESSES)
    lines: list[tuple[str, ...]] = [
        ("p", "calls", "widest bracket, of ε", "median call", "slowest call", "most memory", "widest at")
    ]
    for p in options.p:
        row = measure(p, sizes, excesses)
        lines.append(
            (
                f"{p:g}", str(row.calls), f"{100.0 * row.width:.4f}%", f"{sorted(row.seconds)[row.calls // 2]:.3f} s",
                f"{max(row.seconds):.2f} s", f"{row.memory:.0f} MiB", row.at,
            )
        )  # fmt: skip
    if options.markdown:
        lines.insert(1, ("---",) * len(lines[0]))
        print("\n".join("| " + " | ".join(line) + " |" for line in lines))
    else:
        print("\n".join("  ".join(text.rjust(20) for text in line) for line in lines))


if __name__ == "__main__":
    main()
