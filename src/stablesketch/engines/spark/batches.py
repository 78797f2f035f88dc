"""How Spark hands rows to Python: session settings while one of our jobs runs.

After every row Spark (4.3) computes the size of the batch in bytes, which takes longer than writing the row, unless the
limit is the largest integer, which means none. The number of rows also bounds a batch, and was the only bound before
Spark had a byte limit. The byte limit is therefore lifted, and if all columns have a fixed width, batches are larger.

Small partitions: Spark makes a worker collect garbage after every task. That takes longer than a small task itself,
because the collector searches everything that was ever imported. `keep_imports` excludes imports from the search.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from ...reading.libraries import need

_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_UNLIMITED = str(2**31 - 1)
_MANY = 100_000
_FIXED = ("tinyint", "smallint", "int", "bigint", "date", "timestamp", "timestamp_ntz", "decimal")


@contextmanager
def large_batches(frame: Any, names: tuple[str, ...]) -> Iterator[None]:
    """Within the block, jobs that read these columns get larger batches; afterwards the settings are restored."""
    configuration = frame.sparkSession.conf
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    fixed = all(kinds.get(name, "").startswith(_FIXED) for name in names)
    rows = int(configuration.get(_ROWS, "10000"))
    wanted = {_BYTES: _UNLIMITED}
    if fixed and 0 < rows < _MANY:
        wanted[_ROWS] = str(_MANY)
    before = {name: configuration.get(name, None) for name in wanted}
    refused = need("pyspark.errors", "spark").PySparkException  # if users may not change settings, it is only slower
    with suppress(refused):
        for name, value in wanted.items():
            configuration.set(name, value)
    try:
        yield
    finally:
        with suppress(refused):
            for name, old in before.items():
                if old is None:
                    configuration.unset(name)
                else:
                    configuration.set(name, old)


@cache
def keep_imports() -> None:
    """In a worker, once: objects that exist at its first task stay, and are no longer searched for garbage.

    Do not ask the garbage collector whether this was done: it would count everything it keeps, for every task.
    """
    gc.freeze()
