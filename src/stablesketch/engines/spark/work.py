"""What workers run: Arrow batches into collectors, states into fewer states. Nothing here imports Spark's driver.

A worker returns one state for each partition (or one for each group it found), named after the partition, whatever the
attempt. Spark keeps the rows of one attempt of each task, so retried, speculative and killed attempts do not count. If
a partition arrived twice after all, merging would refuse its second shard.
"""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from math import isqrt
from typing import Any

from ...bounding.groups import Name, group_secret
from ...bounding.in_one_pass import Bounding, kept_rows
from ...bounding.max_value import digit_counts
from ...collector import Collector
from ...collector.shards import of_group
from ...errors import BlobError, StablesketchError
from ...format.checked_json import JsonError, parsed
from ...numbers.checked import checked_whole
from ...plan import Plan
from ...reading.columns import Zeros
from ...reading.libraries import need
from ...release.question import Question
from ...secret import Secret
from ...sketch.workers import limit_threads
from .. import failure
from ..local.group_collectors import ListedGroups, MetGroups
from ..local.pour import BadBatch, pour, pour_in_turns
from ..secret_from import TheSecret, stored_secret

STATES = "bucket int, name string, state binary, failure string"
MERGED = "name string, state binary, failure string"
DIGITS = "counts array<bigint>, failure string"

OPEN_GROUPS = 1 << 11  # collectors that a worker keeps open before it sends off their states and opens others


@dataclass(frozen=True)
class Recipe:
    """Everything that workers need to know about a job. It is pickled into the query plan: nothing in it is secret."""

    secret: TheSecret
    by: tuple[str, ...] = ()
    plan: str = ""
    clip: bool = Question.clip
    shard: str = ""
    names: tuple[Name, ...] | None = None
    each: bool = False  # whether every group has its own secret
    bounding: Bounding | None = None
    open_groups: int = OPEN_GROUPS
    zeros: Zeros | None = None  # as `pour_groups` takes it

    def bound(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Rows sorted by person → the rows that are kept."""
        assert self.bounding is not None
        try:
            own = self.secret.find()
        except StablesketchError as error:
            # There is no row to report it in. Raised without its frames, whose content may be logged.
            raise error.with_traceback(None) from None
        yield from kept_rows(batches, self.bounding, own)

    def digits(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Pairs → the number of values with each number of binary digits."""
        pa = need("pyarrow", "spark")
        try:
            counts, wrong = digit_counts(batches).tolist(), None
        except StablesketchError as error:
            counts, wrong = None, failure.to_text(error)
        yield pa.record_batch({"counts": pa.array([counts], pa.list_(pa.int64())), "failure": _texts([wrong])})

    def collect(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Pairs → the state of the partition, or an error."""
        place = _partition()
        try:
            collector = Plan.from_json(self.plan).open(self.secret.find(), f"{self.shard}/{place}")
            pour(batches, collector, clip=self.clip)
            yield _states([isqrt(place)], ["null"], [collector.to_bytes()])  # see job.collect_into
        except (StablesketchError, BadBatch) as error:
            yield _failed(error)

    def collect_groups(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Pairs with groups → a state for each group found, or an error."""
        try:
            secret, plan, place = self.secret.find(), Plan.from_json(self.plan), _partition()
            opened = partial(self._groups, plan, secret, place)
            found = pour_in_turns(batches, opened, clip=self.clip, most=self.open_groups, zeros=self.zeros)
            yield from _in_batches(found)
        except (StablesketchError, BadBatch) as error:
            yield _failed(error)

    def _groups(self, plan: Plan, secret: Secret, place: int, turn: int) -> ListedGroups | MetGroups:
        shard = f"{self.shard}/{place}.{turn}"
        if self.names is not None:
            return ListedGroups(self.names, plan, lambda name: plan.open(group_secret(secret, name), shard))
        return MetGroups(plan, secret, shard, self.by, separate=self.each)

    def merge(self, table: Any) -> Any:
        """States of a bucket, or of a group → one state. A partition that arrives twice is refused."""
        name = table.column("name")[0].as_py()
        wrong = [text for text in table.column("failure").to_pylist() if text is not None]
        if wrong:
            return _merged(name, None, wrong[0])
        try:
            secret = self._own(self.secret.find(), name)
            blobs = (one.as_py() for one in table.column("state"))
            whole = Collector.from_bytes(next(blobs), secret)
            for blob in blobs:
                whole.merge(Collector.from_bytes(blob, secret))
            group = group_of(name)
            if isinstance(group, tuple):  # all shards of the group are merged
                whole.rename(of_group(self.shard, self.by, group))
            return _merged(name, whole.to_bytes(), None)
        except StablesketchError as error:
            return _merged(name, None, failure.to_text(error))

    def _own(self, secret: Secret, name: str) -> Secret:
        """The secret of a group, given its name as JSON."""
        known = group_of(name)
        if known is None:
            return secret
        if isinstance(known, int):
            if self.names is None or known >= len(self.names):
                raise _unreadable()
            return group_secret(secret, self.names[known])
        if self.names is not None or len(known) != len(self.by):
            raise _unreadable()
        return stored_secret(secret, known, separate=self.each)


def group_of(name: object) -> int | Name | None:
    """The group of a row, read from its JSON: the place of a listed one, the name of any other, None for no groups."""
    try:
        known = parsed(name)
    except JsonError:
        raise _unreadable() from None
    if known is None or (type(known) is int and known >= 0):
        return known
    if isinstance(known, list) and all(type(part) is str for part in known):
        return tuple(known)
    raise _unreadable()


def place_of(name: object) -> int:
    """The place of a listed group in its list."""
    place = group_of(name)
    if not isinstance(place, int):
        raise _unreadable()
    return place


def _unreadable() -> BlobError:
    return BlobError("unreadable name of a group in the state of a worker: corrupt data.")


def checked_open(groups: object) -> int:
    """How many collectors a worker may keep open."""
    way_out = f"Pass {OPEN_GROUPS}, or leave it out"
    return checked_whole("open_groups", groups, way_out, least=1, must="must be a whole number of 1 or more")


def _partition() -> int:
    """The number of this worker's partition. Also limits the worker to as many threads as the task has cores."""
    keep_imports()
    context = need("pyspark", "spark").TaskContext.get()
    limit_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))  # Spark sets it to the cores of the task
    return int(context.partitionId())


