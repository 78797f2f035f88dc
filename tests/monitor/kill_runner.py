"""A file grows and is rotated while its monitor is killed, again and again; a script, so that it may fork.

usage: kill_runner.py FOLDER KILLS SEED. Prints how many rows were written for each second, as JSON.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from monitor_tools import NOON, file_source, watch

from stablesketch.monitor import Monitor
from stablesketch.monitor.outlet import JsonLinesFile
from stablesketch.monitor.state import MonitorState
from stablesketch.monitor.windows import SECOND, Windows, shown

LATENESS = 3


class SharedClock:
    """Seconds after noon that the parent sets and all children read."""

    def __init__(self) -> None:
        self._bytes = mmap.mmap(-1, 8)

    @property
    def second(self) -> int:
        return int.from_bytes(self._bytes[:], "little")

    @second.setter
    def second(self, value: int) -> None:
        self._bytes[:] = value.to_bytes(8, "little")

    def __call__(self) -> int:
        return (NOON + self.second) * SECOND


def child(folder: Path, clock: SharedClock) -> None:
    asked = watch(windows=Windows(1, LATENESS))
    state = MonitorState(folder / "state", asked.to_json())
    out = JsonLinesFile(folder / "out.jsonl")
    Monitor(
        asked, "log", file_source(folder / "log", follow=True), state, [out], replays=True, clock=clock, say=print
    ).run()


def started(folder: Path, clock: SharedClock) -> int:
    number = os.fork()
    if number:
        return number
    try:
        child(folder, clock)
    finally:
        os._exit(1)


def main(folder: Path, kills: int, seed: str) -> None:
    draw, log, clock = random.Random(seed), folder / "log", SharedClock()
    log.touch()
    (folder / "state").mkdir(mode=0o700)
    written: Counter[str] = Counter()
    running = started(folder, clock)
    while _position(folder) is None:
        time.sleep(0.02)
    for kill in range(kills):
        end = time.monotonic() + draw.uniform(0.02, 1.5)
        while time.monotonic() < end:
            second = max(0, clock.second - draw.randrange(LATENESS))
            line = json.dumps({"k": f"k{draw.randrange(50)}", "t": NOON + second}).encode() + b"\n"
            cut = draw.randrange(len(line))
            for part in (line[:cut], line[cut:]):
                with log.open("ab") as file:
                    file.write(part)
            written[shown(NOON + second)] += 1
            clock.second += draw.random() < 0.05
            time.sleep(0.001)
        if draw.random() < 0.3 and _position(folder)["inode"] == log.stat().st_ino:  # one that was not seen is not read
            log.rename(folder / f"log.{kill}")
            log.touch()
            time.sleep(draw.choice([0.0, 0.3]))
        os.kill(running, signal.SIGKILL)
        os.waitpid(running, 0)
        running = started(folder, clock)
        time.sleep(draw.uniform(0.0, 0.3))
    last = shown(NOON + clock.second)
    clock.second += 10
    while f'"start": "{last}"' not in (folder / "out.jsonl").read_text():
        assert os.waitpid(running, os.WNOHANG) == (0, 0), "the monitor ended"
        time.sleep(0.05)
    os.kill(running, signal.SIGKILL)
    print(json.dumps(written))


def _position(folder: Path) -> Any:
    """How far the file was read at the last checkpoint; None before the first."""
    base = sqlite3.connect(folder / "state" / "monitor.db", timeout=60)
    try:
        found = base.execute("select value from facts where name = 'position'").fetchone()
        return None if found is None else json.loads(found[0])
    except sqlite3.Error:
        return None
    finally:
        base.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
