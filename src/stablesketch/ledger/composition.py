"""The cost of all releases of a budget together, updated with every release: a cache that can always be rebuilt.

A *lane* is a sequence of releases that compose one after another: those that may concern everybody, and those of each
declared part of a partition. Costs (accounting.py) are combined like the digits of a binary counter: a lane of n
releases is stored as costs of 2^i releases for the digits i of n, its *frontier*. A new release is one more cost of
2^0, and two costs of the same size are composed into one of the next size. Costs of the same weight are thus composed
with each other, at a lattice that suits both (privacy/loss_law.py). This takes a few compositions per release, and one
for each digit to read the total.

A cost has a *key*, a hash of its content: of the charge for one release, or of the two keys for two composed costs.
Equal keys mean equal costs, wherever they come from, and a key can be recomputed from the records alone.

A partition is charged for its worst part. That is kept as one cost, `worse_than_both` over every state that any part
has been in: parts only ever grow, so covering an old state as well never lowers the cost. The covered states are
remembered by key; a thousand parts with the same plans are one state.

Whatever is missing or fails its checksum raises `Stale`, and the ledger rebuilds the cache from the records. Each cost
has a checksum. The tables that refer to costs (`frontier`, `partitions` and `covered`) have a tree of checksums for
each budget (checksums.py), whose root is in the row of the budget. Everything that is read is checked against it, and
so is that a row is missing. Changing the cache therefore only causes a rebuild, and gives no budget back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from ..errors import BlobError
from ..privacy.charge import Charge
from .accounting import ComposedCost
from .checksums import ACCOUNTING, Checksums, Stale, leaf_of
from .rows import Budget

_REMEMBERED = 512

# Costs by key, in this process: the same key means the same cost, in any ledger.
_memory: dict[bytes, ComposedCost] = {}


def forget() -> None:
    """Forgets all costs, so that they are read or computed again."""
    _memory.clear()


class Lane(NamedTuple):
    """A sequence of releases: with empty names, those that may concern everybody; otherwise, those of one part of a
    partition.
    """

    partition: str = ""
    part: str = ""


class Composition:
    """The costs of one budget, read from and written to its tables within one transaction."""

    def __init__(self, connection: sqlite3.Connection, budget: Budget, relation: str) -> None:
        self._connection = connection
        self._budget = budget.id
        self._relation = relation
        self._theta = budget.theta
        self._checksums = Checksums(connection, budget.id, budget.cache)
        self._lanes: dict[Lane, dict[int, bytes]] = {}
        self._changed: set[Lane] = set()
        self._recipes: dict[bytes, tuple[bytes, bytes] | Charge] = {}
        self._found: dict[str, tuple[ComposedCost, set[bytes]]] = {}

    def clear(self) -> None:
        """Forgets everything, in the tables too."""
        for table in ("frontier", "partitions", "covered"):
            self._connection.execute(f"DELETE FROM {table} WHERE budget = ?", (self._budget,))
        self._checksums.clear()
        self._lanes, self._changed, self._found = {}, set(), {}

    @property
    def checksum(self) -> bytes:
        """The checksum of all rows of this budget, except the costs themselves, which have their own."""
        return self._checksums.root

    def add(self, charge: Charge, lane: Lane) -> None:
        """Adds a release to this lane. Nothing is computed or written yet."""
        frontier = self._frontier(lane)
        key, level = self._single(charge), 0
        while level in frontier:
            pair = frontier.pop(level), key
            key = _hash(b"both", *sorted(pair))
            self._recipes[key] = pair
            level += 1
        frontier[level] = key
        self._changed.add(lane)
        self._found.pop(lane.partition, None)

    def prepare(self, charge: Charge) -> None:
        """Computes the cost of one release, unless it is known, and remembers it in this process."""
        self._cost(self._single(charge))

    def _single(self, charge: Charge) -> bytes:
        key = _hash(b"one", repr((self._relation, self._theta)).encode(), charge.digest)
        self._recipes[key] = charge
        return key

    def total(self) -> ComposedCost:
        """The total: what may concern everybody, and the worst part of every partition."""
        return sum((self._worst(each)[0] for each in sorted(self._partitions())), self._lane_cost(Lane()))

    def total_if(self, charges: Sequence[Charge], times: int, lane: Lane) -> ComposedCost:
        """The total if each of these were released `times` more times in this lane."""
        nothing = ComposedCost.nothing(self._relation, self._theta)
        more = sum((self._cost(self._single(each)).times(times) for each in charges), nothing)
        partitions = self._partitions()
        others = (self._worst(each)[0] for each in sorted(partitions - {lane.partition}))
        total = sum(others, self._lane_cost(Lane()))
        if lane.partition:
            more = self._lane_cost(lane) + more
            if lane.partition in partitions:
                more = more | self._worst(lane.partition)[0]
        return total + more

    def save(self) -> None:
        """Writes what changed, and drops costs that nothing refers to any more."""
        leaves: set[int] = set()
        for partition in sorted({lane.partition for lane in self._changed if lane.partition}):
            cost, new = self._worst(partition)
            content = cost.to_bytes()
            self._connection.execute(
                "INSERT OR REPLACE INTO partitions VALUES (?, ?, ?, ?)",
                (self._budget, partition, content, _checksum(partition.encode(), content)),
            )
            for key in new:
                row = self._budget, leaf_of(partition, key), partition, key
                self._connection.execute("INSERT INTO covered VALUES (?, ?, ?, ?)", row)
                leaves.add(row[1])
        for lane in sorted(self._changed):
            where = self._budget, leaf_of(*lane), *lane
            leaves.add(where[1])
            old = self._stored_frontier(lane)
            frontier = self._lanes[lane]
            for level in old.keys() - frontier.keys():
                self._connection.execute(
                    "DELETE FROM frontier WHERE budget = ? AND leaf = ? AND partition = ? AND part = ? AND level = ?",
                    (*where, level),
                )
            for level, key in frontier.items():
                if old.get(level) != key:
                    self._connection.execute(
                        "INSERT OR REPLACE INTO frontier VALUES (?, ?, ?, ?, ?, ?)", (*where, level, key)
                    )
                    self._store(key)
            for level, key in old.items():
                if level and key not in frontier.values():
                    self._connection.execute(
                        "DELETE FROM costs WHERE key = ? AND key NOT IN (SELECT key FROM frontier WHERE key = ?)",
                        (key, key),
                    )
        # Costs of single releases stay, so that no process computes the next one of the same kind again.
        for key, recipe in self._recipes.items():
            if isinstance(recipe, Charge):
                self._store(key)
        self._checksums.update(leaves)
        self._changed, self._found = set(), {}

    def _store(self, key: bytes) -> None:
        if self._connection.execute("SELECT 1 FROM costs WHERE key = ?", (key,)).fetchone() is None:
            content = self._cost(key).to_bytes()
            self._connection.execute("INSERT INTO costs VALUES (?, ?, ?)", (key, content, _checksum(key, content)))

    def _frontier(self, lane: Lane) -> dict[int, bytes]:
        if lane not in self._lanes:
            self._lanes[lane] = self._stored_frontier(lane)
        return self._lanes[lane]

    def _stored_frontier(self, lane: Lane) -> dict[int, bytes]:
        leaf = leaf_of(*lane)
        self._checksums.check(leaf)
        rows = self._connection.execute(
            "SELECT level, key FROM frontier WHERE budget = ? AND leaf = ? AND partition = ? AND part = ?",
            (self._budget, leaf, *lane),
        )
        frontier = dict(rows.fetchall())
        if not all(type(level) is int and type(key) is bytes for level, key in frontier.items()):
            raise Stale
        return frontier

    def _partitions(self) -> set[str]:
        self._checksums.check_root()
        rows = self._connection.execute("SELECT partition FROM partitions WHERE budget = ?", (self._budget,))
        return {row[0] for row in rows} | {lane.partition for lane in self._changed if lane.partition}

    def _lane_cost(self, lane: Lane) -> ComposedCost:
        """The cost of a lane, large costs first: they change least often, and adding a small cost to a large one loses
        little precision.
        """
        frontier = self._frontier(lane)
        costs = (self._cost(frontier[level]) for level in sorted(frontier, reverse=True))
        return sum(costs, ComposedCost.nothing(self._relation, self._theta))

    def _worst(self, partition: str) -> tuple[ComposedCost, set[bytes]]:
        """The cost of the worst part, including changed parts, and the states that were not covered before."""
        if partition in self._found:
            return self._found[partition]
        row = self._connection.execute(
            "SELECT content, checksum FROM partitions WHERE budget = ? AND partition = ?", (self._budget, partition)
        ).fetchone()
        worst = _checked(partition.encode(), row) if row else None
        new: set[bytes] = set()
        for lane in sorted(self._changed):
            if lane.partition != partition:
                continue
            frontier = self._lanes[lane]
            state = _hash(b"lane", *(b"%d:%b" % item for item in sorted(frontier.items())))
            row = self._budget, leaf_of(partition, state), partition, state
            self._checksums.check(row[1])
            known = self._connection.execute(
                "SELECT 1 FROM covered WHERE budget = ? AND leaf = ? AND partition = ? AND key = ?", row
            ).fetchone()
            if known is None and state not in new:
                cost = self._lane_cost(lane)
                worst = cost if worst is None else worst | cost
                new.add(state)
        if worst is None:
            raise Stale
        self._found[partition] = worst, new
        return worst, new

    def _cost(self, key: bytes) -> ComposedCost:
        cost = _memory.get(key)
        if cost is None:
            recipe = self._recipes.get(key)
            row = self._connection.execute("SELECT content, checksum FROM costs WHERE key = ?", (key,)).fetchone()
            if row is not None:
                cost = _checked(key, row)
            elif isinstance(recipe, Charge):
                cost = ComposedCost.of(recipe, self._relation, self._theta)
            elif recipe is not None:
                cost = self._cost(recipe[0]) + self._cost(recipe[1])
            else:
                raise Stale
            if len(_memory) >= _REMEMBERED:
                _memory.clear()
            _memory[key] = cost
        return cost


def _checked(name: bytes, row: tuple[bytes, bytes]) -> ComposedCost:
    content, checksum = row
    if type(content) is not bytes or _checksum(name, content) != checksum:
        raise Stale
    try:
        return ComposedCost.from_bytes(content)
    except BlobError:
        raise Stale from None


def _checksum(name: bytes, content: bytes) -> bytes:
    """The checksum of a cost under its key, so that it cannot be exchanged for another."""
    return _hash(b"cost", name, content)


def _hash(purpose: bytes, *parts: bytes) -> bytes:
    state = sha256(ACCOUNTING + purpose)
    for part in parts:
        state.update(len(part).to_bytes(8, "little") + part)
    return state.digest()