@cache
def keep_imports() -> None:
    """In a worker, once: objects that exist at its first task stay, and are no longer searched for garbage.

    Spark makes a worker collect garbage after every task. In small partitions that takes longer than the task itself,
    because the collector searches everything that was ever imported.

    Do not ask the garbage collector whether this was done: it would count everything it keeps, for every task.
    """
    gc.freeze()


def _in_batches(found: Iterator[tuple[Any, Collector]]) -> Iterator[Any]:
    """The states of groups, a few at a time: a listed group by its code, another by its name, as JSON."""
    while True:
        rows = [(json.dumps(name), one.to_bytes()) for name, one in islice(found, 256)]
        if not rows:
            return
        names, states = zip(*rows, strict=True)
        yield _states([0] * len(rows), names, states)


def _states(buckets: Any, names: Any, states: Any, wrong: str | None = None) -> Any:
    pa = need("pyarrow", "spark")
    return pa.record_batch(
        {
            "bucket": pa.array(buckets, pa.int32()),
            "name": _texts(names),
            "state": pa.array(states, pa.binary()),
            "failure": _texts([wrong] * len(names)),
        }
    )


def _failed(error: StablesketchError | BadBatch) -> Any:
    wrong = failure.to_text(error.error if isinstance(error, BadBatch) else error)
    return _states([0], ["null"], [None], wrong)


def _merged(name: str, state: bytes | None, wrong: str | None) -> Any:
    pa = need("pyarrow", "spark")
    return pa.table({"name": _texts([name]), "state": pa.array([state], pa.binary()), "failure": _texts([wrong])})


def _texts(texts: Any) -> Any:
    return need("pyarrow", "spark").array(texts, need("pyarrow", "spark").string())
