"""What stablesketch is measured against. Import this before polars is imported anywhere else: it sets its threads."""

from __future__ import annotations

import os

os.environ["POLARS_MAX_THREADS"] = "2"  # read once, when polars is imported

import platform
from collections.abc import Callable
from importlib.metadata import version

import datasketch
import datasketches
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["THREADS", "chambers_mallows_stuck", "group_by", "loops", "machine", "versions"]

THREADS = 2
_BLOCK = 1 << 16  # rows at a time that numpy is given: its temporaries stay in the cache, which makes it faster

Floats = NDArray[np.float64]


def chambers_mallows_stuck(p: float, u: Floats, v: Floats) -> Floats:
    """X = sin(pθ)/cos(θ)^{1/p} · (cos((1-p)θ)/W)^{(1-p)/p}, θ = π(u - 1/2), W = -ln v; at p = 1 it is tan θ."""
    x = np.empty_like(u)
    for start in range(0, len(u), _BLOCK):
        rows = slice(start, start + _BLOCK)
        theta = np.pi * (u[rows] - 0.5)
        if p == 1.0:
            np.tan(theta, out=x[rows])
        else:
            tail = (np.cos((1.0 - p) * theta) / -np.log(v[rows])) ** ((1.0 - p) / p)
            x[rows] = np.sin(p * theta) / np.cos(theta) ** (1.0 / p) * tail
    return x


def group_by(keys: NDArray[np.int64] | pa.Array, values: NDArray[np.int64]) -> dict[str, Callable[[], float]]:
    """The exact group-by-sum of each engine, all of them with two threads, over columns that it already has.

    Only the sum of the square roots of the groups' sums is fetched: the F_0.5 that the sketch estimates. So every
    group is computed, and no time is spent on handing a large result over. polars reads its own columns; duckdb reads
    an Arrow table, once in one piece and once in pieces the size of its row groups, and both engines of polars are
    tried. Whichever is fastest is the one to compare with.
    """
    table = pa.table({"key": keys, "value": values})
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    query = frame.rechunk().lazy().group_by("key").agg(pl.col("value").sum()).select(pl.col("value").sqrt().sum())
    pieces = pa.Table.from_batches(table.to_batches(max_chunksize=122_880))

    def by_polars(engine: str) -> Callable[[], float]:
        return lambda: float(query.collect(engine=engine).item())  # type: ignore[call-overload]

    def by_duckdb(arrow: pa.Table) -> Callable[[], float]:
        connection = duckdb.connect(config={"threads": THREADS})
        connection.register("pairs", arrow)
        statement = "SELECT sum(sqrt(total)) FROM (SELECT sum(value) AS total FROM pairs GROUP BY key)"
        return lambda: float(connection.execute(statement).fetchall()[0][0])

    return {
        "polars, in memory": by_polars("in-memory"),
        "polars, streaming": by_polars("streaming"),
        "duckdb, one Arrow chunk": by_duckdb(table),
        "duckdb, many Arrow chunks": by_duckdb(pieces),
    }


def loops(items: list[str]) -> dict[str, Callable[[], object]]:
    """Sketches that take one item at a time, in the loop that their users write."""
    encoded = [item.encode() for item in items]

    def hll() -> object:
        sketch = datasketches.hll_sketch(12)
        for item in items:
            sketch.update(item)
        return sketch

    def count_min() -> object:
        sketch = datasketches.count_min_sketch(5, 1 << 11)
        for item in items:
            sketch.update(item)
        return sketch

    def hyperloglog() -> object:
        sketch = datasketch.HyperLogLog(p=12)
        for item in encoded:
            sketch.update(item)
        return sketch

    def minhash() -> object:
        sketch = datasketch.MinHash(num_perm=128)
        for item in encoded:
            sketch.update(item)
        return sketch

    return {
        "datasketches, HLL": hll,
        "datasketches, count-min": count_min,
        "datasketch, HyperLogLog": hyperloglog,
        "datasketch, MinHash": minhash,
    }


def versions() -> str:
    names = ("numpy", "polars", "duckdb", "pyarrow", "datasketches", "datasketch")
    peers = ", ".join(f"{name} {version(name)}" for name in names)
    return f"Python {platform.python_version()}; {peers}"


def machine() -> str:
    """The processor, as Linux names it, and how many of it this process may use."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{model}, {cores} cores, {platform.system()}"
