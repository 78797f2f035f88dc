"""Runs a recipe on a DataFrame: map, merge in a tree, and raise workers' errors where the user sees them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ...collector import Collector
from ...errors import ArgumentError, DataError, StablesketchError
from ...reading.libraries import need
from ...secret import Secret
from .. import failure
from ..secret_from import SecretFrom, TheSecret, check_absent, reference
from .frame import DataFrame, Pairs, is_remote, quiet
from .work import DIGITS, MERGED, STATES, Recipe

Sent = TypeVar("Sent")

_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_UNLIMITED = str(2**31 - 1)
_MANY = 100_000
_FIXED = ("tinyint", "smallint", "int", "bigint", "date", "timestamp", "timestamp_ntz", "decimal")


def checked_reference(secret: object) -> SecretFrom:
    """A reference that does not hold the secret itself, or an error that says how to make one."""
    found = reference(secret, "logged", ".environment(name), .callable(function), .broadcast(variable)")
    return sent(found, found.find())


def fresh_secret(frame: DataFrame, given: SecretFrom | None) -> tuple[TheSecret, Callable[[], None]]:
    """A secret for one release: derived from the given one and 128 random bits, so that it is never used twice.

    Without a reference, a fresh secret is broadcast. The second result destroys the broadcast.
    """
    once = secrets.token_hex(16)
    if given is not None:
        return TheSecret(checked_reference(given), once), lambda: None
    if is_remote(frame):
        raise ArgumentError(
            "secret", None, "must be given with Spark Connect",
            "Pass a reference that workers can follow: secret=SecretFrom.environment('STABLESKETCH_SECRET'), or "
            ".file(path)", because="no secret can be broadcast there",
        )  # fmt: skip
    broadcast = frame.sparkSession.sparkContext.broadcast(secrets.token_bytes(32))
    return TheSecret(SecretFrom.broadcast(broadcast), once), broadcast.destroy


def sent(what: Sent, secret: Secret) -> Sent:
    """`what` itself, after searching the bytes that Spark will send for the secret."""
    check_absent(secret, bytes(need("pyspark.serializers", "spark").CloudPickleSerializer().dumps(what)))
    return what


def merged_states(states: DataFrame, by: str, recipe: Recipe, secret: Secret) -> DataFrame:
    """One merged state for each value of `by`."""
    # A function, not a method: Spark counts its arguments, including `self`, and reads two as (key, table).
    merge = sent(lambda table: recipe.merge(table), secret)
    with quiet():
        return states.groupBy(by).applyInArrow(merge, MERGED)


def collect_into(whole: Collector, pairs: Pairs, frame: DataFrame, recipe: Recipe) -> None:
    """Merges the states of all partitions into `whole`.

    This is a tree of two levels: partition i is in bucket b = ⌊√i⌋, so bucket b has the 2b + 1 partitions from b² to
    (b + 1)² - 1. P partitions make ⌈√P⌉ buckets of less than 2√P each, so neither a worker that merges a bucket nor the
    driver, which merges the buckets, has more than about 2√P states. For a million partitions that is 2,000 states,
    15 MB at the usual size. A third level would gain nothing, and would cost small jobs a second shuffle. The number of
    partitions need not be known in advance: without RDDs it could not be.
    """
    secret = whole.secret
    with quiet():
        states = frame.mapInArrow(sent(recipe.collect, secret), STATES)
    rows = merged_states(states, "bucket", recipe, secret).collect()
    raise_failures(pairs, (row.failure for row in rows))
    for row in rows:
        whole.merge(Collector.from_bytes(bytes(row.state), secret))


def grouped_states(frame: DataFrame, recipe: Recipe, secret: Secret) -> DataFrame:
    """One merged state for each group."""
    with quiet():
        states = frame.mapInArrow(sent(recipe.collect_groups, secret), STATES)
    return merged_states(states, "name", recipe, secret)


def counted_digits(pairs: Pairs, frame: DataFrame, recipe: Recipe) -> list[int]:
    with quiet():
        rows = frame.select("v").mapInArrow(recipe.digits, DIGITS).collect()
    raise_failures(pairs, (row.failure for row in rows))
    return [sum(column) for column in zip(*(row.counts for row in rows), strict=True)]


def raise_failures(pairs: Pairs | None, failures: Iterator[str | None]) -> None:
    """Raises the errors of workers. An invalid row is found again, and named as on one machine."""
    found = next((text for text in failures if text is not None), None)
    if found is None:
        return
    error = failure.from_text(found)
    if pairs is None or not isinstance(error, ArgumentError):
        raise error
    # Spark finds the row again. If it cannot, the rows differ each time they are read.
    located: StablesketchError | None = pairs.first_bad()
    raise located or DataError(
        pairs.name, str(error), "Correct the input, or cache it if it differs each time it is read"
    )


@contextmanager
def large_batches(frame: Any, names: tuple[str, ...]) -> Iterator[None]:
    """Within the block, jobs that read these columns get larger batches; afterwards the settings are restored.

    After every row Spark (4.3) computes the size of the batch in bytes, which takes longer than writing the row, unless
    the limit is the largest integer, which means none. The number of rows also bounds a batch, and was the only bound
    before Spark had a byte limit. The byte limit is therefore lifted, and if all columns have a fixed width, batches
    are larger.
    """
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
