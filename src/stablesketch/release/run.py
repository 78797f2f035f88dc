"""The way from data to releases, wherever the data are: find max_value, decide, choose names, collect, publish."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..bounding.max_value import chosen_max_value
from ..collector import Collector
from ..errors import DataError
from ..secret.paying import current_payment, until_shown
from ..statistic.published import Release
from ..text.wording import arg
from .decide import Decision, before_counting, decide, price_of_finding, whole_ask
from .outcome import GroupRelease, Outcome
from .publish import Till, names_shown, publish
from .question import Question
from .source import AnsweringSource, Progress

if TYPE_CHECKING:
    from ..ledger import Ledger


def run_source(
    question: Question, source: AnsweringSource, *, ledger: Ledger | None = None, label: str = "",
    progress: Progress | None = None,
) -> Outcome:  # fmt: skip
    """Answers a question from what a source collects, under the secret of the source."""
    question.check_groups_per_person()
    till = Till(ledger, label)
    with until_shown():
        found = _found_max_value(question, source, till)
        try:
            if question.columns.by:
                decision, releases = _table(question, source, till, found, progress)
            else:
                decision, collectors = _collected(question, source, found)
                releases = publish(decision, collectors, till)
        except Exception:
            if found is not None and not till.tried:
                till.pay(whole_ask(question))  # what is said of the error may depend on the max_value found
            raise
        current_payment().releases[:] = releases  # groups with their names, each at the price of the whole
        skipped = source.skipped() if question.tells_skipped else None
        return Outcome(decision, releases, skipped, question)


def _found_max_value(question: Question, source: AnsweringSource, till: Till) -> int | None:
    """Finds max_value privately, if asked to. Before anything is read, the ledger must have room for everything that
    follows.
    """
    if question.auto_max_value is None:
        return None
    till.check(whole_ask(question))
    share, privacy = price_of_finding(question)
    return chosen_max_value(source.digits(), privacy, share, question.auto_max_value.quantile)


def _collected(
    question: Question, source: AnsweringSource, max_value: int | None
) -> tuple[Decision, Iterable[Collector]]:
    """Collects all pairs. If the plan needs their public number, they are counted before or during collection."""
    counted = question.counts_pairs
    if counted and not source.countable:
        first = before_counting(question, max_value)
        (collector,) = source.collected(first)
        decision = decide(question, max_value=max_value, pairs=_some(collector.pairs, source), like=first)
        collector.replan(decision.plan)
        return decision, [collector]
    decision = decide(question, max_value=max_value, pairs=_some(source.count(), source) if counted else None)
    return decision, source.collected(decision.plan)


def _some(pairs: int, source: AnsweringSource) -> int:
    if not pairs:
        raise DataError(
            source.name, "the data are empty", f"Check the input; if the stream may be empty, pass {arg('pairs', 0)}"
        )
    return pairs


def _table(
    question: Question, source: AnsweringSource, till: Till, max_value: int | None, progress: Progress | None
) -> tuple[Decision, list[Release] | list[GroupRelease]]:
    decision = decide(question, max_value=max_value)
    if max_value is None:  # otherwise it was checked before
        till.check(decision.ask)
    names = question.groups if question.groups is not None else names_shown(decision, source.group_counts())
    collectors = source.collected(decision.plan, names)
    return decision, publish(decision, collectors, till, names=names, progress=progress)
