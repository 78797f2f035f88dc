"""Upgrades a ledger of an older version when it is opened: in one transaction, or not at all.

Version 1 had no rows of spent secrets, no checksum of its cache, and a chain that did not cover the budgets. All of
these follow from the records, which are checked against the old chain first. Version 2 stored no values. Version 3
recorded people as if they were pairs: what it recorded stays as it is, and from now on such a ledger refuses people
(unit.py). Version 4 had no budgets that renew. Version 5 had one checksum of the whole cache of a budget.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from . import store
from .books import Books
from .rows import Budget, Head, checked, is_budget, is_head
from .spent_secrets import SpentSecrets

_HEAD = "SELECT relation, pairs_per_person, adaptive, releases, chain, last_time, checksum FROM ledger"
_BUDGETS = "SELECT id, name, epsilon, delta, theta, releases, checksum FROM budgets ORDER BY id"
_BUDGETS_UP_TO_4 = "SELECT id, name, epsilon, delta, theta, releases, after, cache, checksum FROM budgets ORDER BY id"
_FINGERPRINTS = "SELECT fingerprint FROM releases NOT INDEXED WHERE fingerprint IS NOT NULL"


def upgrade(connection: sqlite3.Connection, path: Path) -> None:
    """Upgrades within the current writing transaction. Every record is checked, and the cache rebuilt from them."""
    before = store.version(connection)
    if before < 3:
        store.create_tables(connection, only=("published",))
    if before == 1:
        _from_first(connection, path)
    elif before < 5:
        budgets = [Budget(*checked(row, path, is_budget)) for row in connection.execute(_BUDGETS_UP_TO_4).fetchall()]
        connection.execute("DROP TABLE budgets")
        store.create_tables(connection, only=("budgets",))
        for budget in budgets:
            budget.write(connection)
    for table in ("frontier", "covered"):
        connection.execute(f"DROP TABLE {table}")
    store.create_tables(connection, only=("frontier", "frontier_keys", "covered", "checksums"))
    Books(connection, path).rebuild()
    store.mark_version(connection)


def _from_first(connection: sqlite3.Connection, path: Path) -> None:
    head = Head(*checked(connection.execute(_HEAD).fetchone(), path, is_head))
    budgets = [Budget(*checked(row, path, is_budget)) for row in connection.execute(_BUDGETS).fetchall()]
    for table in ("ledger", "budgets"):
        connection.execute(f"DROP TABLE {table}")
    store.create_tables(connection, only=("ledger", "budgets", "spent"))
    head.secrets_checksum = SpentSecrets.create(connection, [row[0] for row in connection.execute(_FINGERPRINTS)])
    for budget in budgets:
        budget.after = head.releases
        head.chain = budget.linked(head.chain)
        budget.write(connection)
    head.write(connection)
