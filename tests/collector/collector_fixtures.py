"""Stored collectors kept in tests/data/wire: every later version must read them, and while the format is 1, write them.

`python tests/collector/collector_fixtures.py` writes those that are missing and never rewrites one, as with the
sketches of tests/sketch/wire_fixtures.py. The plans are written out here, so that a better planner changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import stablesketch as ss
from stablesketch.plan import Phantoms

FOLDER = Path(__file__).parents[1] / "data" / "wire" / "v1"

SKETCH = ss.Plan(
    statistic=ss.Moment(0.5),
    privacy=ss.Privacy(1.0, 1e-9, 0, max_value=9, relation="add_remove"),
    mechanism="sketch",
    size=7,
    phantoms=Phantoms(count=2, weight=5_000),
    step=0.0625,
    epsilon=0.9375,
    delta=1e-9,
    pure_epsilon=1.5,
    error=60.0,
    relative=False,
    expected=0.0,
    bytes=700,
    exact_error=4.25,
    deletes=True,
)
EXACT = ss.Plan(
    statistic=ss.Moment(0.75),
    privacy=ss.Privacy(0.5, 1e-9, 3, max_value=2**53, pairs_per_person=2, relation="replace"),
    mechanism="exact",
    size=0,
    phantoms=Phantoms(count=0, weight=1),
    step=2.0**20,
    epsilon=0.5,
    delta=0.0,
    pure_epsilon=0.5,
    error=0.5,
    relative=True,
    expected=1e12,
    bytes=0,
    exact_error=0.5,
)


def nothing(collector: ss.Collector) -> None:
    """As it was opened."""


def words(collector: ss.Collector) -> None:
    """Text, some of it repeated and one of it deleted."""
    collector.update(["to", "be", "or", "not", "to", "be", "gone"], [1, 2, 3, 4, 5, 6, 9])
    collector.delete(["gone"], [9])


def merged(collector: ss.Collector) -> None:
    """Three shards, their names in another order than their alphabet's."""
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
    "collector-nothing": (SKETCH, "eu-1", nothing),
    "collector-words": (SKETCH, "eu-1", words),
    "collector-merged": (SKETCH, "sum", merged),
    "collector-exact": (EXACT, "eu-1", heavy),
    "collector-exact-merged": (EXACT, "sum", merged),
    "collector-listed": (SKETCH, "eu-1", words),
}
LISTS = {"collector-listed": ["us-1", "eu-1", "アリカ"]}  # of all the shards there are to be


def make(name: str) -> ss.Collector:
    plan, shard, fill = FIXTURES[name]
    collector = plan.open(secret=fresh(), shard=shard, shards=LISTS.get(name))
    fill(collector)
    return collector


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in FIXTURES:
        path = FOLDER / f"{name}.ssk"
        if not path.exists():
            path.write_bytes(make(name).to_bytes())
            print(f"wrote {path.name}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
