"""The arguments of reading: which columns, how data are opened, what becomes of invalid rows.

Every function that reads takes one of these lists as **how, or extends it, as `ss.release` does (release/arguments.py).
The defaults are those of `Reading`, `Columns` and `Input`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from ..errors import HIDDEN, ArgumentTypeError, did_you_mean
from .columns import Columns, OnBad, check_on_bad, checked_columns
from .found import Input
from .wide import long_columns


class OfRows(TypedDict, total=False):
    """The arguments of reading, wherever the data are."""

    on_bad: OnBad


class OfPairs(OfRows, total=False):
    """The arguments for data that have columns."""

    key: str | Sequence[str] | None
    value: str | None


class OfGroups(OfPairs, total=False):
    """The arguments for data that have columns, read by group."""

    by: str | Sequence[str] | None


class OfFiles(OfGroups, total=False):
    """The arguments for files and databases, which must be opened."""

    sql: str | None
    format: str | None
    header: bool
    delimiter: str | None
    wide: bool


@dataclass(frozen=True)
class Reading:
    """Everything that is said about reading data."""

    columns: Columns
    input: Input = field(default_factory=Input)
    on_bad: OnBad = "error"

    def __post_init__(self) -> None:
        check_on_bad(self.on_bad)


def reading(how: Mapping[str, Any], person: str | None = None) -> Reading:
    """What the arguments of `OfFiles` say, among others in `how`."""
    columns_of = long_columns if how.get("wide") else checked_columns
    columns = columns_of(how.get("key"), how.get("value"), how.get("by"), person)
    opening = OfFiles.__annotations__.keys() - OfGroups.__annotations__.keys()
    own_input = Input(**{name: how[name] for name in opening & how.keys()})
    return Reading(columns, own_input, how.get("on_bad", Reading.on_bad))


def check_known(function: Callable[..., object], how: Mapping[str, Any]) -> None:
    """Refuses arguments that are not in the signature of the function they were passed to."""
    known = inspect.signature(function).parameters
    for name in how:
        if name not in known:
            raise unknown(name, known, function.__name__)


# What other libraries call these arguments, where the nearest spelling would be another one.
_ELSEWHERE = {"groupby": "by", "group_by": "by", "group": "by", "column": "key", "user": "person", "weight": "value"}


def unknown(name: str, known: Collection[str], function: str) -> ArgumentTypeError:
    """The error about an argument that does not exist, with what to pass instead."""
    meant = _ELSEWHERE.get(name)
    way_out = f"Did you mean {meant}?" if meant in known else did_you_mean(name, known)
    listed = f"Pass some of: {', '.join(sorted(known))}"
    return ArgumentTypeError(name, HIDDEN, f"cannot be passed to {function}", way_out or listed)
