"""Pouring batches of pairs into collectors: values are checked and clipped, equal keys folded, groups kept apart.

**Individuals** (`Privacy(unit="individual")`). A row of value n stands for n pairs of value 1: n individuals of one
species at one site. The stream has a row for each individual, however the table counts them. Neighbours, with one pair
more or less, are therefore tables that differ by 1 in one cell: `max_value` is 1, and a cell needs no bound. The state
of a collector depends only on the totals of keys and on the number of pairs, so a key with value n, counted as n pairs,
leaves the same state as those n rows, to the last bit; tests check this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from ...collector import Collector
from ...errors import ArgumentError, DataError
from ...plan import Plan
from ...plan.mechanism import mechanism_of
from ...reading.columns import ZERO_REFUSED, Zeros, zeros_under
from ...reading.libraries import need
from ...reading.numpy_arrow import to_numpy
from ...reading.values import is_zero_text, numbers, wrong_text, zeros_of
from ...release.source import Progress
from ...sketch.columns import MAX_WEIGHT
from ...sketch.projection import Totals
from ...text.wording import arg
from .fold import Fold, FoldedSink, Unfolded
from .group_collectors import BETWEEN, ListedGroups, MetGroups


class BadBatch(Exception):
    """A row of the stream is invalid: the number of rows before its batch, the batch, and the error."""

    def __init__(self, before: int, batch: Any, error: ArgumentError) -> None:
        super().__init__(str(error))
        self.before, self.batch, self.error = before, batch, error

    def located(self, source: str, first: int, names: Sequence[str], largest: int | None, zeros: Zeros) -> DataError:
        """The error, which names the source, the column and the row. The first row of the batch is row `first`.

        `names` are the column names of the batch. The value itself is not shown.
        """
        for mark, name, column in zip(self.batch.schema.names, names, self.batch.columns, strict=True):
            for row, item in enumerate(column.to_pylist(), start=first):
                if wrong := _wrong(item, largest, zeros, value=mark == "v"):
                    return DataError(source, *wrong, row=row, column=name)
        return DataError(source, "invalid pairs in a batch", "Correct the input")


def _wrong(item: Any, largest: int | None, zeros: Zeros, *, value: bool) -> tuple[str, str] | None:
    """What is wrong with a cell, and what to do; None if nothing is."""
    way_out = f"Drop such rows first, or skip them ({arg('on_bad', 'skip')})"
    if item is None:
        return "is empty or null", way_out
    text = str(item)
    if not value or (is_zero_text(text) and zeros != "refused"):
        return None
    if is_zero_text(text):
        return ZERO_REFUSED, f"Pass {arg('relation', 'add_remove')}, where a 0 is an absent key"
    if wrong := wrong_text(text, way_out):
        return wrong
    number = Decimal(text.strip())
    if number > MAX_WEIGHT:
        return "is above 2^53", "Use a coarser unit"
    if largest is not None and number > largest:
        problem = f"is above the promised {arg('max_value', largest)}, which the guarantee relies on"
        return problem, f"Clip values to {largest:,} ({arg('clip', True)})"
    return None


def pour(batches: Iterable[Any], collector: Collector, *, clip: bool, progress: Progress | None = None) -> None:
    """Counts every pair of the batches (columns k0, ..., v)."""
    plan = collector.plan
    rows = _rows(plan, lambda _, *folded: collector.add_folded(*folded), grouped=False)
    done = 0
    for read in batches:
        try:
            batch = _without_zeros(read, zeros_under(plan.privacy.relation))
            values = _values(batch, plan, clip)
            rows.add(collector.fingerprint(_keys(batch)), values)
        except ArgumentError as error:
            raise BadBatch(done, read, error) from None
        done += read.num_rows
        if progress is not None:
            progress.advance(read.num_rows)
    rows.finish()


def _keys(batch: Any) -> Any:
    """The column of keys, or the columns of their parts."""
    parts = tuple(batch.column(mark) for mark in batch.schema.names if mark.startswith("k"))
    return parts if len(parts) > 1 else parts[0]


def _values(batch: Any, plan: Plan, clip: bool) -> Totals | None:
    """The values, up to the largest that the plan allows a row; None if there is no column of them."""
    if "v" not in batch.schema.names:
        return None
    return numbers(batch.column("v"), MAX_WEIGHT if plan.privacy.unit == "individual" else plan.privacy.max_value, clip)


def _without_zeros(batch: Any, zeros: Zeros) -> Any:
    """Without rows of value 0, if zeros are left out (reading/columns.py): streams do not pass through SQL."""
    if zeros == "refused" or "v" not in batch.schema.names:
        return batch
    column, compute = batch.column("v"), need("pyarrow.compute")
    text = need("pyarrow.types").is_string(column.type) or need("pyarrow.types").is_large_string(column.type)
    zero = zeros_of(column) if text else compute.equal(column, 0)
    return batch.filter(compute.invert(compute.fill_null(zero, False))) if compute.any(zero).as_py() else batch


def _rows(plan: Plan, sink: FoldedSink, *, grouped: bool) -> Fold | Unfolded:
    # Whole keys cannot be added up: every row is a key with its total.
    folds, each = mechanism_of(plan).folds and plan.privacy.unit != "key", plan.privacy.unit == "individual"
    return Fold(sink, grouped=grouped, individuals=each) if folds else Unfolded(sink, individuals=each)


def pour_groups(
    batches: Iterable[Any],
    groups: ListedGroups | MetGroups,
    *,
    clip: bool,
    progress: Progress | None = None,
    most: int | None = None,
    zeros: Zeros | None = None,
    before: int = 0,
) -> int | None:
    """Like `pour`, by group: columns k0, ..., v, g0, ...; a pair goes to the collector of its group, if it has one.

    With `most`, it stops after the batch in which this many groups have been found, and returns the number of rows up
    to there, with those `before` these batches. `zeros` says what a value of 0 is, if the plan does not: a table under
    replace has plans for add_remove.
    """
    compute = need("pyarrow.compute")
    plan = groups.plan
    rows = _rows(plan, groups.add, grouped=True)
    counts = np.zeros(0, np.int64)
    done = before
    for read in batches:
        try:
            batch = _without_zeros(read, zeros or zeros_under(plan.privacy.relation))
            names = [batch.column(mark) for mark in batch.schema.names if mark.startswith("g")]
            joined = names[0] if len(names) == 1 else compute.binary_join_element_wise(*names, BETWEEN)
            if joined.null_count:
                raise ArgumentError("by", None, "must not be null in any row", "Drop such rows first, or skip them")
            found = groups.codes(joined)
            pairs = batch.select([mark for mark in batch.schema.names if not mark.startswith("g")])
            kept, group = pairs.filter(found.is_valid()), to_numpy(found.drop_null())
            values = _values(kept, plan, clip)
            prints = groups.fingerprints(_keys(kept), group)
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
            rows.finish()
            return int(done)
    rows.finish()
    return None


def pour_in_turns(
    batches: Iterable[Any], opened: Callable[[int], ListedGroups | MetGroups], *, clip: bool, most: int,
    zeros: Zeros | None = None,
) -> Iterator[tuple[Any, Collector]]:  # fmt: skip
    """Like `pour_groups`, for groups that may not all fit into memory: yields the names or codes of those that were
    found, with their collectors.

    Once `most` groups have been found, their collectors are let go, and the next turn opens others for the rest of the
    batches. A group may therefore be found in several turns.
    """
    rest, turn = iter(batches), 0
    done: int | None = 0
    while done is not None:
        groups = opened(turn)
        done = pour_groups(rest, groups, clip=clip, most=most, zeros=zeros, before=done)
        yield from groups.met()
        turn += 1
