"""The work within one transaction on a ledger: read the budgets, compose, check, record, rebuild."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from ..errors import BudgetExceeded, ClockWentBackwards, LedgerCorrupt, SecretSpent
from .accounting import ComposedCost
from .budgets import Budgets
from .chain import Chain, record_of
from .checksums import Stale
from .composition import Composition, Lane, forget
from .record import PEOPLE, Ask, Entry, Record
from .rows import Budget, Head, ReleaseRow, damaged
from .spent_secrets import Damaged, SpentSecrets
from .unit import fix_unit

_LENIENCE = timedelta(seconds=10)  # how far the clock may go back without an error
_RECORDED = "SELECT number, time FROM releases WHERE fingerprint = ?"
_ROUNDING = 1e-6  # how much two ways of composing the same releases may differ


class Books:
    """An open transaction on a ledger."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self.head = Head.read(connection, path)
        self.budgets = Budgets(connection, path, self.head)
        self._secrets = SpentSecrets(connection)
        self.chain = Chain(connection, path, self.head, self.budgets)
        self.chain.check_end()

    # --- what is spent ---

    def composition(self, budget: Budget, relation: str | None = None, entries: Sequence[Entry] = ()) -> Composition:
        """The cost of all releases of a row of a budget, and of these entries as well. Nothing is written."""
        composition = Composition(self._connection, budget, relation or self.head.relation or "replace")
        for entry in entries:
            composition.add(entry.ask.charge, Lane(*entry.part) if entry.part else Lane())
        return composition

    def limits(self, name: str, relation: str) -> list[tuple[Budget, Composition]]:
        """The budget with its composition and, for a named budget, also the whole ledger's: both must hold."""
        return [(budget, self.composition(budget, relation)) for budget in self.budgets.limiting(name)]

    def spent(self, name: str) -> ComposedCost:
        """What is spent of a budget, or of its current period, if it renews."""
        return self.composition(self.budgets.limiting(name)[0]).total()

    # --- recording ---

    def prepare(self, entries: Sequence[Entry], name: str) -> None:
        """Computes the cost of each kind of release, which can take a tenth of a second. Writes nothing."""
        for budget in self.budgets.limiting(name):
            for ask in {entry.ask for entry in entries}:
                self.composition(budget, ask.relation).prepare(ask.charge)

    def enter(self, entries: Sequence[Entry], name: str) -> list[Record]:
        """Records all of the entries, or raises and records none: the caller then rolls back the transaction."""
        for entry in entries:
            fix_unit(self.head, entry.ask)
        with self._undamaged():
            self._secrets.check(self.head.secrets_checksum)
        relation, time, after = self.head.relation, self._checked_time(), 0.0
        assert relation is not None
        changed: list[tuple[Budget, Composition]] = []
        limiting = self.budgets.limiting(name)
        self.budgets.add_new(limiting)
        for budget in limiting:
            composition = self.composition(budget, relation, entries)
            total = composition.total()
            after = budget.epsilon_of(total)  # the last limit is the whole ledger's, so its ε remains
            if not budget.holds(total):
                spent = budget.epsilon_of(self.composition(budget, relation).total())
                ask = entries[0].ask
                price, limits = (ask.epsilon, ask.delta), (budget.epsilon, budget.delta)
                raise BudgetExceeded(budget.name, limits, price, spent, after, None, renews=self.budgets.renewal)
            changed.append((budget, composition))
        lasting = [self.budgets.lasting(budget.name) for budget in limiting if budget.period]
        changed += [(budget, self.composition(budget, relation, entries)) for budget in lasting]
        with self._undamaged():
            records = [self._insert(entry, changed[0][0], time, after) for entry in entries]
        self.head.secrets_checksum = self._secrets.save()
        self.head.write(self._connection)
        for budget, composition in changed:
            composition.save()
            budget.releases += len(entries)
            budget.cache = composition.checksum
            budget.write(self._connection)
        return records

    def keep_published(self, records: Sequence[Record], texts: Sequence[Callable[[int], str]]) -> None:
        """Stores what each record releases, in the same transaction, so that a value that was paid for is never lost.

        If the process is killed before the commit, nothing was paid or shown; after it, the value is here, whatever
        happens to the process. The value is public, as every release is.
        """
        for record, text in zip(records, texts, strict=bool(texts)):
            number, raw = record.number, text(record.number).encode()
            row = (number, raw, _published_checksum(number, raw))
            self._connection.execute("INSERT INTO published VALUES (?, ?, ?)", row)

    def published(self, number: int) -> str | None:
        """What a record released; None if nothing is stored, because `charge` or an older version recorded it."""
        query = "SELECT content, checksum FROM published WHERE number = ?"
        row = self._connection.execute(query, (number,)).fetchone()
        if row is None:
            return None
        return self._checked_value(number, *row).decode()

    def _checked_value(self, number: int, content: bytes, checksum: bytes) -> bytes:
        if type(content) is bytes and checksum == _published_checksum(number, content):
            return content
        raise LedgerCorrupt(
            f"{self._path}: the value of release {number} was changed after it was written. Restore the "
            "ledger from a backup."
        )

    @contextlib.contextmanager
    def _undamaged(self) -> Iterator[None]:
        try:
            yield
        except Damaged:
            raise damaged(self._path, "the list of spent secrets was changed") from None

    def _checked_time(self) -> str:
        time, last = self.budgets.time, self.head.last_time
        if last is not None and time < datetime.fromisoformat(last) - _LENIENCE:
            raise ClockWentBackwards(
                f"the clock says {time:%Y-%m-%d %H:%M:%S} UTC, but the last release was recorded at {last}. "
                "Nothing was recorded or released. Correct the clock. If it is right now and was wrong then, call "
                "ledger.accept_clock()."
            )
        return time.isoformat(timespec="microseconds")

    def _insert(self, entry: Entry, budget: Budget, time: str, spent_after: float) -> Record:
        self._check_unspent(entry.fingerprint)
        content = entry.ask.to_json()
        self._connection.execute("INSERT OR IGNORE INTO kinds (content) VALUES (?)", (content,))
        (kind,) = self._connection.execute("SELECT id FROM kinds WHERE content = ?", (content,)).fetchone()
        partition, part = entry.part or (None, None)
        number = self.head.releases + 1
        row = ReleaseRow(number, time, entry.label, budget.id, kind, entry.fingerprint, partition, part, spent_after)
        self.head.releases, self.head.last_time = number, time
        self.head.chain = row.linked(self.head.chain, budget, content)
        row._replace(chain=self.head.chain).write(self._connection)
        return record_of(row, budget, entry.ask)

    def _check_unspent(self, fingerprint: bytes | None) -> None:
        if fingerprint is None:
            return
        if fingerprint in self._secrets:
            row = self._connection.execute(_RECORDED, (fingerprint,)).fetchone()
            number, time = row or ("unknown", "an unknown time")
            raise SecretSpent(
                f"the secret {fingerprint.hex()} was already used for its one release at {time}, "
                f"number {number} of the ledger. Collect again under a fresh secret."
            )
        self._secrets.add(fingerprint)

    # --- reading ---

    def records(self, name: str = "") -> Iterator[Record]:
        """The releases in order; for a named budget, its own."""
        return (record for record, _ in self._rows(name))

    def number_of(self, fingerprint: bytes) -> int | None:
        """The number of the release of a secret."""
        row = self._connection.execute(_RECORDED, (fingerprint,)).fetchone()
        return None if row is None else row[0]

    def last(self, name: str = "") -> tuple[Ask, Lane] | None:
        """What the last release asked for, and its part."""
        found = None
        for record, ask in self._rows(name):
            found = ask, Lane(record.partition or "", record.part or "")
        return found

    def _rows(self, name: str) -> Iterator[tuple[Record, Ask]]:
        return (row for row in self.chain.rows(check=False) if not name or row[0].budget == name)

    # --- keeping it ---

    def rebuild(self) -> None:
        """Composes everything again from the records, after checking them against the chain."""
        self._connection.execute("DELETE FROM costs")
        compositions: dict[tuple[str, str], Composition] = {}
        counts: dict[tuple[str, str], int] = {}
        for budget in self.budgets:
            key = budget.name, budget.period
            compositions[key] = self.composition(budget)
            compositions[key].clear()
            counts[key] = -budget.releases
        fingerprints: set[bytes] = set()
        for record, ask in self.chain.rows(check=True):
            pairs = None if ask.relation == PEOPLE and self.head.pairs_per_person is None else ask.pairs_per_person
            if (ask.relation, pairs) != (self.head.relation, self.head.pairs_per_person):
                raise damaged(self._path, f"release {record.number} has a different unit from the ledger")
            if record.fingerprint is not None:
                fingerprints.add(bytes.fromhex(record.fingerprint))
            lane = Lane(record.partition or "", record.part or "")
            for key in {(name, period) for name in ("", record.budget) for period in ("", record.period)}:
                if key not in compositions:
                    raise damaged(self._path, f"the period of release {record.number} has no budget")
                compositions[key].add(ask.charge, lane)
                counts[key] += 1
        if any(counts.values()):
            raise damaged(self._path, "the releases of a budget do not match its count")
        with self._undamaged():
            self._secrets.check(self.head.secrets_checksum)
            if self._secrets.all() != fingerprints:
                raise Damaged
        for budget in self.budgets:
            composition = compositions[budget.name, budget.period]
            composition.save()
            budget.cache = composition.checksum
            budget.write(self._connection)

    def verify(self) -> None:
        """Composes everything again, and compares the result with the cache and the budgets; checks every value."""
        for number, content, checksum in self._connection.execute("SELECT number, content, checksum FROM published"):
            self._checked_value(number, content, checksum)
            if not 1 <= number <= self.head.releases:
                raise damaged(self._path, f"there is a value of release {number}, but no such release")
        forget()  # costs remembered by this process came from the cache
        try:
            before = self._totals()
        except Stale:
            before = {}  # the cache is damaged and will be rebuilt
        forget()
        self.rebuild()
        after, least = self._totals(), 1.0 - _ROUNDING
        for budget in self.budgets:
            total = after[budget.id]
            cached = before.get(budget.id, total)
            if cached.delta(budget.epsilon) < least * total.delta(budget.epsilon) or budget.epsilon_of(
                cached
            ) < least * budget.epsilon_of(total):
                raise damaged(self._path, f"the cached cost of {budget.name!r} is lower than the records show")
            lenient = replace(
                budget, epsilon=budget.epsilon * (1.0 + _ROUNDING), delta=budget.delta * (1.0 + _ROUNDING)
            )
            if budget.is_limit and not lenient.holds(total):
                raise damaged(self._path, f"the releases under {budget.shown!r} cost more than this budget allows")

    def _totals(self) -> dict[int, ComposedCost]:
        """What was spent of each row, by its id."""
        return {budget.id: self.composition(budget).total() for budget in self.budgets}

    def check_pages(self) -> None:
        """Has the database check all of its pages and indices."""
        found = [row[0] for row in self._connection.execute("PRAGMA integrity_check")]
        if found != ["ok"]:
            raise damaged(self._path, f"the database is damaged: {found[0]}")

    def accept_clock(self) -> None:
        """From now on, the times of existing records do not restrict the clock."""
        self.head.last_time = None
        self.head.write(self._connection)


def _published_checksum(number: int, raw: bytes) -> bytes:
    return sha256(b"stablesketch/ledger/published/%d/" % number + raw).digest()
