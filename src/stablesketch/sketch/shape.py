"""The shape of a sketch: its numbers of entries and buckets."""

from __future__ import annotations

from ..errors import ArgumentError
from ..numbers.checked import checked_whole
from .entry_law import EntryLaw

_LARGEST_SIZE = 2**31 - 1
LARGEST_IN_BUCKETS = 2**22


def checked_buckets(buckets: object, size: int, law: EntryLaw) -> int:
    count = checked_whole("buckets", buckets, "Pass 1000, for example, or leave it out")
    if count == 1:
        return 1
    if count < 1:
        raise ArgumentError("buckets", count, "must be at least 1", "Leave it out for a single bucket")
    if law.kind == "symmetric":
        way_out = 'Pass law="one-sided", for p below 1, or leave buckets out'
        raise ArgumentError("buckets", count, "cannot be used with symmetric entries", way_out)
    if size > LARGEST_IN_BUCKETS:
        must = f"cannot be used with more than {LARGEST_IN_BUCKETS:,} entries in all (size is {size:,})"
        raise ArgumentError("buckets", count, must, "Pass a smaller size")
    if size % count or size // count % 2:
        nearest = 2 * count * max(1, round(size / (2 * count)))
        way_out = f"Pass a size that is a multiple of {2 * count:,}, such as {nearest:,}"
        must = f"must divide size = {size:,} into equal even numbers of entries"
        raise ArgumentError("buckets", count, must, way_out)
    return count


def checked_size(size: object) -> int:
    count = checked_whole("size", size, "Pass 50, for example")
    if not 1 <= count <= _LARGEST_SIZE:
        way_out = "Pass 500 for an error of about 5%; the error is about 1.2/sqrt(size)"
        raise ArgumentError("size", count, f"must be between 1 and {_LARGEST_SIZE}", way_out)
    return count
