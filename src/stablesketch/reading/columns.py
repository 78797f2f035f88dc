"""Which columns are read, of which types they may be, and the SQL that names them and their bad rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import ArgumentError, ArgumentTypeError, DataError
from ..wording import arg
from .header import Doubt, missing_column

OnBad = Literal["error", "skip"]

_INTEGERS = frozenset(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"])
_KEYS = _INTEGERS | {"VARCHAR", "BLOB", "DATE", "UUID", "JSON"}
_WHOLE = re.compile(r"U?HUGEINT|DECIMAL\(\d+,\s*0\)")
_LARGEST = 2**53


@dataclass(frozen=True)
class Columns:
    """The columns of a stream of pairs: what is the key, and where there are such, value, group and person."""

    key: tuple[str, ...]
    value: str | None = None
    by: tuple[str, ...] = ()
    person: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is read, once."""
        more = [name for name in (self.value, self.person) if name is not None]
        return tuple(dict.fromkeys([*self.key, *more, *self.by]))

    def picked(self, have: Iterable[str]) -> list[str]:
        """The columns that are read of those there are: of a wide table (no key, wide.py) all."""
        return list(self.names if self.key else have)

    @property
    def key_marks(self) -> tuple[str, ...]:
        """What the columns of keys are called once they are read: k0, k1, ...; the value is v, the person u."""
        return tuple(f"k{i}" for i in range(len(self.key)))

    @property
    def group_marks(self) -> tuple[str, ...]:
        """What the columns of groups are called once they are read: g0, g1, ..."""
        return tuple(f"g{i}" for i in range(len(self.by)))


@dataclass(frozen=True)
class BadRow:
    """A way for a row not to be a pair: the column, an SQL condition, what is wrong and what to do.

    Numbers below `below` or above `above` are bad, where one of them is given; else what is null.
    """

    column: str
    condition: str
    problem: str
    way_out: str
    below: int | None = None
    above: int | None = None

    def holds(self, item: Any) -> bool:
        """The condition without SQL, for an item of a typed column."""
        if self.below is None and self.above is None:
            return item is None
        return item is not None and bool(item < self.below if self.below is not None else item > self.above)

    def error(self, source: str, row: int | None, column: str) -> DataError:
        """The error. What stands there is somebody's, and messages end in logs: it is not shown."""
        return DataError(source, self.problem, self.way_out, row=row, column=column)


@dataclass(frozen=True)
class Cast:
    """How to cast a column: `where` says in what, with {} for the expression and {name} for the column."""

    where: str = "Cast it in the query: select {}, ..."
    as_text: str = "cast({0} as varchar) as {0}"
    as_whole: str = "cast(round({0}) as bigint) as {0}"

    def text(self, name: str) -> str:
        return self.where.format(self.as_text.format(quoted(name)), name=name)

    def whole(self, name: str) -> str:
        return self.where.format(self.as_whole.format(quoted(name)), name=name)


FRAME_CAST = Cast(
    "Convert the column {name} first: {}", 'astype(str) in pandas, cast("string") in polars or pyarrow',
    'round() and astype("int64") in pandas, round() and cast("int64") in polars or pyarrow',
)  # fmt: skip


def checked_columns(key: object, value: object = None, by: object = None, person: object = None) -> Columns:
    """The columns somebody named: a name, or several where a key or a group has several parts."""
    columns = Columns(
        _names("key", key, least=1),
        None if value is None else _names("value", value, least=1, most=1)[0],
        _names("by", by, least=0),
        None if person is None else _names("person", person, least=1, most=1)[0],
    )
    if columns.key == (columns.person,):
        raise ArgumentError(
            "person", columns.person, "it must not be the column of keys: every key would be cut to a few rows",
            f"Name that of people; if every key is a person, leave out {arg('person')} and pass {arg('unit', 'key')}",
        )  # fmt: skip
    return columns


def _names(argument: str, given: object, least: int, most: int | None = None) -> tuple[str, ...]:
    if given is None and least == 0:
        return ()
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list | tuple) else None
    if names is None or not all(isinstance(name, str) and name for name in names):
        raise ArgumentTypeError(argument, given, "not the name of a column", f"Pass a text: {arg(argument, 'app')}")
    if len(names) < least or (most is not None and len(names) > most):
        wanted = "one column" if most == 1 else "at least one column"
        raise ArgumentError(argument, given, f"{wanted} is needed", f"Pass {arg(argument, 'app')}")
    if len(set(names)) < len(names):
        raise ArgumentError(argument, given, "a column is named twice", "Name each once")
    return tuple(str(name) for name in names)


