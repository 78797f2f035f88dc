"""Moments of real streams, released as users do: are errors as planned, do intervals hold, and how was 0.1.0?

    python benchmarks/real_streams.py FOLDER [--releases 200]

FOLDER has Parquet files with columns `key` and `value`. Every file is released at p = 0.25, 0.5, 0.75 and 2 by the
default plan with ε = 1, δ = 1e-9, one pair added or removed, the largest value of the file taken as public. Each
release has its own secret. The results go to docs/real-streams.csv, and from there into the table of docs/accuracy.md,
next to those of version 0.1.0 (docs/real-streams-0.1.0.csv: entries private by themselves, with a floor, every key in
all of them, one pair replaced). What is already in the CSV is not measured again, so a run that was stopped continues
where it was; remove the file to start again. `--markdown` prints the table and measures nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import stablesketch as ss
from stream_study import NUMBERS, measured, pasted, rows, streams_of, verdict, write

DOCS = Path(__file__).parents[1] / "docs"
NAME = "benchmarks/real_streams.py"
ERRORS = ("sketch", "planned", "predicted", "error")
MOMENTS = tuple(ss.Moment(p) for p in (0.25, 0.5, 0.75, 2.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--csv", type=Path, default=DOCS / "real-streams.csv")
    parser.add_argument("--markdown", action="store_true", help="print the CSV as a table and measure nothing")
    asked = parser.parse_args()
    if asked.markdown:
        print(table(asked.csv))
        return
    done = {(row["file"], float(row["order"])) for row in rows(asked.csv)}
    streams = streams_of(asked.folder)
    for statistic in MOMENTS:
        for stream in streams:
            if (stream.path.stem, statistic.p) not in done:
                write(asked.csv, measured(stream, statistic, asked.releases))
    print(verdict(asked.csv))
    if asked.csv.parent == DOCS:
        pasted(DOCS / "accuracy.md", NAME, table(asked.csv))


def old() -> dict[tuple[str, float], dict[str, str]]:
    """The results of version 0.1.0."""
    return {(row["file"], float(row["p"])): row for row in rows(DOCS / "real-streams-0.1.0.csv")}


def table(results: Path) -> str:
    """The CSV as Markdown, next to the results of version 0.1.0: streams one after the other, orders rising."""
    before = old()
    lines = [
        "| stream | p | largest value | entries | per key | sketch alone | planned | for this stream | measured "
        "| coverage of 95% intervals | width / error | exact + Laplace | 0.1.0: per key | its error | improvement |",
        "|---" * 15 + "|",
    ]
    for row in sorted(rows(results), key=lambda row: (int(row["keys"]), float(row["order"]))):
        if row["refused"]:
            lines.append(f"| {row['file']} | {row['order']} | | refused |" + " |" * 11)
            continue
        number = {name: float(row[name]) for name in NUMBERS}
        was = before.get((row["file"], number["order"]))
        last = "| | | |"
        if was:
            old_error = float(was["error"])
            last = f"| {was['size']} | {100 * old_error:.2f}% | {old_error / number['error']:.1f} times |"
        lines.append(
            f"| {row['file']} | {number['order']:g} | {number['max_value']:,.0f} | {number['size']:,.0f} "
            f"| {number['per_key']:,.0f} | {' | '.join(f'{100 * number[name]:.2f}%' for name in ERRORS)} "
            f"| {number['covered']:.0f} of {number['releases']:.0f} | {number['width'] / number['predicted']:.2f} "
            f"| {100 * float(row['exact_error']):.2g}% {last}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
