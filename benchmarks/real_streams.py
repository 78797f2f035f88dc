"""Moments of real streams by the real path: is the error what was planned, do intervals hold, what was it before?

    python benchmarks/real_streams.py FOLDER [--releases 200]

FOLDER has Parquet files with columns `key` and `value`. Every file is released at p = 0.25, 0.5 and 0.75 (and 2, where
there are orders above 1) at the default error with ε = 1, δ = 1e-9, one pair added or removed, the largest value of
the file taken as public. Each release has a secret of its own. The results go to docs/real-streams.csv, and from there
into the table of docs/accuracy.md, beside those of version 0.1.0 (docs/real-streams-0.1.0.csv: the entries private by
themselves, with a floor, one pair replaced). What is in the CSV already is not measured again, so a run that was
stopped goes on where it was; remove the file to begin anew. `--markdown` prints the table and measures nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import stablesketch as ss
from stream_study import NUMBERS, measured, pasted, rows, streams_of, verdict, write

DOCS = Path(__file__).parents[1] / "docs"
NAME = "benchmarks/real_streams.py"


def moments() -> list[ss.Moment]:
    found = [ss.Moment(0.25), ss.Moment(0.5), ss.Moment(0.75)]
    try:
        return [*found, ss.Moment(2.0)]
    except ss.ArgumentError:
        return found


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
    before = old()
    for stream in streams_of(asked.folder):
        for statistic in moments():
            if (stream.path.stem, statistic.p) not in done:
                size = int(before.get((stream.path.stem, statistic.p), {"size": 0})["size"])
                write(asked.csv, measured(stream, statistic, asked.releases, old_size=size))
    print(verdict(asked.csv))
    if asked.csv.parent == DOCS:
        pasted(DOCS / "accuracy.md", NAME, table(asked.csv))


def old() -> dict[tuple[str, float], dict[str, str]]:
    """What version 0.1.0 had."""
    return {(row["file"], float(row["p"])): row for row in rows(DOCS / "real-streams-0.1.0.csv")}


def table(results: Path) -> str:
    """The CSV as Markdown, beside what version 0.1.0 had."""
    before = old()
    lines = [
        "| stream | p | largest value | entries | planned error | error | 95% intervals that hold "
        "| width / planned error | 0.1.0: entries | its error | planned now with its entries | exact + Laplace |",
        "|---" * 12 + "|",
    ]
    for row in rows(results):
        if row["refused"]:
            lines.append(f"| {row['file']} | {row['order']} | | refused |" + " |" * 8)
            continue
        number = {name: float(row[name]) for name in NUMBERS}
        was = before.get((row["file"], number["order"]))
        last = "| | | "
        if was:
            last = f"| {was['size']} | {100 * float(was['error']):.2f}% | {100 * float(row['at_old_size']):.2f}% "
        lines.append(
            f"| {row['file']} | {number['order']:g} | {number['max_value']:,.0f} | {number['size']:,.0f} "
            f"| {100 * number['predicted']:.2f}% | {100 * number['error']:.2f}% "
            f"| {number['covered']:.0f} of {number['releases']:.0f} | {number['width'] / number['predicted']:.2f} "
            f"{last}| {100 * float(row['exact_error']):.2g}% |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
