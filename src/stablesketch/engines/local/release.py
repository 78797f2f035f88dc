"""`release`: one call from a file, a query or a data frame to one private number, or one per group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from ...privacy import Privacy
from ...reading.duckdb import DuckDB
from ...release.arguments import WhatOfFiles, asks, question, warned
from ...release.outcome import Outcome
from ...release.question import Question
from ...release.run import run_source
from ...release.source import Progress
from ...secret.paying import until_shown
from ...statistic import Statistic
from .source import LocalSource

if TYPE_CHECKING:
    from ...ledger import Ledger


@asks(WhatOfFiles)
def release(
    data: object,
    statistic: Statistic | Question | None = None,
    privacy: Privacy | None = None,
    *,
    ledger: Ledger | None = None,
    label: str = "",
    **what: Unpack[WhatOfFiles],
) -> Outcome:
    """One private number from `data`, under a fresh secret; with `by`, one for each group.

    `statistic` is what to release, by default `ss.Hill(0.5)`: the number of equally common keys that would be as
    diverse.

    `data` is a path, a pattern, or several (Parquet, CSV, JSON, compressed or not); a frame of pandas, polars or
    pyarrow; a DuckDB relation or a pyarrow reader, which are read once; or a database for `sql`. Columns of CSV and
    JSON files are text, as written, so that keys are the same in every file. Memory is bounded.

    `format`, `delimiter` and compression are detected from the first bytes unless they are given. With `wide`, a row is
    a sample, every column except those of `by` and `person` is a key, and its cells are the values.

    `key` names the column of keys, or several for a composite key. `value` names the column of values: whole numbers.
    Values above `privacy.max_value` are refused, or clipped with `clip`. A value of 0 means that the key is absent: the
    row is left out, or refused under replace. `auto_max_value` finds the maximum privately. With `count_pairs`, the
    number of pairs, which is public under replace, replaces `privacy.pairs`, which only bare sketches need.

    `person` names the column of people, and limits each person to `privacy.pairs_per_person` pairs in
    `groups_per_person` groups (bounding/persons.py). `by` names the columns of groups. `groups` lists the groups if
    their names are public; otherwise names are chosen privately, for `selection_share` of ε and δ. Every group gets all
    the rest (bounding/groups.py); ε and δ of a group's release are those of the whole table.

    The result prints as a table. A single number has `value`, `low` and `high`; `result["FR"]` is the release of a
    group (`Outcome`). `ledger` records what is spent before a value appears. A `Question`, which `ss.question` makes
    from the same arguments, replaces the statistic, the privacy and all other arguments of the question.

    Raises:
        DataError: the data cannot be read, or a row is invalid; it names file, row and column.
        PlanInfeasible, StreamTooShort: the guarantee cannot be given; the message says what can.
    """
    return run(warned(question(statistic, privacy, **what)), data, ledger=ledger, label=label)


def run(
    question: Question, data: object, *, ledger: Ledger | None = None, label: str = "", progress: Progress | None = None
) -> Outcome:
    """Reads data on this machine and releases, under a fresh secret."""
    with until_shown(), DuckDB() as duckdb:
        source = LocalSource(duckdb, question, data, progress)
        return run_source(question, source, ledger=ledger, label=label, progress=progress)
