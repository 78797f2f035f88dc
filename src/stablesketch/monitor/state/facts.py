"""Whether a stored fact can be what a monitor wrote. SQLite holds anything, and a damaged state is not continued."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...format.checked_json import JsonError, is_count, parsed
from ..windows import LAST_SECOND, SECOND

_LARGEST_INODE = 2**64 - 1


def _is_clock(value: Any) -> bool:
    """Nanoseconds since 1970; None before the first checkpoint."""
    return value is None or is_count(value, most=LAST_SECOND * SECOND)


def _is_position(value: Any) -> bool:
    """A place in a file (monitor/input/followed.py); None for a pipe."""
    if value is None:
        return True
    names = {"inode", "offset", "mark", "before"}
    return (
        isinstance(value, dict)
        and set(value) == names
        and all(is_count(value[name]) for name in ("offset", "mark"))
        and is_count(value["inode"], most=_LARGEST_INODE)
        and value["mark"] <= value["offset"]
        and type(value["before"]) is str
    )


def _is_counters(value: Any) -> bool:
    names = {"rows", "bad", "late", "early"}
    return isinstance(value, dict) and set(value) == names and all(map(is_count, value.values()))


def _is_seal(value: Any) -> bool:
    """The number in `lock` and its ctime, which is not known at first (state.py)."""
    return (
        isinstance(value, list) and len(value) == 2 and is_count(value[0]) and (value[1] is None or is_count(value[1]))
    )


def _is_settings(value: Any) -> bool:
    """The settings of a monitor: an object of JSON, as text."""
    try:
        return isinstance(parsed(value), dict)
    except JsonError:
        return False


POSSIBLE: dict[str, Callable[[Any], bool]] = {
    "clock": _is_clock, "position": _is_position, "counters": _is_counters, "delivered": is_count, "seal": _is_seal,
    "id": lambda value: type(value) is str, "asked": _is_settings,
}  # fmt: skip
"""Of a fact by its name. The others are checked where their meaning is known."""
