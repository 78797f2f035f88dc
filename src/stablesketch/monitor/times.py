"""The windows of times given as text: numbers since 1970, or RFC 3339.

Common forms are read by the compiled core (native/time_texts.hpp), all others by DuckDB. Fractions are truncated, never
rounded: windows begin at whole seconds, and are half-open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._native import NO_SECOND, seconds
from ..reading.duckdb import BlockQuery
from ..reading.libraries import need
from ..reading.numpy_arrow import from_numpy, to_numpy
from .presets import TimeUnit

NO_WINDOW = NO_SECOND
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_RFC_3339 = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):?[0-5]\d)"


def windows_of(times: Any, unit: TimeUnit, every: int, query: BlockQuery) -> NDArray[np.int64]:
    """The window of each text in an Arrow array; `NO_WINDOW` if it is not a time."""
    ends = np.frombuffer(times.buffers()[1], np.int32, len(times) + 1, 4 * times.offset)
    found = seconds(ends, np.frombuffer(times.buffers()[2] or b"", np.uint8), PER_SECOND[unit])
    if times.null_count:
        found[to_numpy(times.is_null().cast("uint8")) == 1] = NO_SECOND
    none = found == NO_SECOND
    unusual = np.flatnonzero(none & (np.diff(ends) > 0))
    if len(unusual):
        block = need("pyarrow").table({"t": times.take(from_numpy(unusual)), "n": from_numpy(unusual)})
        read = query(f"select coalesce({_second(unit)}, {NO_SECOND}) as s from block order by n", block)
        found[unusual] = to_numpy(read.column("s").combine_chunks())
        none = found == NO_SECOND
    windows = found // every
    windows[none] = NO_WINDOW
    return windows


def _second(unit: TimeUnit) -> str:
    """SQL for the whole second of the text t. Null if it is not a time."""
    offset = r"regexp_extract(t, '([Zz]|[+-]\d\d:?\d\d)$')"
    written = f"epoch_us(try_cast(upper(left(t, 19) || {offset}) as timestamptz)) // 1000000"
    counted = f"try_cast(split_part(t, '.', 1) as bigint) // {PER_SECOND[unit]}"
    return (
        f"case when substr(t, 5, 1) = '-' then case when regexp_full_match(t, '{_RFC_3339}') then {written} end "
        rf"when regexp_full_match(t, '\d{{1,19}}(\.\d*)?') then {counted} end"
    )
