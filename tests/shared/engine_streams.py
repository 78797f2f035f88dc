"""Streams that must come out alike everywhere: rows, the columns they are in, and what one machine makes of them."""

from __future__ import annotations

import datetime

import stablesketch as ss

BITS = bytes(range(7, 39))
# Short lives: compiling well and collecting garbage in parallel would take longer than they last.
QUICK_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
DAYS = [datetime.date(2026, 11, day) for day in range(1, 8)]
Row = tuple[str, int, datetime.date, str, int]
SCHEMA = "app string, n bigint, day date, country string, who bigint"


def rows(count: int = 3000) -> list[Row]:
    """Some heavy keys and many light ones, in no order."""
    return [
        (f"app é{(i * i) % 97}" if i % 3 else f"app {i}", i % 5 + 1, DAYS[i % 7], "FR" if i % 4 else "DE", i % 101)
        for i in range(count)
    ]


def secret() -> ss.Secret:
    """A new object each time, so that a release of one leaves the others as they are."""
    return ss.Secret.from_bytes(BITS)


def plan(**more: object) -> ss.Plan:
    privacy = ss.Privacy(1.0, 1e-6, pairs=100, max_value=5, relation="replace")
    return ss.plan(ss.Moment(0.5), privacy, size=40, **more, mechanism="bare")  # type: ignore[arg-type]


def local_bytes(stream: list[Row], shard: str, chosen: ss.Plan) -> bytes:
    """What one collector makes of apps and their numbers."""
    collector = chosen.open(secret(), shard)
    collector.update([row[0] for row in stream], [row[1] for row in stream])
    return collector.to_bytes()
