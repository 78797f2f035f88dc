"""Private diversity, entropy, counts and inequality of real streams: is the error what was planned, what was it before?

    python benchmarks/statistics_on_streams.py FOLDER [--releases 200]

FOLDER has Parquet files with columns `key` and `value`. Every statistic is released at its default error with ε = 1,
δ = 1e-9 in all, one pair added or removed, the largest value of the file taken as public; Atkinson's index of files in
which every key comes once, whole keys replaced. Errors are relative for Hill numbers, indices of concentration and
counts, absolute for entropy and inequality. The results go to docs/statistics-on-streams.csv, and from there into the
table of docs/statistics.md, beside those of version 0.1.0. What is in the CSV already is not measured again, so a run
that was stopped goes on where it was; remove the file to begin anew. `--markdown` prints the table and measures
nothing. Rényi's and Tsallis' entropies are functions of the Hill number of the same order: their intervals hold when
its do.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import stablesketch as ss
from stablesketch.statistic import Profile, Statistic
from stream_study import NUMBERS, Stream, measured, pasted, rows, streams_of, verdict, write

DOCS = Path(__file__).parents[1] / "docs"
NAME = "benchmarks/statistics_on_streams.py"
ABSOLUTE = ("shannon", "renyi", "atkinson", "generalised_entropy")


def statistics() -> list[Statistic]:
    found: list[Statistic] = [ss.Distinct(), ss.Shannon(), ss.Hill(0.5), ss.Atkinson(0.5)]
    try:
        return [*found, ss.Hill(2.0), ss.Profile([0, 0.25, 0.5, 0.75, 1, 2])]
    except ss.ArgumentError:
        return [*found, ss.Profile([0, 0.25, 0.5, 0.75, 1])]


def fits(stream: Stream, statistic: Statistic) -> bool:
    """Inequality is about people, each with one row; the profile, five sketches, was measured on the shortest."""
    if isinstance(statistic, ss.Atkinson):
        return len(stream.totals) == stream.pairs
    return not isinstance(statistic, Profile) or len(stream.totals) < 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--csv", type=Path, default=DOCS / "statistics-on-streams.csv")
    parser.add_argument("--only", nargs="*", help="names of statistics")
    parser.add_argument("--markdown", action="store_true", help="print the CSV as a table and measure nothing")
    asked = parser.parse_args()
    if asked.markdown:
        print(table(asked.csv))
        return
    # The Hill numbers of a profile are rows of their own, under the name of the profile.
    done = {(row["file"], row["statistic"], "" if row["statistic"] == "profile" else float(row["order"]))
            for row in rows(asked.csv)}  # fmt: skip
    streams, before = streams_of(asked.folder), old()
    for statistic in statistics():
        order = "" if isinstance(statistic, Profile) else statistic.p
        for stream in streams:
            if (stream.path.stem, statistic.name, order) in done or not fits(stream, statistic):
                continue
            if not asked.only or statistic.name in asked.only:
                was = before.get((stream.path.stem, statistic.name, statistic.p), {})
                size = int(was.get("size") or 0) if statistic.name == "hill" else 0
                write(asked.csv, measured(stream, statistic, asked.releases, old_size=size))
    print(verdict(asked.csv))
    if asked.csv.parent == DOCS:
        pasted(DOCS / "statistics.md", NAME, table(asked.csv))


def old() -> dict[tuple[str, str, float], dict[str, str]]:
    """What version 0.1.0 had."""
    found = rows(DOCS / "statistics-on-streams-0.1.0.csv")
    return {(row["file"], row["statistic"], float(row["order"])): row for row in found}


def table(results: Path) -> str:
    """The CSV as Markdown, beside what version 0.1.0 had."""
    before = old()
    lines = [
        "| stream | statistic | order | truth | entries | stored | planned error | error | bias "
        "| 95% intervals that hold | width / planned error | 0.1.0: entries | its error "
        "| planned now with its entries |",
        "|---" * 14 + "|",
    ]
    for row in rows(results):
        if row["refused"]:
            lines.append(f"| {row['file']} | {row['statistic']} | | {float(row['truth']):,.5g} | refused |" + " |" * 9)
            continue
        number = {name: float(row[name]) for name in NUMBERS}
        absolute = row["statistic"] in ABSOLUTE
        was = before.get((row["file"], row["statistic"], number["order"]))
        last = "| | | |"
        if was:
            again = shown(row["at_old_size"], absolute)
            last = (
                "| refused | | |"
                if was["refused"]
                else f"| {was['size']} | {shown(was['error'], absolute)} | {again} |"
            )
        lines.append(
            f"| {row['file']} | {row['statistic']} | {number['order']:g} | {number['truth']:,.6g} "
            f"| {number['size']:,.0f} | {number['bytes'] / 1024:.1f} KiB "
            f"| {' | '.join(shown(row[name], absolute) for name in ('predicted', 'error', 'bias'))} "
            f"| {number['covered']:.0f} of {number['releases']:.0f} | {number['width'] / number['predicted']:.2f} "
            f"{last}"
        )
    return "\n".join(lines)


def shown(error: str, absolute: bool) -> str:
    """Where the noise is larger than what is measured, by how much says nothing."""
    if not error:
        return ""
    if absolute:
        return f"{float(error):.4f}"
    return f"{100 * float(error):.2f}%" if abs(float(error)) <= 1.0 else "over 100%"


if __name__ == "__main__":
    main()
