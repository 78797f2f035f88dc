"""How long the next release takes in a ledger with many releases: the table of docs/operations.md.

`python benchmarks/ledger.py [--releases 100000]` fills a ledger in a temporary folder with releases of 24 kinds, then
makes single releases through the whole path, in this process and in new ones.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import stablesketch as ss
from stablesketch.ledger.record import Ask, Entry

_BATCH = 1_000
_NEW_PROCESS = """
import json, sys, time
import stablesketch as ss
folder = sys.argv[1]
plan = ss.Plan.from_json(open(folder + "/plan.json").read())
plan.open().release()  # the quantiles of the limits, which no ledger is needed for
collector = plan.open()
began = time.perf_counter()
collector.release(ledger=ss.Ledger(folder + "/budget.db"))
print(json.dumps(time.perf_counter() - began))
"""


def kinds() -> list[ss.Plan]:
    """Three orders, four ε, two sizes."""
    return [
        ss.plan(ss.Moment(p), ss.Privacy(epsilon, 1e-9, 0, relation="add_remove"), size=size, mechanism="bare")
        for p in (0.25, 0.5, 0.75)
        for epsilon in (0.01, 0.02, 0.05, 0.1)
        for size in (50, 100)
    ]


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def other(number: int) -> ss.Privacy:
    """A privacy that no release has had yet."""
    return ss.Privacy(0.03 + 0.001 * number, 1e-9, 0, relation="add_remove")


def in_a_new_process(folder: Path, plan: ss.Plan) -> float:
    """Seconds from opening the ledger to the value."""
    (folder / "plan.json").write_text(plan.to_json())
    command = [sys.executable, "-c", _NEW_PROCESS, str(folder)]
    return float(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=100_000)
    count = parser.parse_args().releases
    plans = kinds()
    asks = [Ask.of_plan(plan) for plan in plans]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = ss.Ledger(folder / "budget.db", epsilon=1_000.0, delta=1e-3)
        began = time.perf_counter()
        for start in range(0, count, _BATCH):
            numbers = range(start, min(start + _BATCH, count))
            ledger.enter([Entry(asks[i % len(asks)], os.urandom(8), f"release {i}") for i in numbers])
        filled = time.perf_counter() - began
        print(f"{'releases recorded':<44}{count:>10,}")
        print(f"{'recording them in batches of 1,000':<44}{filled:>10.1f} s")
        print(f"{'file':<44}{(folder / 'budget.db').stat().st_size / 1e6:>10.1f} MB")
        singles = []
        for i in range(40):
            collector = plans[i % len(plans)].open()
            collector._check_ready(0.95)  # the quantiles of the limits, which no ledger is needed for
            singles.append(timed(lambda collector=collector: collector.release(ledger=ledger)))  # type: ignore[misc]
        print(f"{'the next release, median of 40':<44}{1e3 * statistics.median(singles):>10.0f} ms")
        print(f"{'the slowest of them':<44}{1e3 * max(singles):>10.0f} ms")
        seen = [in_a_new_process(folder, plans[0]) for _ in range(7)]
        print(f"{'opened and released by a new process, median':<44}{1e3 * statistics.median(seen):>10.0f} ms")
        new = [in_a_new_process(folder, ss.plan(ss.Moment(0.6), other(i), size=50, mechanism="bare")) for i in range(7)]
        print(f"{'the same by a plan it has not seen, median':<44}{1e3 * statistics.median(new):>10.0f} ms")
        print(f"{'ledger.spent()':<44}{1e3 * timed(ledger.spent):>10.0f} ms")
        print(f"{'ledger.verify(): all composed from scratch':<44}{timed(ledger.verify):>10.1f} s")


if __name__ == "__main__":
    main()
