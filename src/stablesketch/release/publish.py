"""`publish`: chooses names, releases numbers and pays for them, in this order, as decided.

Nothing is shown before it is in the ledger. A single number is recorded by its collector, with the fingerprint of its
secret (secret/spending.py). A table, or what follows a search for max_value, is released under secrets that nobody else
has, and recorded as one release: computed in memory, paid for together with the values, then shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..bounding.groups import GroupBudget, Name, in_order, selected
from ..collector import Collector
from ..collector.releasing import released
from ..errors import ArgumentError
from ..ledger.arguments import checked_label
from ..ledger.record import Ask, Entry
from ..secret.paying import Paid, current_payment
from ..statistic.published import Release, Terms
from ..text.wording import arg
from .decide import Decision
from .outcome import GroupRelease, to_json
from .source import Progress

if TYPE_CHECKING:
    from ..ledger import Ledger


class Till:
    """How a release is paid for: from a ledger, under a label, or not at all."""

    def __init__(self, ledger: Ledger | None = None, label: str = "") -> None:
        if label and ledger is None:
            raise ArgumentError("label", label, "needs a ledger to record it", f"Pass {arg('ledger')}, or leave it out")
        self.ledger, self.label = ledger, label
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


def names_shown(table: GroupBudget, counts: Iterable[tuple[Name, int]]) -> list[Name]:
    """The names of the groups to show, chosen privately, in order. `counts` has each group's number of people or
    pairs.
    """
    return in_order(selected(counts, table))


def one_number(terms: Terms, collector: Collector, name: Name = (), *, later: bool = False) -> Release | GroupRelease:
    """The release of one collector on the decided terms; a group's release if there is a name.

    With `later`, the caller records it, together with everything it is part of, before anyone sees it.
    """
    (own,) = released([collector], lambda _: terms, later=later)
    return GroupRelease(name, own) if name else own


def publish(
    decision: Decision, collectors: Iterable[Collector], till: Till, *, names: Sequence[Name] = ((),),
    progress: Progress | None = None,
) -> list[Release] | list[GroupRelease]:  # fmt: skip
    """Releases the collector of each name, in this order; without names, the only collector. When it returns, all are
    paid for.

    Raises:
        BudgetExceeded: the budget does not allow it.
    """
    grouped, unpaid = decision.table is not None, till.ledger is not None
    if not decision.as_one:
        labels = [till.label] if unpaid else None
        return released(list(collectors), lambda _: decision.terms, ledger=till.ledger, labels=labels)
    # How many names were chosen privately is not shown before it is paid for.
    chosen = decision.table is not None and decision.table.selection_epsilon > 0.0
    shown = None if not grouped or (unpaid and chosen) else progress
    if shown is not None:
        shown.begin("releasing", len(names))
    releases: list[Any] = []
    for name, collector in zip(names, collectors, strict=True):
        releases.append(one_number(decision.terms, collector, name, later=unpaid))
        if shown is not None:
            shown.advance(1)
    # Recorded with their values, which nobody has seen until then.
    number = till.pay(decision.ask, lambda number: to_json([one.recorded(number) for one in releases], grouped=grouped))
    return releases if number is None else [one.recorded(number) for one in releases]
