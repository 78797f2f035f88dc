"""Recognises the container of a column: a list, a numpy array, or anything with the Arrow or numpy interface.

This never imports a data frame library. It looks up pandas and polars among the modules that the caller has loaded, and
only if their own export would lose something: the types in a mixed category, or the objects of an object column.
"""

from __future__ import annotations

import array
import datetime
import numbers
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._native import ArrowColumn, ArrowError, KeyHasher
from ...errors import ArgumentError, ArgumentTypeError, Shown
from .refusals import null_row

_SINGLE_TYPES = (
    str,
    bytes,
    bytearray,
    memoryview,
    numbers.Number,
    np.generic,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    uuid.UUID,
)


@dataclass(frozen=True)
class Categories:
    """A pandas categorical: codes into a column of categories, with -1 for null."""

    codes: NDArray[np.signedinteger[Any]]
    categories: object


@dataclass(frozen=True)
class ArrowContainer:
    """A column of the Arrow interface. Its capsules can be opened once."""

    column: Callable[[KeyHasher | None], ArrowColumn]

    def open(self, hasher: KeyHasher | None, argument: str, described: Shown) -> ArrowColumn:
        """The column. A refused type raises the native FormatError; each caller turns it into its own message."""
        try:
            return self.column(hasher)
        except ArrowError as error:
            raise _unreadable(argument, described, error) from None


Container = list[object] | range | NDArray[Any] | Categories | ArrowContainer


def is_single(column: object) -> bool:
    """Whether this is a single value instead of a column of values."""
    return column is None or isinstance(column, _SINGLE_TYPES)


def described(column: object) -> Shown:
    """A column in an error message: its type, never its contents."""
    return Shown(f"<{type(column).__module__}.{type(column).__qualname__}>")


def recognise(column: object, argument: str) -> Container:
    """The container of the data of `column`, or an error that says what to pass instead."""
    if isinstance(column, list | range):
        return column
    if is_single(column):
        raise ArgumentTypeError(
            argument, type(column), "must be a column, not a single value", "Wrap it in a list: [...]"
        )
    if isinstance(column, type):  # a class has the methods of its instances, and would be mistaken for one below
        raise _not_a_column(column, argument)
    if isinstance(column, np.ma.MaskedArray):
        return _unmasked(column, argument)
    if isinstance(column, np.ndarray):
        return _flat(column, argument)
    if isinstance(column, array.array) and column.typecode not in "uw":
        return np.asarray(column)
    if _is_pandas(column):
        return _from_pandas(column, argument)
    _refuse_polars_objects(column, argument)
    if isinstance(getattr(column, "dtype", None), np.dtype):
        return _flat(_as_array(column, argument), argument)
    if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
        return _from_arrow(column, argument)
    if hasattr(column, "__array__") or hasattr(column, "__array_interface__"):
        return _flat(_as_array(column, argument), argument)
    raise _not_a_column(column, argument)


def _flat(data: NDArray[Any], argument: str) -> NDArray[Any]:
    if data.ndim == 1:
        return np.asarray(data)
    shown = Shown(f"<array of shape {data.shape}>")
    if data.ndim == 0:
        raise ArgumentError(argument, shown, "must be a column, not a single value", "Wrap it in a list: [...]")
    way_out = "Pass one column of it, several as a tuple (a[:, 0], a[:, 1]), or a.ravel()"
    raise ArgumentError(argument, shown, "must have one dimension", way_out)


def _unmasked(column: np.ma.MaskedArray[Any, Any], argument: str) -> NDArray[Any]:
    mask = np.ma.getmaskarray(column)
    data = _flat(np.asarray(column.data), argument)
    if mask.any():
        raise null_row(argument, int(np.argmax(mask)), Shown("<masked>"))
    return data


def _as_array(column: object, argument: str) -> NDArray[Any]:
    try:
        return np.asarray(column)
    except Exception as error:
        raise _unreadable(argument, described(column), error) from None


def _is_pandas(column: object) -> bool:
    """Whether this is a column of pandas, known only if the caller has imported pandas."""
    pandas: Any = sys.modules.get("pandas")
    if not all(hasattr(pandas, name) for name in ("Series", "Index", "api", "CategoricalDtype")):
        return False
    return isinstance(column, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray)


def _from_pandas(column: Any, argument: str) -> Container:
    if isinstance(column.dtype, np.dtype):
        return _flat(np.asarray(column), argument)
    pandas: Any = sys.modules["pandas"]
    # Only a Series speaks Arrow; it can hold the data of an Index or an array as it is.
    series = column if isinstance(column, pandas.Series) else pandas.Series(column, copy=False)
    if isinstance(series.dtype, pandas.CategoricalDtype):
        # Not through Arrow, which would turn text among bytes into bytes, and a date among timestamps into a timestamp.
        return Categories(np.asarray(series.cat.codes), series.cat.categories)
    try:
        return ArrowContainer(partial(ArrowColumn.from_stream, series.__arrow_c_stream__()))
    except Exception:
        # pandas needs pyarrow for its Arrow interface, and pyarrow does not know every extension of pandas. The
        # elements are then examined one by one.
        return _flat(np.asarray(series, dtype=object), argument)


def _refuse_polars_objects(column: object, argument: str) -> None:
    """polars exports a column of Python objects as the addresses of those objects: keys that never repeat."""
    polars: Any = sys.modules.get("polars")
    if not all(hasattr(polars, name) for name in ("Series", "Object")):
        return
    if isinstance(column, polars.Series) and column.dtype == polars.Object:
        must = "cannot be a polars column of Python objects"
        raise ArgumentTypeError(argument, described(column), must, "Pass it as a list: column.to_list()")


def _from_arrow(column: Any, argument: str) -> ArrowContainer:
    try:
        if hasattr(column, "__arrow_c_stream__"):
            return ArrowContainer(partial(ArrowColumn.from_stream, column.__arrow_c_stream__()))
        schema, data = column.__arrow_c_array__()
        return ArrowContainer(partial(ArrowColumn.from_array, schema, data))
    except Exception as error:
        raise _unreadable(argument, described(column), error) from None


def _unreadable(argument: str, shown: Shown, error: Exception) -> ArgumentTypeError:
    """Shows only the type of a foreign error, because its text could contain data."""
    must = f"cannot be read ({error if isinstance(error, ArrowError) else type(error).__name__})"
    return ArgumentTypeError(argument, shown, must, "Pass a list, a numpy array or an Arrow array of the same data")


def _not_a_column(column: object, argument: str) -> ArgumentTypeError:
    shown = described(column)
    if isinstance(column, Mapping):
        way_out = "Pass its parts as two lists: keys list(mapping), values list(mapping.values())"
        return ArgumentTypeError(argument, shown, "cannot be a mapping", way_out)
    if isinstance(column, Set):
        return ArgumentTypeError(argument, shown, "cannot be a set, whose rows have no order", f"Pass list({argument})")
    if isinstance(column, Iterator) or hasattr(column, "__iter__"):
        must = "must be a list, an array or a column of a data frame, which can be read twice"
        return ArgumentTypeError(argument, shown, must, f"Pass list({argument})")
    way_out = "Pass a list, a numpy array, or a column of pandas, polars, pyarrow or any Arrow library"
    return ArgumentTypeError(argument, shown, "must be a column", way_out)
