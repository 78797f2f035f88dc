"""What a cluster would need: rates, message sizes and merge costs of this machine, and a day of 10^12 pairs from them.

    python benchmarks/scale.py

Prints the tables of docs/scale.md. First, what one core does here, measured. Then a day of 10^12 pairs, without groups
and in 10^5 groups, by calculation. Then a simulation of the workers of such a day: how many states they send off, how
much is shuffled, and what the driver must take. Last, a real tree of states.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from dataclasses import dataclass
from math import isqrt

import numpy as np
import pyarrow as pa

import stablesketch as ss
from stablesketch.bounding.groups import group_secret
from stablesketch.engines.local.group_collectors import ListedGroups
from stablesketch.engines.local.pour import pour, pour_groups
from stablesketch.engines.spark.work import OPEN_GROUPS
from stablesketch.sketch.workers import limit_threads

PAIRS = 10**12
GROUPS = 10**5
DAY = 86_400.0


@dataclass(frozen=True)
class Measured:
    """Seconds of one core, and bytes."""

    shape: str
    repeated: float  # per pair, Zipf over 10^6 keys
    distinct: float  # per pair, all keys different
    grouped: float  # per pair, in groups
    opened: float  # per collector
    stored: float
    read: float
    merged: float
    released: float
    message: int  # bytes of a state
    resident: int  # bytes of an open collector


def planned(error: float | None = 0.01) -> ss.Plan:
    """F_0.5 within an error, or by the default plan if none is given; values up to 5."""
    return ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, max_value=5), error=error)


def measure(plan: ss.Plan) -> Measured:
    limit_threads(1)
    rng = np.random.default_rng(1)
    weights = 1.0 / np.arange(1, 10**6 + 1)
    zipf = np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(1 << 22)).astype(np.int64)
    key = ss.Secret.generate()

    def rate(keys: np.ndarray) -> float:
        table = pa.table({"k0": keys, "v": rng.integers(1, 6, len(keys))})
        rounds = []
        for _ in range(3):  # the first one fills caches and tables
            collector = plan.open(key)
            begin = time.process_time()
            pour(table.to_batches(max_chunksize=100_000), collector, clip=False)
            rounds.append((time.process_time() - begin) / len(keys))
        return min(rounds)

    repeated, distinct = rate(zipf), rate(rng.integers(0, 2**62, 1 << 22))
    names = [(f"group {i}",) for i in range(1000)]
    which = pa.array([name[0] for name in names]).take(pa.array(rng.integers(0, 1000, 1 << 20)))
    table = pa.table({"k0": zipf[: 1 << 20], "v": rng.integers(1, 6, 1 << 20), "g0": which})
    groups = ListedGroups(names, plan, lambda name: plan.open(group_secret(key, name), "s"))
    begin = time.process_time()
    pour_groups(table.to_batches(max_chunksize=100_000), groups, clip=False)
    grouped = (time.process_time() - begin) / (1 << 20)

    count = 500  # so many that what was free before does not count
    before = _resident()
    begin = time.process_time()
    collectors = [plan.open(key, f"{i}") for i in range(count)]
    opened = (time.process_time() - begin) / count
    for i, one in enumerate(collectors):
        one.update(zipf[i * 20 : i * 20 + 20])
    resident = (_resident() - before) // count
    begin = time.process_time()
    blobs = [one.to_bytes() for one in collectors]
    stored = (time.process_time() - begin) / count
    begin = time.process_time()
    states = [ss.Collector.from_bytes(blob, key) for blob in blobs]
    read = (time.process_time() - begin) / count
    begin = time.process_time()
    for other in states[1:]:
        states[0].merge(other)
    merged = (time.process_time() - begin) / count
    ready = [plan.open(ss.Secret.generate()) for _ in range(6)]
    for one in ready:
        one.update(np.arange(100_000))
    message = len(ready[0].to_bytes())
    ready[0].release()  # the first one computes what all of a plan share
    begin = time.process_time()
    for one in ready[1:]:
        one.release()
    released = (time.process_time() - begin) / (len(ready) - 1)
    shape = f"{plan.entries_per_key} of {plan.size:,} entries per key"
    return Measured(
        shape, repeated, distinct, grouped, opened, stored, read, merged, released, message, resident,
    )  # fmt: skip


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def show_measured(found: Measured, default: Measured) -> None:
    print(f"One core of this machine, load {os.getloadavg()[0]:.1f}, a plan for 1% beside the default plan:\n")
    print(f"| what | 1%: {found.shape} | default: {default.shape} |")
    print("| --- | ---: | ---: |")

    def show(name: str, first: float, second: float, unit: str, scale: float = 1.0) -> None:
        print(f"| {name} | {first * scale:,.0f} {unit} | {second * scale:,.0f} {unit} |")

    show("a pair, keys repeated (Zipf over 10^6)", found.repeated, default.repeated, "ns", 1e9)
    show("a pair, all keys different", found.distinct, default.distinct, "ns", 1e9)
    show("a pair in one of 1,000 groups", found.grouped, default.grouped, "ns", 1e9)
    show("opening a collector", found.opened, default.opened, "µs", 1e6)
    show("a state to bytes", found.stored, default.stored, "µs", 1e6)
    show("a state from bytes", found.read, default.read, "µs", 1e6)
    show("merging two states", found.merged, default.merged, "µs", 1e6)
    show("a release, after the first", found.released, default.released, "µs", 1e6)
    show("a state on its way", found.message, default.message, "KiB", 1 / 1024)
    show("a collector in memory", found.resident, default.resident, "KiB", 1 / 1024)
    print()


def show_day(found: Measured, transfer: float) -> None:
    """By calculation: cores, states, bytes."""
    print(f"10^12 pairs a day; {transfer * 1e9:.0f} ns a pair to hand rows from the JVM to Python:\n")
    print("| | cores, all day | partitions | states | shuffled | to the driver | at the driver |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, seconds in (("keys repeated", found.repeated), ("all keys different", found.distinct)):
        partitions = PAIRS // 10**8
        states = partitions
        last = isqrt(states - 1) + 1  # as many at each level: engines/spark/job.py
        driver = last * (found.read + found.merged)
        print(
            f"| {name} | {(seconds + transfer) * PAIRS / DAY:,.0f} | {partitions:,} | {states:,} "
            f"| {states * found.message / 1e6:,.0f} MB | {last * found.message / 1e6:,.1f} MB | {driver:,.1f} s |"
        )
    print()


def simulate(found: Measured, transfer: float) -> None:
    """Workers with 10^5 groups: which groups a batch contains, when a worker sends off its states, and what results.

    Group sizes are Zipf. A worker reads batches of 100,000 rows; `sorted` says that the table is clustered by group.
    """
    rng = np.random.default_rng(2)
    weights = 1.0 / np.arange(1, GROUPS + 1)
    cumulative = np.cumsum(weights) / weights.sum()
    partition, batch, tried = 10**8, 10**5, 20  # rows, rows, batches that are simulated of a partition
    partitions = PAIRS // partition
    print("10^5 groups, Zipf; partitions of 10^8 rows, batches of 10^5; simulated:\n")
    head = ["rows of a worker", "collectors open", "states of a partition", "shuffled", "memory of a worker", "cores"]
    print("| " + " | ".join(head) + " |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, most in (
        ("in no order", OPEN_GROUPS), ("in no order", 1 << 20), ("clustered by group", OPEN_GROUPS),
    ):  # fmt: skip
        if name == "clustered by group":
            states = GROUPS / partitions + 1
            held = 2
        else:
            met: set[int] = set()
            given = 0
            held = 0
            for _ in range(tried):
                met.update(np.unique(np.searchsorted(cumulative, rng.random(batch))).tolist())
                held = max(held, len(met))
                if len(met) >= most:
                    given += len(met)
                    met.clear()
            turns = partition / batch / tried
            states = given * turns if given else len(np.unique(np.searchsorted(cumulative, rng.random(10**7))))
            held = held if given else int(states)
        shuffled = states * partitions * found.message
        cores = states * partitions * (found.opened + found.stored + found.read + found.merged) / DAY
        print(
            f"| {name} | {held:,} | {states:,.0f} | {_bytes(shuffled)} | {_bytes(held * found.resident)} "
            f"| {cores:,.1f} |"
        )
    print(f"\nReleasing 10^5 groups one after the other at the driver: {GROUPS * found.released / 60:.0f} minutes.\n")


def tree(found: Measured, states: int = 2048) -> None:
    """A real tree: states with the same integer root to one, then all to one; the result is that of one collector."""
    plan = planned()
    key = ss.Secret.generate()
    blobs = []
    for i in range(states):
        one = plan.open(key, f"{i}")
        one.update(np.arange(i, i + 50))
        blobs.append(one.to_bytes())

    def merged(parts: list[bytes]) -> bytes:
        first, *rest = [ss.Collector.from_bytes(part, key) for part in parts]
        for other in rest:
            first.merge(other)
        return first.to_bytes()

    begin = time.perf_counter()
    level = [merged(blobs[i * i : (i + 1) ** 2]) for i in range(isqrt(states - 1) + 1)]
    between = time.perf_counter()
    whole = ss.Collector.from_bytes(merged(level), key)
    end = time.perf_counter()
    once = plan.open(key, "0")
    for i in range(states):
        once.update(np.arange(i, i + 50))
    assert whole._held().to_bytes() == once._held().to_bytes()
    each = (between - begin) / len(level)
    print(
        f"A tree of {states:,} real states: {len(level)} merges of up to {2 * len(level) - 1} in {each:.3f} s each on "
        f"average, then {len(level)} at the driver in {end - between:.3f} s; the state is that of one collector, to "
        "the last bit."
    )


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.0f} PB"


if __name__ == "__main__":
    handed_over = float(sys.argv[1]) * 1e-9 if len(sys.argv) > 1 else 300e-9  # ns a pair: benchmarks/engines.py
    rates = measure(planned())
    show_measured(rates, measure(planned(None)))
    show_day(rates, handed_over)
    simulate(rates, handed_over)
    tree(rates)
