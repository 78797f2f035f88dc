"""Theorem 5 of the paper: the mean of the moment of a sample, as claimed and in truth, and the space of a sketch.

For the mean see privacy/sample_moment.py. The space bound is O(γ^-2 log(mM/(γη)) log(1/η)) bits: for a given size,
logarithmic in the stream. It is shown by the bytes of a stored sketch against n, m and M, up to 10^12 pairs. Long
streams are given as keys with totals, because the state of a sketch depends only on the totals.
"""

from __future__ import annotations

import math

import numpy as np

from ..pictures.style import COLOURS, LINES
from ..privacy.sample_moment import expected_power
from ..sketch import Sketch
from .algorithm import RATE, SIZE, public_secret
from .output import Output

ORDERS = (0.25, 0.5, 0.75)
STORED_ORDERS = (0.1, 0.25, 0.5, 1.0)
KEYS = 1_000
TABLE_BYTES = 16  # for a key and its total, in the smallest table that could hold them


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


def stored_bytes(p: float, keys: int, total_each: int) -> int:
    """The bytes of a stored sketch of 50 entries, for `keys` keys with a total of `total_each` each."""
    sketch = Sketch(p, SIZE, public_secret(f"space/{p}/{keys}/{total_each}"), law="symmetric")
    sketch.update(np.arange(keys), total_each)
    return len(sketch.to_bytes())


def space(output: Output) -> None:
    """space: n from 10^3 to 10^12 over 1,000 keys, m from 1 to 10^6, values to 2^40."""
    rows: list[tuple[str, float, float, int]] = []
    keys = [10**k for k in range(0, 6 if output.quick else 7)]
    for p in STORED_ORDERS:
        rows += [("n", p, 10.0**k, stored_bytes(p, KEYS, 10 ** (k - 3))) for k in range(3, 13)]
        rows += [("m", p, float(m), stored_bytes(p, m, 1)) for m in keys]
        rows += [("M", p, 2.0**k, stored_bytes(p, KEYS, 2**k)) for k in range(0, 41, 5)]
    output.table("space", ("varied", "p", "at", "bytes"), rows)
    figure, panels = output.canvas(14.0, 4.8, columns=3)
    names = {"n": "pairs $n$ (1,000 keys)", "m": "keys $m$ (one pair each)", "M": "values $M$ (1,000 pairs)"}
    for axes, (varied, label) in zip(panels, names.items(), strict=True):
        for k, p in enumerate(STORED_ORDERS):
            mine = [(at, count) for kind, order, at, count in rows if kind == varied and order == p]
            line = "o" + LINES[k]
            axes.loglog(*zip(*mine, strict=True), line, color=COLOURS[k], markersize=4, label=f"sketch, p = {p:g}")
        at = np.array([at for kind, order, at, _ in rows if kind == varied and order == 0.5])
        table = TABLE_BYTES * (at if varied == "m" else np.full(len(at), float(KEYS)))
        axes.loglog(at, table, color="#000000", linewidth=1.2, linestyle=":", label="table of all keys")
        axes.set(xlabel=label, ylabel="bytes stored", ylim=(10, 1e8))
    panels[0].legend(loc="upper left")
    panels[0].set_title("A sketch of 50 entries")
    output.figure("space", figure)
    half = {at: count for kind, order, at, count in rows if kind == "n" and order == 0.5}
    many = {at: count for kind, order, at, count in rows if kind == "m" and order == 0.5}
    output.claim(
        "Theorem 5, abstract", "polylogarithmic space", half[1e12] < 2 * half[1e3],
        f"50 entries at p = 0.5: {half[1e3]:,} bytes for 10^3 pairs, {half[1e12]:,} for 10^12; {many[1.0]:,} for 1 "
        f"key, {many[max(many)]:,} for {int(max(many)):,} keys, whose table has {TABLE_BYTES * int(max(many)):,} bytes",
    )  # fmt: skip
