"""Theorem 5 of the paper: the mean of the moment of a sample, as claimed and in truth (privacy/sample_moment.py)."""

from __future__ import annotations

import math

from ..pictures.style import COLOURS, LINES
from ..privacy.sample_moment import expected_power
from .output import Output

ORDERS = (0.25, 0.5, 0.75)
RATE = 0.02


def claimed_accuracy(p: float, rate: float, failure: float) -> float:
    """sqrt((1 - 2q^{p+1} + q^{2p+1})/λ): what Theorem 5 adds to the relative error for sampling."""
    return math.sqrt((1.0 - 2.0 * rate ** (p + 1.0) + rate ** (2.0 * p + 1.0)) / failure)


def run(output: Output) -> None:
    """theorem-5: E F'/(q^p F_p) for keys that occur f times; the paper has 1."""
    counts = sorted({round(10 ** (k / 8)) for k in range(49)})
    rows = [(p, f, expected_power(f, RATE, p) / (RATE * f) ** p, RATE ** (1.0 - p)) for p in ORDERS for f in counts]
    output.table("theorem-5", ("p", "times_seen", "true_over_claimed", "least"), rows)
    figure, axes = output.canvas()
    for k, p in enumerate(ORDERS):
        mine = [row for row in rows if row[0] == p]
        axes.semilogx(
            [row[1] for row in mine], [row[2] for row in mine], LINES[k], color=COLOURS[k], label=f"p = {p:g}"
        )
        axes.axhline(RATE ** (1.0 - p), color=COLOURS[k], linewidth=1.0, linestyle=":")
    axes.axhline(1.0, color="#000000", linewidth=1.2)
    axes.text(1.2, 1.02, "claimed", size=11)
    axes.set(xlim=(1, 1e6), ylim=(0, 1.12), xlabel="how often a key is seen", ylabel="true mean / claimed mean")
    axes.set_title("Theorem 5: what sampling at q = 0.02 leaves of $F_p$")
    axes.legend(loc="lower right")
    output.figure("theorem-5", figure)
    once = {row[0]: row[2] for row in rows if row[1] == 1}
    output.claim(
        "Theorem 5", "E of F_p of the sample is q^p F_p", min(once.values()) > 0.999,
        "between q F_p and q^p F_p; keys seen once, q = 0.02, true over claimed: "
        + ", ".join(f"{value:.3f} (p = {p:g})" for p, value in once.items()),
    )  # fmt: skip
    output.claim(
        "Theorem 5", "Algorithm 2 is (γ + sqrt((1-2q^{p+1}+q^{2p+1})/λ), η+λ)-accurate",
        claimed_accuracy(1.0, 0.5, 0.7) >= 1.0,
        f"one pair, p = 1, q = 1/2, λ = 0.7: an error below {claimed_accuracy(1.0, 0.5, 0.7):.3f} + γ would have a "
        "probability of 0.3 - η, but F'/q is 2 or 0, an error of 1: the proof forgets to divide by q^p. At q = 0.02, "
        f"p = 0.5, λ = 0.1 it promises an error of at most {claimed_accuracy(0.5, RATE, 0.1):.2f}, which 0 has too",
    )  # fmt: skip
