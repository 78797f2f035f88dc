"""How to lay out the entries of a moment: the study behind the default plans.

    python benchmarks/layouts.py FOLDER [--releases 500]
    python benchmarks/layouts.py --times

FOLDER has Parquet files with columns `key` and `value`. A key touches g entries of all there are. For g from 8 to 128
and 5,000, 20,000 and 80,000 entries in all: the error of the sketch alone on every stream, by the formula

    sqrt(v_g (1/B + S (1 - 1/B))),      S = Σ f^{2p}/F_p²,

with S from the exact totals of the stream; the same if one key holds everything (v_g); the noise relative to that of
the exact mechanism; the bytes of a stored sketch; and the time of an update relative to that of an exact group-by of
the same keys by polars, both as processor time, the best of several turns. The formula is checked by sketches of the
two streams with the fewest keys. Results go to docs/layouts.csv and as tables into docs/accuracy.md; `--markdown`
prints them and measures nothing, `--times` measures only times. benchmarks/layout_picture.py draws them.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import stablesketch as ss
from stablesketch.mechanism.noisy.measure import measure_of, noise_of_plan
from stablesketch.mechanism.shared.layout import Layout
from stream_study import Stream, bar, pasted, rows, streams_of

DOCS = Path(__file__).parents[1] / "docs"
NAME, CHECK_NAME = "benchmarks/layouts.py", "benchmarks/layouts.py, check"
PRIVACY = ss.Privacy(1.0, 1e-9)
ORDERS, PER_KEY, FLAT = (0.25, 0.5, 0.75), (8, 16, 32, 64, 96, 128), (16, 64, 256, 1024)
TOTALS = SMALL, USUAL, LARGE = (5_000, 20_000, 80_000)
DEFAULT = {0.25: 96, 0.5: 64, 0.75: 32}
CHECKED = ((16, SMALL), (16, USUAL), (64, USUAL))
FIELDS = (
    "p",
    "per_key",
    "entries",
    "worst",
    "noise",
    "kib",
    "time",
    "stream",
    "spread",
    "error",
    "releases",
    "measured",
)
KEYS, TURNS = 3_000_000, 3


def layout_for(per_key: int, entries: int) -> Layout:
    return Layout(per_key, entries // per_key)


def sketch_error(stream: Stream, p: float, layout: Layout) -> float:
    one = measure_of(p).relative_error(layout.per_key)
    return one * math.sqrt(1.0 / layout.buckets + stream.spread(p) * (1.0 - 1.0 / layout.buckets))


def sketched(stream: Stream, p: float, layout: Layout) -> ss.Sketch:
    sketch = ss.Sketch(p, layout.size, buckets=layout.buckets)
    sketch.update(stream.keys, stream.totals)
    return sketch


def measured_error(stream: Stream, p: float, layout: Layout, releases: int) -> float:
    """Root mean square over `releases` secrets, without noise."""
    truth = stream.exact(ss.Moment(p))
    found = (math.fsum(sketched(stream, p, layout).bucket_estimates()) / truth - 1.0
             for _ in bar(range(releases), f"{stream.path.stem}, p = {p}, {layout}"))  # fmt: skip
    return math.sqrt(statistics.fmean(error**2 for error in found))


def times(p: float) -> dict[Layout, float]:
    """Processor time of an update with distinct keys, divided by that of polars' group-by of the same keys."""
    layouts = [layout_for(per_key, USUAL) for per_key in PER_KEY] + [Layout(size) for size in FLAT if p == 0.5]
    keys = np.random.default_rng(1).integers(0, 2**62, KEYS, dtype=np.int64)
    frame = pl.DataFrame({"key": keys})
    best, exact = dict.fromkeys(layouts, math.inf), math.inf
    for _ in bar(range(TURNS), f"time, p = {p}"):
        exact = min(exact, spent(lambda: frame.group_by("key").len()))
        for layout in layouts:
            sketch = ss.Sketch(p, layout.size, buckets=layout.buckets)
            best[layout] = min(best[layout], spent(partial(sketch.update, keys, threads=1)))
    return {layout: taken / exact for layout, taken in best.items()}


def timed_again(found: Sequence[dict[str, str]]) -> list[dict[str, object]]:
    """The same rows with new times."""
    taken = {
        (p, layout.per_key, USUAL if layout.buckets > 1 else layout.size): share
        for p in ORDERS
        for layout, share in times(p).items()
    }
    return [
        {**row, "time": taken.get((float(row["p"]), int(row["per_key"]), int(row["entries"])), "")} for row in found
    ]


