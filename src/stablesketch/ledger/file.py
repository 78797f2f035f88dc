"""The file of a ledger: transactions that detect whether it was deleted, emptied, replaced or rolled back.

A ledger of an older version is upgraded when it is opened: in one transaction, or not at all. Version 1 had no rows of
spent secrets, no checksum of its cache, and a chain that did not cover the budgets. All of these follow from the
records, which are checked against the old chain first. Version 2 stored no values. Version 3 recorded people as if they
were pairs: what it recorded stays as it is, and from now on such a ledger refuses people (unit.py). Version 4 had no
budgets that renew. Version 5 had one checksum of the whole cache of a budget.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..errors import LedgerCorrupt, LedgerError, LedgerMismatch
from ..text.wording import arg
from . import store
from .accounting import best_theta
from .books import Books
from .budgets import add_budget
from .checksums import Stale
from .rows import Budget, Head
from .spent_secrets import SpentSecrets

T = TypeVar("T")

_FINGERPRINTS = "SELECT fingerprint FROM releases NOT INDEXED WHERE fingerprint IS NOT NULL"


class LedgerTerms(NamedTuple):
    """The terms that a ledger is opened with; None if not given. They must match those of an existing ledger."""

    epsilon: float | None
    delta: float | None
    relation: str | None
    pairs_per_person: int | None
    adaptive: bool | None
    per: str | None = None

    def check_same(self, books: Books, path: Path) -> None:
        head, whole = books.head, books.budgets.whole
        unit = head.relation, head.pairs_per_person
        there = LedgerTerms(whole.epsilon, whole.delta, *unit, bool(head.adaptive), whole.per or None)
        for name, given, has in zip(self._fields, self, there, strict=True):
            if given is not None and given != has:
                raise LedgerMismatch(
                    f"the ledger {path} has {name} = {has!r}, but {given!r} was given. Leave it out to use the "
                    "ledger as it is, or choose another file."
                )


class LedgerFile:
    """An existing ledger file, or an empty file, which becomes a ledger on these terms.

    It remembers which file it was and where its chain ended, and every transaction checks both.
    """

    def __init__(self, path: Path, terms: LedgerTerms) -> None:
        self.path = path
        self._noting = threading.Lock()
        with store.transaction(path, write=True) as (connection, self._identity):
            if store.is_empty(connection, path):
                _make(connection, path, terms)
            elif store.version(connection) < store.VERSION:
                _upgrade(connection, path)
            books = Books(connection, path)
            terms.check_same(books, path)
            self._seen = books.chain.position
            self.whole = books.budgets.whole

    @staticmethod
    def exists(path: Path) -> bool:
        try:
            return path.is_file()
        except OSError as error:
            raise LedgerError(f"cannot access the ledger {path}: {error.strerror}.") from None

    @contextlib.contextmanager
    def transaction(self, *, write: bool) -> Iterator[Books]:
        """The books, committed at the end of the block; an error within it rolls everything back."""
        if not self.exists(self.path):
            raise LedgerError(
                f"ledger {self.path} no longer exists. Restore it from a backup: a new one would forget what was spent."
            )
        seen = self._seen  # read first: other threads may later see more than this transaction does
        with store.transaction(self.path, write=write, identity=self._identity) as (connection, _):
            if store.is_empty(connection, self.path):
                raise LedgerCorrupt(f"the ledger {self.path} has been emptied. Restore it from a backup.")
            books = Books(connection, self.path)
            books.chain.check_follows(seen)
            yield books
        with self._noting:  # a thread that saw less must not overwrite one that saw more
            self._seen = max(self._seen, books.chain.position, key=lambda position: position[0])  # committed

    def read(self, question: Callable[[Books], T]) -> T:
        """Reads from the books. A cache that does not match the records is rebuilt first."""
        try:
            with self.transaction(write=False) as books:
                return question(books)
        except Stale:
            self.rebuild()
        with self.transaction(write=False) as books:
            return question(books)

    def rebuild(self) -> None:
        """Rebuilds the cache, which follows from the records, and writes nothing else."""
        with self.transaction(write=True) as books:
            books.rebuild()


def _make(connection: sqlite3.Connection, path: Path, terms: LedgerTerms) -> None:
    if terms.epsilon is None or terms.delta is None:
        raise LedgerMismatch(f"the ledger {path} is empty. Pass {arg('epsilon')} and {arg('delta')} to create one.")
    epsilon, delta, adaptive = float(terms.epsilon), float(terms.delta), bool(terms.adaptive)
    store.create_tables(connection)
    checksum = SpentSecrets.create(connection)
    head = Head(terms.relation, terms.pairs_per_person, int(adaptive), secrets_checksum=checksum)
    theta = best_theta(epsilon, delta) if adaptive else None
    add_budget(connection, head, Budget(1, "", epsilon, delta, theta, per=terms.per or ""))


def _upgrade(connection: sqlite3.Connection, path: Path) -> None:
    """Upgrades within the current writing transaction. Every record is checked, and the cache rebuilt from them."""
    before = store.version(connection)
    if before < 3:
        store.create_tables(connection, only=("published",))
    if before == 1:
        _from_first(connection, path)
    elif before < 5:
        budgets = Budget.read_all(connection, path, ", after, cache")
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
    head = Head.read(connection, path, "")
    budgets = Budget.read_all(connection, path, "")
    for table in ("ledger", "budgets"):
        connection.execute(f"DROP TABLE {table}")
    store.create_tables(connection, only=("ledger", "budgets", "spent"))
    head.secrets_checksum = SpentSecrets.create(connection, [row[0] for row in connection.execute(_FINGERPRINTS)])
    for budget in budgets:
        budget.after = head.releases
        head.chain = budget.linked(head.chain)
        budget.write(connection)
    head.write(connection)
