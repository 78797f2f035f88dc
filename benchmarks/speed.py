"""How fast an update is, compared with its peers: one table of ratios, all measured in one run.

    python benchmarks/speed.py [--quick] [--output DIR]

Needs the libraries that `make bench` installs. Contestants take turns and the best round of each counts;
docs/performance.md says what is timed in each row. The table goes to standard output, to performance.csv and, as a
plot, to images/performance.svg in the output folder (docs), and into performance.md there. A full run takes about eight
minutes and needs a quiet machine. --quick is a smoke run of some seconds on small streams: its ratios mean nothing, and
it writes files only if --output is given.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import textwrap
import time
from pathlib import Path

import speed_instructions
from speed_ours import AVX2, BEST
from speed_peers import machine, versions  # before polars: it settles how many threads that has
from speed_race import Scale, progress
from speed_rows import all_rows
from speed_table import Row, markdown, paste, read, text, write

BUSY = ", so it was busy and the ratios are provisional"
DOCS = Path(__file__).parents[1] / "docs"
QUICK = Scale(rows=10**5, keys=10**4, items=10**3, rounds=2, long_rounds=2, openings=5)


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast stablesketch is, against its peers.")
    parser.add_argument("--quick", action="store_true", help="a smoke run: small streams, two rounds")
    parser.add_argument("--output", type=Path, help="folder for the files (default: docs, with --quick none)")
    options = parser.parse_args()
    output: Path | None = options.output or (None if options.quick else DOCS)
    load = os.getloadavg()[0]  # how many others were running: this process has hardly begun
    quiet = load < 0.5
    if not quiet:
        warning = f"The machine is busy (load {load:.1f}): the ratios will be off, most of all those of two threads."
        print(warning, file=sys.stderr)
    started = time.perf_counter()
    rows = all_rows(QUICK if options.quick else Scale())
    progress(f"{time.perf_counter() - started:.0f} seconds\n")

    tiers = f"tier {BEST}{', and avx2 forced' if AVX2 and AVX2 != BEST else ''}"
    about = f"{machine()}; {tiers}. {versions()}. Load of the machine beforehand: {load:.1f}{'' if quiet else BUSY}."
    print(text(rows))
    print(about)
    if output is not None:
        save(output, rows, about)
        progress(f"written to {output}\n")


def save(output: Path, rows: list[Row], about: str) -> None:
    """The table as CSV, as a plot, and in the page if the folder has one. The page is made from the CSV."""
    from speed_plot import draw

    table, page = output / "performance.csv", output / "performance.md"
    write(rows, table)
    rows = read(table)
    draw(rows, output / "images" / "performance.svg")
    if page.exists():
        paste(page, "results", f"{markdown(rows)}\n\n{textwrap.fill(about, 100)}")
        if platform.machine() == "x86_64" and shutil.which("objdump"):
            paste(page, "instructions", speed_instructions.markdown())


if __name__ == "__main__":
    main()
