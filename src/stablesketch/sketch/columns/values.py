"""Values to weights: one whole number from 1 to 2^53 for each key, read in slices and never converted silently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._native import ArrowColumn, FormatError, RowError, first_outside, list_integers
from ...errors import HIDDEN, ArgumentError, ArgumentTypeError, Shown
from ...numbers.checked import is_whole
from ...text.wording import arg, subject
from .containers import ArrowContainer, Categories, described, recognise
from .refusals import NULL_WAY_OUT, arrow_name, cut_short, is_missing, null_row, outside

MAX_WEIGHT = 2**53
"""The largest value of one row: up to here every integer is exact as a double, whichever program wrote the data."""

ReadWeights = Callable[[int, int], NDArray[np.int64]]
"""The integers of a slice of rows; refuses those that 64 bits cannot hold."""

_SHARED_ROWS = 1 << 20


class ValueColumn:
    """A column of weights of known length, read in slices, by any number of threads at once."""

    def __init__(self, length: int, argument: str, highest: int, read: ReadWeights) -> None:
        self._length = length
        self._argument = argument
        self._read = read
        self.highest = highest

    def __len__(self) -> int:
        return self._length

    def weights(self, start: int, stop: int) -> NDArray[np.int64]:
        """The weights of rows `start` to `stop`, each in 1..highest: possibly a read-only view of the caller's data.

        Raises:
            ArgumentError: a row is null, not a whole number, below 1 or above `highest`; the message names the row.
        """
        rows = self.unchecked(start, stop)
        bad = first_outside(rows, 1, self.highest)
        if bad >= 0:
            raise self.refused(int(rows[bad]), start + bad)
        return rows

    def unchecked(self, start: int, stop: int) -> NDArray[np.int64]:
        """Like `weights`, for callers that compare each weight with 1 and `highest` themselves, and raise `refused` for
        the first one outside.
        """
        if not 0 <= start <= stop <= self._length:
            raise outside(start, stop, self._length)
        return self._read(start, stop)

    def refused(self, value: int, row: int) -> ArgumentError:
        """The error about the value of this row."""
        return _out_of_range(value, self._argument, f" (row {row + 1})", self.highest)


def value_column(values: object, length: int, argument: str = "values", *, highest: int = MAX_WEIGHT) -> ValueColumn:
    """The weights of `length` keys: a column of integers, one integer for all of them, or None for 1 each.

    A value above `highest`, the promised max_value, is refused; so is one above 2^53, whatever `highest` is.

    Raises:
        ArgumentTypeError: not a column of integers. Floats are refused even if whole: nothing is rounded silently.
        ArgumentError: the number of values differs from the number of keys, or a single value is outside 1..2^53.
    """
    highest = min(highest, MAX_WEIGHT)
    if values is None:
        return ValueColumn(length, argument, highest, _same(1, length))
    if is_whole(values):
        weight = int(values)
        if not 1 <= weight <= highest:
            raise _out_of_range(weight, argument, "", highest)
        return ValueColumn(length, argument, highest, _same(weight, length))
    if isinstance(values, float | np.floating | bool | np.bool_):
        raise _refused_item(argument, values, "")
    if isinstance(values, tuple):
        way_out = "Pass a list, or a numpy array"
        raise ArgumentTypeError(argument, described(values), "must be one column, and a tuple means several", way_out)
    rows, read = _opened(values, argument)
    if rows != length:
        must = f"must have one value for each of the {length} keys"
        raise ArgumentError(argument, Shown(f"{rows} rows"), must, "Pass one value for each key, or a single integer")
    return ValueColumn(length, argument, highest, read)


def _opened(values: object, argument: str) -> tuple[int, ReadWeights]:
    """The number of rows, and what reads them."""
    container = recognise(values, argument)
    if isinstance(container, list | range):
        return len(container), _of_list(container, argument)
    if isinstance(container, Categories):
        way_out = "Cast them: values.astype('int64')"
        raise ArgumentTypeError(argument, described(values), "must be numbers, not categories", way_out)
    if isinstance(container, ArrowContainer):
        try:
            column = container.open(None, argument, described(values))
            return len(column), _of_arrow(column, argument)
        except FormatError as refused:
            raise _refused_type(argument, arrow_name(*refused.args), "Cast the column to int64") from None
    if container.dtype.kind == "O":
        return len(container), _of_list(container, argument)
    if container.dtype.kind == "f":
        raise _refused_floats(argument, container)
    if container.dtype.kind not in "iu":
        raise _refused_type(argument, container.dtype, "Cast them to int64")
    return len(container), _of_array(container, argument)


def _same(weight: int, length: int) -> ReadWeights:
    rows = _filled(weight, min(length, _SHARED_ROWS))  # one array that serves every slice

    def read(start: int, stop: int) -> NDArray[np.int64]:
        count = stop - start
        return rows[:count] if count <= len(rows) else _filled(weight, count)

    return read


def _of_list(all_items: list[object] | range | NDArray[Any], argument: str) -> ReadWeights:
    length = len(all_items)

    def read(start: int, stop: int) -> NDArray[np.int64]:
        rows = all_items[start:stop]
        items = rows.tolist() if isinstance(rows, np.ndarray) else list(rows)
        if len(items) != stop - start:
            raise cut_short(argument, length, len(all_items))
        out = np.empty(stop - start, np.uint64)

        def other(item: object, i: int) -> int:
            """Any item that is not a Python int in range: an integer of another class, or an error."""
            where = f" (row {start + i + 1})"
            if not is_whole(item):
                raise _refused_item(argument, item, where)
            weight = int(item)
            if not 1 <= weight <= MAX_WEIGHT:
                raise _out_of_range(weight, argument, where)
            return weight

        list_integers(items, 1, MAX_WEIGHT, other, out)
        return out.view(np.int64)

    return read


def _of_array(data: NDArray[Any], argument: str) -> ReadWeights:
    def read(start: int, stop: int) -> NDArray[np.int64]:
        rows = data[start:stop]
        if rows.dtype.kind == "u" and rows.dtype.itemsize == 8 and rows.size and int(rows.max()) > MAX_WEIGHT:
            row = int(np.argmax(rows > MAX_WEIGHT))  # before the cast, which would wrap them
            raise _out_of_range(int(rows[row]), argument, f" (row {start + row + 1})")
        weights = np.require(rows, np.dtype(np.int64), ["C", "A"]).view()
        weights.flags.writeable = False
        return weights

    return read


def _of_arrow(column: ArrowColumn, argument: str) -> ReadWeights:
    def read(start: int, stop: int) -> NDArray[np.int64]:
        try:
            view = column.view(start, stop)
            if view is None:
                view = np.empty(stop - start, np.uint64)
                column.integers(start, stop, view)
        except RowError as refused:
            row, reason, value = refused.args
            if reason == "null":
                raise null_row(argument, row) from None
            raise _out_of_range(value, argument, f" (row {row + 1})") from None
        return view.view(np.int64)

    return read


def _filled(weight: int, count: int) -> NDArray[np.int64]:
    rows = np.full(count, weight, np.int64)
    rows.flags.writeable = False
    return rows


def _out_of_range(value: int, argument: str, where: str, highest: int = MAX_WEIGHT) -> ArgumentError:
    if value < 0:
        must, way_out = "must be positive", "Use delete to remove pairs"
    elif value == 0:
        must, way_out = "must be positive", "Leave out rows of value 0: keys[values > 0] and values[values > 0]"
    elif value > MAX_WEIGHT:
        must, way_out = "must be at most 2^53", "Use a coarser unit of value"
    else:
        must, larger = f"must be at most {arg('max_value', highest)}", f"plan with a larger {subject('max_value')}"
        way_out = f"Clip such values to {highest}, or {larger}: the guarantee relies on it"
    return ArgumentError(argument, HIDDEN, f"{must}{where}", way_out)


def _refused_item(argument: str, item: object, where: str) -> ArgumentError:
    if is_missing(item):
        return ArgumentError(argument, item, f"must not be null{where}", NULL_WAY_OUT)
    if isinstance(item, float | np.floating):
        if item != item:
            return ArgumentTypeError(argument, HIDDEN, f"must not be NaN{where}", "Drop such rows first")
        if float(item).is_integer():
            return ArgumentTypeError(
                argument, HIDDEN, f"must be an integer, not a float{where}", "Convert it: int(value)"
            )
        way_out = "Scale values to whole numbers of a smaller unit, or round them"
        return ArgumentTypeError(argument, HIDDEN, f"must be a whole number, not a float{where}", way_out)
    must = f"must be an integer, not {type(item).__name__}{where}"
    return ArgumentTypeError(argument, HIDDEN, must, "Pass integers from 1 to 2^53")


def _refused_floats(argument: str, data: NDArray[np.floating[Any]]) -> ArgumentError:
    """Refuses any array of floats, and names the first row that no cast can save."""
    with np.errstate(invalid="ignore"):
        unfit = ~np.isfinite(data) | (data != np.floor(data))
    if unfit.any():
        row = int(np.argmax(unfit))
        return _refused_item(argument, data[row], f" (row {row + 1})")
    return _refused_type(argument, data.dtype, "All of them are whole: cast them, values.astype(np.int64)")


def _refused_type(argument: str, shown: object, way_out: str) -> ArgumentTypeError:
    return ArgumentTypeError(argument, shown, "must be integers between 1 and 2^53", way_out)
