"""A monitor that runs for a long time: its memory over many rows and windows, and how soon it releases a window.

    python benchmarks/monitor_long.py [--rows 1e8] [--windows 1e4] [--live 3]

Memory: a live monitor with its state in a folder (keys by Zipf's law, exponent 1.1, up to 1e5; Shannon entropy at
ε = 1 and δ = 1e-9) gets JSON lines from a synthetic source, whose clock advances a minute per window. The memory of the
process is printed at 1%, 10%, 50% and 100% of the windows.

Closing: `--live` windows of 5 seconds, with a lateness of 1 second and Shannon entropy, distinct keys and the Hill
number of order 0.5 at once, while lines flow as fast as they are read. The time is measured from the end of the window
and the lateness to its record on standard output.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO

import numpy as np

import stablesketch as ss
from stablesketch.monitor import Monitor, Watch
from stablesketch.monitor.input.blocks import Block
from stablesketch.monitor.input.fields import LineFields
from stablesketch.monitor.state.state import MonitorState
from stablesketch.monitor.windows import SECOND, Windows

START = 1_794_787_200  # 2026-11-16T00:00:00Z
COMMAND = [sys.executable, "-c", "from stablesketch.cli import main; main()", "monitor", "-", "--format", "json"]
COMMAND += ["--key", "k", "--time", "t", "--epsilon", "1", "--delta", "1e-9", "--statistic", "shannon"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--windows", type=float, default=1e4)
    parser.add_argument("--live", type=int, default=3)
    asked = parser.parse_args()
    memory(int(asked.rows), int(asked.windows))
    closing(asked.live)


def memory(rows: int, windows: int) -> None:
    """One block of lines per window; a window is released while the next ones are read."""
    asked = Watch.of([ss.Shannon()], 1.0, 1e-9, LineFields.of(format="json", key=("k",), time="t"), Windows(60))
    made, now, released = list(_lines(rows // windows, 8)), [(START - 1) * SECOND], [0]
    parts = {max(1, round(part * windows)): part for part in (0.01, 0.1, 0.5, 1.0)}
    begun = time.perf_counter()

    def blocks(*_: object) -> Iterator[Block]:
        for number in range(windows):
            lines = made[number % len(made)].replace(b"#", b"%d" % (START + 60 * number))
            now[0] = (START + 60 * number + 30) * SECOND
            yield Block(lines, now[0], now[0])

    def sink(_: int, text: str) -> None:
        released[0] += "releases" in json.loads(text)
        if released[0] % 100 == 0:
            print(f"\r{released[0]:,} windows", end="", file=sys.stderr)
        if released[0] in parts:
            part = parts.pop(released[0])
            print(f"\r{part:4.0%} of {rows:,} rows and {windows:,} windows: {_resident():,.0f} MB", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        state = MonitorState(Path(folder) / "state", asked.to_json())
        monitor = Monitor(asked, "made", blocks, state, [sink], replays=False, clock=lambda: now[0])
        monitor.run()
        state.close()
    assert (released[0], monitor.counters["rows"]) == (windows, windows * (rows // windows))
    seconds = time.perf_counter() - begun
    print(f"{seconds:,.0f} s in all: {rows / seconds:,.0f} rows a second")


def closing(windows: int) -> None:
    """Live windows, until `windows` of them were released with rows in them."""
    more = ["--every", "5s", "--lateness", "1s", "--also", "distinct", "--also", "hill:0.5"]
    child = subprocess.Popen(
        [*COMMAND, *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdin is not None
    assert child.stdout is not None
    late: list[float] = []
    reader = threading.Thread(target=_arrivals, args=(child.stdout, late))
    reader.start()
    (lines,), sent = _lines(20_000, 1), 0
    while len(late) < windows + 1:  # of the first one only the last seconds were seen
        child.stdin.write(lines.replace(b"#", b"%d" % time.time()))
        sent += 20_000
    flowing = late[: windows + 1]
    child.stdin.close()
    reader.join()
    child.wait()
    print(f"{sent:,} rows flowed; windows were released {', '.join(f'{1e3 * each - 1e3:,.0f}' for each in flowing)} ms")
    print("after their end and lateness")


def _arrivals(output: IO[bytes], late: list[float]) -> None:
    """How long after the end of its window each record came."""
    for line in output:
        content = json.loads(line)
        if "end" in content:
            late.append(time.time() - datetime.fromisoformat(content["end"]).timestamp())


def _lines(rows: int, times: int) -> Iterator[bytes]:
    """Lines with # in place of the time."""
    draw = np.random.default_rng(7)
    for _ in range(times):
        keys = np.minimum(draw.zipf(1.1, rows), 100_000)
        yield b"".join(b'{"t":#,"k":"10.0.%d.%d"}\n' % (key >> 8, key & 255) for key in keys.tolist())


def _resident() -> float:
    """Megabytes of this process that are in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
