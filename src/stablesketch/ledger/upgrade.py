"""A ledger of an older version becomes one of today when it is opened: in one transaction, or not at all.

Version 1 had no rows of spent secrets, no checksum of its cache, and a chain that did not know the budgets. All of that
follows from the records, which are held to the old chain first. Version 2 kept no values. Version 3 wrote people as if
they were pairs: what it wrote stays as it is, and people are refused there from now on (unit.py). Version 4 had no
budgets that renew.
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
    """Within the writing transaction at hand."""
    first = store.version(connection) == 1
    if store.version(connection) < 3:
        store.create_tables(connection, only=("published",))
    if first:
        _from_first(connection, path)
        Books(connection, path).rebuild()  # which checks every record
    else:
        budgets = [Budget(*checked(row, path, is_budget)) for row in connection.execute(_BUDGETS_UP_TO_4).fetchall()]
        connection.execute("DROP TABLE budgets")
        store.create_tables(connection, only=("budgets",))
        for budget in budgets:
            budget.write(connection)
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
