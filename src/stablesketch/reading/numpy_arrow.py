"""Numbers from numpy to Arrow and back, and texts to Arrow, sharing memory. pyarrow's own functions import pandas if it
is installed, which is slow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .libraries import need


def from_numpy(numbers: NDArray[Any]) -> Any:
    """The numbers as an Arrow array, without a copy if they are contiguous."""
    pa = need("pyarrow")
    kept = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(kept.dtype), len(kept), [None, pa.py_buffer(kept)])


def text_column(content: Any, offsets: NDArray[Any], valid: Any = None) -> Any:
    """A column of texts that lie one after the other: text i is from offset i to the next. It is not checked. Bits of
    `valid` that are 0 make it null there.
    """
    pa = need("pyarrow")
    parts = (valid, offsets.astype(np.int32, copy=False), content)
    buffers = [None if part is None else pa.py_buffer(part) for part in parts]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def to_numpy(numbers: Any) -> NDArray[Any]:
    """The numbers of an Arrow array without nulls, not copied and read-only."""
    return np.from_dlpack(numbers)


def scalar(number: int) -> Any:
    """A number for comparisons with an Arrow column."""
    return from_numpy(np.array([number]))[0]
