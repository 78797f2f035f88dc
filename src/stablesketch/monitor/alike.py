"""Texts of times that are alike: then few of them have to be read, which saves a third of the time of a block.

Whether a text is a time depends on where its digits stand and on its other characters, up to what the numbers are
(`fields.py`); and which second it is, on all digits but those of the fraction, which are cut. So of rows whose texts
have digits at the same places and the same other characters, those in a row that differ in the fraction alone are one
second, or none of them is a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.libraries import need

_LONGEST = 40


def runs_of(times: Any) -> NDArray[np.int64] | None:
    """Where runs of the same second begin, in an Arrow column of texts; None if they are not alike, or runs are short.

    >>> runs_of(need("pyarrow").array(4 * ["12:01.7", "12:01.9"] + 4 * ["12:02.5"])).tolist()
    [0, 8]
    """
    count = len(times)
    if not count or times.null_count or times.type != need("pyarrow").string():
        return None
    ends = np.frombuffer(times.buffers()[1], np.int32, count + 1, 4 * times.offset)
    length = int(ends[1] - ends[0])
    if not 0 < length <= _LONGEST or not (np.diff(ends) == length).all():
        return None
    cells = np.frombuffer(times.buffers()[2], np.uint8, count * length, int(ends[0])).reshape(count, length)
    digits = cells[0] - 48 <= 9  # without a sign: what is below 48 is above 200 then
    if not ((cells[:, digits] - 48 <= 9).all() and (cells[:, ~digits] == cells[0, ~digits]).all()):
        return None
    text = cells[0].tobytes()
    begin = text.find(b".") + 1
    end = begin
    while begin and end < length and digits[end]:
        end += 1
    kept = np.delete(cells, np.s_[begin:end], axis=1)
    starts = np.flatnonzero(np.concatenate([[True], (kept[1:] != kept[:-1]).any(axis=1)]))
    return starts if 4 * len(starts) <= count else None
