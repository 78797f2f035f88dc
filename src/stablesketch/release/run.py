"""The way from data to releases: choose max_value, plan, choose groups, collect, release; wherever the data are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..bounding.groups import GroupBudget, Name, selected
from ..bounding.max_value import chosen_max_value
from ..collector import Collector
from ..collector.collector import released
from ..errors import ArgumentError, DataError
from ..ledger.record import Ask
from ..paying import Paid, current_payment, until_shown
from ..privacy import Privacy
from ..privacy.charge import Charge
from ..published import Release
from .division import division
from .outcome import GroupRelease, Outcome
from .progress import Progress
from .source import Source
from .task import Task

if TYPE_CHECKING:
    from ..ledger import Ledger

__all__ = ["run_source"]


def run_source(
    task: Task, source: Source, *, ledger: Ledger | None = None, label: str = "", progress: Progress | None = None
) -> Outcome:
    """Releases what a source collects, under the secret of the source."""
    if label and ledger is None:
        raise ArgumentError("label", label, "there is no ledger to record it", "Pass ledger=, or leave it out")
    with until_shown():
        return _Run(task, source, ledger, label, progress).outcome()


class _Run:
    """One way through."""

    def __init__(
        self, task: Task, source: Source, ledger: Ledger | None, label: str, progress: Progress | None
    ) -> None:
        self._task = task
        self._source = source
        self._ledger = ledger
        self._label = label
        self._progress = progress

    def outcome(self) -> Outcome:
        task = self._task
        share, privacy = task.shares()
        if task.auto is None:
            outcome = self._released(privacy)
        else:
            # What is known of plans that depend on the max_value found is (ε, δ) alone.
            whole = task.privacy.epsilon, task.privacy.delta
            mechanism = Charge("other", epsilon=whole[0], delta=whole[1])
            ask = Ask.of_table(f"max_value, {task.statistic}", mechanism, whole, task.privacy, person=task.of_people)
            self._check_fits(ask)
            found = chosen_max_value(self._source.digits(), privacy, share, task.auto.quantile)
            privacy = replace(privacy, max_value=found)
            try:
                outcome = self._released(privacy)
            except Exception:
                self._pay(ask)  # what is said of the error may depend on the max_value found
                raise
            outcome = self._paid(outcome, ask)
        current_payment().releases[:] = outcome.releases  # groups with their names, and with the price of the whole
        clipped = privacy.max_value if task.clips else None
        # A row that is replaced is a row; a whole key may have any number of rows, also of those that are no pairs.
        public = task.on_bad == "skip" and privacy.relation == "replace" and privacy.unit == "pair"
        skipped = self._source.skipped() if public else None
        return replace(outcome, clipped_to=clipped, skipped=skipped, shares=division(task, outcome.plan))

    def _released(self, privacy: Privacy) -> Outcome:
        return (self._grouped if self._task.columns.by else self._single)(privacy)

    def _single(self, privacy: Privacy) -> Outcome:
        task, source = self._task, self._source
        counted = task.count_pairs and task.bare  # nothing else needs to know beforehand
        later = counted and not source.countable
        if later:
            chosen = task.sizing.long(task.statistic, privacy)
        elif counted:
            privacy = replace(privacy, pairs=self._some(source.count()))
            chosen = task.sizing.plan(task.statistic, privacy)
        else:
            chosen = task.sizing.plan(task.statistic, privacy)
        collector, pairs = source.collected(chosen)
        if later:
            # The number of pairs is public, and known only now; the floor that it needs is added at the release.
            privacy = replace(privacy, pairs=self._some(pairs))
            chosen = task.sizing.like(chosen).plan(task.statistic, privacy)
            collector.replan(chosen)
        own = self._release(collector)
        return Outcome(chosen, [own], grouped=False, price=(own.epsilon, own.delta))

    def _some(self, pairs: int) -> int:
        if not pairs:
            raise DataError(
                self._source.name, "there are no pairs",
                "Check the input; for a stream that may be empty pass --pairs 0",
            )  # fmt: skip
        return pairs

    def _release(self, collector: Collector) -> Release:
        task = self._task
        known: dict[str, Any] = {}
        if task.auto is not None:  # the price of all of it, which is paid in the end
            known |= {"epsilon": task.privacy.epsilon, "delta": task.privacy.delta}
        ledger = self._ledger if task.auto is None else None
        (own,) = released(
            [collector], confidence=task.confidence, ledger=ledger, labels=[self._label] if ledger else None,
            person=task.of_people,
            finish=lambda release: replace(release, **known), later=self._ledger is not None and ledger is None,
        )  # fmt: skip
        return own

    def _grouped(self, privacy: Privacy) -> Outcome:
        task = self._task
        shares = task.group_budget(privacy)
        chosen = task.group_plan(shares)
        epsilon, delta = shares.spent(chosen.epsilon, chosen.delta)
        if task.auto is not None:
            epsilon, delta = task.privacy.epsilon, task.privacy.delta
        names = list(task.groups) if task.groups is not None else self._selected(shares)
        collectors = self._source.collected_groups(chosen, names)
        ask = None
        if task.auto is None and self._ledger is not None:
            what = f"{task.statistic} by {', '.join(task.columns.by)}"
            ask = Ask.of_table(what, shares.charge(chosen), (epsilon, delta), task.privacy, person=task.of_people)
            self._check_fits(ask)
        releases = []
        # How many names were chosen privately is not shown before it is paid for.
        progress = None if self._ledger is not None and task.groups is None else self._progress
        if progress is not None:
            progress.begin("releasing", len(names))
        for name, collector in zip(names, collectors, strict=True):
            (own,) = released(
                [collector], confidence=task.confidence, person=task.of_people, later=self._ledger is not None
            )
            own = replace(
                own, epsilon=epsilon, delta=delta, relation=privacy.relation,
                pairs_per_person=privacy.pairs_per_person,
            )  # fmt: skip
            releases.append(GroupRelease(name, own))
            if progress is not None:
                progress.advance(1)
        outcome = Outcome(chosen, releases, grouped=True, price=(epsilon, delta))
        return outcome if ask is None else self._paid(outcome, ask)

    def _selected(self, shares: GroupBudget) -> list[Name]:
        return sorted(selected(self._source.group_counts(), shares))

    def _check_fits(self, ask: Ask) -> None:
        """Refuses what the budget does not allow, before more is read."""
        if self._ledger is not None and not self._ledger._would_fit(ask):
            self._pay(ask)  # which refuses it, and says what would fit

    def _paid(self, outcome: Outcome, ask: Ask) -> Outcome:
        """The outcome, recorded with its values: until then nobody has seen them."""
        record = self._pay(ask, lambda number: outcome.recorded(number).to_json())
        return outcome if record is None else outcome.recorded(record)

    def _pay(self, ask: Ask, published: Callable[[int], str] | None = None) -> int | None:
        """The number of the record; None without a ledger."""
        if self._ledger is None:
            return None
        payment = current_payment()
        payment.hold()
        record = self._ledger._charge(ask, self._label, published=published)
        payment.paid.append(Paid(self._ledger.path, record.number, record.epsilon, record.delta))
        return record.number
