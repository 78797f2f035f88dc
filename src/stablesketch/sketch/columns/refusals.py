"""Data that cannot be keys, why, and what to do instead: one wording for each kind of data, whatever its container.

Errors name the row and the type, and never show the value: it is data, and messages are logged. Rows are counted from 0
here, and shown as people count them, from 1.
"""

from __future__ import annotations

import datetime
import decimal
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import HIDDEN, ArgumentError, ArgumentTypeError, Shown

NULL_WAY_OUT = "Drop such rows first, or fill them with a value of your own"


@dataclass(frozen=True)
class NotAKey:
    """A kind of data that has no fingerprint: its name in the plural, and the way out."""

    name: str
    way_out: str


FLOATS = NotAKey("floats", "Round and cast to an integer, or format to str, so that equal keys are equal bits")
BOOLEANS = NotAKey("booleans", "Cast to int8 or to str")
COMPLEX = NotAKey("complex numbers", "Format them to str")
DECIMALS = NotAKey("decimals", "Scale to an integer, or format to str: 1.0 and 1.00 are equal but have different bits")
TIMES = NotAKey("times of day", "Cast to an integer count of nanoseconds, or format to str")
DURATIONS = NotAKey("durations", "Cast to an integer count of a unit of your choice")
INTERVALS = NotAKey("intervals", "Pass their ends as two columns of a tuple, or format to str")
NULLS = NotAKey("nulls", "A column of type null has no keys; cast it to the type of the other batches")
TABLES = NotAKey("tables and structs", "Pass one column, or several as a tuple: (table['a'], table['b'])")
NESTED = NotAKey(
    "nested values", "Pass each part as a column of a tuple: ([first parts], [second parts]), or format to str"
)
RUN_ENDS = NotAKey("run-end encoded values", "Decode the column first (pyarrow.compute.run_end_decode)")
LARGE_UNITS = NotAKey("weeks, months and years", "Convert to days: column.astype('datetime64[D]')")
SMALL_UNITS = NotAKey("timestamps finer than a nanosecond", "Convert: column.astype('datetime64[ns]')")
MULTIPLE_UNITS = NotAKey("timestamps that count multiples of a unit", "Convert: column.astype('datetime64[s]')")
UNITLESS = NotAKey("timestamps without a unit", "Give them one: column.astype('datetime64[ns]')")
STRUCTURED = NotAKey("structured or void arrays", "Pass the fields as columns of a tuple: (array['a'], array['b'])")
OTHERS = NotAKey("values of this type", "Convert to int, str, bytes, date, datetime or UUID")

_ARROW_NAMES = {"n": "null", "b": "bool", "e": "halffloat", "f": "float", "g": "double", "+s": "struct"}
_ARROW_PREFIXES = (
    ("n", NULLS),
    ("b", BOOLEANS),
    ("e", FLOATS),
    ("f", FLOATS),
    ("g", FLOATS),
    ("d:", DECIMALS),
    ("tt", TIMES),
    ("tD", DURATIONS),
    ("ti", DURATIONS),
    ("+s", TABLES),
    ("+r", RUN_ENDS),
    ("+", NESTED),
)
_DTYPE_KINDS = {"f": FLOATS, "b": BOOLEANS, "c": COMPLEX, "m": DURATIONS, "V": STRUCTURED}
_PYTHON_TYPES: tuple[tuple[type | tuple[type, ...], NotAKey], ...] = (
    ((bool, np.bool_), BOOLEANS),
    ((float, np.floating), FLOATS),
    ((complex, np.complexfloating), COMPLEX),
    (decimal.Decimal, DECIMALS),
    (datetime.time, TIMES),
    ((datetime.timedelta, np.timedelta64), DURATIONS),
    ((list, tuple, dict, set, frozenset, np.ndarray, np.void), NESTED),
)


