"""Texts in a column of values, some of them odd, and what the SQL says of them, on DuckDB and Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from stablesketch.reading.columns import Columns, bad_rows, is_bad, is_zero, usual_row, which_bad

WHOLE = {"3": 3, "03": 3, "3.0": 3, "3.000": 3, " 3": 3, "3 ": 3, " 12.0 ": 12, "0": 0, "0.0": 0, "00": 0, "100": 100}
WRONG = {
    "": "is empty or null", " ": "is empty or null",
    "NA": "is a missing value", "nan": "is a missing value", "NULL": "is a missing",
    "-3": "is negative", "-3.0": "is negative", "-1.5": "is negative", " -7": "is negative",
    "1.5": "is a number with decimals", "0.25 ": "is a number with decimals", "10.50": "is a number with decimals",
    "x": "is not a whole number", "1e3": "is not a whole number", "0x10": "is not a whole number",
    "1,5": "is not a whole number", "3 4": "is not a whole number", "-": "is not a whole number",
    "+3": "is not a whole number", "\u00a03": "is not a whole number", "\t3": "is not a whole number",
}  # fmt: skip


ODD = [
    *WHOLE, *WRONG, ".", "..", "1.0.0", "1.5.0", "-0", ".0", "3.", "0.", "٣", "٠", "１", "²", "Ⅷ", "1e3", "1E3", "1e-3",
    "1.0", "1.50", "007", "000", "0000000000", "+0", "- 3", "--3", "1_000", "1,000", "1 000", "1\u202f000", "\0", "1\0",
    "\x001", "1\n", "\n1", "1\r", "3.0\n", "na\n", "1\t", "\t", "1.0 ", " 1.0", "1 .0", "0 .0", "1. 0", "  ", " - ",
    "-.5", "0x1F", "1f", "1d", "1L", "inf", "-inf", "Infinity", "nAn", "#N/A", "n/a|", "|", "none,null", "true", "'1'",
    "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740992.0", "9223372036854775807", "%", "$1",
    "9223372036854775808", "18446744073709551616", "9" * 38, "9" * 39, "1" + "0" * 200, "0" * 200 + "1", "\ufeff1",
    "1." + "0" * 200, "-9223372036854775808", "4", "5", "6", "5.0", " 6", "05", "\u20071", "1" * 400 + ".0", "1\u200b",
]  # fmt: skip
ASKED = [(zeros, largest) for zeros in ("absent", "refused", "kept") for largest in (None, 5)]
NEVER = "false"


def fast_beside_full(zeros: Any, largest: int | None) -> list[str]:
    """SQL of the fast test, and of what is invalid with it and without it."""
    columns = Columns((), "v", zeros=zeros)
    usual, bad = usual_row(columns, text=True, largest=largest), bad_rows(columns, text=True, largest=largest)
    return [usual, is_bad(bad, usual), is_bad(bad, NEVER), which_bad(bad, usual), which_bad(bad, NEVER)]


def read_as(text: str | None) -> int | None:
    """The value, computed without SQL as SQL does; None if there is none."""
    found = "" if text is None else re.sub(r"[.]0+ *\Z", "", text).strip(" ")
    return int(found) if re.fullmatch("[0-9]+", found) else None


def check_fast(
    texts: Sequence[str | None], ask: Callable[..., list[tuple[Any, ...]]], zeros: Any, largest: int | None
) -> None:
    """`ask` evaluates expressions of SQL for each of the texts, in column v."""
    found = ask(*fast_beside_full(zeros, largest), is_zero(Columns((), "v"), text=True))
    for text, (usual, bad, bad_in_full, which, which_in_full, absent) in zip(texts, found, strict=True):
        assert (bad, which) == (bad_in_full, which_in_full), text
        assert bad is (which is not None), text
        assert not (usual and bad), text
        number = read_as(text)
        assert absent is (number == 0), text
        highest, lowest = min(largest or 2**53, 2**53), 1 if zeros == "refused" else 0
        assert bad is not (number is not None and lowest <= number <= highest), text
