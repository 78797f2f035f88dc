"""Spark against Spark: a private release of 10^8 pairs, compared with the exact answer by groupBy, in one session.

    python benchmarks/engines.py [--pairs 1e8] [--repeat 2] [--only zipf] [--folder FOLDER]

Generates Parquet files (1.3 GB at 10^8 pairs) in a temporary folder, or in a named one, where they are kept for next
time. Measures in turn. Prints, for keys that repeat (Zipf over 10^6) and for keys that do not: the wall time of the
exact power sum, of handing all rows to Python without using them, and of releases planned for an error of 1% and by the
default plan, at ε = 1 and δ = 1e-9; and the bytes that the exact answer and the release shuffled, from Spark's metrics.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import stablesketch as ss

KEYS = 10**6
FILES = 8
PRIVACY = ss.Privacy(1.0, 1e-9, max_value=5)
ERRORS = {"1%": 0.01, "default": None}  # asked for in a release


def write(folder: Path, kind: str, pairs: int) -> None:
    """Integer keys and values from 1 to 5."""
    rng = np.random.default_rng(7)
    weights = 1.0 / np.arange(1, KEYS + 1)
    cumulative = np.cumsum(weights) / weights.sum()
    schema = pa.schema([("key", pa.int64()), ("n", pa.int64())])
    folder.mkdir(parents=True)
    for number in range(FILES):
        left = pairs // FILES
        with pq.ParquetWriter(folder / f"{number}.parquet", schema) as file:
            while left:
                count = min(left, 1 << 20)
                if kind == "zipf":
                    keys = np.searchsorted(cumulative, rng.random(count)) * np.int64(2_654_435_761)
                else:  # different ones, all over the 64 bits
                    first = number * (pairs // FILES) + pairs // FILES - left
                    with np.errstate(over="ignore"):
                        keys = np.arange(first, first + count) * np.int64(0x2545F4914F6CDD1D)
                file.write_table(
                    pa.table({"key": keys.astype(np.int64), "n": rng.integers(1, 6, count)}, schema=schema)
                )
                left -= count


def session() -> Any:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    warnings.simplefilter("ignore", FutureWarning)
    from pyspark.sql import SparkSession

    made = (
        SparkSession.builder.master("local[*]")
        .config("spark.driver.memory", "6g")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("ERROR")
    return made


def shuffled(spark: Any) -> int:
    """All bytes that stages have written to shuffles so far."""
    base = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}/stages"
    with urllib.request.urlopen(base, timeout=60) as answer:
        return sum(int(stage["shuffleWriteBytes"]) for stage in json.load(answer))


def nothing(batches: Iterator[Any]) -> Iterator[Any]:
    """Takes all rows and does nothing with them."""
    rows = sum(batch.num_rows for batch in batches)
    yield pa.record_batch({"rows": pa.array([rows])})


def measure(spark: Any, folder: Path, kind: str, pairs: int, repeat: int) -> None:
    from pyspark.sql import functions

    import stablesketch.spark
    from stablesketch.engines.spark.job import large_batches

    frame = spark.read.parquet(str(folder))

    def exact(rows: Any) -> float:
        totals = rows.groupBy("key").agg(functions.sum("n").alias("total"))
        return float(totals.agg(functions.sum(functions.pow("total", functions.lit(0.5)))).collect()[0][0])

    def handed(rows: Any) -> float:
        with large_batches(rows, ("key", "n")):
            return float(rows.mapInArrow(nothing, "rows bigint").agg(functions.sum("rows")).collect()[0][0])

    def releasing(error: float | None) -> Callable[[Any], float]:
        def released(rows: Any) -> float:
            found = stablesketch.spark.release(rows, ss.Moment(0.5), PRIVACY, key="key", value="n", error=error)
            return float(found.value)

        return released

    ways: dict[str, Callable[[Any], float]] = {"exact": exact, "handing over": handed}
    ways |= {f"release, {name}": releasing(error) for name, error in ERRORS.items()}
    few = spark.read.parquet(str(folder / "0.parquet"))
    for way in ways.values():  # until the JVM is warm
        way(few)
    times: dict[str, list[float]] = {name: [] for name in ways}
    moved: dict[str, int] = {}
    values: dict[str, float] = {}
    for _ in range(repeat):
        for name, way in ways.items():
            before, begin = shuffled(spark), time.perf_counter()
            values[name] = way(frame)
            times[name].append(time.perf_counter() - begin)
            moved[name] = shuffled(spark) - before
            print(
                f"  {kind}, {name}: {times[name][-1]:.1f} s, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True
            )
    best = {name: min(found) for name, found in times.items()}
    for error in ERRORS:
        name = f"release, {error}"
        ratios = [ours / theirs for ours, theirs in zip(times[name], times["exact"], strict=True)]
        print(
            f"| {kind} | {error} | {best['exact']:.1f} s | {best['handing over']:.1f} s | {best[name]:.1f} s "
            f"| {best[name] / best['exact']:.2f} ({', '.join(f'{one:.2f}' for one in ratios)}) "
            f"| {moved['exact']:,} | {moved[name]:,} | {values[name] / values['exact'] - 1:+.2%} |",
            flush=True,
        )
    handing = 1e9 * best["handing over"] * (os.cpu_count() or 1) / pairs
    print(f"  {kind}: {handing:.0f} ns of a core to hand over a pair", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=float, default=1e8)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--only", choices=["zipf", "distinct"])
    parser.add_argument("--folder", type=Path, help="where the files are made, and kept for the next time")
    asked = parser.parse_args()
    pairs = int(asked.pairs) // FILES * FILES
    spark = session()
    print(f"{pairs:,} pairs, {os.cpu_count()} cores, Spark {spark.version}, load {os.getloadavg()[0]:.1f} before\n")
    print("| keys | asked | exact | handing over | release | ratio | shuffled by exact | shuffled by release | error |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in [asked.only] if asked.only else ["zipf", "distinct"]:
        with tempfile.TemporaryDirectory(prefix="stablesketch-engines-") as made:
            folder = (asked.folder or Path(made)) / f"{kind}-{pairs}"
            if not folder.exists():
                write(folder, kind, pairs)
            measure(spark, folder, kind, pairs, asked.repeat)
    spark.stop()


if __name__ == "__main__":
    main()
