"""Elements of a PCollection as pairs: (person, (group, (key, value))), with only the parts that exist.

Every element is checked here, before anything is combined, as every row of a table is. An invalid one therefore fails
the pipeline before a runner that works in stages has released anything, whether or not the pair would have been kept.
The messages are those of reading/columns.py.

Buffered pairs become Arrow batches here too. Each column has one sort, so that Arrow converts nothing on its own.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentTypeError, DataError
from ...privacy import Privacy
from ...reading.arguments import Reading
from ...reading.columns import BadRow, Columns, OnBad, Zeros, bad_rows, check_on_bad, no_key, no_value
from ...reading.libraries import need
from ...sketch.columns import MAX_WEIGHT
from ...text.wording import arg

NAME = "the PCollection"
_USUAL = frozenset([str, int])  # types of nearly all keys, groups and people
_MAP_IT = "Map it to a text, a whole number or a date first"
ColumnsOfPairs = Sequence[Sequence[Any]]


class Pair(NamedTuple):
    """The parts of an element. numpy's whole numbers have become Python's, so equal keys have equal bytes."""

    person: Any
    group: tuple[str, ...]
    key: Any
    value: int

    @property
    def parts_of_key(self) -> tuple[Any, ...]:
        return self.key if isinstance(self.key, tuple) else (self.key,)


def have_values(privacy: Privacy) -> bool:
    """Whether elements are (key, value), not keys alone: values vary, or count individuals."""
    return privacy.max_value > 1 or privacy.unit == "individual"


def check_elements(**there: object) -> None:
    """Refuses column names: elements have no columns, so an argument can only be True or False."""
    for name, given in there.items():
        if not isinstance(given, bool):
            raise ArgumentTypeError(
                name, given, "must be True or False",
                f"Pass {arg(name, True)}, or leave it out",
                because="elements have no columns",
            )  # fmt: skip


@dataclass(frozen=True)
class ElementReader:
    """Elements → pairs. `largest` is the promised max_value, or None if larger values are clipped.

    reading/columns.py explains `zeros`.
    """

    persons: bool
    by: bool
    weighted: bool
    largest: int | None
    on_bad: OnBad = Reading.on_bad
    zeros: Zeros = "absent"

    def __post_init__(self) -> None:
        check_elements(person=self.persons, by=self.by)
        check_on_bad(self.on_bad)

    def read(self, element: Any) -> Pair | None:
        """The pair, or None if it is skipped. A value of the wrong type, or above the maximum, is never skipped."""
        person: Any = None
        group: Any = None
        key, value = element, 1
        if self.persons:
            person, key = self._two(key)
        if self.by:
            group, key = self._two(key)
        if self.weighted:
            key, value = self._two(key)
        if (
            type(key) in _USUAL
            and (not self.by or type(group) is str)
            and (not self.persons or type(person) in _USUAL)
            and type(value) is int
            and 1 <= value <= (self.largest or MAX_WEIGHT)
        ):
            return Pair(person, (group,) if self.by else (), key, value)
        return self._read(person, group, key, value)

    def _two(self, element: Any) -> Any:
        if not isinstance(element, tuple | list) or len(element) != 2:
            shape = "(key, value)" if self.weighted else "key"
            shape = f"(group, {shape})" if self.by else shape
            shape = f"(person, {shape})" if self.persons else shape
            raise DataError(NAME, f"an element is not {shape}", "Convert elements to that first")
        return element

    def _read(self, person: Any, group: Any, key: Any, value: Any) -> Pair | None:
        of: type = type(value)
        if self.weighted and self.zeros == "absent" and _kind(of) == "whole number" and value == 0:
            return None
        keys = _parts("key", key)
        groups = _parts("group", group) if self.by else ()
        items = [*(("key", one) for one in keys), *(("group", one) for one in groups)]
        items += [("value", value)] if self.weighted else []
        items += [("person", person)] if self.persons else []
        for column, item in items:
            bad = bad_item(column, item, self.largest, self.zeros)
            if bad is not None and self.on_bad == "skip" and bad.skippable:
                return None
            if bad is not None:
                raise bad.error(NAME, None, column)
        return Pair(
            _plain(person) if self.persons else None,
            tuple(map(str, groups)),
            tuple(map(_plain, keys)) if isinstance(key, tuple) else _plain(key),
            int(value),
        )


def _parts(column: str, item: Any) -> tuple[Any, ...]:
    if isinstance(item, tuple) and not item:  # numpy would compare it as an array
        raise DataError(NAME, "is an empty tuple", "Convert it to text, or to a tuple of its parts", column=column)
    return item if isinstance(item, tuple) else (item,)


def bad_item(column: str, item: Any, largest: int | None, zeros: Zeros = "refused") -> BadRow | None:
    """The error about a key, value, group or person, if there is one. A wrong type is raised."""
    if item is not None:
        _check_type(column, item)
    return next((bad for bad in _bad_items(largest, zeros)[column] if bad.holds(item)), None)


def _check_type(column: str, item: Any) -> None:
    of: type = type(item)
    kind, called = _kind(of), of.__name__
    if column == "value" and kind != "whole number":
        raise DataError(NAME, no_value(called), "Round it, or map it to an int, first", column=column)
    if kind is None:
        raise DataError(NAME, no_key(called), _MAP_IT, column=column)
    if column == "group" and kind in ("bytes", "time"):
        raise DataError(NAME, f"is of type {called}: names of groups must be text", _MAP_IT, column=column)


@cache
def _bad_items(largest: int | None, zeros: Zeros) -> dict[str, list[BadRow]]:
    columns = Columns(("key",), "value", ("group",), "person", zeros)
    every = bad_rows(columns, text=False, largest=largest)
    return {name: [one for one in every if one.column == name] for name in columns.names}


@cache
def _kind(of: type) -> str | None:
    """The sort of key of a type; None if it cannot be a key."""
    for kind, types in (
        (None, (bool, np.timedelta64)),
        ("whole number", (int, np.integer)),
        ("text", str),
        ("bytes", bytes),
        ("time", datetime.datetime),
        ("date", datetime.date),
        ("UUID", uuid.UUID),
    ):
        if issubclass(of, types):
            return kind
    return None


def kinds(items: Sequence[Any]) -> set[str]:
    """The sorts of these keys. Keys of different sorts are never equal, however similar, so they are not mixed."""
    found = {_kind(of) or of.__name__ for of in set(map(type, items))}
    if "time" in found:
        zones = {one.tzinfo is None for one in items if isinstance(one, datetime.datetime)}
        found = found - {"time"} | {"time" if naive else "time with a zone" for naive in zones}
    return found


def _plain(item: Any) -> Any:
    return int(item) if isinstance(item, np.integer) else str(item) if isinstance(item, str) else item


def columns_of(keys: list[Any]) -> ColumnsOfPairs:
    """The parts of keys, each a column."""
    parts = {len(key) if isinstance(key, tuple) else 0 for key in keys}
    if len(parts) > 1:
        raise _uneven()
    return [keys] if parts == {0} else list(zip(*keys, strict=True))


def sorts_of(columns: ColumnsOfPairs) -> list[str]:
    """The one sort of each column of keys."""
    found: list[str] = []
    for column in columns:
        sorts = sorted(kinds(column))
        if len(sorts) > 1 or None in column[:1]:
            look_through([column], None, None)
            raise _mixed(*sorts[:2])
        found += sorts
    return found


def same_sorts(known: list[str], others: list[str]) -> list[str]:
    """The sorts of keys, which must be the same for all pairs of a group; None before the first."""
    if known and others and known != others:
        if len(known) != len(others):
            raise _uneven()
        raise next(_mixed(*sorted(two)) for two in zip(known, others, strict=True) if two[0] != two[1])
    return known or others


def _uneven() -> DataError:
    return DataError(
        NAME, "keys have different numbers of parts", "Map them to tuples of the same length first", column="key"
    )


def _mixed(one: str, other: str) -> DataError:
    return DataError(
        NAME, f"has keys of different types, {one} and {other}", "Convert all keys to one type first", column="key"
    )


def batch_of(columns: ColumnsOfPairs, sorts: list[str], values: list[Any] | None) -> Any:
    """The columns k0, ..., v."""
    pa = need("pyarrow", "beam")
    arrays = {f"k{i}": _array(*pair) for i, pair in enumerate(zip(columns, sorts, strict=True))}
    if values is not None:
        arrays["v"] = pa.array(values, pa.int64())
    return pa.RecordBatch.from_pydict(arrays)


def _array(column: Sequence[Any], sort: str) -> Any:
    pa = need("pyarrow", "beam")
    if sort != "whole number":
        return pa.array(column)
    try:
        return pa.array(column, pa.int64())
    except OverflowError:
        return pa.array(column, pa.uint64())


def look_through(columns: ColumnsOfPairs, values: Sequence[Any] | None, largest: int | None) -> None:
    """Raises an error about the first item that cannot be a key or a value."""
    named = [*(("key", column) for column in columns), *([] if values is None else [("value", values)])]
    for name, column in named:
        for item in column:
            bad = bad_item(name, item, largest)
            if bad is not None:
                raise bad.error(NAME, None, name)
