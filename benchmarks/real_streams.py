"""Releases of real streams, by the real path: does the interval hold, is the error what was planned, what does it cost?

    python benchmarks/real_streams.py FOLDER --releases 200 --csv docs/real-streams.csv
    python benchmarks/real_streams.py FOLDER --csv docs/real-streams.csv --markdown

FOLDER has Parquet files with columns `key` and `value`. Every file is released at p = 0.25, 0.5 and 0.75 with ε = 1,
δ = 1e-9, one pair replaced, the largest value of the file taken as public. Each release has a collector and a secret of
its own. To save time the totals of keys are added up once, before: the state is the same to the last bit
(tests/doors/test_fold.py). Time and memory are those of `ss.release`, which reads the file. Beside it exact totals with
Laplace noise. A row that is in the CSV already is not measured again, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.compute  # noqa: F401  so that it is there before memory is measured

import stablesketch as ss
from stablesketch.doors import Columns, Input
from stablesketch.doors.exact import exact_values
from stablesketch.plan.sizing import relative_deviation

ORDERS = (0.25, 0.5, 0.75)
EPSILON, DELTA = 1.0, 1e-9
FIELDS = (
    "file", "p", "pairs", "keys", "max_value", "size", "floor", "epsilon", "truth", "releases", "predicted", "error",
    "bias", "covered", "width", "seconds", "megabytes", "exact_error", "exact_covered", "exact_seconds",
    "exact_megabytes",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--size", type=int, help="entries; by default as many as 5% takes where no floor is needed")
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--markdown", action="store_true", help="print the CSV as a table and measure nothing")
    parser.add_argument("--once", nargs=5, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        print_cost(asked.folder, asked.once)
    elif asked.markdown:
        print(table(asked.csv))
    else:
        measure(asked.folder, asked.releases, asked.csv, asked.size)


def measure(folder: Path, releases: int, results: Path, size: int | None) -> None:
    done = {(row["file"], float(row["p"])) for row in rows(results)}
    if not results.exists():
        with results.open("w", newline="") as file:
            csv.writer(file).writerow(FIELDS)
    for path in sorted(folder.glob("*.parquet"), key=lambda path: path.stat().st_size):
        for p in ORDERS:
            if (path.stem, p) not in done:
                row = measured(path, p, releases, size)
                with results.open("a", newline="") as file:
                    csv.DictWriter(file, FIELDS).writerow(row)
                print(row, flush=True)


def measured(path: Path, p: float, releases: int, size: int | None) -> dict[str, object]:
    ((_, (truth,), pairs, keys),) = exact_values(str(path), ss.Moment(p), Columns(("key",), "value"), Input(), "error")
    most = largest(path)
    totals = totals_of(path)
    found = [collected(totals, p, pairs, most, "sketch", size) for _ in range(releases)]
    exact = [collected(totals, p, pairs, most, "exact", size) for _ in range(min(releases, 20))]
    first = found[0]
    predicted = relative_deviation(p, first.size) * math.sqrt(1 + 1 / 192) * (1 + first.floor / truth)
    seconds, megabytes = cost(path, p, pairs, most, "sketch", first.size)
    exact_seconds, exact_megabytes = cost(path, p, pairs, most, "exact", first.size)
    return {
        "file": path.stem, "p": p, "pairs": pairs, "keys": keys, "max_value": most, "size": first.size,
        "floor": first.floor, "epsilon": first.epsilon, "truth": truth, "releases": releases, "predicted": predicted,
        "error": error(found, truth), "bias": statistics.fmean(one.value for one in found) / truth - 1,
        "covered": covered(found, truth), "width": statistics.fmean(one.high - one.low for one in found) / truth,
        "seconds": seconds, "megabytes": megabytes, "exact_error": error(exact, truth),
        "exact_covered": covered(exact, truth), "exact_seconds": exact_seconds, "exact_megabytes": exact_megabytes,
    }  # fmt: skip


def totals_of(path: Path) -> Any:
    """key, total: a table of the distinct keys."""
    connection: Any = duckdb.connect()
    query = f"select key, cast(sum(value) as bigint) as total from read_parquet('{path}') group by key"
    return connection.sql(query).to_arrow_table()


def collected(totals: Any, p: float, pairs: int, most: int, mechanism: str, size: int | None) -> ss.Release:
    """One release under a fresh secret, of the state that reading the whole stream leaves."""
    own = {"mechanism": "exact"} if mechanism == "exact" else {"size": size or default_size(p)}
    collector = ss.plan(
        ss.Moment(p), ss.Privacy(EPSILON, DELTA, pairs, most, relation="replace"), **own, mechanism="bare"
    ).open()
    prints = collector._fingerprints(totals.column("key").combine_chunks())
    collector._add_totals(prints, totals.column("total").to_numpy(), pairs)
    return collector.release()


def released(path: Path, p: float, pairs: int, most: int, mechanism: str, size: int) -> ss.Release:
    found = ss.release(
        path, ss.Moment(p), ss.Privacy(EPSILON, DELTA, pairs, most, relation="replace"), key="key", value="value",
        size=None if mechanism == "exact" else size, mechanism=mechanism,  # type: ignore[arg-type]
    )  # fmt: skip
    assert isinstance(found, ss.Release)
    return found


def default_size(p: float) -> int:
    """What the command line takes: the size of 5% where no floor is needed."""
    return ss.plan(
        ss.Moment(p), ss.Privacy(EPSILON, DELTA, 2**40, relation="replace"), error=0.05, mechanism="bare"
    ).size


def largest(path: Path) -> int:
    connection: Any = duckdb.connect()
    return int(connection.sql(f"select max(value) from read_parquet('{path}')").fetchall()[0][0])


def error(found: list[ss.Release], truth: float) -> float:
    return math.sqrt(statistics.fmean((one.value / truth - 1) ** 2 for one in found))


def covered(found: list[ss.Release], truth: float) -> int:
    return sum(one.low <= truth <= one.high for one in found)


def cost(path: Path, p: float, pairs: int, most: int, mechanism: str, size: int) -> tuple[float, float]:
    """(seconds, MB above import) of one release in a process of its own; of the second, when tables are there."""
    once = [str(p), str(pairs), str(most), mechanism, str(size)]
    command = [sys.executable, __file__, str(path), "--csv", "-", "--once", *once]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(shown[0]), float(shown[1])


def print_cost(path: Path, once: list[str]) -> None:
    p, pairs, most, mechanism, size = float(once[0]), int(once[1]), int(once[2]), once[3], int(once[4])
    before = peak_megabytes()
    released(path, p, pairs, most, mechanism, size)
    above = peak_megabytes() - before
    began = time.perf_counter()
    released(path, p, pairs, most, mechanism, size)
    print(time.perf_counter() - began, above)


def peak_megabytes() -> float:
    """The most memory this process has had, in MB: Linux."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def rows(results: Path) -> list[dict[str, str]]:
    if not results.exists():
        return []
    with results.open(newline="") as file:
        return list(csv.DictReader(file))


def table(results: Path) -> str:
    """The CSV as Markdown."""
    lines = [
        "| stream | p | pairs | M | entries | planned error | error | 95% intervals that hold | width / planned error "
        "| time | memory | exact + Laplace: error | time | memory |",
        "|---" * 14 + "|",
    ]
    for row in rows(results):
        number = {name: float(row[name]) for name in FIELDS if name != "file"}
        lines.append(
            f"| {row['file']} | {number['p']:g} | {number['pairs']:,.0f} | {number['max_value']:,.0f} "
            f"| {number['size']:,.0f} | {100 * number['predicted']:.2f}% | {100 * number['error']:.2f}% "
            f"| {number['covered']:.0f} of {number['releases']:.0f} | {number['width'] / number['predicted']:.2f} "
            f"| {number['seconds']:.2f} s | {number['megabytes']:.0f} MB | {100 * number['exact_error']:.2g}% "
            f"| {number['exact_seconds']:.2f} s | {number['exact_megabytes']:.0f} MB |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
