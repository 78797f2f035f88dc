"""The law of the entries of a sketch: its kind and its p."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from ..errors import ArgumentError, ArgumentTypeError
from ..law.one_sided import GREATEST_P, OneSidedLaw
from ..law.stable import LEAST_P
from ..numeric import is_real
from ..wording import arg, stat

SketchLaw = Literal["symmetric", "one-sided"]
LawKind = Literal["symmetric", "one-sided", "entropy"]

_GREATEST_SYMMETRIC_P = 2.0  # the normal law


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
        """The law that was written as this number; it may be one that does not exist."""
        if number == ENTROPY.number:
            return ENTROPY
        return cls("one-sided", -number) if number < 0.0 else cls("symmetric", number)


ENTROPY = EntryLaw("entropy", 1.0)


def checked_law(p: float, kind: str | None) -> EntryLaw:
    """The law of this p and kind, or an `ArgumentError` that says which of them cannot be. The kind is left out if
    nobody said: then it is one-sided where there is such a law, which needs fewer entries."""
    if kind is None:
        kind = "one-sided" if is_real(p) and LEAST_P <= p <= GREATEST_P else "symmetric"  # refuses an invalid p
    if not isinstance(kind, str) or kind not in get_args(SketchLaw):
        raise ArgumentError(
            "law", kind, f"must be one of {', '.join(map(repr, get_args(SketchLaw)))}", "Choose one of them"
        )
    if kind == "one-sided":
        return EntryLaw("one-sided", OneSidedLaw(p).p)
    return EntryLaw("symmetric", _symmetric_p(p))


def _symmetric_p(p: object) -> float:
    if not is_real(p):
        raise ArgumentTypeError("p", p, "must be a number between 0.05 and 2", f"Pass {arg('p', 0.5)}, for example")
    if LEAST_P <= p <= _GREATEST_SYMMETRIC_P:
        return float(p)
    way_out = f"Pass {arg('p', 0.5)}, for example"
    if 0.0 <= p < LEAST_P:
        way_out += f"; to count distinct keys, which is the limit p = 0, use {stat('Distinct')}"
    elif p > _GREATEST_SYMMETRIC_P:
        way_out += "; F_2 is the highest moment that these sketches measure"
    raise ArgumentError("p", p, "must be between 0.05 and 2", way_out)