def checked_types(
    source: str,
    columns: Columns,
    types: Mapping[str, str],
    *,
    text: bool,
    doubt: Doubt = "",
    cast: Cast | None = None,
) -> None:
    """Refuses columns that are not there, or of a type that is no key or no value.

    `text`: all are text as written. `doubt`: why an error may not show the names of others (header.py).
    `cast`: how a column is cast where these data are.
    """
    cast = cast or Cast()
    for name in columns.names:
        if name not in types:
            raise missing_column(source, name, list(types), columns.names, doubt)
    if text:
        return
    for name in dict.fromkeys([*columns.key, *columns.by, *([columns.person] if columns.person else [])]):
        kind = types[name]
        if kind not in _KEYS and not kind.startswith(("TIMESTAMP", "ENUM")):
            raise DataError(source, no_key(kind), cast.text(name), column=name)
    if columns.value is not None:
        kind = types[columns.value]
        if not is_whole(kind):
            raise DataError(source, no_value(kind), cast.whole(columns.value), column=columns.value)


_NO_KEYS = (
    (r"BOOL", "it equals 1 in some programs and not in others"),
    (r".*(\[\d*\]|LIST|ARRAY|STRUCT|MAP|UNION|VARIANT|TUPLE|DICT|SET)", "it holds several values, not one"),
    (r"(FLOAT|DOUBLE|REAL)", "equal values may differ in their bits"),
    (r"DECIMAL", "equal values may be written in several ways, as 1.0 and 1.00"),
)


def no_key(kind: str) -> str:
    """What is wrong with a key, a group or a person of this type, and why."""
    why = next((why for pattern, why in _NO_KEYS if re.match(pattern, kind.upper())), "")
    return f"is of type {kind}, which cannot be used as a key" + (f": {why}" if why else "")


def no_value(kind: str) -> str:
    return f"is of type {kind}, and values are whole numbers"


def is_whole(kind: str) -> bool:
    """Whether a type of DuckDB has whole numbers only."""
    return kind in _INTEGERS or bool(_WHOLE.fullmatch(kind))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def selection(columns: Columns, *, text: bool, checked: bool) -> str:
    """The select list: keys k0, k1, ...; the value v; groups g0, g1, ... as text; the person u.

    Values written as text are cast here only if the rows were `checked`: SQL would round 1.5 to 2 without a word.
    """
    parts = [f"{quoted(name)} as k{i}" for i, name in enumerate(columns.key)]
    if columns.value is not None:
        value = quoted(columns.value)
        parts.append(f"{value if text and not checked else f'cast({value} as bigint)'} as v")
    parts += [f"cast({quoted(name)} as varchar) as g{i}" for i, name in enumerate(columns.by)]
    if columns.person is not None:
        parts.append(f"{quoted(columns.person)} as u")
    return ", ".join(parts)


def bad_rows(columns: Columns, *, text: bool, largest: int | None, way_out: str = "") -> list[BadRow]:
    """Every way for a row not to be a pair. A value above `largest`, the promised one, is told, never skipped.

    `way_out` is what to do, where such rows cannot be dropped or skipped.
    """
    fill = way_out or f"Drop such rows first, fill them, or skip them ({arg('on_bad', 'skip')})"
    empty = "is empty or null" if text else "is null"
    found = [BadRow(name, f"{quoted(name)} is null", empty, fill) for name in columns.names]
    if columns.value is None:
        return found
    value = quoted(columns.value)
    number = value
    if text:  # in words that both DuckDB and Spark know
        digits = f"({value} <> '' and translate({value}, '0123456789', '') = '')"
        found.append(BadRow(columns.value, f"not {digits}", "is not a whole number", fill))
        number = f"try_cast({value} as decimal(38, 0))"
        found.append(BadRow(columns.value, f"{number} is null", "is above 2^53", "Use a coarser unit"))
    least = way_out or (
        f"Leave such rows out: skip them ({arg('on_bad', 'skip')}), or select the others in SQL (where ... >= 1)"
    )
    found.append(BadRow(columns.value, f"{number} < 1", "is below 1, and values are 1 or more", least, below=1))
    found.append(BadRow(columns.value, f"{number} > {_LARGEST}", "is above 2^53", "Use a coarser unit", above=_LARGEST))
    if largest is not None and largest < _LARGEST:
        way_out = f"Clip values to {largest:,} ({arg('clip', True)}), or promise a larger one ({arg('max_value')})"
        problem = f"is above the promised max_value = {largest:,}, which the guarantee rests on"
        found.append(BadRow(columns.value, f"{number} > {largest}", problem, way_out, above=largest))
    return found


def total_above(source: str, largest: int) -> DataError:
    """Where whole keys are protected, and one has more than was promised; how much is not shown."""
    return DataError(
        source, f"the total of a key is above the promised max_value = {largest:,}",
        f"Clip totals to it ({arg('clip', True)}), or promise a larger one ({arg('max_value')})",
    )  # fmt: skip
