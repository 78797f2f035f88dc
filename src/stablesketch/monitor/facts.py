"""Whether a stored fact can be what a monitor wrote. SQLite holds anything, and a damaged state is not continued."""

from __future__ import annotations

from typing import Any

from ..format.checked_json import MOST_WHOLE, JsonError, parsed
from .windows import LAST_SECOND, SECOND

_LARGEST_INODE = 2**64 - 1


def is_count(value: Any, most: int = MOST_WHOLE) -> bool:
    return type(value) is int and 0 <= value <= most


def is_clock(value: Any) -> bool:
    """Nanoseconds since 1970; None before the first checkpoint."""
    return value is None or is_count(value, LAST_SECOND * SECOND)


def is_position(value: Any) -> bool:
    """A place in a file (input/followed.py); None for a pipe."""
    if value is None:
        return True
    names = {"inode", "offset", "mark", "before"}
    return (
        isinstance(value, dict)
        and set(value) == names
        and all(is_count(value[name]) for name in ("offset", "mark"))
        and is_count(value["inode"], _LARGEST_INODE)
        and value["mark"] <= value["offset"]
        and type(value["before"]) is str
    )


def is_counters(value: Any) -> bool:
    names = {"rows", "bad", "late", "early"}
    return isinstance(value, dict) and set(value) == names and all(map(is_count, value.values()))


def is_seal(value: Any) -> bool:
    """The number in `lock` and its ctime, which is not known at first (state.py)."""
    return (
        isinstance(value, list) and len(value) == 2 and is_count(value[0]) and (value[1] is None or is_count(value[1]))
    )


def is_text(value: Any) -> bool:
    return type(value) is str


def is_settings(value: Any) -> bool:
    """The settings of a monitor: an object of JSON, as text."""
    try:
        return isinstance(parsed(value), dict)
    except JsonError:
        return False
