"""Lines of bytes, in linear time and bounded memory, up to a stated length."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..errors import DataError

LONGEST_LINE = 2_000_000
"""Maximum bytes of a line, including its end: DuckDB's limit, and therefore also that of pipes and of Spark."""

MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8. Some programs begin files with it; it is not part of the first line."""

_CHUNK = 1 << 20


def whole_lines(read: Callable[[int], bytes], source: str) -> Iterator[bytes]:
    """What `read` returns, split between lines. Takes linear time, and holds at most a line and a chunk in memory.

    Raises:
        DataError: a line is too long; the error names its number.
    """
    parts: list[bytes] = []  # of an unfinished line, joined once when it ends
    length = lines = 0
    while chunk := read(_CHUNK):
        head, newline, tail = chunk.rpartition(b"\n")
        if newline:
            parts.append(head)
            whole = b"".join([*parts, newline])
            _check_lengths(whole, source, lines)
            lines += whole.count(b"\n")
            yield whole
            parts, length = [], 0
        parts.append(tail)
        length += len(tail)
        if length >= LONGEST_LINE:
            raise too_long(source, lines + 1)
    if length:
        yield b"".join(parts)


def _check_lengths(whole: bytes, source: str, before: int) -> None:
    """Refuses lines that are too long. Only a chunk longer than the limit can contain one."""
    if len(whole) <= LONGEST_LINE:
        return
    for number, line in enumerate(whole.split(b"\n"), start=before + 1):
        if len(line) >= LONGEST_LINE:
            raise too_long(source, number)


def is_text(line: bytes) -> bool:
    """Whether the line is UTF-8."""
    try:
        line.decode()
        return True
    except UnicodeDecodeError:
        return False


def too_long(source: str, row: int | None) -> DataError:
    """The error about a line above the limit. Its content is not shown."""
    return DataError(
        source, f"the line is longer than the maximum of {LONGEST_LINE:,} bytes",
        "Shorten it, or read it as Parquet or from a data frame, where a key may be longer", row=row,
    )  # fmt: skip
