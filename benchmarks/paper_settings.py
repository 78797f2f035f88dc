"""The paper's own settings, n = 2^15 pairs with values up to M = 16, keys among 2^20: the error that ε = 1 leaves.

    python benchmarks/paper_settings.py [--releases 200]

50 entries, δ = 1e-9, a stream with uniform keys and values. By the paper, ε cannot be chosen: it is (50/p) ln ρ. The
same holds for the exact accounting of the same entries (privacy/entries/curve.py), one pair replaced. For ε = 1 these
entries need a floor (mechanism="bare", with the number of pairs promised). The estimate with noise needs neither floor
nor promise, and adding or removing a pair costs the same. The table goes into docs/paper.md.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import stablesketch as ss
from stream_study import Stream, measured, pasted, predicted

PAGE = Path(__file__).parents[1] / "docs" / "paper.md"
PAIRS, KEYS, MOST, SIZE, DELTA = 2**15, 2**20, 16, 50, 1e-9
HEADINGS = (
    "p", "ε by the paper", "ε of the entries, exactly", "ε = 1 with a floor: error", "with noise: planned", "measured",
    "coverage", "200 entries: planned", "exact + Laplace",
)  # fmt: skip


def row(stream: Stream, p: float, releases: int) -> tuple[str, ...]:
    replaced = ss.Privacy(1.0, DELTA, pairs=PAIRS, max_value=MOST, relation="replace")
    added = ss.Privacy(1.0, DELTA, max_value=MOST)
    statistic = ss.Moment(p)
    alone = ss.PrivacyCurve(p, SIZE, ss.sensitivity(p, replaced)).epsilon(DELTA)
    floor = predicted(stream, statistic, ss.plan(statistic, replaced, size=SIZE, mechanism="bare"))
    (found,) = measured(stream, statistic, releases, privacy=added, size=SIZE)
    larger = predicted(stream, statistic, ss.plan(statistic, added, size=200))
    numbers = [float(str(found[name])) for name in ("predicted", "error", "exact_error")]
    return (
        f"{p:g}", f"{ss.paper.epsilon(PAIRS, KEYS, MOST, p, SIZE):.3g}", f"{alone:.3g}", f"{100 * floor:.2g}%",
        f"{100 * numbers[0]:.2g}%", f"{100 * numbers[1]:.2g}%", f"{found['covered']} of {releases}",
        f"{100 * larger:.2g}%", f"{100 * numbers[2]:.2g}%",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=200)
    releases = parser.parse_args().releases
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    random = np.random.default_rng(15)
    table = pa.table({"key": random.integers(0, KEYS, PAIRS), "value": random.integers(1, MOST + 1, PAIRS)})
    with tempfile.TemporaryDirectory() as folder:
        pyarrow.parquet.write_table(table, Path(folder) / "paper.parquet")
        stream = Stream(Path(folder) / "paper.parquet")
        for p in (0.1, 0.25, 0.5, 0.75, 0.9):
            lines.append("| " + " | ".join(row(stream, p, releases)) + " |")
    pasted(PAGE, "benchmarks/paper_settings.py", "\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
