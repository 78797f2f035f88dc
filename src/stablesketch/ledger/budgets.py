"""The budgets of a ledger within one transaction: which of them limit a release, and for which period.

A budget that renews has a row for each calendar period in which something was released. The first release of the period
creates it, and it is a link of the chain from then on. A period never gets a second row, so its ε and δ are spent once,
whatever the clock says, whichever process asks, and wherever one is killed: the row, its releases and their cost are
written in one transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from ..errors import LedgerCorrupt
from .checksums import EMPTY
from .period import next_start, period_of
from .rows import Budget, Head

_NOT_YET = -1  # the id of a row that is not in the table


def now() -> datetime:
    """The system time. Records contain it, and it decides the period of a budget that renews."""
    return datetime.now(UTC)


def add_budget(connection: sqlite3.Connection, head: Head, budget: Budget) -> None:
    """A new budget without releases, and its link in the chain."""
    budget.cache = EMPTY
    budget.write(connection)
    head.chain = budget.linked(head.chain)
    head.write(connection)


class Budgets:
    """All rows, by name and period, in the order they were created."""

    def __init__(self, connection: sqlite3.Connection, path: Path, head: Head) -> None:
        self._connection, self._path, self._head = connection, path, head
        self._rows = {(budget.name, budget.period): budget for budget in Budget.read_all(connection, path)}

    def __iter__(self) -> Iterator[Budget]:
        return iter(self._rows.values())

    def find(self, name: str) -> Budget | None:
        """The budget of this name; the whole ledger's has the empty name."""
        return self._rows.get((name, ""))

    def lasting(self, name: str) -> Budget:
        """The permanent row of a budget."""
        found = self.find(name)
        if found is None:
            raise LedgerCorrupt(f"a budget is missing from the ledger {self._path}. Restore it from a backup.")
        return found

    @property
    def whole(self) -> Budget:
        """The budget of the ledger itself."""
        return self.lasting("")

    def names(self) -> list[str]:
        """The named budgets."""
        return [name for name, period in self._rows if name and not period]

    def periods(self, name: str) -> int:
        """The number of periods with releases under this budget."""
        return sum(each == name and bool(period) for each, period in self._rows)

    def make(self, name: str, epsilon: float, delta: float, theta: float | None) -> Budget:
        """A new named budget, which renews if the whole does."""
        budget = Budget(_NOT_YET, name, epsilon, delta, theta, per=self.whole.per)
        self.add_new([budget])
        return budget

    def add_new(self, budgets: Sequence[Budget]) -> None:
        """Writes the budgets that are not in the table yet."""
        for budget in budgets:
            if budget.id == _NOT_YET:
                budget.id, budget.after = max(each.id for each in self) + 1, self._head.releases
                add_budget(self._connection, self._head, budget)
                self._rows[budget.name, budget.period] = budget

    # --- periods ---

    @cached_property
    def time(self) -> datetime:
        """One moment for everything in this transaction."""
        return now()

    @cached_property
    def period(self) -> str:
        """The period that releases count for now; empty if nothing renews.

        The period of the clock, or a later one if it has releases: setting the clock back reopens no earlier period.
        """
        per = self.whole.per
        return max(period_of(per, self.time), *(period for _, period in self._rows)) if per else ""

    @property
    def renewal(self) -> str | None:
        """The day on which the budget renews; None if it does not renew."""
        return next_start(self.whole.per, self.period).isoformat() if self.period else None

    def limiting(self, name: str) -> list[Budget]:
        """The rows that limit a release under this name now: the budget's own and, last, the whole ledger's."""
        return [self._of_now(self.lasting(each)) for each in ([name, ""] if name else [""])]

    def _of_now(self, budget: Budget) -> Budget:
        """The budget itself, or its row for the current period. A new row has no releases until it is added."""
        if not budget.per:
            return budget
        found = self._rows.get((budget.name, self.period))
        if found is None:
            return replace(budget, id=_NOT_YET, period=self.period, releases=0, cache=EMPTY)
        if (found.epsilon, found.delta, found.theta) != (budget.epsilon, budget.delta, budget.theta):
            raise LedgerCorrupt(
                f"the ledger {self._path} has a different budget for {self.period} than for all periods. Restore it "
                "from a backup."
            )
        return found
