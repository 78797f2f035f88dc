"""Values: which are whole numbers, what is wrong with the others, and a column of them as integers.

Some are written as text, as in CSV. 3, 03, 3.0 and " 3" are the same whole number. If a column of numbers has blanks,
some programs write every number with ".0", and all these rows would otherwise be refused or skipped. Nothing is
rounded: 1.5 is not a whole number.

The SQL here works in both DuckDB and Spark. `wrong_text` does the same without SQL.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import HIDDEN, ArgumentError
from ..sketch.columns import MAX_WEIGHT, value_column
from .libraries import need

_DIGITS = "0123456789"
_MISSING = ("na", "n/a", "nan", "null", "none", "#n/a")
_ZERO = re.compile(r" *0+(?:[.]0+)? *")
_WHOLE = re.compile(r" *(?P<digits>[0-9]+)(?:[.]0+)? *")
_BLANK = "is empty or null"
_NA = "is a missing value (NA, NaN or null)"
_NEGATIVE = "is negative: values must be 0 or more"
_FRACTION = "is a number with decimals: values must be whole numbers"
_SMALLER = "Round it, or use a smaller unit (cents, not euros)"
_TEXT = "is not a whole number"


class Wrong(NamedTuple):
    """A kind of text that is not a value: an SQL condition on it, what is wrong, and what to do."""

    condition: str
    problem: str
    way_out: str


def digits(value: str) -> str:
    """SQL for the digits of a whole number, however it is written. Anything else is unchanged except for spaces."""
    bare = f"trim(both ' ' from regexp_replace({value}, '[.]0+ *$', ''))"
    return f"(case when {_spaced(value)} then {bare} else {value} end)"


def whole(value: str) -> str:
    """SQL: whether a text is a whole number of 0 or more; null for null."""
    text = digits(value)
    return f"({text} <> '' and translate({text}, '{_DIGITS}', '') = '')"


def zero(value: str) -> str:
    """SQL: whether a text is a 0; null for null. Most texts are decided by their first character, or are just 0."""
    text = digits(value)
    spelled = f"{text} <> '' and translate({text}, '0', '') = ''"
    return f"case when {value} >= '1' then false when {value} = '0' then true else {spelled} end"


def plain(value: str, least: int, most: int) -> str:
    """SQL, fast: whether a text is certainly a whole number from `least`, 0 or more, to `most`; never null.

    A text is digits alone, without leading zeros, if the number that it is cast to is cast back to the same text. One
    with a point or a space is tried once more as its `digits`. A cast that fails is slow, so what begins with a letter
    is not cast. The rest, such as 007, is for the full rules: `whole`, `wrong_texts`.
    """

    def certain(text: str) -> str:
        number = f"try_cast({text} as bigint)"
        return f"cast({number} as string) = {text} and {number} between {least} and {most}"

    again = f"{_spaced(value)} and coalesce({certain(digits(value))}, false)"
    return f"case when {value} is null or {value} >= ':' then false when {certain(value)} then true else {again} end"


def _spaced(value: str) -> str:
    """SQL: whether a text may be more than its `digits`."""
    return f"(instr({value}, '.') > 0 or instr({value}, ' ') > 0)"


def wrong_texts(value: str, skipped: str) -> list[Wrong]:
    """Every way in which a text, named `value` in SQL, is invalid; the first one counts. `skipped`: what to do."""
    text = digits(value)
    left = f"translate({text}, '{_DIGITS}', '')"
    # DuckDB turns a list of six into a join, for which it computes `text` for every row, also where nobody asks.
    missing = f"regexp_replace(lower({text}), '^({'|'.join(_MISSING)})$', '') = ''"
    return [
        Wrong(f"{text} = ''", _BLANK, skipped),
        Wrong(f"{text} <> '' and {missing}", _NA, skipped),
        Wrong(f"{text} like '-_%' and {left} in ('-', '-.')", _NEGATIVE, skipped),
        Wrong(f"{text} <> '.' and {left} = '.'", _FRACTION, f"{_SMALLER}. {skipped}"),
        Wrong(f"not {whole(value)}", _TEXT, skipped),
    ]


def wrong_text(text: str, skipped: str) -> tuple[str, str] | None:
    """What is wrong with a text as a value, and what to do; None if it is a whole number."""
    if _WHOLE.fullmatch(text):
        return None
    bare = text.strip(" ")
    if not bare:
        return _BLANK, skipped
    if bare.lower() in _MISSING:
        return _NA, skipped
    if re.fullmatch(r"-(?:[0-9]+[.]?[0-9]*|[.][0-9]+)", bare):
        return _NEGATIVE, skipped
    if re.fullmatch(r"[0-9]+[.][0-9]*|[.][0-9]+", bare):
        return _FRACTION, f"{_SMALLER}. {skipped}"
    return _TEXT, skipped


def is_zero_text(text: str) -> bool:
    return _ZERO.fullmatch(text) is not None


def zeros_of(column: Any) -> Any:
    """Which texts of an Arrow column are a 0."""
    return need("pyarrow.compute").match_substring_regex(column, f"^{_ZERO.pattern}$")


def digits_of(column: Any) -> Any:
    """The texts of an Arrow column with whole numbers as their digits alone."""
    return need("pyarrow.compute").replace_substring_regex(column, f"^{_WHOLE.pattern}$", r"\1")


def numbers(column: Any, highest: int, clip: bool) -> NDArray[np.int64]:
    """A column of values as integers from 1 to `highest`. Text must be a whole number as written."""
    pa, compute = need("pyarrow"), need("pyarrow.compute")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        try:
            # Arrow would also accept 0x10.
            if not _all_digits(column):
                column = digits_of(column)
            column = compute.cast(column, pa.int64()) if _all_digits(column) else None
        except pa.ArrowInvalid:
            column = None
        if column is None:
            raise ArgumentError(
                "value", HIDDEN, "must be a whole number in every row", "Values are integers of 1 or more"
            )
    elif not pa.types.is_integer(column.type):
        raise ArgumentError(
            "value", str(column.type), "must be a column of whole numbers", "Round and cast the column first"
        )
    read = value_column(column, len(column), "value", highest=MAX_WEIGHT if clip else highest)
    weights = read.weights(0, len(column))
    return np.minimum(weights, highest) if clip else weights


def _all_digits(column: Any) -> bool:
    compute = need("pyarrow.compute")
    return bool(compute.all(compute.ascii_is_decimal(column), min_count=0).as_py())
