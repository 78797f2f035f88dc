"""The chain of a ledger: a hash of all releases and budgets so far, which reveals an edited or rolled-back file.

Each release has a link, computed from the previous link and everything recorded about the release (rows.py). A budget
also has one, after the release that was the last when the budget was created.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path

from ..errors import ArgumentError
from .record import Ask, Record
from .rows import Budget, Head, ReleaseRow, damaged

Position = tuple[int, bytes]  # the number of releases, and the hash


def position_text(position: Position) -> str:
    """A position as `Ledger.head` shows it."""
    number, chain = position
    return f"{number}:{chain.hex()}"


def position_from(head: str) -> Position:
    """Reads the result of `position_text`."""
    match = re.fullmatch("(0|[1-9][0-9]{0,18}):([0-9a-f]{64})", head) if isinstance(head, str) else None
    if match is None:
        raise ArgumentError("since", head, "must be the head of a ledger", "Pass a value of Ledger.head")
    return int(match[1]), bytes.fromhex(match[2])


class Chain:
    """The links of one ledger, read within a transaction; `head` and `budgets` are those of the transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path, head: Head, budgets: Iterable[Budget]) -> None:
        self._connection = connection
        self._path = path
        self._head = head
        self._budgets = budgets

    @property
    def position(self) -> Position:
        """The current end of the chain."""
        return self._head.releases, self._head.chain

    def check_follows(self, earlier: Position) -> None:
        """Checks that the chain continues an earlier position; otherwise the file was rolled back or replaced."""
        number, chain = earlier
        row = self._connection.execute("SELECT chain FROM releases WHERE number = ?", (number,)).fetchone()
        start = bytes(32) if not number else row[0] if row else b""
        if number > self._head.releases or chain not in _links(number, start, self._made()):
            raise damaged(
                self._path,
                f"the ledger was rolled back or replaced: it does not continue from release {number}, where it was "
                "last seen",
            )

    def _made(self) -> dict[int, list[Budget]]:
        """The budgets, including those of periods, by the number of releases that came before."""
        made: dict[int, list[Budget]] = {}
        for budget in self._budgets:
            made.setdefault(budget.after, []).append(budget)
        return made

    def check_end(self) -> None:
        """Checks that the records end where the head says, that no row of a budget is missing, and that the links of
        the last records and of every budget are right. That includes every period: a period under another name, or
        without a row, would get its budget again.
        """
        last, counts = self._head.releases, {("", False): -self._head.releases}
        if self._connection.execute("SELECT max(number) FROM releases").fetchone()[0] not in (last, last or None):
            raise damaged(self._path, "the releases do not match the count of the ledger")
        for budget in self._budgets:
            if not budget.name and not budget.period:
                counts["", False] += budget.releases
            if budget.per:
                key, sign = (budget.name, True), 1 if budget.period else -1
                counts[key] = counts.get(key, 0) + sign * budget.releases
        if any(counts.values()):
            raise damaged(self._path, "the releases of a budget do not match its count")
        made = self._made()
        numbers = sorted({max(last - 1, 0), last, *made})
        wanted = json.dumps(sorted({*numbers, *(number + 1 for number in numbers)}))
        found = ReleaseRow.read(self._connection, "WHERE number IN (SELECT value FROM json_each(?))", wanted)
        rows = {row.number: row for row in found}
        tables = self._tables()
        for number in numbers:
            before = bytes(32) if not number else rows[number].chain if number in rows else b""
            end, following = _links(number, before, made)[-1], rows.get(number + 1)
            if number == last:
                right = end == self._head.chain
            elif following is None:
                right = False
            else:
                right = following.linked(end, *self._named(following, *tables)) == following.chain
            if not right:
                raise damaged(self._path, f"a budget, or a record after release {number}, was changed")

    def _tables(self) -> tuple[dict[int, str], dict[int, Budget]]:
        kinds = dict(self._connection.execute("SELECT id, content FROM kinds").fetchall())
        return kinds, {budget.id: budget for budget in self._budgets}

    def _named(self, row: ReleaseRow, kinds: dict[int, str], budgets: dict[int, Budget]) -> tuple[Budget, str]:
        """The budget and the kind that a release refers to by id."""
        if row.kind not in kinds or row.budget not in budgets:
            raise damaged(self._path, f"release {row.number} refers to a missing entry")
        return budgets[row.budget], kinds[row.kind]

    def rows(self, *, check: bool) -> Iterator[tuple[Record, Ask]]:
        """The releases in order, and what each asked for; with `check`, each is checked against the chain."""
        kinds, budgets = self._tables()
        asks: dict[int, Ask] = {}
        made = self._made()
        chain, count = _links(0, bytes(32), made)[-1], 0
        for row in ReleaseRow.read(self._connection, "ORDER BY number"):
            budget, content = self._named(row, kinds, budgets)
            if check:
                count += 1
                if row.number != count or row.linked(chain, budget, content) != row.chain:
                    raise damaged(self._path, f"release {count} was changed or is missing")
                chain = _links(row.number, row.chain, made)[-1]
            if row.kind not in asks:
                asks[row.kind] = Ask.from_json(content)
            ask = asks[row.kind]
            yield record_of(row, budget, ask), ask
        if check and (count, chain) != (self._head.releases, self._head.chain):
            raise damaged(self._path, "a release was changed or is missing")


def _links(number: int, chain: bytes, made: dict[int, list[Budget]]) -> list[bytes]:
    """The chain after a release, and after each budget `made` before the next release."""
    return list(accumulate(made.get(number, ()), lambda link, budget: budget.linked(link), initial=chain))


def record_of(row: ReleaseRow, budget: Budget, ask: Ask) -> Record:
    """A row of the table of releases, with what it asked for, in the form users see."""
    return Record(
        number=row.number,
        time=row.time,
        label=row.label,
        budget=budget.name,
        statistic=ask.statistic,
        mechanism=ask.mechanism,
        epsilon=ask.epsilon,
        delta=ask.delta,
        relation=ask.relation,
        pairs_per_person=ask.pairs_per_person,
        max_value=ask.max_value,
        p=ask.p,
        size=ask.size,
        fingerprint=None if row.fingerprint is None else row.fingerprint.hex(),
        partition=row.partition,
        part=row.part,
        spent_after=row.spent_after,
        period=budget.period,
    )
