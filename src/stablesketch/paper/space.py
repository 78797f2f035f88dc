"""The space bound of the paper, shown: bytes of a stored sketch against n, m and M, up to 10^12 pairs.

O(γ^-2 log(mM/(γη)) log(1/η)) bits: for a given size, logarithmic in the stream. Long streams are given as keys with
totals, because the state of a sketch depends only on the totals.
"""

from __future__ import annotations

import numpy as np

from ..pictures.style import COLOURS, LINES
from ..sketch import Sketch
from .algorithm import SIZE, public_secret
from .output import Output

ORDERS = (0.1, 0.25, 0.5, 1.0)
KEYS = 1_000
TABLE_BYTES = 16  # for a key and its total, in the smallest table that could hold them


def stored_bytes(p: float, keys: int, total_each: int) -> int:
    """The bytes of a stored sketch of 50 entries, for `keys` keys with a total of `total_each` each."""
    sketch = Sketch(p, SIZE, public_secret(f"space/{p}/{keys}/{total_each}"), law="symmetric")
    sketch.update(np.arange(keys), total_each)
    return len(sketch.to_bytes())


def run(output: Output) -> None:
    """space: n from 10^3 to 10^12 over 1,000 keys, m from 1 to 10^6, values to 2^40."""
    rows: list[tuple[str, float, float, int]] = []
    keys = [10**k for k in range(0, 6 if output.quick else 7)]
    for p in ORDERS:
        rows += [("n", p, 10.0**k, stored_bytes(p, KEYS, 10 ** (k - 3))) for k in range(3, 13)]
        rows += [("m", p, float(m), stored_bytes(p, m, 1)) for m in keys]
        rows += [("M", p, 2.0**k, stored_bytes(p, KEYS, 2**k)) for k in range(0, 41, 5)]
    output.table("space", ("varied", "p", "at", "bytes"), rows)
    figure, panels = output.canvas(14.0, 4.8, columns=3)
    names = {"n": "pairs $n$ (1,000 keys)", "m": "keys $m$ (one pair each)", "M": "values $M$ (1,000 pairs)"}
    for axes, (varied, label) in zip(panels, names.items(), strict=True):
        for k, p in enumerate(ORDERS):
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
