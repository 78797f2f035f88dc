"""Sketches as values: `collect` returns a table of stored collectors, `merge` adds up such a table for one release.

The bytes are the same as from Spark's `sketch_by` and `sketch`. As with every collector, the secret prevents a second
release of a table (secret/spending.py): whatever rows are merged, on any machine, there is one secret, and the first
release spends it, in memory, in its file and in the ledger.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any, Unpack

from ...bounding.groups import Name
from ...collector import Collector, merge_blobs
from ...collector.shards import of_group
from ...collector.wire import decode
from ...errors import ArgumentTypeError, BlobError, DataError, check_type
from ...plan import Plan
from ...reading.arguments import OfFiles, check_known, reading
from ...reading.libraries import need
from ...release.arguments import asks
from ...release.question import Question
from ...release.tabular import names_of_groups
from ...secret import Secret
from ...text.wording import arg
from ..stored_plan import named_shard
from .collect import collected_shard, poured
from .group_collectors import MetGroups
from .pour import pour_in_turns

COLUMN = "collector"
_OPEN_GROUPS = 1 << 11  # collectors in memory before their states are stored and others opened
_AT_ONCE = 64  # stored collectors that are added up in one step
_NAME = "the table"


@asks(OfFiles)
def collect(
    data: object,
    plan: Plan,
    *,
    secret: Secret | None = None,
    shard: str | None = None,
    separate: bool = False,
    clip: bool = Question.clip,
    **how: Unpack[OfFiles],
) -> Any:
    """A pyarrow Table with a collector for each group: the columns `by`, as text, and `collector`, binary.

    Store it in Parquet or in a database, and merge any of its rows later (`ss.merge`), with those of other days or
    machines under the same plan and secret, for one release. Without `by` it has one row. Collectors are as sensitive
    as the data: keep them, and the secret, where the data are kept.

    All are under the same secret, which has one release: the days of a week, say, added up. With `separate`, each is
    under `secret.child(name)`, and groups are released side by side with `release_all`; the name of a group with
    several columns is the JSON of its list. Name the shard after the data ("2026-11-15"): merging the same data twice
    is then refused, even if they were collected with other columns `by`. Without a name it gets a random one. People
    are not bounded here: a person must have at most the plan's `pairs_per_person` pairs in everything that is merged.
    Data are read as `ss.release` reads them; with `wide`, a row is a sample and a column a key.

    Raises:
        DataError: the data cannot be read, or a row is invalid; it names file, row and column.
    """
    check_type("plan", plan, Plan, "must be a Plan", "Pass the result of ss.plan(...)")
    check_known(collect, how)
    kept, read, whole = checked_secret(secret), reading(how), named_shard(shard)
    by = read.columns.by
    states: dict[Name, bytes] = {}

    def groups_of(turn: int) -> MetGroups:
        return MetGroups(plan, kept, f"{whole}/{turn}", by, separate=separate)

    def by_group(batches: Iterator[Any]) -> None:
        for name, collector in pour_in_turns(batches, groups_of, clip=clip, most=_OPEN_GROUPS):
            if name in states:
                collector.merge(Collector.from_bytes(states[name], collector.secret))
            # Everything becomes one shard, as if there had been only one turn.
            collector.rename(of_group(whole, by, name))
            states[name] = collector.to_bytes()

    if by:
        poured(data, plan, read, by_group, clip=clip)
    else:
        all_of_it = collected_shard(data, plan, kept, whole, read, clip=clip)
        states[()] = all_of_it.to_bytes()
    pa = need("pyarrow")
    names = names_of_groups(by, [COLUMN])
    table = {each: pa.array([name[i] for name in sorted(states)], pa.string()) for i, each in enumerate(names)}
    return pa.table({**table, COLUMN: pa.array([states[name] for name in sorted(states)], pa.binary())})


def merge(data: object, *, secret: Secret | None = None, column: str = COLUMN) -> Collector:
    """The stored collectors of a column, added up: one collector, to be released once.

    `data` is the result of `ss.collect` or part of it: a pyarrow table or reader, a pandas or polars frame, a DuckDB
    relation over any database, or the path of a Parquet file. All rows must have the same plan and the same secret, and
    every shard counts once.

    Raises:
        ShardMergedTwice: the same data are in two rows.
        MergeError, SecretMismatch: a row has another plan, or another secret.
        SecretSpent: the secret was already used for its release; what is stored cannot be released again.
    """
    kept = checked_secret(secret, "Pass the secret they were collected with: ss.Secret.load('s.key')")
    found, whole, row = _blobs(data, column), b"", 0
    while blobs := list(islice(found, _AT_ONCE)):
        try:
            whole = merge_blobs([whole, *blobs] if whole else blobs)
        except BlobError:
            for place, blob in enumerate(blobs, start=row + 1):
                try:
                    decode(blob)
                except BlobError as error:
                    raise type(error)(f"{_NAME}, row {place:,}, column {column}: {error.wording}") from None
            raise
        row += len(blobs)
    if not whole:
        raise DataError(_NAME, "the table of collectors is empty", "Check the input", column=column)
    return Collector.from_bytes(whole, kept)


_MADE = (
    "Create one and keep its file: made = ss.Secret.generate(); made.save('s.key'). Later pass ss.Secret.load('s.key')"
)


def checked_secret(secret: object, way_out: str = _MADE) -> Secret:
    """The secret. Anything else is refused: stored collectors are useless without a secret that is kept."""
    if isinstance(secret, Secret):
        return secret
    raise ArgumentTypeError("secret", None if secret is None else type(secret), "must be a Secret", way_out)


def _blobs(data: Any, column: str) -> Iterator[bytes]:
    pa = need("pyarrow")
    schema, batches = _opened(pa, data)
    if not isinstance(column, str) or column not in schema.names:
        known = f"The columns are: {', '.join(schema.names)}"
        raise DataError(_NAME, "no such column", known, column=str(column))
    kind, types = schema.field(column).type, need("pyarrow.types")
    if not (types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)):
        raise DataError(
            _NAME, f"is of type {kind}, not binary", f"Name another column ({arg('column')})", column=column
        )
    row = 0
    for batch in batches:
        for blob in batch.column(column):
            row += 1
            if blob.as_py() is None:
                raise DataError(_NAME, "is null", "Drop such rows", row=row, column=column)
            yield blob.as_py()


def _opened(pa: Any, data: Any) -> tuple[Any, Any]:
    """The schema and the batches."""
    if isinstance(data, str | os.PathLike):
        try:
            file = need("pyarrow.parquet").ParquetFile(data)
        except (OSError, pa.ArrowException) as error:
            raise DataError(os.fspath(data), f"cannot be read as Parquet ({error})", "Name a Parquet file") from None
        return file.schema_arrow, file.iter_batches(_AT_ONCE)
    if hasattr(data, "to_arrow_reader"):  # a relation of DuckDB
        data = data.to_arrow_reader(_AT_ONCE)
    if not hasattr(data, "__arrow_c_stream__"):
        raise ArgumentTypeError(
            "data", type(data), "must be a table of collectors",
            "Pass the result of ss.collect, or the path of a Parquet file",
        )  # fmt: skip
    reader = pa.RecordBatchReader.from_stream(data)
    return reader.schema, reader
