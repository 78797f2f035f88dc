"""The rows that everything depends on: the head of a ledger and its budgets, each with a checksum, and its releases. A
budget also judges whether a cost is within it.

A database notices broken pages, but not a changed bit in a number. The budget must not depend on luck, so the head and
the budgets are checked whenever they are read.

A chain links releases and budgets. It begins with 32 zeros, and every release and every new budget adds a link: SHA-256
of the chain so far and of the new row. `Budget.after` is the number of releases that came before the budget, so that
the chain can be recomputed from the records. The head stores its end.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Self, get_args

from ..errors import LedgerCorrupt
from ..format.checked_json import is_count
from .accounting import ComposedCost
from .period import Per

Possible = Callable[[object], bool]

# A budget of 0.3 must allow releases of 0.1 and 0.2, whose floats add up to slightly more: nine digits count.
NINE_DIGITS = 1.0 + 1e-9


@dataclass
class Head:
    """The one row of `ledger`. `last_time` is the time of the last release, or None after `accept_clock`."""

    relation: str | None
    pairs_per_person: int | None
    adaptive: int
    releases: int = 0
    chain: bytes = bytes(32)
    last_time: str | None = None
    secrets_checksum: bytes = b""  # of the spent secrets (spent_secrets.py); the column `spent`

    def write(self, connection: sqlite3.Connection) -> None:
        """Writes the row, replacing the existing one."""
        row = astuple(self)
        connection.execute("INSERT OR REPLACE INTO ledger VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, _checksum(row)))

    @classmethod
    def read(cls, connection: sqlite3.Connection, path: Path, added: str = ", spent") -> Self:
        """Reads the row and verifies its checksum; `added` are the columns that were added after 0.1.0."""
        columns = f"relation, pairs_per_person, adaptive, releases, chain, last_time{added}, checksum"
        return cls(*_checked(connection.execute(f"SELECT {columns} FROM ledger").fetchone(), path, _HEAD))


@dataclass
class Budget:
    """A row of `budgets`; the whole ledger's has the empty name. θ is None unless the ledger is adaptive.

    `cache` is a checksum of the stored cost of its releases together (composition.py). The row of a budget that renews
    has `per`, the kind of its periods, and counts all releases of all periods: it is a sum, not a limit. Each period in
    which something was released has its own row, with its name in `period`, and that row is the limit.
    """

    id: int
    name: str
    epsilon: float
    delta: float
    theta: float | None
    releases: int = 0
    after: int = 0
    cache: bytes = b""
    per: str = ""
    period: str = ""

    @property
    def is_limit(self) -> bool:
        """Whether its releases together must stay within its ε and δ."""
        return not self.per or bool(self.period)

    @property
    def shown(self) -> str | list[str]:
        """How the chain identifies this budget in the link of a release."""
        return [self.name, self.period] if self.period else self.name

    def holds(self, cost: ComposedCost) -> bool:
        """Whether this total is within the budget: at the budget's ε, its δ is at most the budget's."""
        return cost.delta(self.epsilon * NINE_DIGITS) <= self.delta * NINE_DIGITS

    def epsilon_of(self, cost: ComposedCost) -> float:
        """The certified ε of this total at the budget's δ."""
        return cost.epsilon(self.delta * NINE_DIGITS)

    def linked(self, chain: bytes) -> bytes:
        """The chain after this budget was created."""
        renews = (self.per, self.period) if self.per else ()
        return chained(chain, "budget", self.id, self.name, self.epsilon, self.delta, self.theta, *renews)

    def write(self, connection: sqlite3.Connection) -> None:
        """Writes the row, replacing the one with this id."""
        row = astuple(self)
        places = ", ".join("?" * (len(row) + 1))
        connection.execute(f"INSERT OR REPLACE INTO budgets VALUES ({places})", (*row, _checksum(row)))

    @classmethod
    def read_all(
        cls, connection: sqlite3.Connection, path: Path, added: str = ", after, cache, per, period"
    ) -> list[Self]:
        """All rows in the order they were created, with checksums verified; `added` as for `Head.read`."""
        columns = f"id, name, epsilon, delta, theta, releases{added}, checksum"
        rows = connection.execute(f"SELECT {columns} FROM budgets ORDER BY id").fetchall()
        return [cls(*_checked(row, path, _BUDGET)) for row in rows]


