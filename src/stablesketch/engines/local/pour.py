"""Pouring batches of pairs into collectors: values checked and clipped, equal keys folded, groups kept apart.

**Individuals** (`Privacy(unit="individual")`). A row of value n stands for n pairs of value 1: n individuals of one
species at one site. So the stream is the one in which each has a row, whatever way the table counts them, and its
neighbours, with one pair more or less, are tables that differ by 1 in one cell: `max_value` is 1, and no bound of a
cell is needed. The state of a collector depends on the totals of keys and on the number of pairs alone, so a key with
n, counted as n pairs, leaves the state of those n rows, to the last bit; tests hold it to that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...collector import Collector
from ...errors import ArgumentError, DataError
from ...plan import Plan
from ...plan.mechanism import mechanism_of
from ...reading.columns import ZERO_REFUSED
from ...reading.libraries import need
from ...reading.numbers import numbers
from ...reading.numpy_arrow import to_numpy
from ...release.source import Progress
from ...sketch.columns import MAX_WEIGHT
from ...wording import arg
from .fold import Fold, Sink, Unfolded
from .group_collectors import ListedGroups, MetGroups


class BadBatch(Exception):
    """A row of the stream is no pair: the number of rows before its batch, the batch, and what was wrong with it."""

    def __init__(self, before: int, batch: Any, error: ArgumentError) -> None:
        super().__init__(str(error))
        self.before, self.batch, self.error = before, batch, error

    def located(
        self,
        source: str,
        first_row: int | None,
        names: Sequence[str],
        largest: int | None,
        placed: Callable[[int], tuple[str, int]] | None = None,
    ) -> DataError:
        """The same as an error that names the source, the row, if rows have numbers, and the column.

        `names` are those of the batch. What stands there is not shown.
        """
        way_out = f"Drop such rows first, or skip them ({arg('on_bad', 'skip')})"
        for mark, name, column in zip(self.batch.schema.names, names, self.batch.columns, strict=True):
            for place, item in enumerate(column.to_pylist(), start=self.before):
                row = None if first_row is None else place + first_row
                if row is not None and placed is not None:
                    source, row = placed(row)
                if item is None:
                    return DataError(source, "is empty or null", way_out, row=row, column=name)
                if mark == "v" and re.fullmatch("0+", str(item)):  # left out wherever it may be (columns.py)
                    add_remove = f"Pass {arg('relation', 'add_remove')}, where a 0 is an absent key"
                    return DataError(source, ZERO_REFUSED, add_remove, row=row, column=name)
                if mark == "v" and not (str(item).isdecimal() and 1 <= int(item) <= MAX_WEIGHT):
                    return DataError(source, "is not a whole number from 1 to 2^53", way_out, row=row, column=name)
                if mark == "v" and largest is not None and int(item) > largest:
                    return DataError(
                        source, f"is above the promised max_value = {largest:,}, which the guarantee rests on",
                        f"Clip values to {largest:,} ({arg('clip', True)})", row=row, column=name,
                    )  # fmt: skip
        return DataError(source, "a batch has what is no pair", "Repair the input")


def pour(
    batches: Iterable[Any], collector: Collector, *, keys: int, clip: bool = False, progress: Progress | None = None
) -> int:
    """Counts every pair of the batches (columns k0, ..., v); returns how many there were."""
    highest = _highest(collector.plan)
    rows = _rows(collector.plan, lambda _, *folded: collector.add_folded(*folded), grouped=False)
    pairs = done = 0
    for read in batches:
        batch, weighted = read, read.num_columns > keys
        try:
            if weighted:
                batch = _without_zeros(batch, keys, collector.plan)
            column: Any = tuple(batch.column(i) for i in range(keys)) if keys > 1 else batch.column(0)
            values = numbers(batch.column(keys), highest, clip) if weighted else None
            rows.add(collector.fingerprint(column), values)
        except ArgumentError as error:
            raise BadBatch(done, read, error) from None
        done += read.num_rows
        pairs += batch.num_rows
        if progress is not None:
            progress.advance(read.num_rows)
    rows.finish()
    return pairs


def _without_zeros(batch: Any, place: int, plan: Plan) -> Any:
    """The rows whose value is not 0, where those are left out (columns.py): of a stream, which no SQL has seen."""
    column, compute = batch.column(place), need("pyarrow.compute")
    if plan.privacy.relation == "replace":
        return batch
    text = need("pyarrow.types").is_string(column.type) or need("pyarrow.types").is_large_string(column.type)
    zero = compute.match_substring_regex(column, "^0+$") if text else compute.equal(column, 0)
    return batch.filter(compute.invert(compute.fill_null(zero, False))) if compute.any(zero).as_py() else batch


def _rows(plan: Plan, sink: Sink, *, grouped: bool) -> Fold | Unfolded:
    # Of whole keys nothing can be added up: every row is one.
    folds, each = mechanism_of(plan).folds and plan.privacy.unit != "key", plan.privacy.unit == "individual"
    return Fold(sink, grouped=grouped, individuals=each) if folds else Unfolded(sink, individuals=each)


def _highest(plan: Plan) -> int:
    """The largest value of a row."""
    return MAX_WEIGHT if plan.privacy.unit == "individual" else plan.privacy.max_value


def pour_groups(
    batches: Iterable[Any],
    groups: ListedGroups | MetGroups,
    *,
    keys: int,
    group_columns: int,
    clip: bool = False,
    progress: Progress | None = None,
    most: int | None = None,
) -> bool:
    """The same for groups: columns k0, ..., v, g0, ...; a pair goes to the collector of its group, if that has one.

    With `most` it stops after the batch with which so many groups have been met, and returns whether it did.
    """
    compute = need("pyarrow.compute")
    highest = _highest(groups.plan)
    rows = _rows(groups.plan, groups.add, grouped=True)
    counts = np.zeros(0, np.int64)
    done = 0
    stopped = False
    for read in batches:
        batch, weighted = read, read.num_columns > keys + group_columns
        try:
            if weighted:
                batch = _without_zeros(batch, keys, groups.plan)
            names = [batch.column(batch.num_columns - group_columns + i) for i in range(group_columns)]
            joined = names[0] if group_columns == 1 else compute.binary_join_element_wise(*names, "\x1f")
            if joined.null_count:
                raise ArgumentError("by", None, "must not be null in any row", "Drop such rows first, or skip them")
            found = groups.codes(joined)
            there = found.is_valid()
            column: Any = (
                tuple(batch.column(i).filter(there) for i in range(keys)) if keys > 1 else batch.column(0).filter(there)
            )
            values = numbers(batch.column(keys).filter(there), highest, clip) if weighted else None
            group = to_numpy(found.drop_null())
            prints = groups.fingerprints(column, group)
            here = np.bincount(group, minlength=len(counts))
            here[: len(counts)] += counts
            rows.add(prints, values, group)
            counts = here
        except ArgumentError as error:
            raise BadBatch(done, read, error) from None
        done += read.num_rows
        if progress is not None:
            progress.advance(read.num_rows)
        if most is not None and np.count_nonzero(counts) >= most:
            stopped = True
            break
    rows.finish()
    return stopped
