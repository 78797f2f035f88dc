"""Lines of text, each a key, read from a pipe or from files in the same way: Arrow batches with one column, `line`.

A line ends with \\n or \\r\\n, which is not part of it; every other character is. DuckDB's CSV reader is not used here:
it drops empty lines, ends lines at \\r, and requires a delimiter, which could occur in a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError
from .libraries import need
from .lines import whole_lines
from .numpy_arrow import text_column
from .packed import Readable, Rest, begun, opened_text, unreadable
from .streams import Stream, joined


def line_stream(file: Readable, name: str) -> Stream:
    return _lines(name, lambda: nullcontext(file))


def line_files(files: Sequence[Path], name: str) -> Stream:
    """The lines of files, one file after the other; they can be read again, and counted."""
    stream = joined([_lines(str(path), partial(opened_text, path)) for path in files], name)
    stream.rows = lambda: sum(batch.num_rows for batch in stream.open())
    return stream


def _lines(name: str, opened: Callable[[], AbstractContextManager[Readable]]) -> Stream:
    def read() -> Iterator[Any]:
        rows = 0
        try:
            with opened() as file:
                text = begun(file, name)
                unmarked = Rest(text, text.read(3).removeprefix(b"\xef\xbb\xbf"))
                for lines in whole_lines(unmarked.read, name):
                    batch = _batch(lines, name, rows)
                    rows += batch.num_rows
                    yield batch
        except OSError as error:  # a damaged archive, for example
            raise unreadable(name, error) from None

    return Stream(name, ["line"], read, text=True)


def _batch(lines: bytes, name: str, before: int) -> Any:
    """An Arrow column of text, made without a Python object per line: offsets and bytes, without line ends."""
    pa = need("pyarrow")
    data = np.frombuffer(lines if lines.endswith(b"\n") else lines + b"\n", np.uint8)
    newline = data == 10
    ends = newline.copy()
    ends[:-1] |= (data[:-1] == 13) & newline[1:]
    offsets = np.concatenate([[0], np.cumsum(~ends, dtype=np.int64)[newline]])
    body = data[~ends]
    valid = np.packbits(np.diff(offsets) > 0, bitorder="little")  # an empty line is not a key
    column = text_column(body, offsets, valid)
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raise _not_text(lines, name, before) from None
    return pa.RecordBatch.from_arrays([column], names=["line"])


def _not_text(lines: bytes, name: str, before: int) -> DataError:
    row = None
    for number, line in enumerate(lines.split(b"\n"), start=before + 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            row = number
            break
    return DataError(name, "the text is not UTF-8", "Convert it: iconv -f LATIN1 -t UTF-8, for example", row=row)
