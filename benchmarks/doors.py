"""How long and how much memory it takes to release from a long Parquet file, against DuckDB's own exact group-by.

    python benchmarks/doors.py [--rows 100e6] [--keys 1e6] [--folder FOLDER]

Makes two files of keys that follow Zipf's law (exponent 1.1), integers and texts, and releases F_0.5 of each at the
default error, through `ss.release`. Every run is a process of its own; memory is its peak above what it has after
importing DuckDB, pyarrow and this library. The table of the limits, which a process simulates once for its first
release of a size, is counted in the memory and not in the time. The two take turns; the best time and the most memory
of three rounds count. The files are removed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROUNDS = 3
P = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=100e6)
    parser.add_argument("--keys", type=float, default=1e6)
    parser.add_argument("--folder", type=Path, help="where the files are made, and kept for the next time")
    parser.add_argument("--once", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        print(*once(asked.once[0], Path(asked.once[1])))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        print("| keys | release | group-by | times | memory of the release | memory of the group-by |")
        print("|---|---|---|---|---|---|")
        for kind in ("integers", "texts"):
            path = folder / f"zipf-{kind}-{asked.rows:.0f}-{asked.keys:.0f}.parquet"
            if not path.exists():
                make(path, int(asked.rows), int(asked.keys), kind == "texts")
            best = {"release": (np.inf, 0.0), "group-by": (np.inf, 0.0)}
            for _ in range(ROUNDS):
                for what in best:
                    command = [sys.executable, __file__, "--once", what, str(path)]
                    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
                    seconds, megabytes = float(shown[0]), float(shown[1])
                    best[what] = (min(best[what][0], seconds), max(best[what][1], megabytes))
            ours, theirs = best["release"], best["group-by"]
            print(
                f"| {asked.rows:,.0f} {kind} | {ours[0]:.1f} s | {theirs[0]:.1f} s | {ours[0] / theirs[0]:.2f} "
                f"| {ours[1]:.0f} MB | {theirs[1]:.0f} MB |",
                flush=True,
            )


def make(path: Path, rows: int, keys: int, text: bool) -> None:
    import pyarrow as pa
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    random = np.random.default_rng(1)
    mass = np.cumsum(1.0 / np.arange(1, keys + 1) ** 1.1)
    names = random.permutation(keys).astype(np.int64) * 7919 + 13
    schema = pa.schema([("key", pa.string() if text else pa.int64())])
    with parquet.ParquetWriter(path, schema, compression="zstd") as file:
        for begin in range(0, rows, 1_000_000):
            count = min(1_000_000, rows - begin)
            column = pa.array(names[np.searchsorted(mass, mass[-1] * random.random(count))])
            if text:
                column = compute.binary_join_element_wise(pa.scalar("app-"), column.cast(pa.string()), "")
            file.write_table(pa.table([column], schema=schema))


def once(what: str, path: Path) -> tuple[float, float]:
    """(seconds, peak megabytes above import) of one run in this process."""
    import duckdb
    import pyarrow.compute  # noqa: F401

    import stablesketch as ss

    before = peak_megabytes()
    size = ss.plan(ss.Moment(P), ss.Privacy(1.0, 1e-9, 10**8, relation="replace"), error=0.05, mechanism="bare").size
    if what == "release":
        warm_up(size)
    began = time.perf_counter()
    if what == "release":
        privacy = ss.Privacy(1.0, 1e-9, 0, relation="replace")
        ss.release(path, ss.Moment(P), privacy, key="key", size=size, count_pairs=True)
    else:
        connection = duckdb.connect()
        query = f"select sum(sqrt(n)) from (select count(*) as n from read_parquet('{path}') group by key)"
        connection.sql(query).fetchall()
    return time.perf_counter() - began, peak_megabytes() - before


def warm_up(size: int) -> None:
    """A first release of this size: the table of its limits is simulated once a process, whatever the stream."""
    import stablesketch as ss

    collector = ss.plan(ss.Moment(P), ss.Privacy(1.0, 1e-9, 1, relation="replace"), size=size, mechanism="bare").open()
    collector.update([1])
    collector.release()


def peak_megabytes() -> float:
    """The most memory this process has had, in MB: Linux."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
