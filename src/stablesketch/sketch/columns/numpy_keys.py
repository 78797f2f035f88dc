"""Keys in numpy arrays: for each dtype that can be a key, the function that turns a slice into fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._native import KeyHasher
from .canonical import NANOSECONDS, canonical_form
from .refusals import null_row, refused_dtype

ReadRows = Callable[[NDArray[Any], int], NDArray[np.uint64]]
"""Fingerprints of a slice, given the row at which the slice begins in its column."""

HashRows = Callable[[NDArray[Any], NDArray[np.uint64]], None]

_TWO_63 = np.uint64(2**63)


def reader(hasher: KeyHasher, dtype: np.dtype[Any], argument: str) -> ReadRows:
    """The function for this dtype; other dtypes are refused here, before any row is read."""
    if dtype.kind == "i" or (dtype.kind == "u" and dtype.itemsize < 8):
        return lambda rows, _: _dense(rows, np.dtype(np.int64)).view(np.uint64)
    if dtype.kind == "u":
        return lambda rows, _: _unsigned(hasher, rows)
    if dtype.kind == "U":
        return lambda rows, _: _fixed_width(hasher.text_rows, np.uint32, rows)
    if dtype.kind == "S":
        return lambda rows, _: _fixed_width(hasher.byte_rows, np.uint8, rows)
    if dtype.kind in "OT":  # Python objects, and numpy's variable-width text, which has no public layout
        return lambda rows, start: _objects(hasher, rows, start, argument)
    if dtype.kind == "M" and np.datetime_data(dtype) == ("D", 1):
        return lambda rows, start: _times(hasher.days, rows, start, argument)
    if dtype.kind == "M":
        unit, count = np.datetime_data(dtype)
        if unit in NANOSECONDS and count == 1:
            scale = NANOSECONDS[unit]
            return lambda rows, start: _times(
                lambda ticks, out: hasher.naive_ticks(ticks, scale, out), rows, start, argument
            )
    raise refused_dtype(argument, dtype)


def _dense(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The rows as a read-only, contiguous, aligned array in the machine's byte order; copied only if necessary."""
    dense = np.require(rows, dtype, ["C", "A"]).view()
    dense.flags.writeable = False
    return dense


def _unsigned(hasher: KeyHasher, rows: NDArray[Any]) -> NDArray[np.uint64]:
    dense = _dense(rows, np.dtype(np.uint64))
    if dense.size == 0 or dense.max() < _TWO_63:
        return dense
    out = np.empty(len(dense), np.uint64)
    hasher.unsigned_integers(dense, out)
    return out


def _fixed_width(hash_rows: HashRows, unit: type[np.unsignedinteger[Any]], rows: NDArray[Any]) -> NDArray[np.uint64]:
    width = rows.dtype.itemsize // np.dtype(unit).itemsize
    dense = _dense(rows, rows.dtype.newbyteorder("="))
    units = dense.view(unit) if width and len(rows) else np.empty(0, unit)
    out = np.empty(len(rows), np.uint64)
    hash_rows(units.reshape(len(rows), width), out)
    return out


def _objects(hasher: KeyHasher, rows: NDArray[Any], start: int, argument: str) -> NDArray[np.uint64]:
    out = np.empty(len(rows), np.uint64)
    hasher.objects(rows.tolist(), canonical_form(argument, start), out)
    return out


def _times(hash_ticks: HashRows, rows: NDArray[Any], start: int, argument: str) -> NDArray[np.uint64]:
    missing = np.isnat(rows)
    if missing.any():
        raise null_row(argument, start + int(np.argmax(missing)), np.datetime64("NaT"))
    out = np.empty(len(rows), np.uint64)
    hash_ticks(_dense(rows, rows.dtype.newbyteorder("=")).view(np.int64), out)
    return out
