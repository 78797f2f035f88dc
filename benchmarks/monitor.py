"""How fast a monitor reads JSON lines, compared with DuckDB's `read_json` and an exact entropy by group-by; and its
memory.

    python benchmarks/monitor.py [--rows 5e6] [--keys 1e5] [--windows 60] [--rounds 3]

Makes a file of events as Suricata writes them (keys by Zipf's law, exponent 1.1, times in order), and replays it
through `stablesketch monitor` with the Shannon entropy of every window at ε = 1 and δ = 1e-9. DuckDB reads that file
with two threads and computes the exact entropy of every window. Every run is a separate process, timed from start to
end. They take turns, and the best time of the rounds counts, by the clock and in CPU time. Memory is the peak of a
process.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

START = 1_794_787_200  # 2026-11-16T00:00:00Z
EXACT = """
import duckdb, sys
base = duckdb.connect()
base.execute("set threads = 2")
print(len(base.execute('''
    with rows as (select src_ip, epoch(timestamp::timestamptz)::bigint // 60 as w
        from read_json(?, format = 'newline_delimited')),
    counts as (select w, src_ip, count(*) as n from rows group by w, src_ip)
    select w, entropy from (select w, -sum(n / total * ln(n / total)) as entropy from
        (select w, n, sum(n) over (partition by w) as total from counts) group by w) order by w
''', [sys.argv[1]]).fetchall()))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=5e6)
    parser.add_argument("--keys", type=float, default=1e5)
    parser.add_argument("--windows", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "eve.json"
        make(path, int(asked.rows), int(asked.keys), asked.windows)
        size = path.stat().st_size
        print(
            f"{asked.rows:,.0f} rows, {size / 1e6:,.0f} MB; load beforehand {os.getloadavg()[0]:.1f}", file=sys.stderr
        )
        begins, ends = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START + 60 * i)) for i in (0, asked.windows))
        ours = [sys.executable, "-c", "from stablesketch.cli import main; main()", "monitor", str(path)]
        ours += ["--preset", "suricata", "--statistic", "shannon", "--every", "1m", "--epsilon", "1", "--delta", "1e-9"]
        ours += ["--from", begins, "--until", ends, "--state", str(Path(folder) / "state")]
        theirs = [sys.executable, "-c", EXACT, str(path)]
        best = {"monitor": (np.inf, np.inf, 0.0), "DuckDB": (np.inf, np.inf, 0.0)}
        for _ in range(asked.rounds):
            for name, command in (("monitor", ours), ("DuckDB", theirs)):
                subprocess.run(["rm", "-rf", str(Path(folder) / "state")], check=True)
                seconds, cpu, memory = once(command)
                best[name] = (min(best[name][0], seconds), min(best[name][1], cpu), max(best[name][2], memory))
    print("| | seconds | CPU seconds | MB of memory | rows a second |\n|---|---|---|---|---|")
    for name, (seconds, cpu, memory) in best.items():
        print(f"| {name} | {seconds:.2f} | {cpu:.2f} | {memory:,.0f} | {asked.rows / seconds:,.0f} |")
    ratios = [ours / theirs for ours, theirs in zip(best["monitor"][:2], best["DuckDB"][:2], strict=True)]
    print(f"\nmonitor / DuckDB: {ratios[0]:.2f} by the clock, {ratios[1]:.2f} in CPU time")


def once(command: list[str]) -> tuple[float, float, float]:
    """Seconds, CPU seconds and megabytes of a process."""
    begun = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def make(path: Path, rows: int, keys: int, windows: int) -> None:
    """Events in the order of their times, a million at once."""
    draw = np.random.default_rng(5)
    with path.open("w") as file:
        for begin in range(0, rows, 1_000_000):
            count = min(1_000_000, rows - begin)
            key = np.minimum(draw.zipf(1.1, count), keys).astype(np.int64)
            second = (begin + np.arange(count)) * (60 * windows) // rows
            stamps = [
                time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(START + s)) for s in range(second[0], second[-1] + 1)
            ]
            file.writelines(
                f'{{"timestamp":"{stamps[s - second[0]]}.123456+0000","flow_id":{k * 7919 + 12345},"event_type":"flow",'
                f'"src_ip":"10.{k >> 16 & 255}.{k >> 8 & 255}.{k & 255}","dest_ip":"192.0.2.7","proto":"TCP",'
                f'"flow":{{"bytes_toserver":{60 + k % 1000}}}}}\n'
                for k, s in zip(key.tolist(), second.tolist(), strict=True)
            )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
