"""Monitors for tests: an hour of fixed time, totals that are exact but for 1e-21, records as dictionaries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import stablesketch as ss
from stablesketch.monitor import Monitor, Watch
from stablesketch.monitor.input.blocks import Block, Rows
from stablesketch.monitor.input.fields import LineFields
from stablesketch.monitor.input.followed import followed
from stablesketch.monitor.state.state import MonitorState
from stablesketch.monitor.windows import SECOND, Windows

NOON = 1_794_830_400  # 2026-11-16T12:00:00Z
JSON = LineFields.of(format="json", key=("k",), time="t")


def watch(fields: LineFields = JSON, windows: Windows | None = None, **more: Any) -> Watch:
    """Totals at ε = 50: the noise is not 0 with probability 2e-22, so a total is the number of rows."""
    statistics = more.pop("statistics", [ss.Total()])
    return Watch.of(statistics, 50.0, 1e-9, fields, windows or Windows(60, 10), **more)


def rows(*seconds: float, key: str = "a") -> bytes:
    """Lines of JSON at so many seconds after noon."""
    return b"".join(json.dumps({"k": key, "t": NOON + second}).encode() + b"\n" for second in seconds)


def at(second: float, lines: bytes = b"", **more: Any) -> Block:
    """A block that is read so many seconds after noon."""
    now = int((NOON + second) * SECOND)
    return Block(lines, now, now, **more)


class Time:
    """A clock that stands where the last block says."""

    def __init__(self, second: float = 0.0) -> None:
        self.now = int((NOON + second) * SECOND)

    def __call__(self) -> int:
        return self.now


def run(
    asked: Watch, blocks: Sequence[Block], state: MonitorState | None = None, *, replays: bool = False,
    start: float = -11.0, ends: bool = True, **more: Any,
) -> tuple[list[dict[str, Any]], Monitor]:  # fmt: skip
    """The records of a monitor over these blocks; the machine's clock is that of the block. It ends, or is stopped."""
    clock, found = Time(start), []
    monitor = Monitor(
        asked, "test", lambda *_: iter(blocks), state or MonitorState(None, asked.to_json()),
        [lambda _, text: found.append(json.loads(text))], replays=replays, clock=clock, **more,
    )  # fmt: skip
    take = monitor._take

    def timed(block: Block, read: Rows) -> None:
        """Blocks are read ahead, so the time is that of the block which is taken."""
        clock.now = max(clock.now, block.now)
        take(block, read)
        if block is blocks[-1] and not ends:
            monitor.stop()

    monitor._take = timed  # type: ignore[method-assign]
    monitor.run()
    return found, monitor


def totals(records: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The first value of every window, by its start."""
    return {each["start"][11:19]: each["releases"][0]["value"] for each in records if "releases" in each}


def file_source(path: Path, *, follow: bool = False) -> Callable[..., Iterator[Block]]:
    return lambda clock, position, seen: followed(path, clock, follow=follow, position=position, seen=seen)
