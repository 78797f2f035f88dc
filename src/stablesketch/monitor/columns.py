"""Lines as an Arrow column that shares their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reading.libraries import need


def column_of_lines(lines: Any) -> Any:
    """One text for each line, with its line end."""
    data = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(data == 10) + 1
    last = [len(data)] if len(data) and data[-1] != 10 else []
    return _column(lines, np.concatenate([[0], ends, last]))


def only_utf8(lines: bytes) -> bytes:
    """The lines that are UTF-8."""
    if lines.isascii():
        return lines
    try:
        _column(lines, np.array([0, len(lines)])).validate(full=True)
        return lines
    except need("pyarrow").ArrowInvalid:
        return b"\n".join(line for line in lines.split(b"\n") if is_text(line))


def _column(content: Any, offsets: Any) -> Any:
    pa = need("pyarrow")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def is_text(line: bytes) -> bool:
    try:
        line.decode()
        return True
    except UnicodeDecodeError:
        return False
