"""Numbers from numpy to Arrow and back, sharing memory. pyarrow's own functions import pandas if it is installed,
which is slow.
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


def to_numpy(numbers: Any) -> NDArray[Any]:
    """The numbers of an Arrow array without nulls, not copied and read-only."""
    return np.from_dlpack(numbers)


def scalar(number: int) -> Any:
    """A number for comparisons with an Arrow column."""
    return from_numpy(np.array([number]))[0]
