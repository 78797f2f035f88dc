"""A block of complete lines on its way from a source to the windows, and the rows made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Block:
    """Complete lines, possibly none, and how far the source was read with them.

    `clock` is a time up to which everything that arrived is in earlier blocks: windows are closed by it, and then these
    lines are counted. `now` is when they were read. Both are in nanoseconds, and never go back. `position` is where to
    continue after a restart, as JSON. `head` is the beginning of the file, passed with the first block after it was
    opened; `begins` says that this block begins there too. `too_long` counts lines that were left out. `note` says what
    happened to the source.
    """

    lines: bytes
    clock: int
    now: int
    position: Any = None
    head: bytes | None = None
    begins: bool = False
    too_long: int = 0
    note: str = ""


@dataclass(frozen=True)
class Rows:
    """The rows of a block: Arrow columns of keys, the window of each, values if there are any; `bad` are the lines that
    could not be used, whatever the reason. `persons` are whose rows they are, where people are protected. `fault` says
    which line was the first that is bad, and why, if somebody wants to know."""

    keys: tuple[Any, ...]
    windows: NDArray[np.int64]
    values: NDArray[np.int64] | None
    bad: int
    persons: Any = None
    fault: str = ""
