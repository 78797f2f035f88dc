"""What it takes to release a table, by groups and for people, as users type it: processor time, time and memory.

    python benchmarks/tables.py [--rows 2e6] [--rounds 3] [--folder FOLDER]

Makes a Parquet file: events of 100,000 people in 40 countries and 10,000 shops, apps by Zipf's law (exponent 1.1).
Every run is a process of its own, from the start of the interpreter to its end, and the runs take turns; the best times
and the most memory of the rounds count. "Times one pass" is beside a release of one number from the whole file. On a
busy machine look at the processor time, of both cores together. The last rows are of small things. They are run once
beforehand, and what Python compiles then is kept: an installed package has its bytecode, which a checkout may lack.
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
from numpy.typing import NDArray

Places = NDArray[np.int64]

APPS, PEOPLE, COUNTRIES, SHOPS = 5_000, 100_000, 40, 10_000
ONE_PASS = "one number"
ASKED = ["--key", "app", "--epsilon", "1", "--delta", "1e-9"]
BY, PERSON = ["--by", "country"], ["--person", "who"]
RELEASES = {
    ONE_PASS: [],
    "by country": BY,
    "by country, of each person 1 row": [*BY, *PERSON],
    "by country, of each person 20 rows of 3 countries": [
        *BY, *PERSON, "--pairs-per-person", "20", "--groups-per-person", "3",
    ],
    "by shop, 10,000 public names": ["--by", "shop", "--groups", "shops.txt"],
}  # fmt: skip
SMALL = {
    "--version": ["--version"],
    "--help": ["--help"],
    "release --help": ["release", "--help"],
    "the first release of an order and size": ["release", "few.csv", *ASKED, "--order", "0.37", "--size", "20480"],
}


def make(folder: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    dice = np.random.default_rng(1)

    def drawn(count: int, exponent: float, size: int) -> Places:
        mass = np.cumsum(1.0 / np.arange(1, count + 1) ** exponent)
        found: Places = np.searchsorted(mass, mass[-1] * dice.random(size))
        return found

    def named(what: str, count: int, places: Places) -> pa.Array:
        return pa.array([f"{what}{i}" for i in range(count)]).take(pa.array(places))

    who = dice.integers(0, PEOPLE, rows)
    home = drawn(COUNTRIES, 1.0, PEOPLE)[who]
    country = np.where(dice.random(rows) < 0.05, dice.integers(0, COUNTRIES, rows), home)
    table = {
        "app": named("app-", APPS, drawn(APPS, 1.1, rows)),
        "country": named("country ", COUNTRIES, country),
        "shop": named("shop ", SHOPS, drawn(SHOPS, 0.5, rows)),
        "who": named("user-", PEOPLE, who),
    }
    parquet.write_table(pa.table(table), folder / "events.parquet")
    (folder / "shops.txt").write_text("".join(f"shop {i}\n" for i in range(SHOPS)))
    (folder / "few.csv").write_text("app\n" + "".join(f"app {i % 70}\n" for i in range(1_000)))


def as_installed(bytecode: str) -> dict[str, str]:
    """The environment of the runs, in which Python keeps what it compiles in this folder."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return ours | {"PYTHONPYCACHEPREFIX": bytecode}


def once(folder: Path, arguments: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Seconds, seconds of processors, and megabytes at most, of one run in a process of its own."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    watched = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=-3, stderr=-3); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)"
    )
    command = [sys.executable, "-m", "stablesketch", *arguments]
    done = subprocess.run(
        [sys.executable, "-S", "-c", watched, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, int(done.stdout) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=2e6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the files are made, and kept for the next time")
    asked = parser.parse_args()
    runs = {name: ["release", "events.parquet", *ASKED, *more] for name, more in RELEASES.items()} | SMALL
    print(f"Load of the machine beforehand: {os.getloadavg()[0]:.1f}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as temporary, tempfile.TemporaryDirectory() as bytecode:
        folder = asked.folder or Path(temporary)
        if not (folder / "events.parquet").exists():
            folder.mkdir(parents=True, exist_ok=True)
            make(folder, int(asked.rows))
        environment = as_installed(bytecode)
        for arguments in SMALL.values():
            once(folder, arguments, environment)
        best = dict.fromkeys(runs, (np.inf, np.inf, 0.0))
        for _ in range(asked.rounds):
            for name, arguments in runs.items():
                seconds, cpu, megabytes = once(folder, arguments, environment)
                old = best[name]
                best[name] = (min(old[0], seconds), min(old[1], cpu), max(old[2], megabytes))
    print("| what | time | times one pass | processor time | times one pass | memory |\n|---|---|---|---|---|---|")
    whole = best[ONE_PASS]
    for name, (seconds, cpu, megabytes) in best.items():
        times = ["", ""] if name in SMALL else [f"{seconds / whole[0]:.2f}", f"{cpu / whole[1]:.2f}"]
        print(f"| {name} | {seconds:.2f} s | {times[0]} | {cpu:.2f} s | {times[1]} | {megabytes:.0f} MB |")


if __name__ == "__main__":
    main()
