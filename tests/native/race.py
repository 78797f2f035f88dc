"""Runs every race of tests/shared/races.py again and again: `python tests/native/race.py [--rounds 20] [--threads 6]`.

Under the thread sanitizer it needs a free-threaded Python that was built with it, and the package built for that one:
CONTRIBUTING.md says how. The sanitizer then reports every data race, of Python's own code too, and the process ends
with the exit code 66. `--control` races on purpose, which must be reported.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from races import RACES, at_once, busy

import stablesketch
from stablesketch._native import Accumulator
from stablesketch.sketch.entry_law import EntryLaw
from stablesketch.sketch.workers import TIER


def control() -> None:
    """Two threads add to one accumulator, which has no lock, because each worker of an update has its own."""
    shared = Accumulator(EntryLaw("symmetric", 0.5), 12, bytes(16), 0, 1000, "plain")
    keys = np.arange(1000, dtype=np.uint64)

    def add() -> None:
        for _ in range(200):
            shared.add(keys, None, False)

    at_once([add, add])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=6)
    parser.add_argument("--only", default="", help="races whose name has this in it")
    parser.add_argument("--control", action="store_true", help="race on purpose, and do nothing else")
    asked = parser.parse_args()
    faulthandler.enable()
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"stablesketch {stablesketch.__version__}, Python {sys.version.split()[0]}, {asked.threads} threads, {TIER}")
    print(f"interpreter lock: {'on' if locked else 'off'}", flush=True)
    if asked.control:
        control()
        return
    with busy():
        for race in RACES:
            if asked.only not in race.__name__:
                continue
            begun = time.monotonic()
            for _ in range(asked.rounds):
                race(asked.threads)
            print(f"{race.__name__}: {asked.rounds} rounds, {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