def spent(work: Callable[[], object]) -> float:
    """Processor time, of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def study(streams: Sequence[Stream], releases: int) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    few = [stream for stream in streams if len(stream.totals) < 20_000]
    for p in ORDERS:
        taken = times(p)
        found += [{"p": p, "per_key": one.per_key, "entries": one.size, "worst": measure_of(p).relative_error(one.size),
                   "noise": noise_of(p, one), "time": taken[one], "stream": "any",
                   "error": measure_of(p).relative_error(one.size)} for one in taken if one.buckets == 1]  # fmt: skip
        for entries in TOTALS:
            for per_key in PER_KEY:
                layout = layout_for(per_key, entries)
                row: dict[str, object] = {
                    "p": p, "per_key": per_key, "entries": entries, "worst": measure_of(p).relative_error(per_key),
                    "noise": noise_of(p, layout), "time": taken.get(layout, ""),
                    "kib": max(len(sketched(stream, p, layout).to_bytes()) for stream in few) / 1024,
                }  # fmt: skip
                for stream in streams:
                    last = {
                        "stream": stream.path.stem,
                        "spread": stream.spread(p),
                        "error": sketch_error(stream, p, layout),
                    }
                    if stream in few and (per_key, entries) in CHECKED:
                        last |= {"releases": releases, "measured": measured_error(stream, p, layout, releases)}
                    found.append(row | last)
    return found


def noise_of(p: float, layout: Layout) -> float:
    """The noise divided by that of the exact mechanism, M^p/ε."""
    scale: float = noise_of_plan(p, layout, PRIVACY, 0.0).scale
    return scale * PRIVACY.epsilon / math.pow(PRIVACY.max_value, p)


def table(found: Sequence[dict[str, str]]) -> str:
    """Rows are entries a key; streams have a column each at 20,000, and the worst of them at the other totals."""
    streams = list(dict.fromkeys(row["stream"] for row in found if row["stream"] != "any"))
    heads = ["p", "per key", "one key holds all", "noise / exact", "time / group-by", f"KiB at {USUAL:,}", *streams]
    heads += [f"worst of them at {SMALL:,}", f"at {LARGE:,}"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for p in ORDERS:
        for per_key in PER_KEY:
            here = [row for row in found if float(row["p"]) == p and int(row["per_key"]) == per_key]
            at = {n: {row["stream"]: row for row in here if int(row["entries"]) == n} for n in TOTALS}
            one = at[USUAL][streams[0]]
            errors = [float(at[USUAL][stream]["error"]) for stream in streams]
            errors += [max(float(row["error"]) for row in at[n].values()) for n in (SMALL, LARGE)]
            mark = "**" if DEFAULT[p] == per_key else ""
            cells = [
                f"{p:g}",
                f"{mark}{per_key}{mark}",
                f"{100 * float(one['worst']):.1f}%",
                f"{float(one['noise']):.2f}",
            ]
            cells += [f"{float(one['time']):.1f}", f"{float(one['kib']):.0f}"]
            lines.append("| " + " | ".join(cells + [f"{100 * error:.2f}%" for error in errors]) + " |")
    return "\n".join(lines)


def check(found: Sequence[dict[str, str]]) -> str:
    lines = ["| stream | p | per key | entries | formula | measured | measured / formula |", "|---" * 7 + "|"]
    for row in found:
        if row["measured"]:
            error, seen = float(row["error"]), float(row["measured"])
            lines.append(
                f"| {row['stream']} | {float(row['p']):g} | {row['per_key']} | {int(row['entries']):,} "
                f"| {100 * error:.3f}% | {100 * seen:.3f}% | {seen / error:.2f} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--releases", type=int, default=500)
    parser.add_argument("--csv", type=Path, default=DOCS / "layouts.csv")
    parser.add_argument("--times", action="store_true", help="measure the times again, and nothing else")
    parser.add_argument("--markdown", action="store_true", help="print the CSV as tables and measure nothing")
    asked = parser.parse_args()
    if not asked.markdown:
        if not asked.times and asked.folder is None:
            parser.error("FOLDER is missing")
        found = timed_again(rows(asked.csv)) if asked.times else study(streams_of(asked.folder), asked.releases)
        with asked.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(found)
    made = rows(asked.csv)
    if asked.csv.parent == DOCS and not asked.markdown:
        pasted(DOCS / "accuracy.md", NAME, table(made))
        pasted(DOCS / "accuracy.md", CHECK_NAME, check(made))
    print(table(made), check(made), sep="\n\n")


if __name__ == "__main__":
    main()
