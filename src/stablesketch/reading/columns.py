"""Which columns are read, which types they may have, and the SQL for them and for invalid rows."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from ..errors import ArgumentError, ArgumentTypeError, DataError
from ..text.wording import arg
from .header import Doubt, missing_column
from .values import digits, plain, wrong_texts, zero

OnBad = Literal["error", "skip"]
Zeros = Literal["absent", "refused", "kept"]
ZERO_REFUSED = "is 0: under replace the number of pairs is public, and a 0 is not a pair"

_INTEGERS = frozenset(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"])
_KEYS = _INTEGERS | {"VARCHAR", "BLOB", "DATE", "UUID", "JSON"}
_WHOLE = re.compile(r"U?HUGEINT|DECIMAL\(\d+,\s*0\)")
_LARGEST = 2**53


def check_on_bad(on_bad: object) -> None:
    """Refuses anything but the two ways to treat invalid rows."""
    if on_bad not in get_args(OnBad):
        raise ArgumentError("on_bad", on_bad, "must be 'error' or 'skip'", "Choose one of them")


def zeros_under(relation: str) -> Zeros:
    """What a value of 0 is under a relation: see `Columns`."""
    return "refused" if relation == "replace" else "absent"


@dataclass(frozen=True)
class Columns:
    """The columns of a stream of pairs: the key and, if there are any, value, groups and person.

    A row of value 0 says that a key is absent, and is not a pair. Under add_remove such rows are left out wherever data
    are read, before people are bounded, groups are chosen or anything is counted. A table with zeros and the same table
    without them are therefore the same stream. A row that is added or removed is one pair or none, whatever its value,
    and the neighbours are those of `Privacy`. The number of zeros is never shown. Under replace the number of pairs is
    public, and a replaced row must again be a pair. A 0 would make neighbours of different lengths, which ε does not
    cover there, so it is refused. `exact`, which only the curator sees, keeps zeros, to show groups that have nothing
    else.
    """

    key: tuple[str, ...]
    value: str | None = None
    by: tuple[str, ...] = ()
    person: str | None = None
    zeros: Zeros = "absent"

    def under(self, relation: str) -> Columns:
        """The columns, with zeros treated as a relation requires."""
        return replace(self, zeros=zeros_under(relation))

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is read, once."""
        more = [name for name in (self.value, self.person) if name is not None]
        return tuple(dict.fromkeys([*self.key, *more, *self.by]))

    def picked(self, have: Iterable[str]) -> list[str]:
        """The columns to read: those named, or all columns of a wide table, which has no key (wide.py)."""
        return list(self.names if self.key else have)

    @property
    def marked(self) -> list[tuple[str, str]]:
        """The columns in the order of pairs, each with its name after reading: k0, ..., v, g0, ..., u."""
        value = [(self.value, "v")] if self.value is not None else []
        person = [(self.person, "u")] if self.person is not None else []
        keys, groups = zip(self.key, self.key_marks, strict=True), zip(self.by, self.group_marks, strict=True)
        return [*keys, *value, *groups, *person]

    @property
    def key_marks(self) -> tuple[str, ...]:
        """The names of the key columns after reading: k0, k1, ..."""
        return tuple(f"k{i}" for i in range(len(self.key)))

    @property
    def group_marks(self) -> tuple[str, ...]:
        """The names of the group columns after reading: g0, g1, ..."""
        return tuple(f"g{i}" for i in range(len(self.by)))


@dataclass(frozen=True)
class BadRow:
    """A way in which a row is invalid: the column, an SQL condition, what is wrong and what to do.

    `compared` is the condition without SQL: an operator and what it compares a number with; None if null is invalid.
    Such a row may be left out if users ask to skip invalid rows, unless it is not `skippable`: then it is reported.
    """

    column: str
    condition: str
    problem: str
    way_out: str
    compared: tuple[Callable[[Any, Any], bool], int] | None = None
    skippable: bool = True

    def holds(self, item: Any) -> bool:
        """The condition without SQL, for an item of a typed column."""
        if self.compared is None:
            return item is None
        compare, number = self.compared
        return item is not None and bool(compare(item, number))

    def error(self, source: str, row: int | None, column: str) -> DataError:
        """The error. It does not show the value, which is somebody's data, because messages end up in logs."""
        return DataError(source, self.problem, self.way_out, row=row, column=column)


