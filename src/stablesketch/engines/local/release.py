"""`release`: from a file, a query or a data frame to one private number, or one for each group, by a single call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...bounding.groups import Name
from ...bounding.max_value import AutoMaxValue
from ...errors import ArgumentTypeError
from ...plan import MechanismName
from ...privacy import Privacy
from ...published import Release
from ...reading.columns import OnBad, checked_columns
from ...reading.sources import Input
from ...release.outcome import GroupRelease
from ...release.sizing import Sizing
from ...release.task import Task
from ...statistic import Statistic
from .run import run

if TYPE_CHECKING:
    from ...ledger import Ledger

__all__ = ["group_names", "release"]


def release(
    data: object,
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
    sql: str | None = None,
    format: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    ledger: Ledger | None = None,
    label: str = "",
) -> Release | list[GroupRelease]:
    """One private number from `data`, under a fresh secret; with `by`, one for each group.

    `data` is a path, a pattern, or several (Parquet, CSV, JSON, compressed or not); a frame of pandas, polars or
    pyarrow; a relation of DuckDB or a pyarrow reader, which are read once; or a database that `sql` is over. Columns of
    CSV and JSON files are text as written, so that the same keys come out of every file. Memory is bounded.

    `key` names the column of keys, or several of a composite key; `value` the values, whole numbers of 1 or more,
    refused above `privacy.max_value` unless `clip`. `auto_max_value` finds that bound privately. With `count_pairs` the
    number of pairs, public under replace, takes the place of `privacy.pairs`, which only bare sketches need.

    `person` bounds what each person contributes to `privacy.pairs_per_person` pairs in `groups_per_person` groups
    (bounding/persons.py). `by` names the columns of groups, and `groups` those whose names are public; without it names
    are chosen privately, for `selection_share` of ε and δ. Every group has all the rest (bounding/groups.py); ε and δ
    of a group's release are those of the whole table.

    `ledger` records what is spent before a value appears.

    Raises:
        DataError: the data cannot be read, or a row is no pair; it names file, row and column.
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
        input=Input(format, header, delimiter, sql),
    )
    outcome = run(task, data, ledger=ledger, label=label)
    return list(outcome.releases) if outcome.grouped else outcome.releases[0]  # type: ignore[return-value, arg-type]


def group_names(groups: object) -> list[Name]:
    """The names somebody listed: a text each, or its parts."""
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise ArgumentTypeError("groups", groups, "not a list of names", 'Pass ["FR", "DE"]')
    return [(name,) if isinstance(name, str) else tuple(map(str, name)) for name in groups]
