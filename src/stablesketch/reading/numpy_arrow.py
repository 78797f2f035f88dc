"""Numbers from numpy to Arrow and back, and columns of text from bytes, sharing memory. pyarrow's own functions import
pandas if it is installed, which is slow.
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


def text_column(offsets: NDArray[Any], content: Any, valid: NDArray[np.bool_] | None = None) -> Any:
    """Texts as an Arrow array, made without a Python object for each: text i is offsets[i] to offsets[i + 1] of the
    content, which is not checked to be UTF-8, or null if it is not `valid`.
    """
    pa = need("pyarrow")
    nulls = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [nulls, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def to_numpy(numbers: Any) -> NDArray[Any]:
    """The numbers of an Arrow array without nulls, not copied and read-only."""
    return np.from_dlpack(numbers)


def scalar(number: int) -> Any:
    """A number for comparisons with an Arrow column."""
    return from_numpy(np.array([number]))[0]
