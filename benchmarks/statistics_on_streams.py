"""Private diversity, entropy, counts and inequality of real streams: do intervals hold, is the error what was planned?

    python benchmarks/statistics_on_streams.py FOLDER --releases 200 --csv docs/statistics-on-streams.csv
    python benchmarks/statistics_on_streams.py FOLDER --csv docs/statistics-on-streams.csv --markdown

FOLDER has Parquet files with columns `key` and `value`. Every statistic is released at the default settings of the
command line with ε = 1, δ = 1e-9 in all, one pair replaced, the largest value of the file taken as public; Atkinson's
index of files in which every key comes once, whole keys protected. For entropy where values vary, half of the total
is taken as promised; where that is not enough the refusal is recorded. Each release has a collector and a secret of its
own. To save time the totals of keys are added up once, before: the state is the same to the last bit
(tests/doors/test_fold.py). Errors are relative for Hill numbers and counts, absolute for entropy and inequality. What
is in the CSV already is not measured again, so a run that was stopped goes on where it was. Rényi's and Tsallis'
entropies are functions of the Hill number of the same order, so that their intervals hold when its do.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import stablesketch as ss
from real_streams import largest, rows, totals_of
from stablesketch.doors import Columns, Input
from stablesketch.doors.exact import exact_values
from stablesketch.statistic import Derived, Profile, Statistic

EPSILON, DELTA = 1.0, 1e-9
STATISTICS: tuple[Statistic, ...] = (
    ss.Distinct(), ss.Shannon(), ss.Hill(0.5), ss.Atkinson(0.5), ss.Profile([0, 0.25, 0.5, 0.75, 1]),
)  # fmt: skip
FIELDS = (
    "file", "statistic", "order", "pairs", "max_value", "total", "size", "bytes", "epsilon", "truth", "releases",
    "predicted", "error", "bias", "covered", "width", "refused",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--only", nargs="*", help="names of statistics")
    parser.add_argument("--markdown", action="store_true", help="print the CSV as a table and measure nothing")
    asked = parser.parse_args()
    if asked.markdown:
        print(table(asked.csv))
        return
    done = {(row["file"], row["statistic"]) for row in rows(asked.csv)}
    if not asked.csv.exists():
        with asked.csv.open("w", newline="") as file:
            csv.writer(file).writerow(FIELDS)
    paths = sorted(asked.folder.glob("*.parquet"), key=lambda path: len(totals_of(path)))
    for statistic in STATISTICS:
        for path in paths:
            if (path.stem, statistic.name) in done or (asked.only and statistic.name not in asked.only):
                continue
            found = measured(path, statistic, asked.releases)
            with asked.csv.open("a", newline="") as file:
                csv.DictWriter(file, FIELDS).writerows(found)
            for row in found:
                print(row, flush=True)


def measured(path: Path, statistic: Statistic, releases: int) -> list[dict[str, object]]:
    ((_, truths, pairs, keys),) = exact_values(str(path), statistic, Columns(("key",), "value"), Input(), "error")
    if isinstance(statistic, ss.Atkinson) and keys != pairs:
        return []
    totals = totals_of(path)
    sums = totals.column("total").to_numpy()
    most, unit = largest(path), "key" if isinstance(statistic, ss.Atkinson) else "pair"
    promised = int(sums.sum()) // 2 if most > 1 and isinstance(statistic, ss.Shannon | Profile) else 0
    asked = ss.Privacy(EPSILON, DELTA, pairs, most, unit=unit, total=promised, relation="replace")  # type: ignore[arg-type]
    row: dict[str, object] = {
        "file": path.stem, "statistic": statistic.name, "pairs": pairs, "max_value": most, "total": promised,
    }  # fmt: skip
    try:
        plan = ss.plan(statistic, asked, mechanism="bare")
    except ss.PlanInfeasible as error:
        return [{**row, "order": statistic.p, "truth": truths[0], "refused": str(error)}]
    found, size = [], 0
    for _ in range(releases):
        collector = plan.open()
        collector._add_totals(collector._fingerprints(totals.column("key").combine_chunks()), sums, pairs)
        size = size or len(collector.to_bytes())
        found.append(collector.release())
    row |= {"size": plan.size, "bytes": size, "epsilon": plan.epsilon, "releases": releases}
    if not isinstance(statistic, Profile):
        return [{**row, **told(statistic, statistic.p, plan, truths[0], exact_parts(plan, sums), points(found))}]
    parts = exact_parts(plan, sums)
    return [
        {**row, **told(point, point.p, plan, truth, parts, points(found, i))}
        for i, (point, truth) in enumerate(zip(statistic.points, truths, strict=True))
    ]


def points(found: Sequence[ss.Release], place: int | None = None) -> list[tuple[float, float, float]]:
    chosen = [one if place is None else one.points[place] for one in found]
    return [(one.value, one.low, one.high) for one in chosen]


def exact_parts(plan: ss.Plan, sums: np.ndarray) -> dict[Statistic, float]:
    shares = sums / sums.sum()
    exact = {ss.Shannon(): float(-np.sum(shares * np.log(shares))), ss.Total(): float(sums.sum())}
    return {
        part.statistic: exact.get(part.statistic, float(np.sum(sums.astype(float) ** part.statistic.p)))
        for part in plan.parts or (plan,)
    }


def told(
    statistic: Statistic, order: float, plan: ss.Plan, truth: float, parts: dict[Statistic, float],
    found: list[tuple[float, float, float]],
) -> dict[str, object]:  # fmt: skip
    scale = truth if statistic.relative else 1.0
    errors = [(value - truth) / scale for value, _, _ in found]
    return {
        "order": order, "truth": truth, "predicted": predicted(statistic, plan, parts),
        "error": math.sqrt(statistics.fmean(error**2 for error in errors)), "bias": statistics.fmean(errors),
        "covered": sum(low <= truth <= high for _, low, high in found),
        "width": statistics.fmean((high - low) / scale for _, low, high in found),
    }  # fmt: skip


def predicted(statistic: Statistic, plan: ss.Plan, parts: dict[Statistic, float]) -> float:
    """The error that the plan says for what the stream really has; of several parts, added up in squares."""
    needed = statistic.needs(plan.privacy) if isinstance(statistic, Derived) else (statistic,)
    squares = 0.0
    for part in plan.parts or (plan,):
        if part.statistic in needed:
            again = ss.plan(
                part.statistic, part.privacy, size=part.size or None, mechanism=part.mechanism,
                expected=parts[part.statistic] if part.statistic.relative else None,
            ) if part.size else part  # fmt: skip
            error = again.error
            if not part.size:  # the noise of N
                error = part.error * (part.expected or 1.0) / parts[part.statistic]
            factor = statistic.factor(part.statistic) if isinstance(statistic, Derived) else 1.0
            squares += (factor * error) ** 2
    return math.sqrt(squares)


def table(results: Path) -> str:
    """The CSV as Markdown."""
    lines = [
        "| stream | statistic | order | truth | entries | stored | ε | planned error | error | bias "
        "| 95% intervals that hold | width / planned error |",
        "|---" * 12 + "|",
    ]
    for row in rows(results):
        if row["refused"]:
            lines.append(f"| {row['file']} | {row['statistic']} | | {float(row['truth']):,.5g} | refused |" + " |" * 7)
            continue
        number = {name: float(row[name]) for name in FIELDS if name not in ("file", "statistic", "refused")}
        shown = [
            f"{100 * number[name]:.2f}%"
            if row["statistic"] in ("hill", "distinct", "profile")
            else f"{number[name]:.4f}"
            for name in ("predicted", "error", "bias")
        ]
        lines.append(
            f"| {row['file']} | {row['statistic']} | {number['order']:g} | {number['truth']:,.6g} "
            f"| {number['size']:,.0f} | {number['bytes'] / 1024:.1f} KiB | {number['epsilon']:.3g} "
            f"| {' | '.join(shown)} "
            f"| {number['covered']:.0f} of {number['releases']:.0f} | {number['width'] / number['predicted']:.2f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
