"""The canonical form, for the native loop, of a Python object that is a key but not an int, str or bytes.

The same day, instant or UUID has the same form whether it is an object of Python, numpy or pandas, or in a column.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from enum import IntEnum

import numpy as np

from ...errors import HIDDEN, ArgumentError
from .refusals import is_missing, null_row, refused_dtype, refused_item, refused_row

CanonicalForm = int | tuple[int, bytes]
"""An integer, which is its own fingerprint, or the domain of a key and the bytes to hash in it."""


class Domain(IntEnum):
    """The types that are hashed, each under its own 16 bytes of key material, in this order."""

    BIG = 0
    TEXT = 1
    BYTES = 2
    DATE = 3
    NAIVE = 4
    INSTANT = 5
    UUID = 6
    TUPLE = 7


NANOSECONDS = {"h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Units of numpy.datetime64 that are timestamps; "D" is a date, all others are refused."""

_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_ONE_MICROSECOND = datetime.timedelta(microseconds=1)


def canonical_form(argument: str, first_row: int) -> Callable[[object, int], CanonicalForm]:
    """A function of (item, i) for the native loop. Its errors name the argument and the row, `first_row + i`, counted
    from 1."""

    def canonical(item: object, i: int) -> CanonicalForm:
        row = first_row + i
        if is_missing(item):
            raise null_row(argument, row, item)
        if isinstance(item, datetime.datetime):
            return _timestamp(item)
        if isinstance(item, datetime.date):
            return int(Domain.DATE), _date(item.toordinal() - _EPOCH_DAY)
        if isinstance(item, uuid.UUID):
            return int(Domain.UUID), item.bytes
        if isinstance(item, bytearray):
            return int(Domain.BYTES), bytes(item)
        if isinstance(item, memoryview) and item.format in ("B", "b", "c") and item.ndim == 1:
            return int(Domain.BYTES), item.tobytes()
        if isinstance(item, np.integer) and not isinstance(item, np.timedelta64):
            return int(item)
        if isinstance(item, np.datetime64):
            return _numpy_timestamp(argument, item)
        if isinstance(item, str):
            raise refused_row(argument, row, "not unicode")
        if isinstance(item, int) and not isinstance(item, bool):
            must = f"must be integers from -2^63 to 2^64 - 1 (row {row + 1})"
            raise ArgumentError(argument, HIDDEN, must, "Pass such integers as str or bytes")
        raise refused_item(argument, item, row)

    return canonical


def _date(days: int) -> bytes:
    return days.to_bytes(8, "little", signed=True)


def _ticks(nanoseconds: int) -> bytes:
    return nanoseconds.to_bytes(16, "little", signed=True)


def _timestamp(item: datetime.datetime) -> CanonicalForm:
    """From the fields, not by subtraction: exact in every year, and with the nanoseconds of a pandas.Timestamp."""
    seconds = ((item.toordinal() - _EPOCH_DAY) * 24 + item.hour) * 3600 + item.minute * 60 + item.second
    nanoseconds = seconds * 1_000_000_000 + item.microsecond * 1_000 + getattr(item, "nanosecond", 0)
    offset = item.utcoffset()
    if offset is None:
        return int(Domain.NAIVE), _ticks(nanoseconds)
    return int(Domain.INSTANT), _ticks(nanoseconds - (offset // _ONE_MICROSECOND) * 1_000)


def _numpy_timestamp(argument: str, item: np.datetime64) -> CanonicalForm:
    unit, count = np.datetime_data(item.dtype)
    ticks = int(item.astype(np.int64))
    if unit == "D" and count == 1:
        return int(Domain.DATE), _date(ticks)
    if unit in NANOSECONDS and count == 1:
        return int(Domain.NAIVE), _ticks(ticks * NANOSECONDS[unit])
    raise refused_dtype(argument, item.dtype)