@dataclass(frozen=True)
class Cast:
    """How to tell users to cast a column: `where` has {} for the expression and {name} for the column."""

    where: str = "Cast it in the query: select {}, ..."
    as_text: str = "cast({0} as varchar) as {0}"
    as_whole: str = "cast(round({0}) as bigint) as {0}"

    def text(self, name: str) -> str:
        return self.where.format(self.as_text.format(quoted(name)), name=name)

    def whole(self, name: str) -> str:
        return self.where.format(self.as_whole.format(quoted(name)), name=name)


FRAME_CAST = Cast(
    "Convert the column {name} first: {}", 'astype(str) in pandas, cast("string") in polars or pyarrow',
    'round().astype("Int64") in pandas, round() and cast("int64") in polars or pyarrow',
)  # fmt: skip


def checked_columns(key: object, value: object = None, by: object = None, person: object = None) -> Columns:
    """The columns that were named: one name, or several if a key or a group has several parts."""
    columns = Columns(
        _names("key", key, least=1),
        None if value is None else _names("value", value, least=1, most=1)[0],
        _names("by", by, least=0),
        None if person is None else _names("person", person, least=1, most=1)[0],
    )
    if columns.key == (columns.person,):
        raise ArgumentError(
            "person", columns.person, "must not be the column of keys",
            f"Name the column of people, or leave out {arg('person')} and pass {arg('unit', 'key')} if every key is a "
            "person",
            because="every key would be cut to a few rows",
        )  # fmt: skip
    if set(columns.key) <= set(columns.by):
        raise ArgumentError(
            "by", listed(by), "must not be the column of keys", f"Name the column of groups, or leave out {arg('by')}",
            because="every group would have one key",
        )  # fmt: skip
    return columns


def listed(given: object) -> object:
    """Names of columns as an error shows them: separated by commas, as on the command line."""
    texts = isinstance(given, list | tuple) and all(isinstance(name, str) for name in given)
    return ",".join(given) if texts else given  # type: ignore[arg-type]


