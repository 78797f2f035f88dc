"""`publish`: releases numbers and pays for them, as decided. Every engine and the command line call it; the monitor,
which releases several statistics of the same pairs, calls `publish_side_by_side`.

Nothing is shown before it is in the ledger. A single number is recorded by its collector, with the fingerprint of its
secret (secret/spending.py). A table, or what follows a search for max_value, is released under secrets that nobody else
has, and recorded as one release: computed in memory, paid for together with the values, then shown.

`names_shown` chooses the groups of a table. Where the data can be asked, it comes before `publish`, and only the groups
it chose are collected. In a pipeline of Beam, which cannot be asked, both are steps of their own: a worker has the
collector of one group, and publishes it if its name is chosen. The choice looks at each group alone, so choosing from
one group at a time is choosing from all of them. A worker may run a step again, and what it chose before may have left
it by then. So its noise comes from the secret of the group, as that of the number does, and it chooses the same again:
drawn afresh, each attempt would cost the share of ε again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..bounding.groups import Name, in_natural_order, selected
from ..collector import Collector
from ..collector.releasing import released
from ..errors import ArgumentError
from ..ledger.arguments import checked_label
from ..ledger.record import Ask, Entry
from ..secret.paying import Paid, current_payment
from ..statistic.published import Release
from ..text.wording import arg
from .decide import Decision
from .outcome import GroupRelease, to_json
from .source import Progress

if TYPE_CHECKING:
    from ..ledger import Ledger


class Till:
    """How releases are paid for: from a ledger, under a label, as a part of a partition (`Collector.release`). Without
    a ledger nothing is left to pay, as for the workers of a pipeline that was paid for as a whole.
    """

    def __init__(
        self, ledger: Ledger | None = None, label: str = "", part: tuple[str, str] | None = None
    ) -> None:  # fmt: skip
        if label and ledger is None:
            raise ArgumentError("label", label, "needs a ledger to record it", f"Pass {arg('ledger')}, or leave it out")
        self.ledger, self.label, self.part = ledger, label, part
        self.tried = False  # whether a payment was made, or refused

    def check(self, ask: Ask) -> None:
        """Refuses what the budget does not allow, before anything more is read."""
        if self.ledger is not None and not self.ledger.would_fit(ask):
            self.pay(ask)  # raises the error, which says what would fit

    def pay(self, ask: Ask, published: Callable[[int], str] | None = None) -> int | None:
        """Records the price, with what is released for it. Returns the number of the record; None without a ledger."""
        if self.ledger is None:
            return None
        self.tried = True
        payment = current_payment()
        payment.hold()
        entry = Entry(ask, None, checked_label(self.label))  # released under secrets that nobody else has
        (record,) = self.ledger.enter([entry], None if published is None else [published])
        payment.paid.append(Paid(self.ledger.path, record.number, record.epsilon, record.delta))
        return record.number


def names_shown(
    decision: Decision, counts: Iterable[tuple[Name, int]], below: Callable[[int], int] = secrets.randbelow
) -> list[Name]:
    """The names to show of groups with these numbers of people or pairs: chosen privately, in order; or all of them, if
    names are public. `below(n)` returns uniform integers below n, for the noise.
    """
    table = decision.table
    if table is None or not table.selection_epsilon:
        return [name for name, _ in counts]
    return in_natural_order(selected(counts, table, below))


def publish(
    decision: Decision, collectors: Iterable[Collector], till: Till, *, names: Sequence[Name] = ((),),
    progress: Progress | None = None,
) -> list[Release] | list[GroupRelease]:  # fmt: skip
    """Releases the collector of each name, in this order; without names, the only collector. When it returns, all are
    paid for.

    Raises:
        BudgetExceeded: the budget does not allow it.
    """
    if not decision.as_one:
        return publish_side_by_side([decision], collectors, till)
    grouped, unpaid = decision.table is not None, till.ledger is not None
    # How many names were chosen privately is not shown before it is paid for.
    chosen = decision.table is not None and decision.table.selection_epsilon > 0.0
    shown = None if not grouped or (unpaid and chosen) else progress
    if shown is not None:
        shown.begin("releasing", len(names))
    releases: list[Any] = []
    for name, collector in zip(names, collectors, strict=True):
        (own,) = released([collector], lambda: [decision.terms], later=unpaid)
        releases.append(GroupRelease(name, own) if name else own)
        if shown is not None:
            shown.advance(1)
    # Recorded with their values, which nobody has seen until then.
    number = till.pay(decision.ask, lambda number: to_json([one.recorded(number) for one in releases], grouped=grouped))
    return releases if number is None else [one.recorded(number) for one in releases]


def publish_side_by_side(
    decisions: Sequence[Decision], collectors: Iterable[Collector], till: Till, *, later: bool = False
) -> list[Release]:
    """Releases several statistics of the same pairs, as in the windows of a monitor: each collector on the terms of its
    own decision, recorded by itself, all in one transaction.

    With `later`, the caller stores them before anyone sees them, and answers for what an error says (`released`).

    Raises:
        BudgetExceeded: the budget does not allow it.
    """
    assert not any(one.as_one for one in decisions)
    labels = None if till.ledger is None else [till.label] * len(decisions)
    parts = None if till.part is None else [till.part] * len(decisions)
    terms = [one.terms for one in decisions]
    return released(list(collectors), lambda: terms, ledger=till.ledger, labels=labels, parts=parts, later=later)
