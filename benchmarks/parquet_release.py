"""Time and memory of a release from a long Parquet file, compared with DuckDB's exact group-by.

    python benchmarks/parquet_release.py [--rows 100e6] [--keys 1e6] [--rounds 3] [--folder FOLDER]

Makes three files (integers and texts that follow Zipf's law with exponent 1.1, and integers that are all different) and
releases F_0.5 of each through `ss.release`, planned for an error of 1% and by the default plan, at ε = 1 and δ = 1e-9.
Every run is a separate process; memory is its peak above what it has after importing DuckDB, pyarrow and this library.
They take turns; the best times and the largest memory of three rounds count. The files are removed, unless a folder is
named for them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

KINDS = ("integers", "texts", "different integers")
P = 0.5
ERRORS = {"1%": 0.01, "default": None}  # asked for in a release


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=100e6)
    parser.add_argument("--keys", type=float, default=1e6)
    parser.add_argument("--folder", type=Path, help="where the files are made, and kept for the next time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=KINDS, help="one kind of keys instead of all")
    parser.add_argument("--once", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        print(*once(asked.once[0], Path(asked.once[1])))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        print(f"Load of the machine beforehand: {os.getloadavg()[0]:.1f}", file=sys.stderr)
        print("| keys | error | release | group-by | times | in CPU time | memory of the release | of the group-by |")
        print("|---|---|---|---|---|---|---|---|")
        for kind in [asked.only] if asked.only else KINDS:
            path = folder / f"{kind.replace(' ', '-')}-{asked.rows:.0f}-{asked.keys:.0f}.parquet"
            if not path.exists():
                make(path, int(asked.rows), int(asked.keys), kind)
            best = dict.fromkeys((*ERRORS, "group-by"), (np.inf, np.inf, 0.0))
            for _ in range(asked.rounds):
                for what in best:
                    command = [sys.executable, __file__, "--once", what, str(path)]
                    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
                    seconds, cpu, megabytes = map(float, shown)
                    before = best[what]
                    best[what] = (min(before[0], seconds), min(before[1], cpu), max(before[2], megabytes))
            theirs = best["group-by"]
            for error in ERRORS:
                ours = best[error]
                print(
                    f"| {asked.rows:,.0f} {kind} | {error} | {ours[0]:.1f} s | {theirs[0]:.1f} s "
                    f"| {ours[0] / theirs[0]:.2f} | {ours[1] / theirs[1]:.2f} ({ours[1]:.1f} s, {theirs[1]:.1f} s) "
                    f"| {ours[2]:.0f} MB | {theirs[2]:.0f} MB |",
                    flush=True,
                )


def make(path: Path, rows: int, keys: int, kind: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    text = kind == "texts"
    random = np.random.default_rng(1)
    mass = np.cumsum(1.0 / np.arange(1, keys + 1) ** 1.1)
    names = random.permutation(keys).astype(np.int64) * 7919 + 13
    schema = pa.schema([("key", pa.string() if text else pa.int64())])
    with parquet.ParquetWriter(path, schema, compression="zstd") as file:
        for begin in range(0, rows, 1_000_000):
            count = min(1_000_000, rows - begin)
            if kind == "different integers":
                column = pa.array(spread(np.arange(begin, begin + count)))
            else:
                column = pa.array(names[np.searchsorted(mass, mass[-1] * random.random(count))])
            if text:
                column = compute.binary_join_element_wise(pa.scalar("app-"), column.cast(pa.string()), "")
            file.write_table(pa.table([column], schema=schema))


def spread(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Different numbers for different ones, in no particular order."""
    with np.errstate(over="ignore"):
        return numbers * np.int64(0x2545F4914F6CDD1D)


def once(what: str, path: Path) -> tuple[float, float, float]:
    """(seconds on the wall, of all processors, peak megabytes above import) of one run in this process."""
    import duckdb
    import pyarrow.compute  # noqa: F401

    import stablesketch as ss

    before = peak_megabytes()
    began, worked = time.perf_counter(), time.process_time()
    if what in ERRORS:
        ss.release(path, ss.Moment(P), ss.Privacy(1.0, 1e-9), key="key", error=ERRORS[what])
    else:
        connection = duckdb.connect()
        query = f"select sum(sqrt(n)) from (select count(*) as n from read_parquet('{path}') group by key)"
        connection.sql(query).fetchall()
    return time.perf_counter() - began, time.process_time() - worked, peak_megabytes() - before


def peak_megabytes() -> float:
    """The most memory this process has had, in MB: Linux."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
