"""`release`: from a file, a query or a data frame to one private number, or one for each group, by a single call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from ...paying import until_shown
from ...privacy import Privacy
from ...reading.duckdb import DuckDB
from ...release.outcome import Outcome
from ...release.question import Question, WhatOfFiles, asks, question, warned
from ...release.run import run_source
from ...release.source import Progress
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

    `statistic` is what to know; left out, it is `ss.Hill(0.5)`: how many equally common keys would be as varied.

    `data` is a path, a pattern, or several (Parquet, CSV, JSON, compressed or not); a frame of pandas, polars or
    pyarrow; a relation of DuckDB or a pyarrow reader, which are read once; or a database that `sql` is over. Columns of
    CSV and JSON files are text as written, so that the same keys come out of every file. Memory is bounded.

    `format`, `delimiter` and compression are found from the first bytes where they are not given. With `wide` a row is
    a sample, and every column but those of `by` and `person` a key, its cells the values.

    `key` names the column of keys, or several of a composite key; `value` the values, whole numbers, refused above
    `privacy.max_value` unless `clip`. A value of 0 is an absent key, and left out; under replace it is refused.
    `auto_max_value` finds that bound privately. With `count_pairs` the number of pairs, public under replace, takes the
    place of `privacy.pairs`, which only bare sketches need.

    `person` bounds what each person contributes to `privacy.pairs_per_person` pairs in `groups_per_person` groups
    (bounding/persons.py). `by` names the columns of groups, and `groups` those whose names are public; without it names
    are chosen privately, for `selection_share` of ε and δ. Every group has all the rest (bounding/groups.py); ε and δ
    of a group's release are those of the whole table.

    The result prints as a table; `value`, `low` and `high` are at hand of one number, `result["FR"]` is that of a group
    (`Outcome`). `ledger` records what is spent before a value appears. A `Question`, which `ss.question` makes of the
    same arguments, takes the place of statistic, privacy and all that is asked.

    Raises:
        DataError: the data cannot be read, or a row is no pair; it names file, row and column.
        PlanInfeasible, StreamTooShort: the guarantee cannot be given; the message says what can.
    """
    return run(warned(question(statistic, privacy, **what)), data, ledger=ledger, label=label)


def run(
    asked: Question, data: object, *, ledger: Ledger | None = None, label: str = "", progress: Progress | None = None
) -> Outcome:
    """Reads data on this machine and releases, under a fresh secret."""
    with until_shown(), DuckDB() as duckdb:
        source = LocalSource(duckdb, asked, data, progress)
        return run_source(asked, source, ledger=ledger, label=label, progress=progress)
