"""A file grows and is rotated while its monitor is killed, again and again; a script, so that it may fork.

usage: kill_runner.py FOLDER KILLS SEED file|pipe. Prints how many rows were written for each second, as JSON. Through
the pipe `tail -F` sends the file, with its last lines again at every start; then the file is not rotated.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from monitor_tools import NOON, file_source, watch

from stablesketch.monitor import Monitor
from stablesketch.monitor.input import followed
from stablesketch.monitor.input.blocks import piped
from stablesketch.monitor.state.outbox import JsonLinesFile
from stablesketch.monitor.state.state import MonitorState
from stablesketch.monitor.windows import SECOND, Windows, shown
from stablesketch.reading.libraries import need

LATENESS = 3
for library in ("duckdb", "pyarrow.compute", "pyarrow.csv"):  # before there are children
    need(library)


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


def child(folder: Path, clock: SharedClock, kind: str) -> None:
    followed._LINGER = 0.5
    asked = watch(windows=Windows(1, LATENESS))
    state = MonitorState(folder / "state", asked.to_json())
    out = JsonLinesFile(folder / "out.jsonl")
    if kind == "file":
        source = file_source(folder / "log", follow=True)
    else:
        sent = subprocess.Popen(["tail", "-F", "-n", "200", str(folder / "log")], stdout=subprocess.PIPE)
        (folder / "tail").write_text(str(sent.pid))
        handle = sent.stdout.fileno()  # type: ignore[union-attr]
        source = lambda clock, *_: piped(handle, clock)  # noqa: E731
    Monitor(asked, "log", source, state, [out], replays=kind == "file", clock=clock, say=print).run()


def ended(number: int, folder: Path) -> None:
    """kill -9, of the monitor and of what sends it lines."""
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    with contextlib.suppress(OSError, ValueError):
        os.kill(int((folder / "tail").read_text()), signal.SIGKILL)


def started(folder: Path, clock: SharedClock, kind: str) -> int:
    number = os.fork()
    if number:
        return number
    try:
        child(folder, clock, kind)
    finally:
        os._exit(1)


def main(folder: Path, kills: int, seed: str, kind: str) -> None:
    draw, log, clock = random.Random(seed), folder / "log", SharedClock()
    log.touch()
    (folder / "out.jsonl").touch()
    (folder / "state").mkdir(mode=0o700)
    written: Counter[str] = Counter()
    running = started(folder, clock, kind)
    while _fact(folder, "clock" if kind == "pipe" else "position") is None:
        time.sleep(0.02)
    clock.second, rows = 10, 0  # counting begins with a window after the start
    for kill in range(kills):
        before, patient = _releases(folder), draw.random() < 0.5  # every second one has time to release something
        end = time.monotonic() + draw.uniform(0.02, 1.5)
        while time.monotonic() < end or (patient and _releases(folder) == before):
            second = max(0, clock.second - draw.randrange(LATENESS))
            rows += 1  # so that no two files begin alike
            line = json.dumps({"k": f"k{draw.randrange(50)}", "t": NOON + second, "n": rows}).encode() + b"\n"
            cut = draw.randrange(len(line))
            for part in (line[:cut], line[cut:]):
                with log.open("ab") as file:
                    file.write(part)
            written[shown(NOON + second)] += 1
            clock.second += draw.random() < 0.05
            time.sleep(0.001)
        # A file that was not seen before it is rotated is not read.
        if kind == "file" and draw.random() < 0.3 and _fact(folder, "position")["inode"] == log.stat().st_ino:
            log.rename(folder / f"log.{kill}")
            log.touch()
            time.sleep(draw.choice([0.0, 0.3]))
        ended(running, folder)
        running = started(folder, clock, kind)
        time.sleep(draw.uniform(0.0, 0.3))
    last = shown(NOON + clock.second)
    clock.second += 10
    while kind == "file" and f'"start": "{last}"' not in (folder / "out.jsonl").read_text():
        assert os.waitpid(running, os.WNOHANG) == (0, 0), "the monitor ended"
        time.sleep(0.05)
    ended(running, folder)
    print(json.dumps(written))


def _releases(folder: Path) -> int:
    return (folder / "out.jsonl").read_text().count('"releases"')


def _fact(folder: Path, name: str) -> Any:
    """What the state had at the last checkpoint; None before the first."""
    base = sqlite3.connect(folder / "state" / "monitor.db", timeout=60)
    try:
        found = base.execute("select value from facts where name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])
    except sqlite3.Error:
        return None
    finally:
        base.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
