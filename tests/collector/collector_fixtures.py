"""Stored collectors kept in tests/data/wire: every later version must read them, and while the format is 1, write them.

`python tests/collector/collector_fixtures.py` writes those that are missing and never rewrites one, as with the
sketches of tests/sketch/wire_fixtures.py. The plans are written out here, so that a better planner changes nothing.

Version 0.1.0 wrote the six of `FIRST`, whose plans have format 1, and those of `SECOND` have format 2: they are read,
release what they did then, and are written with a plan of today's format. `released.json` has what each releases:
value, low, high; of noise the value.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import stablesketch as ss
from stablesketch.plan import Asked, Phantoms

FOLDER = Path(__file__).parents[1] / "data" / "wire" / "v1"
RELEASED = FOLDER / "released.json"

# As a plan is read that was written before plans knew what they were asked for: it was asked for what it has.
BARE = ss.Plan(
    Asked(
        ss.Moment(0.5),
        ss.Privacy(1.0, 1e-9, 0, max_value=9, relation="add_remove"),
        size=(7,),
        mechanism="bare",
        deletes=True,
    ),
    "bare",
    epsilon=0.9375,
    delta=1e-9,
    pure_epsilon=1.5,
    error=60.0,
    relative=False,
    exact_error=4.25,
    size=7,
    step=0.0625,
    phantoms=Phantoms(count=2, weight=5_000),
    bytes=700,
)
NOISY = ss.Plan(
    Asked(ss.Moment(0.5), ss.Privacy(20.0, 1e-9, max_value=9), size=(16,), deletes=True),
    "sketch",
    epsilon=20.0,
    delta=1e-9,
    error=0.1875,
    relative=True,
    exact_error=0.25,
    size=16,
    step=2.0**-11,
    noise=0.75,
    cap=3.0 * 2.0**33,
    bytes=700,
)
EXACT = ss.Plan(
    Asked(
        ss.Moment(0.75),
        ss.Privacy(0.5, 1e-9, 3, max_value=2**53, pairs_per_person=2, relation="replace"),
        expected=1e12,
        mechanism="exact",
    ),
    "exact",
    epsilon=0.5,
    delta=0.0,
    pure_epsilon=0.5,
    error=0.5,
    relative=True,
    expected=1e12,
    exact_error=0.5,
    step=2.0**20,
)


def nothing(collector: ss.Collector) -> None:
    """As it was opened."""


def words(collector: ss.Collector) -> None:
    """Text, some of it repeated and one item deleted."""
    collector.update(["to", "be", "or", "not", "to", "be", "gone"], [1, 2, 3, 4, 5, 6, 9])
    collector.delete(["gone"], [9])


def merged(collector: ss.Collector) -> None:
    """Three shards, whose names are not in alphabetical order."""
    for shard in ("zürich", "Ålesund", "アリカ"):
        other = collector.plan.open(secret=fresh(), shard=shard)
        other.update([shard, "everywhere"])
        collector.merge(other)


def heavy(collector: ss.Collector) -> None:
    """The largest values, often enough for totals beyond 2^53."""
    collector.update(["a", "b", "a", "a"], 2**53)


def fresh() -> ss.Secret:
    """The same bits each time, and not yet spent."""
    return ss.Secret.from_bytes(bytes(range(32)))


FIXTURES: dict[str, tuple[ss.Plan, str, Callable[[ss.Collector], None]]] = {
    "collector-nothing": (BARE, "eu-1", nothing),
    "collector-words": (BARE, "eu-1", words),
    "collector-merged": (BARE, "sum", merged),
    "collector-exact": (EXACT, "eu-1", heavy),
    "collector-exact-merged": (EXACT, "sum", merged),
    "collector-listed": (BARE, "eu-1", words),
    "collector-noisy-nothing": (NOISY, "eu-1", nothing),
    "collector-noisy-words": (NOISY, "eu-1", words),
    "collector-noisy-merged": (NOISY, "sum", merged),
    "collector-noisy-listed": (NOISY, "eu-1", words),
    "collector-bare-words": (BARE, "eu-1", words),
    "collector-exact-words": (EXACT, "eu-1", heavy),
    "collector-asked-words": (NOISY, "eu-1", words),
    "collector-asked-merged": (NOISY, "sum", merged),
    "collector-asked-bare": (BARE, "eu-1", words),
    "collector-asked-exact": (EXACT, "eu-1", heavy),
}
FIRST = tuple(FIXTURES)[:6]  # of version 0.1.0
SECOND = tuple(FIXTURES)[6:12]  # whose plans have forgotten what they were asked for
LISTED = ["us-1", "eu-1", "アリカ"]  # all the shards there are to be
LISTS = {"collector-listed": LISTED, "collector-noisy-listed": LISTED}


def make(name: str) -> ss.Collector:
    plan, shard, fill = FIXTURES[name]
    collector = plan.open(secret=fresh(), shard=shard, shards=LISTS.get(name))
    fill(collector)
    return collector


def released(name: str, collector: ss.Collector) -> list[float]:
    """Value, low and high, once the shards that are listed are there."""
    for shard in LISTS.get(name, ()):
        if shard not in collector.shards:
            other = collector.plan.open(secret=fresh(), shard=shard, shards=LISTS[name])
            other.update([shard])
            collector.merge(other)
    release = collector.release()
    return [release.value, release.low, release.high]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    values = json.loads(RELEASED.read_text())
    for name in FIXTURES:
        path = FOLDER / f"{name}.ssk"
        if not path.exists():
            path.write_bytes(make(name).to_bytes())
            values[name] = released(name, make(name))[: 3 if FIXTURES[name][0] is BARE else 1]
            print(f"wrote {path.name}, {path.stat().st_size} bytes")
    RELEASED.write_text(json.dumps(values, indent=2) + "\n")


if __name__ == "__main__":
    main()
