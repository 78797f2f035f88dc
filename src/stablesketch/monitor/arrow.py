"""Whole numbers between numpy and Arrow, as they are. Arrow's own ways would import pandas, which takes a second."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.libraries import need


def to_arrow(numbers: NDArray[np.int64]) -> Any:
    """An Arrow column over the same numbers."""
    pa = need("pyarrow")
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def to_numpy(column: Any, kind: type[np.integer[Any]] = np.int64) -> NDArray[Any]:
    """The numbers of an Arrow column that has no nulls."""
    size = np.dtype(kind).itemsize
    return np.frombuffer(column.buffers()[1], kind, len(column), size * column.offset)
