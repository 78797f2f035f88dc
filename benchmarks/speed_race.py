"""Timing by turns: contestants run one after the other, round after round, and the best time of each counts.

Other load on the machine then slows all of them alike, and hardly affects the best of many rounds.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Scale", "cpu_of_this_thread", "progress", "race", "wall"]

Clock = Callable[[], int]


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    rows: int = 10**7  # of the group-bys
    keys: int = 10**6  # behind the Zipf law, and distinct ones where single variates are measured
    items: int = 2 * 10**5  # of the Python loops
    rounds: int = 15  # of the short races
    long_rounds: int = 7  # of the group-bys and the loops
    openings: int = 41


def wall() -> int:
    """Nanoseconds by the clock on the wall: for whatever runs in several threads."""
    return time.perf_counter_ns()


def cpu_of_this_thread() -> int:
    """Nanoseconds this thread was on a processor: for whatever runs in this thread alone."""
    return time.thread_time_ns()


def race(what: str, contestants: Mapping[str, Callable[[], object]], rounds: int, clock: Clock) -> dict[str, float]:
    """Seconds each contestant took in its best round. One round beforehand, not counted, warms caches and tables."""
    best = dict.fromkeys(contestants, float("inf"))
    enabled = gc.isenabled()
    gc.disable()  # a collection would hit whichever contestant happens to allocate
    try:
        for number in range(rounds + 1):
            for name, run in contestants.items():
                progress(f"{what}: round {number} of {rounds}, {name}")
                start = clock()
                run()
                taken = (clock() - start) / 1e9
                if number:
                    best[name] = min(best[name], taken)
            gc.collect()
    finally:
        if enabled:
            gc.enable()
    progress(f"{what}: done\n")
    return best


def progress(text: str) -> None:
    """One line on standard error that overwrites the previous one; only complete lines if it is not a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text[:110]:<110}", end="", file=sys.stderr, flush=True)
    elif text.endswith("\n"):
        print(text, end="", file=sys.stderr, flush=True)
