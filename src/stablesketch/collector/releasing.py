"""Releases one collector or several at once: all are checked, then paid for together, then shown; or none is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..errors import ArgumentError, ArgumentTypeError, LedgerCorrupt, check_type
from ..ledger import Ledger
from ..ledger.arguments import checked_label, checked_part
from ..ledger.record import Ask, Entry
from ..plan import Plan
from ..secret import Secret
from ..secret.paying import Paid, Payment, until_shown
from ..secret.spending import spending
from ..sketch.workers import holding
from ..statistic.published import Release, Terms
from ..text.wording import arg

if TYPE_CHECKING:
    from .collector import Collector


def release_all(
    collectors: Sequence[Collector],
    *,
    confidence: float = 0.95,
    ledger: Ledger | None = None,
    labels: Sequence[str] | None = None,
    parts: Sequence[tuple[str, str]] | None = None,
    person: bool = False,
) -> list[Release]:
    """Releases several collectors together: all are recorded in one transaction of the ledger, or none is released.

    Each has its own secret; for groups of one stream that is `secret.child(name)`. `labels` and `parts` have one item
    for each collector. `Collector.release` explains them, and `person`.
    """

    _check_collectors(collectors)

    def terms() -> list[Terms]:
        return [terms_of_plan(collector.plan, confidence, person=person) for collector in collectors]

    return released(collectors, terms, ledger=ledger, labels=labels, parts=parts)


def _check_collectors(collectors: object) -> None:
    """Refuses anything but a list of collectors."""
    from .collector import Collector  # which imports this module

    if not isinstance(collectors, Sequence) or isinstance(collectors, str | bytes):
        raise ArgumentTypeError("collectors", type(collectors), "must be a list of collectors", "Pass [first, second]")
    for one in collectors:
        check_type("collectors", one, Collector, "must hold only collectors", "Pass the results of Plan.open")


def terms_of_plan(plan: Plan, confidence: float, *, person: bool = False) -> Terms:
    """The terms of a single release: what its plan costs and protects."""
    privacy = plan.privacy
    return Terms(plan.epsilon, plan.delta, privacy.relation, privacy.pairs_per_person, person, confidence)


def released(
    collectors: Sequence[Collector],
    terms: Callable[[], Sequence[Terms]],
    *,
    ledger: Ledger | None = None,
    labels: Sequence[str] | None = None,
    parts: Sequence[tuple[str, str]] | None = None,
    later: bool = False,
) -> list[Release]:
    """Like `release_all`, each on its own terms, which are read once nobody can change a plan any more.

    With `later`, the caller records them, as part of something larger, before anyone sees them. Neither they nor what
    was paid for them then appear in a later error: only the caller knows what was shown.
    """
    check_type("ledger", ledger, Ledger | None, "must be a Ledger", "Pass ss.Ledger(path)")
    for name, unused in (("part", parts), ("label", [label for label in labels or () if label])):
        if ledger is None and unused:
            raise ArgumentError(
                name, unused[0], "needs a ledger to record it", f"Pass {arg('ledger')}, or leave it out"
            )
    for name, given in (("labels", labels), ("parts", parts)):
        if given is not None and len(given) != len(collectors):
            raise ArgumentError(
                f"len({name})", len(given), f"must be the number of collectors, {len(collectors)}", "Pass one for each"
            )
    if len({id(collector) for collector in collectors}) < len(collectors):
        raise ArgumentError("collectors", len(collectors), "must all be different", "Pass each collector once")
    with until_shown() as shown, holding(*(collector._lock for collector in collectors)):
        payment = Payment() if later else shown
        each = [_checked_terms(one.plan, own) for one, own in zip(collectors, terms(), strict=True)]
        for collector, own in zip(collectors, each, strict=True):
            collector._check_ready(own.confidence)
        states = [collector._held() for collector in collectors]
        keys = [state.secret for state in states]
        entries = _entries(collectors, keys, labels, parts, each) if ledger is not None else []
        releases: list[Release] = []

        def compute() -> None:
            """Computes the value in memory, so that the record of the payment can hold it. Computing again gives the
            same value.
            """
            releases[:] = [state.release(own) for state, own in zip(states, each, strict=True)]

        pay = None if ledger is None else lambda: _paid(ledger, entries, payment, compute, releases)
        receipt = None if ledger is None else (ledger.path, ledger.name, entries)
        if not later:
            payment.hold()
        with spending(keys, pay, receipt) as paid:
            payment.paid += [
                one for one in paid if one not in payment.paid
            ]  # some may have been paid for in an earlier call
            for collector in collectors:
                collector._state = None  # drops the only references to entries and secret
            if ledger is None:
                compute()
            elif not releases:  # paid for in an earlier call: the value recorded then counts, whatever happened since
                releases = [_recorded(ledger, record) for record in paid]
        if ledger is not None:
            releases = [one.recorded(record.number) for one, record in zip(releases, paid, strict=True)]
        if not later:
            payment.releases += releases
    return releases


def _recorded(ledger: Ledger, record: Paid) -> Release:
    text = ledger.published(record.number)
    if text is None:
        raise LedgerCorrupt(
            f"the value of release {record.number} is missing from the ledger {ledger.path}. Restore it from a backup."
        )
    return Release.from_json(text)


def _paid(
    ledger: Ledger, entries: Sequence[Entry], payment: Payment, compute: Callable[[], None], releases: list[Release]
) -> list[Paid]:
    """Computes the values and records them. If it raises, they are discarded unseen."""
    try:
        compute()
        published = [partial(_text, one) for one in releases]
        paid = [Paid(ledger.path, one.number, one.epsilon, one.delta) for one in ledger.enter(entries, published)]
    except BaseException:
        releases.clear()
        raise
    payment.paid += paid
    return paid


def _text(release: Release, number: int) -> str:
    return release.recorded(number).to_json()


def _checked_terms(plan: Plan, terms: Terms) -> Terms:
    """Checks that the terms are at least what the plan costs."""
    protects = plan.privacy.protects
    if terms.person and protects != "add_remove":
        raise ArgumentError(
            "person", True, f"needs a plan that protects added and removed pairs, not {protects!r}",
            f"Plan with {arg('relation', 'add_remove')} and {arg('unit', 'pair')}, or leave out {arg('person')}",
        )  # fmt: skip
    if terms.epsilon < plan.epsilon or terms.delta < plan.delta:
        raise ArgumentError(
            "epsilon", terms.epsilon,
            f"must not be below the cost of the plan, ε = {plan.epsilon:g} and δ = {plan.delta:g}",
            "Decide again, with the plan of the collector",
        )  # fmt: skip
    return terms


def _entries(
    collectors: Sequence[Collector], keys: Sequence[Secret], labels: Sequence[str] | None,
    parts: Sequence[tuple[str, str]] | None, terms: Sequence[Terms],
) -> list[Entry]:  # fmt: skip
    asks: dict[tuple[Plan, bool], Ask] = {}
    entries = []
    for i, (collector, secret, own) in enumerate(zip(collectors, keys, terms, strict=True)):
        ask = asks.setdefault((collector.plan, own.person), Ask.of_plan(collector.plan, person=own.person))
        label = checked_label(labels[i] if labels is not None else "")
        part = checked_part(parts[i] if parts is not None else None, ask)
        entries.append(Entry(ask, secret.fingerprint, label, part))
    return entries