def is_missing(item: object) -> bool:
    """Whether an object means "no value": None, NaT of numpy or pandas, or pandas.NA (recognised by the name of its
    class, because pandas may not be imported)."""
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(item, np.datetime64 | np.timedelta64) and bool(np.isnat(item))


def null_row(argument: str, row: int, value: object = None) -> ArgumentError:
    """The error for a row that has no value."""
    return ArgumentError(argument, value, f"must not be null (row {row + 1})", NULL_WAY_OUT)


def outside(start: int, stop: int, length: int) -> ArgumentError:
    """The error about rows that a column of this length does not have."""
    return ArgumentError(
        "rows", (start, stop), f"must be within 0 and {length}, the rows of the column", "Ask for rows of the column"
    )


def cut_short(argument: str, length: int, now: int) -> ArgumentError:
    """The error about a list that had `length` rows when it was opened."""
    return ArgumentError(
        argument, now, f"must keep its {length} rows while it is read", "Do not shorten the list in the meantime"
    )


def refused_item(argument: str, item: object, row: int) -> ArgumentError:
    """The error for one Python object that has a value, and cannot be a key."""
    if isinstance(item, float | np.floating) and item != item:
        return ArgumentTypeError(argument, HIDDEN, f"cannot be floats (row {row + 1} is NaN)", NULL_WAY_OUT)
    kind = next((kind for types, kind in _PYTHON_TYPES if isinstance(item, types)), OTHERS)
    must = f"cannot be {kind.name} (row {row + 1} is of type {type(item).__name__})"
    return ArgumentTypeError(argument, HIDDEN, must, kind.way_out)


def refused_dtype(argument: str, dtype: np.dtype[Any]) -> ArgumentTypeError:
    """The error for a numpy array whose dtype cannot be a key."""
    kind = _DTYPE_KINDS.get(dtype.kind, OTHERS)
    if dtype.kind == "M":
        unit, count = np.datetime_data(dtype)
        if unit in ("W", "M", "Y"):
            kind = LARGE_UNITS
        elif unit == "generic":
            kind = UNITLESS
        else:
            kind = MULTIPLE_UNITS if count != 1 else SMALL_UNITS
    return ArgumentTypeError(argument, dtype, f"cannot be {kind.name}", kind.way_out)


def arrow_name(format: str, extension: str, dictionary: bool) -> Shown:
    """An Arrow type in words; the format string of the C data interface if it has no short name."""
    name = f"extension type {extension}" if extension else f"type {_ARROW_NAMES.get(format, repr(format))}"
    return Shown(f"<Arrow dictionary of {name}>" if dictionary else f"<Arrow {name}>")


def refused_arrow(argument: str, format: str, extension: str, dictionary: bool) -> ArgumentTypeError:
    """The error for an Arrow column whose type cannot be a key."""
    kind = next((kind for prefix, kind in _ARROW_PREFIXES if format.startswith(prefix)), OTHERS)
    if extension == "pandas.interval":
        kind = INTERVALS
    elif extension:
        kind = NotAKey("values of an extension type", "Cast the column to its storage type, or format to str")
    return ArgumentTypeError(
        argument, arrow_name(format, extension, dictionary), f"cannot be {kind.name}", kind.way_out
    )


def refused_row(argument: str, row: int, reason: str) -> ArgumentError:
    """The error for a row that the native loops refuse."""
    if reason == "null":
        return null_row(argument, row)
    row += 1  # as people count
    where = HIDDEN
    if reason == "part of a day":
        must = f"must be whole days in a date64 column (row {row} is not)"
        return ArgumentError(argument, where, must, "Cast the column to a timestamp, or truncate it to days first")
    if reason == "not unicode":
        must = f"must be text that UTF-8 can encode (row {row} has a lone surrogate)"
        return ArgumentError(argument, where, must, "Correct the text, or encode it to bytes with an error handler")
    must = f"must be valid Arrow data (row {row} points outside its buffers)"
    return ArgumentError(
        argument, where, must, "Validate the data where it is made (pyarrow: array.validate(full=True))"
    )