def _names(argument: str, given: object, least: int, most: int | None = None) -> tuple[str, ...]:
    if given is None and least == 0:
        return ()
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list | tuple) else None
    if names is None or not all(isinstance(name, str) and name for name in names):
        raise ArgumentTypeError(argument, given, "must be the name of a column", f"Pass a text: {arg(argument, 'app')}")
    if len(names) < least or (most is not None and len(names) > most):
        wanted = "one column" if most == 1 else "at least one column"
        raise ArgumentError(argument, given, f"must be {wanted}", f"Pass {arg(argument, 'app')}")
    if len(set(names)) < len(names):
        raise ArgumentError(argument, listed(given), "must not name a column twice", "Name each column once")
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
    """Refuses columns that do not exist, or whose type cannot be used as a key or a value.

    `text`: all columns are text, as written. `doubt`: why an error may not show the other names (header.py).
    `cast`: how to cast a column of these data.
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
        if not has_only_integers(kind):
            raise DataError(source, no_value(kind), cast.whole(columns.value), column=columns.value)


_NO_KEYS = (
    (r"BOOL", "true equals 1 in some programs and not in others"),
    (r".*(\[\d*\]|LIST|ARRAY|STRUCT|MAP|UNION|VARIANT|TUPLE|DICT|SET)", "it holds several values, not one"),
    (r"(FLOAT|DOUBLE|REAL)", "equal values may differ in their bits"),
    (r"DECIMAL", "equal values may be written differently, as 1.0 and 1.00"),
)


def no_key(kind: str) -> str:
    """Why a key, a group or a person cannot have this type."""
    why = next((why for pattern, why in _NO_KEYS if re.match(pattern, kind.upper())), "")
    return f"is of type {kind}, which cannot be used as a key" + (f": {why}" if why else "")


def no_value(kind: str) -> str:
    return f"is of type {kind}, but values must be whole numbers"


def has_only_integers(kind: str) -> bool:
    """Whether a DuckDB type has only whole numbers."""
    return kind in _INTEGERS or bool(_WHOLE.fullmatch(kind))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def selection(columns: Columns, *, text: bool, checked: bool) -> str:
    """The select list: keys k0, k1, ...; the value v; groups g0, g1, ... as text; the person u.

    Values written as text are cast here only if the rows were `checked`: SQL would silently round 1.5 to 2.
    """

    def cell(name: str, mark: str) -> str:
        if mark in columns.group_marks:
            return f"cast({quoted(name)} as varchar)"
        if mark == "v" and (checked or not text):
            return f"cast({digits(quoted(name)) if text else quoted(name)} as bigint)"
        return quoted(name)

    return ", ".join(f"{cell(name, mark)} as {mark}" for name, mark in columns.marked)


def is_zero(columns: Columns, *, text: bool) -> str:
    """SQL for a row of value 0, valid in both DuckDB and Spark; false for null."""
    if columns.value is None:
        return "false"
    value = quoted(columns.value)
    return f"coalesce({zero(value) if text else f'{value} = 0'}, false)"


def left_out(columns: Columns, *, text: bool) -> str:
    """SQL for a row that is left out because its value is 0, whatever else it has; empty if no row is (`Columns`)."""
    return is_zero(columns, text=text) if columns.zeros == "absent" and columns.value is not None else ""


def bad_rows(columns: Columns, *, text: bool, largest: int | None, way_out: str = "") -> list[BadRow]:
    """Every way in which a row is invalid. A value above `largest`, the promised maximum, is reported, never skipped.

    `way_out` says what to do about rows that cannot be dropped or skipped.
    """
    fill = way_out or f"Drop such rows or fill them in first, or skip them ({arg('on_bad', 'skip')})"
    empty = "is empty or null" if text else "is null"
    zeros = left_out(columns, text=text)
    unless = f" and not {zeros}" if zeros else ""
    found = [BadRow(name, f"{quoted(name)} is null{unless}", empty, fill) for name in columns.names]
    if columns.value is None:
        return found
    value = quoted(columns.value)
    number, above = value, ("is above 2^53", "Use a coarser unit")
    if text:
        found += [BadRow(columns.value, *wrong) for wrong in wrong_texts(value, fill)]
        number = f"try_cast({digits(value)} as decimal(38, 0))"
        found.append(BadRow(columns.value, f"{number} is null", *above))
    if columns.zeros == "refused":
        add_remove = f"Pass {arg('relation', 'add_remove')}, where a 0 is an absent key"
        add_remove += "" if way_out else f", or skip such rows ({arg('on_bad', 'skip')})"
        found.append(BadRow(columns.value, is_zero(columns, text=text), ZERO_REFUSED, add_remove, (operator.eq, 0)))
    least = way_out or (f"Skip such rows ({arg('on_bad', 'skip')}), or select the others in a query (where ... >= 0)")
    found.append(
        BadRow(columns.value, f"{number} < 0", "is negative: values must be 0 or more", least, (operator.lt, 0))
    )
    found.append(BadRow(columns.value, f"{number} > {_LARGEST}", *above, (operator.gt, _LARGEST)))
    if largest is not None and largest < _LARGEST:
        individual = (  # of a wide table
            f"If cells count individuals, and one of them is to be protected, pass {arg('unit', 'individual')}. "
            "Otherwise "
        )
        way_out = (
            f"{individual if way_out else ''}{'clip' if way_out else 'Clip'} values to {largest:,} "
            f"({arg('clip', True)}), or promise a larger maximum ({arg('max_value')})"
        )
        problem = f"is above the promised {arg('max_value', largest)}, which the guarantee relies on"
        above_it = (operator.gt, largest)
        found.append(BadRow(columns.value, f"{number} > {largest}", problem, way_out, above_it, skippable=False))
    return found


def usual_row(columns: Columns, *, text: bool, largest: int | None) -> str:
    """SQL, fast and never null, that holds for most rows that are valid by `bad_rows`, and for no other.

    The conditions of `bad_rows` on text are slow, so they are asked only of the rows that are left.
    """
    there = [f"{quoted(name)} is not null" for name in columns.names]
    if columns.value is not None:
        value, least = quoted(columns.value), 1 if columns.zeros == "refused" else 0
        most = _LARGEST if largest is None else min(largest, _LARGEST)
        there.append(plain(value, least, most) if text else f"{value} between {least} and {most}")
    return f"({' and '.join(there)})"


def is_bad(bad: Sequence[BadRow], usual: str) -> str:
    """SQL for a row that is invalid in one of these ways; never null. `usual` is from `usual_row`."""
    every = " or ".join(f"coalesce({one.condition}, false)" for one in bad)
    return f"case when {usual} then false else {every} end"


def which_bad(bad: Sequence[BadRow], usual: str) -> str:
    """SQL for the place in `bad` of the first way in which a row is invalid; null if it is valid."""
    every = " ".join(f"when coalesce({one.condition}, false) then {i}" for i, one in enumerate(bad))
    return f"case when {usual} then null {every} end"


def total_above(source: str, largest: int) -> DataError:
    """The error if whole keys are protected and one exceeds the promised total. The total is not shown."""
    return DataError(
        source, f"the total of a key is above the promised {arg('max_value', largest)}",
        f"Clip totals to it ({arg('clip', True)}), or promise a larger maximum ({arg('max_value')})",
    )  # fmt: skip
