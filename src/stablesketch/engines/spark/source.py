"""A DataFrame as a `Source`: what a release asks of data, answered by a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...bounding.groups import Name, group_secret
from ...bounding.in_one_pass import Bounding
from ...bounding.max_value import DigitCounts
from ...collector import Collector
from ...plan import Plan
from ...reading.libraries import need
from ...release.question import Question
from ..secret_from import SecretFrom
from . import job
from .frame import DataFrame, Pairs, TextFrame, quiet
from .shuffled import added_up, bounded
from .work import OPEN_GROUPS, Recipe, checked_open, place_of

_FEW = 1 << 12  # groups whose states the driver takes all at once


class SparkSource:
    """An `AnsweringSource`. Use it in a `with` block: at its end, the broadcast secret is destroyed."""

    countable = True

    def __init__(
        self,
        question: Question,
        frame: DataFrame | TextFrame,
        secret: SecretFrom | None,
        open_groups: int = OPEN_GROUPS,
    ) -> None:
        self._question = question
        self._pairs = Pairs.of(frame, question)
        self.name = self._pairs.name
        text = isinstance(frame, TextFrame)
        reference, self._forget = job.fresh_secret(frame.frame if isinstance(frame, TextFrame) else frame, secret)
        self._held: list[Callable[[], object]] = []
        try:
            self.secret = reference.find()
            columns = question.columns
            self._recipe = Recipe(
                reference, len(columns.key), columns.by, clip=question.clips, open_groups=checked_open(open_groups),
                zeros=columns.zeros,
            )  # fmt: skip
            # A malformed line is not skipped if what follows could be part of it.
            if question.reads_again and (text or question.on_bad == "error"):
                bad = self._pairs.first_bad()
                if bad is not None:
                    raise bad
            self._frame = self._pairs.every
            if columns.person is not None:
                self._frame = self._bounded()
            elif question.privacy.unit == "key":
                self._frame = added_up(self._pairs.whole_values, columns, question.largest, self.name)
        except BaseException:
            self._forget()
            raise

    def __enter__(self) -> SparkSource:
        return self

    def __exit__(self, *_: object) -> None:
        for forget in [*self._held, self._forget]:
            forget()

    def _bounded(self) -> DataFrame:
        question = self._question
        bounding = Bounding(question.privacy.pairs_per_person, question.groups_per_person, len(question.columns.by))
        recipe = replace(self._recipe, bounding=bounding)
        with quiet():
            return bounded(self._pairs.whole_values, job.sent(recipe.bound, self.secret))

    def count(self) -> int:
        return int(self._frame.count()) if self._question.privacy.unit == "key" else self._pairs.count()

    def skipped(self) -> int | None:
        return self._pairs.skipped()

    def digits(self) -> DigitCounts:
        return np.array(job.digits(self._pairs, self._frame, self._recipe), np.int64)

    def group_counts(self) -> Iterator[tuple[Name, int]]:
        functions = need("pyspark.sql.functions", "spark")
        marks = self._question.columns.group_marks
        counted = functions.count_distinct("u") if self._question.columns.person else functions.count("*")
        if self._question.counts_individuals:
            counted = functions.sum(functions.col("v").cast("decimal(38,0)"))
        for row in self._frame.groupBy(*marks).agg(counted.alias("counted")).toLocalIterator():
            yield tuple(row[mark] for mark in marks), int(row["counted"])

    def collected(self, plan: Plan, names: Sequence[Name] | None = None) -> Iterator[Collector]:
        """Before it returns, all states are ready and free of failures."""
        recipe = replace(self._recipe, plan=plan.to_json())
        if names is None:
            whole = plan.open(self.secret)
            job.collect_into(whole, self._pairs, self._without_person(), recipe)
            return iter([whole])
        if not names:
            return iter(())
        recipe = replace(recipe, names=tuple(names))
        states = job.grouped_states(self._without_person(), recipe, self.secret)
        if len(names) <= _FEW:
            rows = states.collect()
            job.raise_failures(self._pairs, (row.failure for row in rows))
            ordered = iter(sorted(rows, key=lambda row: place_of(row.name)))
        else:
            states = states.persist()
            self._held.append(states.unpersist)
            job.raise_failures(
                self._pairs, (row.failure for row in states.where("failure is not null").limit(1).collect())
            )
            ordered = states.orderBy(states["name"].cast("int")).toLocalIterator(prefetchPartitions=True)
        return self._in_order(plan, names, ordered)

    def _in_order(self, plan: Plan, names: Sequence[Name], rows: Iterator[object]) -> Iterator[Collector]:
        """The groups in order. A group without pairs has no row, and gets an empty collector."""
        row = next(rows, None)
        for code, name in enumerate(names):
            own = group_secret(self.secret, name)
            if row is not None and place_of(row.name) == code:  # type: ignore[attr-defined]  # a Row
                yield Collector.from_bytes(bytes(row.state), own)  # type: ignore[attr-defined]
                row = next(rows, None)
            else:
                yield plan.open(own)

    def _without_person(self) -> DataFrame:
        return self._frame.drop("u") if self._question.columns.person is not None else self._frame
