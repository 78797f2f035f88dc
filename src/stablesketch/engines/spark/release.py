"""`release`: from a Spark DataFrame to one private number, or to a DataFrame with one for each group.

`SparkSource` answers what a release asks of data, on the cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ...bounding.groups import Name, group_secret
from ...bounding.in_one_pass import Bounding
from ...bounding.max_value import DigitCounts
from ...collector import Collector
from ...errors import HIDDEN, ArgumentError
from ...plan import Plan
from ...privacy import Privacy
from ...reading.columns import Columns, total_above
from ...reading.found import Input
from ...reading.libraries import need
from ...release.arguments import WhatOfColumns, asks, question, warned
from ...release.outcome import GroupRelease, Outcome
from ...release.question import Question
from ...release.run import run_source
from ...sketch.columns import MAX_WEIGHT
from ...statistic import Statistic
from ...statistic.published import Release
from ...text.wording import arg
from ..secret_from import SecretFrom
from . import job
from .frame import DataFrame, Pairs, TextFrame, back_quoted, quiet
from .work import OPEN_GROUPS, Recipe, checked_open, place_of

if TYPE_CHECKING:
    from ...ledger import Ledger
    from ...release.source import Progress

_FEW = 1 << 12  # groups whose states the driver takes all at once


@asks(WhatOfColumns)
def release(
    df: DataFrame,
    statistic: Statistic | Question | None = None,
    privacy: Privacy | None = None,
    *,
    secret: SecretFrom | None = None,
    open_groups: int = OPEN_GROUPS,
    ledger: Ledger | None = None,
    label: str = "",
    **what: Unpack[WhatOfColumns],
) -> Release | DataFrame:
    """One private number from a DataFrame; with `by`, a DataFrame with one row for each group.

    Everything except `df`, `secret` and `open_groups` is as in `stablesketch.release`. Workers read Arrow batches and
    return states of some kilobytes. No row is shuffled unless there is a `person` column: the rows of a person must
    then come together on one worker.

    Each release has its own secret. By default it is fresh, and reaches the workers as a broadcast, which is destroyed
    at the end. Spark Connect has no broadcasts: pass `secret`, a reference that workers and driver can follow. The
    secret it leads to is never used itself: each release derives its own from it and from 128 random bits, so one
    reference serves any number of releases.

    A worker keeps at most about `open_groups` groups in memory, some 350 KiB each at the usual size. If it finds more,
    it sends off their states and starts again, which is correct but slow: docs/scale.md.

    Raises:
        DataError: a row is invalid; it names partition, row and column. Nothing is released.
        PlanInfeasible, StreamTooShort: the guarantee cannot be given; the message says what can.
    """
    posed = warned(question(statistic, privacy, **what))
    if posed.input != Input():
        raise ArgumentError(
            "question", HIDDEN, "must not say how to open files",
            f"Leave out {arg('sql')}, {arg('format')}, {arg('header')}, {arg('delimiter')} and {arg('wide')}",
            because="a DataFrame is already open",
        )  # fmt: skip
    outcome = run_frame(posed, df, secret=secret, open_groups=open_groups, ledger=ledger, label=label)
    if outcome.grouped:
        return as_frame(df.sparkSession, posed, outcome)
    only = outcome.releases[0]
    assert isinstance(only, Release)
    return only


def run_frame(
    question: Question,
    df: DataFrame | TextFrame,
    *,
    secret: SecretFrom | None = None,
    open_groups: int = OPEN_GROUPS,
    ledger: Ledger | None = None,
    label: str = "",
    progress: Progress | None = None,
) -> Outcome:
    frame = df.frame if isinstance(df, TextFrame) else df
    with SparkSource(question, df, secret, open_groups) as source, job.large_batches(frame, question.columns.names):
        return run_source(question, source, ledger=ledger, label=label, progress=progress)


def as_frame(spark: object, question: Question, outcome: Outcome) -> DataFrame:
    """The releases of groups as a DataFrame: the group columns, then value, low, high and the cost."""
    fields = dict.fromkeys(("value", "low", "high", "confidence", "epsilon", "delta"), "double")
    fields |= {"statistic": "string", "json": "string"}
    rows = []
    for one in outcome.releases:
        assert isinstance(one, GroupRelease)
        content = {**json.loads(one.release.to_json()), "json": one.to_json()}
        rows.append((*one.group, *(content[name] for name in fields)))
    names = [f"{back_quoted(name)} string" for name in question.columns.by]
    schema = ", ".join([*names, *(f"{name} {kind}" for name, kind in fields.items())])
    return spark.createDataFrame(rows, schema)  # type: ignore[attr-defined]  # a session, classic or of Connect


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
        self._pairs = Pairs(
            frame, question.columns, question.largest, skip=question.on_bad == "skip", checked=question.reads_again
        )
        self.name = self._pairs.name
        text = isinstance(frame, TextFrame)
        reference, self._forget = job.fresh_secret(frame.frame if isinstance(frame, TextFrame) else frame, secret)
        self._held: list[Callable[[], object]] = []
        try:
            self.secret = reference.find()
            columns = question.columns
            self._recipe = Recipe(
                reference, columns.by, clip=question.clips, open_groups=checked_open(open_groups),
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
                self._frame = _added_up(self._pairs.whole_values, columns, question.largest, self.name)
        except BaseException:
            self._forget()
            raise

    def __enter__(self) -> SparkSource:
        return self

    def __exit__(self, *_: object) -> None:
        for forget in [*self._held, self._forget]:
            forget()

    def _bounded(self) -> DataFrame:
        """The rows that are kept of each person."""
        question = self._question
        bounding = Bounding(question.privacy.pairs_per_person, question.groups_per_person, len(question.columns.by))
        recipe = replace(self._recipe, bounding=bounding)
        # The rows of a person must come together, with identical rows adjacent.
        rows = self._pairs.whole_values
        together = rows.repartition("u").sortWithinPartitions("u", *(name for name in rows.columns if name != "u"))
        with quiet():
            return together.mapInArrow(job.sent(recipe.bound, self.secret), together.schema)

    def count(self) -> int:
        return int(self._frame.count()) if self._question.privacy.unit == "key" else self._pairs.count()

    def skipped(self) -> int | None:
        return self._pairs.skipped()

    def digits(self) -> DigitCounts:
        return np.array(job.counted_digits(self._pairs, self._frame, self._recipe), np.int64)

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


def _added_up(rows: DataFrame, columns: Columns, largest: int | None, source: str) -> DataFrame:
    """The pairs of a DataFrame (k0, ..., v, g0, ...) added up by key. bounding/whole_keys.py says why."""
    functions = need("pyspark.sql.functions", "spark")
    keys, groups = columns.key_marks, columns.group_marks
    # As decimals, which do not overflow.
    one = functions.col("v").cast("decimal(20,0)") if columns.value is not None else functions.lit(1)
    totals = rows.groupBy(*keys, *groups).agg(functions.sum(one).alias("v"))
    if largest is not None:
        most = totals.agg(functions.max("v")).collect()[0][0]
        if most is not None and most > largest:
            raise total_above(source, largest)
    return totals.selectExpr(*keys, f"cast(least(v, {MAX_WEIGHT}) as bigint) as v", *groups)
