"""`Privacy`: what is protected, and how well. Plans are made from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Literal, get_args

from ..errors import ArgumentError, ArgumentTypeError
from ..numbers.checked import checked_real, checked_whole, is_whole
from ..text.wording import arg, either, subject

Relation = Literal["replace", "add_remove"]
Unit = Literal["pair", "key", "individual"]

_LEFT_OUT: Any = None
# What leaving an argument out means, unless the statistic or the data need something else.
_USUAL: dict[str, Any] = {"pairs": 0, "max_value": 1, "relation": "add_remove", "unit": "pair"}
# Fields that older versions did not have: written only if they differ from these defaults.
_LATER: dict[str, Any] = {"unit": "pair", "total": 0, "groups": 1}

_LEAST_EPSILON = 1e-100  # the noise of a smaller ε would exceed the range of a float
# Integers up to here are exact in JSON and as a float.
_MOST = 2**53


@dataclass(frozen=True)
class Privacy:
    """(ε, δ)-differential privacy of a stream of pairs (key, value), and what counts as a neighbouring stream.

    When the stream is exchanged for a neighbour, the probability that the release falls into any set changes by at most
    a factor e^ε, plus δ. `relation` defines the neighbours:

    - `"add_remove"`: one stream is the other without up to `pairs_per_person` of its pairs. It protects *whether* a
      person contributed at all. The number of pairs is then private too.
    - `"replace"`: the streams have the same number of pairs, and differ in up to `pairs_per_person` of them. It
      protects *what* a person contributed: key and value. The number of pairs is public, and it does not hide that a
      person is in the stream, or how often.

    Moments and distinct counts need about the same noise under both; tables, and entropy by a sketch, need up to twice
    as much under `"replace"`. Values are integers from 1 to `max_value`. `pairs_per_person` is the maximum number of
    pairs of one person; with 1, pairs are protected, not people.

    With `unit="key"` every key is one person, and everything that the key has is protected: each key has exactly one
    pair, of value up to `max_value`. `pairs_per_person` is then the number of keys that a person may have. You promise
    that every key occurs once, with its whole total. `ss.release` adds up files and frames by key before it counts
    them; if you call `update` yourself, you must do the same.

    With `unit="individual"` a row with value n stands for n individuals, which are n pairs of value 1, and any one of
    them is protected. It is for counts, as in tables of species, and needs no `max_value`. Someone who is a whole cell,
    or several of those counted, is protected less: to protect a cell, use `unit="pair"` with a `max_value`.

    `groups` is for tables: the maximum number of groups that the pairs of one person may be in. Each group is released
    under this same privacy; all of them together are then (ε, δ)-private, not only each alone.

    Arguments that you leave out get the values that the statistic and the data need: usually `"add_remove"`, `"pair"`
    and a `max_value` of 1; `"replace"` and `"key"` for a statistic about people; `"individual"` for a wide table if
    `max_value` is left out too. A copy made by `dataclasses.replace` has them as if you had passed them.

    `pairs` and `total` are promises that mechanism="bare" needs, and that the release checks: each neighbour has at
    least this many pairs, and values that add up to at least this total. 0 promises nothing and covers streams of any
    length, even empty ones. Other mechanisms hold for every stream and use `pairs` as a guess at its length.

    The guarantee covers one release, against anyone who sees it and does not know the secret.

    >>> Privacy(epsilon=1.0, delta=1e-9)
    Privacy(epsilon=1.0, delta=1e-09)
    """

    epsilon: float
    delta: float
    pairs: int = _LEFT_OUT
    max_value: int = _LEFT_OUT
    relation: Relation = _LEFT_OUT
    pairs_per_person: int = 1
    unit: Unit = _LEFT_OUT
    total: int = 0
    groups: int = 1
    _left_out: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "_left_out", frozenset(name for name in _USUAL if getattr(self, name) is None))
        for name in self._left_out:
            object.__setattr__(self, name, _USUAL[name])
        for name in ("epsilon", "delta"):
            object.__setattr__(self, name, _real(name, getattr(self, name)))
        for name in ("pairs", "max_value", "pairs_per_person", "total", "groups"):
            object.__setattr__(self, name, _integer(name, getattr(self, name)))
        if not 0.0 < self.epsilon < math.inf:
            raise ArgumentError("epsilon", self.epsilon, "must be positive and finite", "Pass 1.0, for example")
        if self.epsilon < _LEAST_EPSILON:
            raise ArgumentError(
                "epsilon", self.epsilon, f"must be at least {_LEAST_EPSILON:g}", "Pass 1.0, for example"
            )
        if self.delta == 0.0:
            raise ArgumentError(
                "delta", self.delta, "must be above 0",
                f"Pass a negligible δ such as 1e-12; plans with {arg('mechanism', 'exact')} report δ = 0 where they "
                "reach it",
                because="a sketch has finite precision and its randomness comes from a secret of 256 bits",
            )  # fmt: skip
        if not 0.0 < self.delta < 1.0:
            raise ArgumentError("delta", self.delta, "must be between 0 and 1", "Pass 1e-9, for example")
        if self.relation not in get_args(Relation):
            raise ArgumentError("relation", self.relation, "must be 'replace' or 'add_remove'", "Choose one of them")
        if self.unit not in get_args(Unit):
            raise ArgumentError("unit", self.unit, "must be 'pair', 'individual' or 'key'", "Choose one of them")
        _check_range("pairs", self.pairs, 0, "Pass the minimum number of pairs, or 0 if it is not known")
        _check_range("total", self.total, 0, "Pass the minimum sum of all values, or 0 if it is not known")
        _check_range("max_value", self.max_value, 1, "Pass the largest value of a pair, or 1 for plain counts")
        _check_range("pairs_per_person", self.pairs_per_person, 1, "Pass the maximum number of pairs of one person")
        _check_range(
            "groups", self.groups, 1, "Pass the maximum number of groups of one person, or 1 if there are no groups"
        )
        if self.unit == "individual" and (self.relation, self.max_value) != ("add_remove", 1):
            raise ArgumentError(
                "unit", self.unit, "can be used only with add_remove and without a maximum value",
                f"Pass {arg('relation', 'add_remove')} and leave out {arg('max_value')}, or pass {arg('unit', 'pair')}",
                because="individuals are added or removed, and each counts 1",
            )  # fmt: skip
        if self.groups > 1 and (self.relation == "replace" or self.unit == "key"):
            raise ArgumentError(
                "groups", self.groups, "must be 1 unless pairs are added or removed",
                f"Pass {arg('relation', 'add_remove')}. A replaced pair is one removed and one added: double "
                f"{subject('pairs_per_person')} and {subject('groups')}",
            )  # fmt: skip

    def __repr__(self) -> str:
        """The two fields without a default, and those that differ from theirs."""
        shown = [field for field in fields(self) if getattr(self, field.name) != _USUAL.get(field.name, field.default)]
        return f"Privacy({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in shown)})"

    def to_dict(self) -> dict[str, Any]:
        """The fields by name: plain numbers and strings, ready for JSON."""
        return {name: value for name, value in asdict(self).items() if name not in _LATER or _LATER[name] != value}

    def leaves_out(self, *names: str) -> bool:
        """Whether the caller passed none of these arguments, of those that a statistic or the data may decide."""
        return self._left_out.issuperset(names)

    def usually(self, **usual: Any) -> Privacy:
        """The same, with these values for arguments that were left out, unless one of them was passed with another."""
        open_ = {name: value for name, value in usual.items() if self.leaves_out(name)}
        if any(getattr(self, name) != value for name, value in usual.items() if name not in open_):
            return self
        made = replace(self, **open_)
        object.__setattr__(made, "_left_out", self._left_out - open_.keys())
        return made

    @property
    def copies(self) -> int:
        """The number of groups that a neighbour can change: each pair changes one."""
        return min(self.groups, self.pairs_per_person)

    @property
    def protects(self) -> str:
        """The relation, and the unit if it is not a pair. Releases that share a budget must agree on it."""
        return self.relation + protected_unit(self.unit)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Privacy:
        """The inverse of `to_dict`. A missing or unknown field is an error."""
        if not isinstance(data, Mapping):
            raise ArgumentTypeError("data", data, "must be a mapping", "Pass the result of to_dict")
        names, given = {field.name for field in fields(cls)}, {**_LATER, **data}
        missing = {name for name in names if given.get(name) is None}
        for problem, odd in (("unknown", set(data) - names), ("missing", missing)):
            if odd:
                raise ArgumentError(
                    "data", sorted(map(str, odd)), f"must have no {problem} fields", "Pass the result of to_dict"
                )
        return cls(**given)


def protected_unit(unit: Unit) -> str:
    """What follows the relation if the unit is not a pair."""
    return "" if unit == "pair" else f" of {unit}s"


def _real(name: str, value: object) -> float:
    if is_whole(value) and abs(value) > _MOST:
        raise ArgumentError(name, value, "must be at most 2^53", "Pass 1.0, for example")
    return checked_real(name, value)


def _integer(name: str, value: object) -> int:
    found = either("auto_max_value=ss.AutoMaxValue() to ss.release, which finds it privately", "auto")
    return checked_whole(name, value, f"Pass an integer, or {found}" if name == "max_value" else "Pass an integer")


def _check_range(name: str, value: int, least: int, way_out: str) -> None:
    if not least <= value <= _MOST:
        raise ArgumentError(name, value, f"must be between {least} and 2^53", way_out)
