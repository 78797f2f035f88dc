"""The law of a sketch's entries: its kind and its p."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from ..errors import ArgumentError
from ..law.one_sided import GREATEST_P, OneSidedLaw
from ..law.stable import LEAST_P, checked_p
from ..numbers.checked import is_real

SketchLaw = Literal["symmetric", "one-sided"]
LawKind = Literal["symmetric", "one-sided", "entropy"]

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
