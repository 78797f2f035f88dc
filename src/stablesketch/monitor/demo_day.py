"""A synthetic day of DNS queries with an attack in it, and the same day played fast.

Queries are distributed as in real resolvers: a few names very often, most of them rarely, more by day than at night.
From 07:30 to 07:45 UTC many machines ask for one name, as in a flood attack. The seed is fixed. `python -m
stablesketch.monitor.demo_day` writes the day to standard output.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from .input.blocks import Block
from .input.fields import LineFields
from .windows import SECOND, Clock

START, MINUTES = 1_794_787_200, 1_440  # 2026-11-16T00:00:00Z
FIELDS = LineFields.of(format="json", key=("query",), time="time")
ATTACK = range(450, 465)  # minutes of the day
_NAMES, _PER_MINUTE, _FLOOD = 3_000, 900, 1_500
_FIRST, _AT_ONCE, _PAUSE = 300, 120, 0.5  # first minute; minutes without a pause; seconds for each later one


def minute(number: int) -> bytes:
    """The queries of a minute of the day, as JSON lines."""
    draw = np.random.default_rng([2026, number])
    weights = 1.0 / np.arange(10, _NAMES + 10)
    rate = _PER_MINUTE * (1.0 - 0.5 * np.cos(2.0 * np.pi * (number / MINUTES - 0.1)))
    names = draw.choice(_NAMES, draw.poisson(rate), p=weights / weights.sum())
    queries = [f"site{name}.example" for name in names]
    if number in ATTACK:
        queries += ["flooded.example"] * int(draw.poisson(_FLOOD))
    seconds = START + 60 * number + draw.integers(0, 60, len(queries))
    return b"".join(
        b'{"time":%d,"query":"%s"}\n' % each for each in zip(seconds, map(str.encode, queries), strict=True)
    )


class PlayedDay:
    """The day as an input, from 05:00: two hours at once, then two minutes a second; after midnight it stands still."""

    def __init__(self) -> None:
        self._now = (START + 60 * _FIRST - 1) * SECOND  # counting begins with the next whole window

    def clock(self) -> int:
        """The time of the played day."""
        return self._now

    def blocks(self, clock: Clock, position: Any, seen: int | None) -> Iterator[Block]:
        """A block for each minute, read in its last second."""
        for number in range(_FIRST, MINUTES + 1):
            if number > _FIRST + _AT_ONCE:
                time.sleep(_PAUSE)
            self._now = (START + 60 * number + 59) * SECOND
            yield Block(minute(number) if number < MINUTES else b"", self._now, self._now, number)
        while True:
            time.sleep(_PAUSE)
            yield Block(b"", self._now, self._now, MINUTES)


if __name__ == "__main__":
    for each in range(MINUTES):
        sys.stdout.buffer.write(minute(each))
