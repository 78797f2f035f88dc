"""Checksums of the rows that refer to costs: a tree for each budget, so that checking takes no longer as it grows.

A row of `frontier` or `covered` is in one of 65,536 *leaves*, by a hash of what identifies it. Every leaf has a
checksum of its rows, every 256 leaves have a checksum of theirs, and the *root* is a checksum of those 256 and of the
table `partitions`. The row of the budget stores the root. Nodes are numbered as in a heap: the root is 0, and the
children of node v are 256 v + 1 to 256 v + 256. A node is stored if there are rows below it.

Whoever reads a row checks its leaf first, and the two nodes above it. This detects a row that was changed or added, and
also one that is missing: the leaf has all rows that it should have, or its checksum differs. With a million parts a
leaf has some 15 rows. Rows of other leaves are not checked, and they do not count for anything that is read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import sha256

ACCOUNTING = b"stablesketch/ledger/accounting/1/"  # change the number if costs are computed differently
_CHILDREN = 256
_ROOT = 0
_ROWS = (
    "SELECT partition, part, level, key FROM frontier WHERE budget = ? AND leaf = ? ORDER BY partition, part, level",
    "SELECT partition, key FROM covered WHERE budget = ? AND leaf = ? ORDER BY partition, key",
)
_NODES = "SELECT node, checksum FROM checksums WHERE budget = ? AND node BETWEEN ? AND ? ORDER BY node"
_PARTITIONS = "SELECT partition, checksum FROM partitions WHERE budget = ? ORDER BY partition"


class Stale(Exception):
    """The cache does not match the records; never shown to users."""


def leaf_of(*identity: str | bytes) -> int:
    """The leaf of the rows with this identity."""
    return 1 + _CHILDREN + int.from_bytes(_hash(identity)[:2], "big")


class Checksums:
    """The tree of one budget within one transaction; `root` is what the row of the budget stores."""

    def __init__(self, connection: sqlite3.Connection, budget: int, root: bytes) -> None:
        self._connection = connection
        self._budget = budget
        self.root = root
        self._right: set[int] = set()  # nodes that were checked

    def check_root(self) -> None:
        """Checks the table `partitions` and the nodes just below the root.

        Raises:
            Stale: they were changed after they were written.
        """
        if _ROOT not in self._right and self._of_node(_ROOT) != self.root:
            raise Stale
        self._right.add(_ROOT)

    def check(self, leaf: int) -> None:
        """Checks all rows of a leaf, and that none is missing.

        Raises:
            Stale: they were changed after they were written.
        """
        self.check_root()
        for node, right in ((_above(leaf), self._of_node), (leaf, self._of_leaf)):
            if node not in self._right and right(node) != self._stored(node):
                raise Stale
            self._right.add(node)

    def update(self, leaves: Iterable[int]) -> None:
        """Computes the checksums of leaves whose rows were written, and of everything above them."""
        changed = set(leaves)
        for leaf in sorted(changed):
            self._store(leaf, self._of_leaf(leaf))
        for node in sorted({_above(leaf) for leaf in changed}):
            self._store(node, self._of_node(node))
        self.root = self._of_node(_ROOT)

    def clear(self) -> None:
        """Forgets everything, because all rows are deleted."""
        self._connection.execute("DELETE FROM checksums WHERE budget = ?", (self._budget,))
        self._right, self.root = set(), EMPTY

    def _of_leaf(self, leaf: int) -> bytes:
        return _hash([row for query in _ROWS for row in self._connection.execute(query, (self._budget, leaf))])

    def _of_node(self, node: int) -> bytes:
        children = self._budget, _CHILDREN * node + 1, _CHILDREN * (node + 1)
        rows = self._connection.execute(_NODES, children).fetchall()
        if node == _ROOT:
            rows += self._connection.execute(_PARTITIONS, (self._budget,)).fetchall()
        return _hash(rows)

    def _stored(self, node: int) -> bytes:
        query = "SELECT checksum FROM checksums WHERE budget = ? AND node = ?"
        row = self._connection.execute(query, (self._budget, node)).fetchone()
        return EMPTY if row is None else row[0]

    def _store(self, node: int, checksum: bytes) -> None:
        self._connection.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)", (self._budget, node, checksum))


def _above(node: int) -> int:
    return (node - 1) // _CHILDREN


def _hash(content: Sequence[object]) -> bytes:
    return sha256(ACCOUNTING + b"rows/" + repr(content).encode()).digest()


EMPTY = _hash([])  # of a node without rows, and the root of a budget without releases
