"""The first line of a block that cannot be used: which one it is, and why. Its content is not shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...reading.value_text import wrong_text
from ...text.visible import visible
from ...text.wording import arg
from .blocks import Block
from .fields import NO_WINDOW, LineFields
from .texts import is_text

Reading = Callable[[bytes], tuple[Any, Any, int]]  # texts, rows and the number of lines
_SHAPES = {"json": "it is not JSON", "lines": "it is empty"}
_SHAPES |= dict.fromkeys(("csv", "tsv", "zeek"), "its columns are not those of the header")


class LinePlaces:
    """The numbers of lines in their input, counted from where reading began."""

    def __init__(self) -> None:
        self._before, self._whole = 0, False

    def named(self, block: Block, place: int, headers: int, kind: str) -> str:
        """A line of the block, given its place after `headers` header lines. Zeek's header lines are found here."""
        if block.begins:
            self._before, self._whole = 0, True
        lines = block.lines.split(b"\n")
        own = [i for i, line in enumerate(lines) if not (kind == "zeek" and line.startswith(b"#"))]
        number = self._before + own[headers + place] + 1
        return f"line {number:,}" if self._whole else f"line {number:,} of those read in this run"

    def passed(self, block: Block) -> None:
        """All lines of this block have been read."""
        if block.begins:
            self._before, self._whole = 0, True
        self._before += block.lines.count(b"\n") + block.too_long


def first_bad(lines: bytes, fields: LineFields, kind: str, read: Reading) -> tuple[int, str]:
    """The place of the first invalid line, and the reason. At least one of the lines must be invalid."""
    *whole, rest = lines.split(b"\n")
    each = [line + b"\n" for line in whole] + ([rest] if rest else [])
    low, high = 0, len(each)
    while high - low > 1:
        middle = (low + high) // 2
        _, rows, count = read(b"".join(each[low:middle]))
        low, high = (middle, high) if rows.num_rows == count else (low, middle)
    return low, _reason(each[low], fields, kind, read)


def _reason(line: bytes, fields: LineFields, kind: str, read: Reading) -> str:
    if not is_text(line):
        return "it is not UTF-8"
    texts, _, _ = read(line)
    if not texts.num_rows:
        return _SHAPES[kind]
    row = texts.to_pylist()[0]
    for name, mark in zip(fields.all, fields.marks, strict=True):
        shown, text = f"field {visible(name)!r}", row[mark]
        if text is None or text == "":
            return f"{shown} is missing or empty" if kind != "lines" else _SHAPES[kind]
        if mark == "t" and row["w"] == NO_WINDOW:
            return f"{shown} is not a time, since 1970 or RFC 3339"
        if mark == "v":
            wrong = wrong_text(text, "")
            if wrong is not None:
                return f"{shown} {wrong[0]}"
            if float(text) < 1.0:
                return f"{shown} is 0"
            if float(text) > fields.max_value:
                return f"{shown} is above {arg('max_value', fields.max_value)}"
    return "it is not a row"
