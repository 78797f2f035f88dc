"""Private diversity, entropy, counts and inequality of real streams: are errors as planned, and how was 0.1.0?

    python benchmarks/statistics_on_streams.py FOLDER [--releases 200]

FOLDER has Parquet files with columns `key` and `value`. Every statistic is released by its default plan with ε = 1,
δ = 1e-9 in all, one pair added or removed, the largest value of the file taken as public; Atkinson's index of files in
which every key comes once, whole keys replaced. Errors are relative for Hill numbers, indices of concentration and
counts, absolute for entropy and inequality; those of Tsallis' entropy are of Σ s^q. The results go to
docs/statistics-on-streams.csv, and from there into the table of docs/statistics.md, beside those of version 0.1.0. What
is in the CSV already is not measured again, so a run that was stopped goes on where it was; remove the file to begin
anew. `--markdown` prints the table and measures nothing. The HHI is Simpson's index by another name.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import stablesketch as ss
from stablesketch.statistic import Statistic
from stream_study import NUMBERS, Stream, measured, pasted, rows, streams_of, verdict, write

DOCS = Path(__file__).parents[1] / "docs"
NAME = "benchmarks/statistics_on_streams.py"
ERRORS = ("sketch", "planned", "predicted", "error", "bias")
ABSOLUTE = ("shannon", "renyi", "atkinson", "generalised_entropy")


STATISTICS: tuple[Statistic, ...] = (
    ss.Distinct(), ss.Hill(0.25), ss.Hill(0.5), ss.Hill(0.75), ss.Renyi(0.5), ss.Tsallis(0.5), ss.Atkinson(0.5),
    ss.Profile([0, 1, 2]), ss.Shannon(), ss.Hill(2.0), ss.Simpson(),
)  # fmt: skip


def fits(stream: Stream, statistic: Statistic) -> bool:
    """Inequality is about people, each with one row."""
    return not isinstance(statistic, ss.Atkinson) or len(stream.totals) == stream.pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--csv", type=Path, default=DOCS / "statistics-on-streams.csv")
    parser.add_argument("--only", nargs="*", help="statistics, as distinct, profile or hill:2")
    parser.add_argument("--markdown", action="store_true", help="print the CSV as a table and measure nothing")
    asked = parser.parse_args()
    if asked.markdown:
        print(table(asked.csv))
        return
    # The Hill numbers of a profile are rows of their own, under the name of the profile.
    done = {(row["file"], label(row["statistic"], float(row["order"]))) for row in rows(asked.csv)}
    streams = streams_of(asked.folder)
    for statistic in STATISTICS:
        name = label(statistic.name, statistic.p)
        if asked.only and name not in asked.only and statistic.name not in asked.only:
            continue
        for stream in streams:
            if (stream.path.stem, name) not in done and fits(stream, statistic):
                write(asked.csv, measured(stream, statistic, asked.releases))
    print(verdict(asked.csv))
    if asked.csv.parent == DOCS:
        pasted(DOCS / "statistics.md", NAME, table(asked.csv))


def label(name: str, order: float) -> str:
    return name if name == "profile" else f"{name}:{order:g}"


def old() -> dict[tuple[str, str, float], dict[str, str]]:
    """What version 0.1.0 had."""
    found = rows(DOCS / "statistics-on-streams-0.1.0.csv")
    return {(row["file"], row["statistic"], float(row["order"])): row for row in found}


def table(results: Path) -> str:
    """The CSV as Markdown, in the order of `STATISTICS`, beside what version 0.1.0 had."""
    before = old()
    lines = [
        "| stream | statistic | order | truth | entries | per key | stored | sketch alone | planned | for this stream "
        "| measured | bias | coverage of 95% intervals | width / error | 0.1.0: per key | its error | improvement |",
        "|---" * 17 + "|",
    ]
    places = [label(each.name, each.p) for each in STATISTICS]

    def place(row: dict[str, str]) -> tuple[int, int, float]:
        return places.index(label(row["statistic"], float(row["order"]))), int(row["keys"]), float(row["order"])

    for row in sorted(rows(results), key=place):
        if row["refused"]:
            lines.append(f"| {row['file']} | {row['statistic']} | | {float(row['truth']):,.5g} | refused |" + " |" * 12)
            continue
        number = {name: float(row[name]) for name in NUMBERS}
        absolute = row["statistic"] in ABSOLUTE
        lines.append(
            f"| {row['file']} | {row['statistic']} | {number['order']:g} | {number['truth']:,.6g} "
            f"| {number['size']:,.0f} | {number['per_key']:,.0f} | {number['bytes'] / 1024:.1f} KiB "
            f"| {' | '.join(shown(row[name], absolute) for name in ERRORS)} "
            f"| {number['covered']:.0f} of {number['releases']:.0f} | {number['width'] / number['predicted']:.2f} "
            f"{beside(before.get((row['file'], row['statistic'], number['order'])), number['error'], absolute)}"
        )
    return "\n".join(lines)


def beside(was: dict[str, str] | None, error: float, absolute: bool) -> str:
    """The columns of version 0.1.0."""
    if not was:
        return "| | | |"
    if was["refused"]:
        return "| refused | | |"
    return f"| {was['size']} | {shown(was['error'], absolute)} | {float(was['error']) / error:.1f} times |"


def shown(error: str, absolute: bool) -> str:
    """Where the noise is larger than what is measured, by how much says nothing."""
    if not error:
        return ""
    if absolute:
        return f"{float(error):.4f}"
    return f"{100 * float(error):.2f}%" if abs(float(error)) <= 1.0 else "over 100%"


if __name__ == "__main__":
    main()
