"""How many entries a sketch has, and in how many buckets they are."""

from __future__ import annotations

import operator

from ..errors import ArgumentError, ArgumentTypeError
from .entry_law import EntryLaw

_LARGEST_SIZE = 2**31 - 1
LARGEST_IN_BUCKETS = 2**22


def whole(argument: str, value: object, problem: str, way_out: str) -> int:
    if isinstance(value, bool):
        raise ArgumentTypeError(argument, value, problem, way_out)
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(argument, value, problem, way_out) from None


def checked_buckets(buckets: object, size: int, law: EntryLaw) -> int:
    count = whole("buckets", buckets, "not a number of buckets", "Pass an integer such as 1000, or leave it out")
    if count == 1:
        return 1
    if count < 1:
        raise ArgumentError("buckets", count, "a sketch has at least one bucket", "Leave it out for one")
    if law.kind == "symmetric":
        way_out = 'Pass law="one-sided", for p below 1, or leave buckets out'
        raise ArgumentError("buckets", count, "symmetric entries have no buckets", way_out)
    if size > LARGEST_IN_BUCKETS:
        problem = f"a sketch in buckets has at most {LARGEST_IN_BUCKETS:,} entries in all, not {size:,}"
        raise ArgumentError("buckets", count, problem, "Pass a smaller size")
    if size % count or size // count % 2:
        nearest = 2 * count * max(1, round(size / (2 * count)))
        way_out = f"Pass a size that is a multiple of {2 * count:,}, such as {nearest:,}"
        problem = f"size = {size:,} does not give each bucket the same even number of entries"
        raise ArgumentError("buckets", count, problem, way_out)
    return count


def checked_size(size: object) -> int:
    count = whole("size", size, "not a number of entries", "Pass an integer such as 50")
    if not 1 <= count <= _LARGEST_SIZE:
        way_out = "The error is about 1.2/sqrt(size): 500 entries give 5%"
        raise ArgumentError("size", count, f"a sketch has 1 to {_LARGEST_SIZE} entries", way_out)
    return count