class ReleaseRow(NamedTuple):
    """A row of `releases`. `budget` and `kind` are ids; `spent_after` (column `spent`) is the ledger's ε after it."""

    number: int
    time: str
    label: str
    budget: int
    kind: int
    fingerprint: bytes | None
    partition: str | None
    part: str | None
    spent_after: float
    chain: bytes = b""

    def linked(self, chain: bytes, budget: Budget, kind: str) -> bytes:
        """The chain after this release. The link covers the budget and the kind themselves, not their ids."""
        what = self.number, self.time, self.label, budget.shown, kind
        return chained(chain, *what, self.fingerprint, self.partition, self.part, self.spent_after)

    def write(self, connection: sqlite3.Connection) -> None:
        """Appends the row to the table."""
        connection.execute("INSERT INTO releases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self)

    @classmethod
    def read(cls, connection: sqlite3.Connection, which: str, *values: object) -> Iterator[Self]:
        """The rows that an SQL clause selects, unchecked: the chain shows whether they were changed."""
        columns = "number, time, label, budget, kind, fingerprint, partition, part, spent, chain"
        yield from map(cls._make, connection.execute(f"SELECT {columns} FROM releases {which}", values))


def damaged(path: Path, what: str) -> LedgerCorrupt:
    """The error that says what is wrong with the content of the file."""
    return LedgerCorrupt(
        f"{path}: {what}. Nothing was recorded or released. Restore the ledger from a backup, and record what was "
        "released since then with Ledger.charge."
    )


def chained(before: bytes, *row: object) -> bytes:
    """The chain after a release: changing, dropping or reordering releases changes all later links."""
    return sha256(b"stablesketch/ledger/chain/" + before + _text(row)).digest()


def _text(row: tuple[Any, ...]) -> bytes:
    return json.dumps([item.hex() if isinstance(item, bytes) else item for item in row]).encode()


def _checksum(row: tuple[Any, ...]) -> bytes:
    return sha256(b"stablesketch/ledger/row/" + _text(row)).digest()


def _checked(row: tuple[Any, ...] | None, path: Path, possible: Sequence[Possible]) -> tuple[Any, ...]:
    """The row without its checksum, after checking both the checksum and the content."""
    if (
        row is None
        or row[-1] != _checksum(row[:-1])
        or not all(fits(value) for fits, value in zip(possible, row[:-1], strict=False))
    ):
        raise damaged(path, "the budget was changed after it was written")
    return row[:-1]


def _is_positive(value: object, below: float = math.inf) -> bool:
    return type(value) is float and 0.0 < value < below


def _is_time(value: object) -> bool:
    try:
        return type(value) is str and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


# What each column may be, in order: an SQLite column can hold anything.
_HEAD: Sequence[Possible] = (
    lambda relation: relation is None or type(relation) is str,
    lambda pairs_per_person: pairs_per_person is None or is_count(pairs_per_person, 1),
    lambda adaptive: adaptive in (0, 1),
    is_count,  # releases
    lambda chain: type(chain) is bytes and len(chain) == 32,
    lambda last_time: last_time is None or _is_time(last_time),
    lambda secrets_checksum: type(secrets_checksum) is bytes,
)
_BUDGET: Sequence[Possible] = (
    is_count,  # id
    lambda name: type(name) is str,
    _is_positive,  # epsilon
    lambda delta: _is_positive(delta, below=1.0),
    lambda theta: theta is None or _is_positive(theta),
    is_count,  # releases
    is_count,  # after
    lambda cache: type(cache) is bytes,
    lambda per: per in ("", *get_args(Per)),
    lambda period: type(period) is str,
)
