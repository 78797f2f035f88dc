"""`release`: from a DataFrame of Spark to one private number, or a DataFrame of them, one for each group."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...bounding.max_value import AutoMaxValue
from ...plan import MechanismName
from ...privacy import Privacy
from ...published import Release
from ...reading.columns import OnBad, checked_columns
from ...release.outcome import GroupRelease, Outcome
from ...release.run import run_source
from ...release.sizing import Sizing
from ...release.task import Task
from ...statistic import Statistic
from ..local.release import group_names
from ..secret_from import SecretFrom
from .batches import large_batches
from .frame import DataFrame, TextFrame
from .source import SparkSource
from .work import OPEN_GROUPS

if TYPE_CHECKING:
    from ...ledger import Ledger
    from ...release.progress import Progress

__all__ = ["as_frame", "release", "run_frame"]


def release(
    df: DataFrame,
    statistic: Statistic,
    privacy: Privacy,
    *,
    key: str | Sequence[str],
    value: str | None = None,
    by: str | Sequence[str] | None = None,
    groups: Sequence[str | Sequence[str]] | None = None,
    person: str | None = None,
    groups_per_person: int = 1,
    error: float | None = None,
    size: int | None = None,
    memory: str | int | None = None,
    entries_per_key: int | None = None,
    expected: float | None = None,
    mechanism: MechanismName = "sketch",
    count_pairs: bool = False,
    clip: bool = False,
    auto_max_value: AutoMaxValue | None = None,
    selection_share: float = 0.1,
    on_bad: OnBad = "error",
    confidence: float = 0.95,
    secret: SecretFrom | None = None,
    open_groups: int = OPEN_GROUPS,
    ledger: Ledger | None = None,
    label: str = "",
) -> Release | DataFrame:
    """One private number from a DataFrame; with `by` a DataFrame of them, one row for each group.

    Everything but `df`, `secret` and `open_groups` is as in `stablesketch.release`. Workers read Arrow batches and give
    back states of kilobytes. No row is shuffled, unless there is a `person` column: then the rows of a person have to
    meet somewhere.

    The release is made under a secret of its own. By default it is fresh, and reaches the workers as a broadcast, which
    is taken back at the end. Through Spark Connect there are no broadcasts: pass `secret`, a reference that workers and
    driver can follow. What it leads to is never used itself: each release derives its own from it and from 128 random
    bits, so one reference serves any number of releases.

    A worker keeps at most about `open_groups` groups in memory, some 350 kB each at the usual size. If it meets more,
    it gives their states away and begins again, which is right but slow: docs/scale.md.

    Raises:
        DataError: a row is no pair; it names partition, row and column. Nothing is released.
        PlanInfeasible, StreamTooShort: the guarantee cannot be given; the message says what can.
    """
    task = Task(
        statistic,
        privacy,
        checked_columns(key, value, by, person),
        Sizing(error, size, memory, expected, mechanism, entries_per_key),
        groups=None if groups is None else group_names(groups),
        groups_per_person=groups_per_person,
        selection_share=selection_share,
        count_pairs=count_pairs,
        clip=clip,
        auto=auto_max_value,
        on_bad=on_bad,
        confidence=confidence,
    )
    outcome = run_frame(task, df, secret=secret, open_groups=open_groups, ledger=ledger, label=label)
    if outcome.grouped:
        return as_frame(df.sparkSession, task, outcome)
    only = outcome.releases[0]
    assert isinstance(only, Release)
    return only


def run_frame(
    task: Task,
    df: DataFrame | TextFrame,
    *,
    secret: SecretFrom | None = None,
    open_groups: int = OPEN_GROUPS,
    ledger: Ledger | None = None,
    label: str = "",
    progress: Progress | None = None,
) -> Outcome:
    """Carries out a task on a cluster."""
    frame = df.frame if isinstance(df, TextFrame) else df
    with SparkSource(task, df, secret, open_groups) as source, large_batches(frame, task.columns.names):
        return run_source(task, source, ledger=ledger, label=label, progress=progress)


def as_frame(spark: object, task: Task, outcome: Outcome) -> DataFrame:
    """The releases of groups as a DataFrame: the columns of groups, then value, low, high and what they cost."""
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
    names = [f"`{name.replace('`', '``')}` string" for name in task.columns.by]
    schema = ", ".join([*names, *(f"{name} {kind}" for name, kind in fields.items())])
    return spark.createDataFrame(rows, schema)  # type: ignore[attr-defined]  # a session, classic or of Connect
