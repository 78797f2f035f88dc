"""`Privacy`: what is protected, and how well; the one object a plan is made from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, cast, get_args

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError

__all__ = ["Privacy", "Relation", "Unit"]

Relation = Literal["replace", "add_remove"]
Unit = Literal["pair", "key"]

_LEAST_EPSILON = 1e-100  # noise for less than that is beyond what a float holds
# Integers up to here survive JSON and a float.
_MOST = 2**53


@dataclass(frozen=True)
class Privacy:
    """(ε, δ)-differential privacy of a stream of pairs (key, value), and what counts as a neighbouring stream.

    Whatever is released, its probability of falling into any set changes by at most a factor e^ε, plus δ, when the
    stream is exchanged for a neighbour. Neighbours are told by `relation`:

    - `"replace"`: the streams have equally many pairs, and up to `pairs_per_person` pairs of one stand where other
      pairs stand in the other. It protects *what* a person contributed, key and value. The number of pairs is public:
      that a person is in the stream, and how often, is not hidden.
    - `"add_remove"`: one stream is the other without up to `pairs_per_person` of its pairs. It protects *whether* a
      person contributed at all. The number of pairs is then private too, and `pairs` must come from public knowledge.

    `pairs` is a promise: the guarantee holds for streams with this many pairs or more (with add_remove, both
    neighbours have that many). 0 promises nothing and covers streams of any length, the empty one included. Values are
    integers from 1 to `max_value`. `pairs_per_person` bounds how many pairs one person may hold: with 1, pairs are
    protected, not people.

    With `unit="key"` every key is one person, and what is protected is all that the key has: its pairs are one pair, of
    value up to `max_value`, and no key has two. `pairs` is then the number of keys, and `pairs_per_person` how many
    keys a person may have. That every key comes once, with its whole total, is a promise: files and frames are added up
    by key before they are counted, an `update` of one's own has to see to it.

    `total` is a promise too: the values of either neighbour add up to this much or more. It helps where values vary and
    their sum is known from elsewhere; 0 promises no more than `pairs` does.

    The guarantee is about one release, against those who see it and do not know the secret.

    >>> Privacy(epsilon=1.0, delta=1e-9, pairs=1_000_000)
    Privacy(epsilon=1.0, delta=1e-09, pairs=1000000)
    """

    epsilon: float
    delta: float
    pairs: int
    max_value: int = 1
    relation: Relation = "replace"
    pairs_per_person: int = 1
    unit: Unit = "pair"
    total: int = 0

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta"):
            object.__setattr__(self, name, _real(name, getattr(self, name)))
        for name in ("pairs", "max_value", "pairs_per_person", "total"):
            object.__setattr__(self, name, _integer(name, getattr(self, name)))
        if not 0.0 < self.epsilon < math.inf:
            raise ArgumentError("epsilon", self.epsilon, "ε is a finite number above 0", "Pass one such as 1.0")
        if self.epsilon < _LEAST_EPSILON:
            raise ArgumentError(
                "epsilon", self.epsilon, f"it must be at least {_LEAST_EPSILON:g}", "Pass one such as 1.0"
            )
        if self.delta == 0.0:
            raise ArgumentError(
                "delta",
                self.delta,
                "δ = 0 cannot be promised: the keyed projection is pseudo-random and numbers have finite precision",
                "Pass a negligible δ such as 1e-12; plans report the ε for δ = 0 in real numbers beside it",
            )
        if not 0.0 < self.delta < 1.0:
            raise ArgumentError("delta", self.delta, "δ is a probability between 0 and 1", "Pass one such as 1e-9")
        if self.relation not in get_args(Relation):
            raise ArgumentError(
                "relation", self.relation, "there is no such relation", "Pass 'replace' or 'add_remove'"
            )
        if self.unit not in get_args(Unit):
            raise ArgumentError("unit", self.unit, "there is no such unit", "Pass 'pair' or 'key'")
        _check_range("pairs", self.pairs, 0, "Pass how many pairs there are at least, 0 if that is not known")
        _check_range("total", self.total, 0, "Pass what all values add up to at least, 0 if that is not known")
        _check_range("max_value", self.max_value, 1, "Pass the largest value a pair may have, 1 for plain counts")
        _check_range("pairs_per_person", self.pairs_per_person, 1, "Pass how many pairs one person may hold")

    def __repr__(self) -> str:
        """What differs from the default, and the three that have none."""
        shown = [field for field in fields(self) if getattr(self, field.name) != field.default]
        return f"Privacy({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in shown)})"

    def to_dict(self) -> dict[str, Any]:
        """The fields by name: plain numbers and strings, ready for JSON."""
        # What was written before there was a choice is written as it was.
        usual = {"unit": "pair", "total": 0}
        return {name: value for name, value in asdict(self).items() if name not in usual or usual[name] != value}

    @property
    def protects(self) -> str:
        """The relation, and what it is between if not pairs: what releases must have in common to share a budget."""
        return self.relation if self.unit == "pair" else f"{self.relation} of keys"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Privacy:
        """The inverse of `to_dict`; a field too many or too few is an error, not a guess."""
        if not isinstance(data, Mapping):
            raise ArgumentTypeError("data", data, "the fields of a Privacy are a mapping", "Pass what to_dict gave")
        names = {field.name for field in fields(cls)}
        for problem, odd in (("unknown", set(data) - names), ("missing", names - set(data) - {"unit", "total"})):
            if odd:
                raise ArgumentError(
                    "data", sorted(map(str, odd)), f"fields of Privacy {problem}", "Pass what to_dict gave"
                )
        return cls(**cast("dict[str, Any]", dict(data)))


def _real(name: str, value: object) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(name, value, "a real number is needed", "Pass a float")
    if isinstance(value, int) and abs(value) > _MOST:
        raise ArgumentError(name, value, "it must be at most 2^53", "Pass a float such as 1.0")
    return float(value)


def _integer(name: str, value: object) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ArgumentTypeError(name, value, "an integer is needed", "Pass an int")
    return int(value)


def _check_range(name: str, value: int, least: int, way_out: str) -> None:
    if not least <= value <= _MOST:
        raise ArgumentError(name, value, f"it must lie between {least} and 2^53", way_out)
