"""The entries of a sketch: the kind and the p of their law, their number, and that of the buckets they are in."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from ..errors import ArgumentError
from ..law.one_sided import GREATEST_P, OneSidedLaw
from ..law.stable import LEAST_P, checked_p
from ..numbers.checked import checked_whole, is_real

SketchLaw = Literal["symmetric", "one-sided"]
LawKind = Literal["symmetric", "one-sided", "entropy"]

_LARGEST_SIZE = 2**31 - 1
_LARGEST_IN_BUCKETS = 2**22
_SYMMETRIC = (2.0, "F_2 is the highest moment that these sketches measure")  # up to the normal law


class EntryLaw(NamedTuple):
    """The law that X is drawn from: native/entry_law.hpp has the formulas. The law of entropy has p = 1."""

    kind: LawKind
    p: float

    @property
    def number(self) -> float:
        """The number of this law in derived keys and on the wire: p if it is symmetric, otherwise -p, which is -1 for
        entropy.
        """
        return self.p if self.kind == "symmetric" else -self.p

    @classmethod
    def of_number(cls, number: float) -> EntryLaw:
        """The law written as this number; it need not exist."""
        if number == ENTROPY.number:
            return ENTROPY
        return cls("one-sided", -number) if number < 0.0 else cls("symmetric", number)


ENTROPY = EntryLaw("entropy", 1.0)


def checked_law(p: float, kind: str | None) -> EntryLaw:
    """The law of this p and kind, or an `ArgumentError` about the one that is invalid. If the kind is None, it is
    one-sided if such a law exists, because that needs fewer entries."""
    if kind is None:
        kind = "one-sided" if is_real(p) and LEAST_P <= p <= GREATEST_P else "symmetric"  # refuses an invalid p
    if not isinstance(kind, str) or kind not in get_args(SketchLaw):
        raise ArgumentError(
            "law", kind, f"must be one of {', '.join(map(repr, get_args(SketchLaw)))}", "Choose one of them"
        )
    if kind == "one-sided":
        return EntryLaw("one-sided", OneSidedLaw(p).p)
    return EntryLaw("symmetric", checked_p(p, *_SYMMETRIC))


def checked_size(size: object) -> int:
    count = checked_whole("size", size, "Pass 50, for example")
    if not 1 <= count <= _LARGEST_SIZE:
        way_out = "Pass 500 for an error of about 5%; the error is about 1.2/sqrt(size)"
        raise ArgumentError("size", count, f"must be between 1 and {_LARGEST_SIZE}", way_out)
    return count


def checked_buckets(buckets: object, size: int, law: EntryLaw) -> int:
    count = checked_whole("buckets", buckets, "Pass 1000, for example, or leave it out")
    if count == 1:
        return 1
    if count < 1:
        raise ArgumentError("buckets", count, "must be at least 1", "Leave it out for a single bucket")
    if law.kind == "symmetric":
        way_out = 'Pass law="one-sided", for p below 1, or leave buckets out'
        raise ArgumentError("buckets", count, "cannot be used with symmetric entries", way_out)
    if size > _LARGEST_IN_BUCKETS:
        must = f"cannot be used with more than {_LARGEST_IN_BUCKETS:,} entries in all (size is {size:,})"
        raise ArgumentError("buckets", count, must, "Pass a smaller size")
    if size % count or size // count % 2:
        nearest = 2 * count * max(1, round(size / (2 * count)))
        way_out = f"Pass a size that is a multiple of {2 * count:,}, such as {nearest:,}"
        must = f"must divide size = {size:,} into equal even numbers of entries"
        raise ArgumentError("buckets", count, must, way_out)
    return count
