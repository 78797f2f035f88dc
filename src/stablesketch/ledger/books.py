"""What is done within one transaction on a ledger: read the budgets, compose, check, record, rebuild."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ..errors import BudgetExceeded, ClockWentBackwards, LedgerCorrupt, SecretSpent, UnitMismatch
from . import published
from .accounting import Cost
from .composition import Composition, Lane, Stale, forget
from .preview import Limit
from .record import PEOPLE, Ask, Entry, Record
from .rows import Budget, Head, chained
from .spent_secrets import Damaged, SpentSecrets

__all__ = ["Books", "Position", "add_budget", "now"]

_LENIENCE = timedelta(seconds=10)  # by how much a clock may be set back without a question
_ROUNDING = 1e-6  # by how much two ways to compose the same releases may differ
_ROWS = "SELECT number, time, label, budget, kind, fingerprint, partition, part, spent, chain FROM releases"

Position = tuple[int, bytes]  # the number of releases, and the chain


def now() -> datetime:
    """The time of the system, which records state and nothing depends on."""
    return datetime.now(UTC)


def add_budget(connection: sqlite3.Connection, head: Head, budget: Budget) -> None:
    """A new budget without releases, and its link in the chain."""
    budget.cache = Composition(connection, budget.id, "", budget.theta).checksum()
    budget.write(connection)
    head.chain = budget.linked(head.chain)
    head.write(connection)


class Books:
    """An open transaction on a ledger."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self.head = Head.read(connection, path)
        self._budgets = {budget.name: budget for budget in Budget.read_all(connection, path)}
        self._sound: set[int] = set()  # budgets whose cache is what was written
        self._secrets = SpentSecrets(connection)
        self._check_end()

    # --- the chain ---

    @property
    def position(self) -> Position:
        """How far the chain has come."""
        return self.head.releases, self.head.chain

    def check_follows(self, earlier: Position) -> None:
        """That the chain has come by an earlier position; else the file was rolled back, or is another one's."""
        number, chain = earlier
        row = self._connection.execute("SELECT chain FROM releases WHERE number = ?", (number,)).fetchone()
        start = bytes(32) if not number else row[0] if row else b""
        if number > self.head.releases or chain not in self._links(number, start):
            raise self._damaged(
                f"it was rolled back, or replaced by another: it does not go on from where it was seen, at release "
                f"{number}"
            )

    def _links(self, number: int, chain: bytes) -> list[bytes]:
        """The chain after a release, and after each budget that was made before the next one."""
        links = [chain]
        for budget in self._budgets.values():
            if budget.after == number:
                links.append(budget.linked(links[-1]))
        return links

    def _check_end(self) -> None:
        """That the records end where the head says, and the links of the last of them and of every budget are right."""
        last = self.head.releases
        if self._connection.execute("SELECT max(number) FROM releases").fetchone()[0] not in (last, last or None):
            raise self._damaged("there are more or fewer releases than it counted")
        for number in sorted({max(last - 1, 0), last} | {budget.after for budget in self._budgets.values()}):
            self._check_step(number)

    def _check_step(self, number: int) -> None:
        """From one release to the next, or to the head: two rows are read."""
        query = f"{_ROWS} WHERE number BETWEEN ? AND ? ORDER BY number"
        rows = self._connection.execute(query, (max(number, 1), min(number + 1, self.head.releases))).fetchall()
        before = bytes(32) if not number else rows[0][-1] if rows and rows[0][0] == number else b""
        end = self._links(number, before)[-1]
        if number == self.head.releases:
            right = end == self.head.chain
        else:
            right = bool(rows) and self._chained(end, rows[-1], *self._tables()) == rows[-1][-1]
        if not right:
            raise self._damaged(f"a budget, or what was recorded after release {number}, is not what was recorded")

    def _tables(self) -> tuple[dict[int, str], dict[int, str]]:
        kinds = dict(self._connection.execute("SELECT id, content FROM kinds").fetchall())
        return kinds, {budget.id: budget.name for budget in self._budgets.values()}

    def _chained(self, before: bytes, row: tuple[Any, ...], kinds: dict[int, str], names: dict[int, str]) -> bytes:
        number, time, label, budget, kind, fingerprint, partition, part, spent, _ = row
        if kind not in kinds or budget not in names:
            raise self._damaged(f"release {number} refers to what is not there")
        return chained(before, number, time, label, names[budget], kinds[kind], fingerprint, partition, part, spent)

    # --- budgets ---

    def budget(self, name: str) -> Budget | None:
        """The budget of that name; the whole has the empty one."""
        return self._budgets.get(name)

    def names(self) -> list[str]:
        """The named budgets."""
        return [name for name in self._budgets if name]

    def count(self, name: str) -> int:
        """How many releases have been recorded under it."""
        return self._concerned(name)[0].releases

    def make_budget(self, name: str, epsilon: float, delta: float, theta: float | None) -> Budget:
        """A new named budget."""
        last = max(budget.id for budget in self._budgets.values())
        budget = Budget(last + 1, name, epsilon, delta, theta, after=self.head.releases)
        add_budget(self._connection, self.head, budget)
        self._budgets[name] = budget
        return budget

    def theta(self, name: str) -> float | None:
        """θ of a budget, None unless the ledger is adaptive."""
        found = self.budget(name)
        return None if found is None else found.theta

    def limits(self, name: str, relation: str | None = None) -> list[Limit]:
        """The budget with what is spent of it, and the whole if it is another: both hold."""
        found = []
        for budget in self._concerned(name):
            spent = self._composition(budget, relation or self.head.relation or "replace").total()
            found.append(Limit(budget.name, budget.epsilon, budget.delta, spent))
        return found

    def totals_with(self, name: str, entries: Sequence[Entry], relation: str) -> list[Cost]:
        """What would be spent of each of `limits` after these entries. Nothing is written."""
        return [self._added(budget, entries, relation).total() for budget in self._concerned(name)]

    def totals_if(self, name: str, asks: Sequence[Ask], times: int, lane: Lane, relation: str) -> list[Cost]:
        """The same for each of the asks so many times in one lane, however many that is."""
        mechanisms = [ask.mechanism for ask in asks]
        return [
            self._composition(budget, relation).total_if(mechanisms, times, lane) for budget in self._concerned(name)
        ]

    def _concerned(self, name: str) -> list[Budget]:
        """The budget of that name, and last the whole."""
        budgets = [self.budget(each) for each in ([name, ""] if name else [""])]
        found = [budget for budget in budgets if budget is not None]
        if len(found) < len(budgets):
            raise LedgerCorrupt(f"the ledger {self._path} has lost a budget. Restore it from a backup.")
        return found

    def _composition(self, budget: Budget, relation: str) -> Composition:
        composition = Composition(self._connection, budget.id, relation, budget.theta)
        if budget.id not in self._sound:
            if composition.releases() != budget.releases or composition.checksum() != budget.cache:
                raise Stale
            self._sound.add(budget.id)
        return composition

    def _added(self, budget: Budget, entries: Sequence[Entry], relation: str) -> Composition:
        composition = self._composition(budget, relation)
        for entry in entries:
            composition.add(entry.ask.mechanism, Lane(*entry.part) if entry.part else Lane())
        return composition

    # --- recording ---

    def prepare(self, entries: Sequence[Entry], name: str) -> None:
        """Computes what each kind of release costs, which can take a tenth of a second; nothing is written."""
        for budget in self._concerned(name):
            for ask in {entry.ask for entry in entries}:
                Composition(self._connection, budget.id, ask.relation, budget.theta).prepare(ask.mechanism)

    def enter(self, entries: Sequence[Entry], name: str) -> list[Record]:
        """Records all of the entries, or raises and records none: the transaction is then undone by who opened it."""
        for entry in entries:
            self._fix_unit(entry.ask)
        with self._undamaged():
            self._secrets.check(self.head.spent)
        relation, time, after = self.head.relation, self._checked_time(), 0.0
        assert relation is not None
        changed = []
        for budget in self._concerned(name):
            composition = self._added(budget, entries, relation)
            limit = Limit(budget.name, budget.epsilon, budget.delta, Cost.nothing(relation, budget.theta))
            total = composition.total()
            after = limit.epsilon_of(total)  # of the whole in the end, which comes last
            if not limit.holds(total):
                spent = limit.epsilon_of(self._composition(budget, relation).total())
                ask = entries[0].ask
                asked, limits = (ask.epsilon, ask.delta), (budget.epsilon, budget.delta)
                raise BudgetExceeded(budget.name, limits, asked, spent, after, None)
            changed.append((budget, composition))
        with self._undamaged():
            records = [self._insert(entry, changed[0][0], time, after) for entry in entries]
        self.head.spent = self._secrets.save()
        self.head.write(self._connection)
        for budget, composition in changed:
            composition.save()
            budget.releases += len(entries)
            budget.cache = composition.checksum()
            budget.write(self._connection)
        return records

    def keep_published(self, records: Sequence[Record], texts: Sequence[Callable[[int], str]]) -> None:
        """What is released by each of the records, in the transaction that made them."""
        for record, text in zip(records, texts, strict=bool(texts)):
            published.keep(self._connection, record.number, text(record.number))

    def published(self, number: int) -> str | None:
        """What was released by a record, if it is kept."""
        return published.kept(self._connection, number, self._path)

    @contextlib.contextmanager
    def _undamaged(self) -> Iterator[None]:
        try:
            yield
        except Damaged:
            raise self._damaged("the list of spent secrets is not what was written") from None

    def require_unit(self, ask: Ask) -> None:
        """Refuses what protects something else than the ledger does; a unit that is not fixed yet refuses nothing."""
        head = self.head
        for has, given in ((head.relation, ask.relation), (head.pairs_per_person, ask.pairs_per_person)):
            if has is not None and has != given:
                raise UnitMismatch(
                    f"the ledger protects {_unit(head.relation, head.pairs_per_person)}, the release "
                    f"{_unit(ask.relation, ask.pairs_per_person)}. What protects different things does not add up: "
                    f"{_way_out(head.relation, ask.relation)}."
                )

    def seen_as(self, ask: Ask) -> Ask:
        """The same, of people where the ledger is: a plan does not know by whom its pairs will be bounded."""
        return replace(ask, relation=PEOPLE) if (self.head.relation, ask.relation) == (PEOPLE, "add_remove") else ask

    def _fix_unit(self, ask: Ask) -> None:
        """The first release fixes the unit, unless the ledger was made with one."""
        self.require_unit(ask)
        self.head.relation = ask.relation
        if ask.relation != PEOPLE:  # a person is a person, however many pairs of theirs a release takes
            self.head.pairs_per_person = ask.pairs_per_person

    def _checked_time(self) -> str:
        time, last = now(), self.head.last_time
        if last is not None and time < datetime.fromisoformat(last) - _LENIENCE:
            raise ClockWentBackwards(
                f"it is {time:%Y-%m-%d %H:%M:%S} UTC by the clock, and the last release was recorded at {last}. "
                "Nothing was recorded or released. Set the clock right; if it is right now and was wrong then, call "
                "ledger.accept_clock()."
            )
        return time.isoformat(timespec="microseconds")

    def _insert(self, entry: Entry, budget: Budget, time: str, after: float) -> Record:
        self._check_unspent(entry.fingerprint)
        content = entry.ask.to_json()
        self._connection.execute("INSERT OR IGNORE INTO kinds (content) VALUES (?)", (content,))
        (kind,) = self._connection.execute("SELECT id FROM kinds WHERE content = ?", (content,)).fetchone()
        partition, part = entry.part or (None, None)
        number = self.head.releases + 1
        shown = (number, time, entry.label, budget.name, content, entry.fingerprint, partition, part, after)
        self.head.releases, self.head.last_time = number, time
        self.head.chain = chained(self.head.chain, *shown)
        self._connection.execute(
            "INSERT INTO releases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, time, entry.label, budget.id, kind, entry.fingerprint, partition, part, after, self.head.chain),
        )
        return _record(number, time, entry.label, budget.name, entry.ask, entry.fingerprint, partition, part, after)

    def _check_unspent(self, fingerprint: bytes | None) -> None:
        if fingerprint is None:
            return
        if fingerprint in self._secrets:
            row = self._connection.execute(
                "SELECT number, time FROM releases WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
            number, time = row or ("unknown", "an unknown time")
            raise SecretSpent(
                f"the secret {fingerprint.hex()} had its one release at {time}, as number {number} of the ledger. "
                "Collect anew under a fresh secret."
            )
        self._secrets.add(fingerprint)

    # --- reading ---

    def records(self, name: str = "", *, check: bool = False) -> Iterator[Record]:
        """The releases in order, of a named budget its own; with `check`, each held to its place in the chain."""
        for record, _ in self._rows(check=check):
            if not name or record.budget == name:
                yield record

    def _rows(self, *, check: bool) -> Iterator[tuple[Record, Ask]]:
        kinds, names = self._tables()
        asks: dict[int, Ask] = {}
        chain, count = self._links(0, bytes(32))[-1], 0
        for row in self._connection.execute(f"{_ROWS} ORDER BY number"):
            number, time, label, budget, kind, fingerprint, partition, part, spent, link = row
            if kind not in kinds or budget not in names:
                raise self._damaged(f"release {number} refers to what is not there")
            if check:
                count += 1
                if number != count or self._chained(chain, row, kinds, names) != link:
                    raise self._damaged(f"release {count} is not what was recorded, or is missing")
                chain = self._links(number, link)[-1]
            if kind not in asks:
                asks[kind] = Ask.from_json(kinds[kind])
            ask = asks[kind]
            yield _record(number, time, label, names[budget], ask, fingerprint, partition, part, spent), ask
        if check and (count, chain) != (self.head.releases, self.head.chain):
            raise self._damaged("some release is not what was recorded, or is missing")

    def _damaged(self, what: str) -> LedgerCorrupt:
        return LedgerCorrupt(
            f"{self._path}: {what}. Nothing was recorded or released. Restore the ledger from a backup, and record "
            "what was released since then with Ledger.charge."
        )

    # --- keeping it ---

    def rebuild(self) -> None:
        """Composes everything anew from the records, which are held to the chain first."""
        self._connection.execute("DELETE FROM costs")
        self._sound.clear()
        budgets = [self.budget(name) for name in ["", *self.names()]]
        compositions: dict[str, Composition] = {}
        counts: dict[str, int] = {}
        for budget in budgets:
            assert budget is not None
            relation = self.head.relation or "replace"
            compositions[budget.name] = Composition(self._connection, budget.id, relation, budget.theta)
            compositions[budget.name].clear()
            counts[budget.name] = -budget.releases
        fingerprints: set[bytes] = set()
        for record, ask in self._rows(check=True):
            pairs = None if ask.relation == PEOPLE and self.head.pairs_per_person is None else ask.pairs_per_person
            if (ask.relation, pairs) != (self.head.relation, self.head.pairs_per_person):
                raise self._damaged(f"release {record.number} is of another unit than the ledger")
            if record.fingerprint is not None:
                fingerprints.add(bytes.fromhex(record.fingerprint))
            lane = Lane(record.partition or "", record.part or "")
            for name in {"", record.budget}:
                compositions[name].add(ask.mechanism, lane)
                counts[name] += 1
        if any(counts.values()):
            raise self._damaged("a budget has more or fewer releases than it counted")
        with self._undamaged():
            self._secrets.check(self.head.spent)
            if self._secrets.all() != fingerprints:
                raise Damaged
        for name, composition in compositions.items():
            composition.save()
            self._budgets[name].cache = composition.checksum()
            self._budgets[name].write(self._connection)

    def verify(self) -> None:
        """Composes everything anew, and holds it to what the cache said and to the budgets."""
        forget()  # what this process remembers came from the cache
        try:
            before = {name: self.limits(name)[0].spent for name in ["", *self.names()]}
        except Stale:
            before = {}  # a damaged cache, which is rebuilt
        forget()
        self.rebuild()
        for limit in (self.limits(name)[0] for name in ["", *self.names()]):
            cached, least = before.get(limit.name, limit.spent), 1.0 - _ROUNDING
            if cached.delta(limit.epsilon) < least * limit.spent.delta(limit.epsilon) or limit.epsilon_of(
                cached
            ) < least * limit.epsilon_of(limit.spent):
                raise self._damaged(f"the cache said that less was spent of {limit.name!r} than the records give")
            lenient = replace(limit, epsilon=limit.epsilon * (1.0 + _ROUNDING), delta=limit.delta * (1.0 + _ROUNDING))
            if not lenient.holds(limit.spent):
                raise self._damaged(f"the releases under {limit.name!r} cost more than this budget allows")

    def check_pages(self) -> None:
        """Has the database look at all of its pages and indices."""
        found = [row[0] for row in self._connection.execute("PRAGMA integrity_check")]
        if found != ["ok"]:
            raise self._damaged(f"the database is damaged: {found[0]}")

    def accept_clock(self) -> None:
        """The records there are now say nothing about what time it can be."""
        self.head.last_time = None
        self.head.write(self._connection)


def _unit(relation: str | None, pairs_per_person: int | None) -> str:
    """What is protected, in the words of the arguments."""
    if relation == PEOPLE:
        return (
            f"all that one person did{'' if pairs_per_person is None else f', {pairs_per_person:,} pairs of it used'}"
        )
    return f"relation={relation!r} with pairs_per_person={pairs_per_person!r}"


def _way_out(has: str | None, given: str | None) -> str:
    if has == PEOPLE:
        return "name the person column (person=) in this release too, or keep another ledger"
    if given == PEOPLE:
        return (
            "keep another ledger for people. Older ledgers did not tell people from pairs: if all that this one has "
            f"were people, make a new one and record there what was spent, by Ledger.charge(relation={PEOPLE!r}, ...)"
        )
    return "plan with the unit of the ledger, or keep another one"


def _record(
    number: int, time: str, label: str, budget: str, ask: Ask, fingerprint: bytes | None, partition: str | None,
    part: str | None, spent: float,
) -> Record:  # fmt: skip
    return Record(
        number=number,
        time=time,
        label=label,
        budget=budget,
        statistic=ask.statistic,
        mechanism=ask.kind,
        epsilon=ask.epsilon,
        delta=ask.delta,
        relation=ask.relation,
        pairs_per_person=ask.pairs_per_person,
        max_value=ask.max_value,
        p=ask.p,
        size=ask.size,
        fingerprint=None if fingerprint is None else fingerprint.hex(),
        partition=partition,
        part=part,
        spent_after=spent,
    )
