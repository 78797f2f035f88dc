"""`release`: from a Spark DataFrame to one private number, or to a DataFrame with one for each group."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Unpack

from ...errors import HIDDEN, ArgumentError
from ...privacy import Privacy
from ...reading.opened import Input
from ...release.arguments import WhatOfColumns, asks, question, warned
from ...release.outcome import GroupRelease, Outcome
from ...release.question import Question
from ...release.run import run_source
from ...statistic import Statistic
from ...statistic.published import Release
from ...text.wording import arg
from ..secret_from import SecretFrom
from .batches import large_batches
from .frame import DataFrame, TextFrame
from .source import SparkSource
from .work import OPEN_GROUPS

if TYPE_CHECKING:
    from ...ledger import Ledger
    from ...release.source import Progress


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
            f"Leave out {arg('sql')}, {arg('format')}, {arg('header')}, {arg('delimiter')} and "
            f"{arg('wide')}", because="a DataFrame is already open",
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
    with SparkSource(question, df, secret, open_groups) as source, large_batches(frame, question.columns.names):
        return run_source(question, source, ledger=ledger, label=label, progress=progress)


def as_frame(spark: object, question: Question, outcome: Outcome) -> DataFrame:
    """The releases of groups as a DataFrame: the group columns, then value, low, high and the cost."""
    fields = {
        "value": "double",
        "low": "double",
        "high": "double",
        "confidence": "double",
        "epsilon": "double",
        "delta": "double",
        "statistic": "string",
        "json": "string",
    }
    rows = []
    for one in outcome.releases:
        assert isinstance(one, GroupRelease)
        content = {**json.loads(one.release.to_json()), "json": one.to_json()}
        rows.append((*one.group, *(content[name] for name in fields)))
    names = [f"`{name.replace('`', '``')}` string" for name in question.columns.by]
    schema = ", ".join([*names, *(f"{name} {kind}" for name, kind in fields.items())])
    return spark.createDataFrame(rows, schema)  # type: ignore[attr-defined]  # a session, classic or of Connect
