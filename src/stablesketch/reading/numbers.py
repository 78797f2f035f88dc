"""A column of values as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import HIDDEN, ArgumentError
from ..sketch.columns import MAX_WEIGHT, value_column
from .libraries import need
from .value_text import digits_of


def numbers(column: Any, highest: int, clip: bool) -> NDArray[np.int64]:
    """A column of values as integers from 1 to `highest`. Text must be a whole number as written (value_text.py);
    1.5 is refused."""
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
