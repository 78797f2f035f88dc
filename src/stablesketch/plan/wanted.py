"""`Wanted`: what a plan is asked for besides statistic and privacy, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from ..errors import ArgumentError, ArgumentTypeError
from ..statistic import Statistic
from .plan import LARGEST_IN_ALL, LARGEST_SIZE, Mechanism

__all__ = ["HEADER_BYTES", "LARGEST_SIZE", "LEAST_SIZE", "USUAL_MEMORY", "Wanted", "wanted"]

LEAST_SIZE = 5  # with fewer entries the estimate errs by over 10% more than predicted, with two without bound
USUAL_MEMORY = 256 * 1024
HEADER_BYTES = 600  # the plan, the shards and the frame of a stored collector, about


@dataclass(frozen=True)
class Wanted:
    """One of `error`, `size` and `memory` at most; `sizes` are those of the parts, where a statistic has several."""

    error: float | None = None
    size: int | None = None
    sizes: tuple[int, ...] = ()
    entries_per_key: int | None = None
    each_per_key: tuple[int, ...] = ()
    """Of the parts, as `sizes`; 0 of what has no buckets."""
    memory: int | None = None
    memory_as_given: str | int | None = None
    expected: float | None = None
    mechanism: Mechanism = "sketch"
    deletes: bool = False
    usual: bool = False
    """Whether nobody asked for the error, so that it need not be reached."""
    part_of: Statistic | None = None
    """What is computed from it, where it is one of several measurements."""
    parts: int = 1
    """Of the same memory."""
    usual_memory: int = USUAL_MEMORY
    """Where nothing is asked for, in bytes stored, for all parts together."""

    def one(self, size: int, per_key: int = 0) -> Wanted:
        """The same with one size, of one part; what has no size is asked for none."""
        return replace(
            self, error=None, size=size or None, sizes=(), entries_per_key=per_key or None, each_per_key=(), memory=None
        )  # fmt: skip

    def error_or(self, default: float) -> float:
        """The error to be aimed at."""
        return default if self.error is None else self.error

    def size_within(self, bytes_each: float, fewest: int = LEAST_SIZE) -> int:
        """The size asked for, or as many entries of so many bytes as fit into the memory: `fewest` at least."""
        if self.size is not None:
            return self.size
        assert self.memory is not None
        fits = math.floor((self.memory - HEADER_BYTES) / bytes_each)
        if fits < fewest:
            least = self.parts * (HEADER_BYTES + math.ceil(fewest * bytes_each))
            raise ArgumentError(
                "memory", self.memory_as_given, f"the smallest plan takes {least} bytes", f"Pass memory={least} or more"
            )
        return min(fits, LARGEST_SIZE)

    def no_buckets(self, statistic: Statistic) -> None:
        """Refuses buckets, and more entries than one bucket may have, for what cannot have any."""
        if self.size is not None and self.size > LARGEST_SIZE:
            way_out = f"Pass {LARGEST_SIZE} or fewer, or leave it out"
            raise ArgumentError("size", self.size, f"{statistic} is measured with {LARGEST_SIZE:,} at most", way_out)
        if self.entries_per_key is not None:
            raise ArgumentError(
                "entries_per_key", self.entries_per_key, f"every key touches all that {statistic} is measured with",
                "Leave it out; moments of orders below 1 and entropy have buckets, by mechanism='sketch'",
            )  # fmt: skip


def wanted(
    *, error: float | None, size: int | Sequence[int] | None, memory: str | int | None,
    entries_per_key: int | Sequence[int] | None, expected: float | None, mechanism: Mechanism, deletes: bool,
) -> Wanted:  # fmt: skip
    """The arguments of `ss.plan`, checked."""
    asked = (("error", error), ("size", size), ("memory", memory))
    given = {name: value for name, value in asked if value is not None}
    if len(given) > 1:
        (first, value), (second, _), *_ = given.items()
        raise ArgumentError(
            first, value, f"{second}= is given too, and either decides the size", f"Leave out {first}= or {second}="
        )
    if not isinstance(deletes, bool):
        raise ArgumentTypeError("deletes", deletes, "not True or False", "Pass True to allow deletes")
    if mechanism not in get_args(Mechanism):
        raise ArgumentError("mechanism", mechanism, "there is no such mechanism", 'Pass "sketch", "exact" or "bare"')
    if mechanism == "exact" and (size is not None or memory is not None):
        (named,) = (name for name in ("size", "memory") if name in given)
        way_out = f"Leave out {named}="
        raise ArgumentError(named, given[named], "the exact mechanism holds every key and has no size", way_out)
    if mechanism != "sketch" and entries_per_key is not None:
        raise ArgumentError(
            "entries_per_key", entries_per_key, f"mechanism {mechanism!r} has no buckets", "Leave out entries_per_key="
        )
    several = isinstance(size, Sequence) and not isinstance(size, str)
    each = isinstance(entries_per_key, Sequence) and not isinstance(entries_per_key, str)
    if each and not several:
        raise ArgumentError(
            "entries_per_key", entries_per_key, "these are several, and there is no size for each",
            "Pass one number, or as many sizes",
        )  # fmt: skip
    return Wanted(
        error=None if error is None else _checked_error(error),
        size=None if size is None or several else _checked_size(size),
        sizes=tuple(_checked_size(own, least=0) for own in size) if several else (),  # type: ignore[union-attr]
        entries_per_key=None if entries_per_key is None or each else _checked_per_key(entries_per_key),
        each_per_key=tuple(_checked_per_key(own, least=0) for own in entries_per_key) if each else (),  # type: ignore[union-attr]
        memory=None if memory is None else _memory(memory),
        memory_as_given=memory,
        expected=_checked_expected(expected),
        mechanism=mechanism,
        deletes=deletes,
    )


def _checked_expected(expected: float | None) -> float | None:
    if expected is None:
        return None
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        raise ArgumentTypeError("expected", expected, "not a number", "Pass the value you expect, or leave it out")
    if not (expected > 0 and math.isfinite(expected)):
        raise ArgumentError("expected", expected, "it must be positive", "Pass the value you expect, or leave it out")
    return float(expected)


def _checked_error(error: float) -> float:
    if isinstance(error, bool) or not isinstance(error, int | float):
        raise ArgumentTypeError("error", error, "not a number", "Pass an error such as 0.05")
    if not 0.0 < error < 1.0:
        raise ArgumentError("error", error, "it must lie between 0 and 1", "Pass error=0.05 for 5%")
    return float(error)


def _checked_size(size: Any, least: int = LEAST_SIZE) -> int:
    if isinstance(size, bool) or not isinstance(size, int):
        raise ArgumentTypeError("size", size, "not a number of entries", "Pass an integer such as 500")
    if not least <= size <= LARGEST_IN_ALL:
        way_out = "Pass size=200, for example, or leave it out"
        raise ArgumentError("size", size, f"it must lie between {LEAST_SIZE} and {LARGEST_IN_ALL:,}", way_out)
    return size


def _checked_per_key(entries: Any, least: int = LEAST_SIZE) -> int:
    if isinstance(entries, bool) or not isinstance(entries, int):
        raise ArgumentTypeError("entries_per_key", entries, "not a number of entries", "Pass an even one, such as 16")
    if not least <= entries <= LARGEST_SIZE or entries % 2:
        raise ArgumentError(
            "entries_per_key", entries, f"it must be even, from {LEAST_SIZE + 1} to {LARGEST_SIZE:,}",
            "Pass 16 for few, or 64",
        )  # fmt: skip
    return entries


def _memory(memory: str | int) -> int:
    """Bytes: 65536, "64K", "1M"."""
    if isinstance(memory, int) and not isinstance(memory, bool):
        count = memory
    else:
        text = str(memory).strip().upper().removesuffix("B").removesuffix("I")
        scale = {"K": 1024, "M": 1024**2, "G": 1024**3}.get(text[-1:], 1)
        digits = text[:-1] if scale > 1 else text
        if not digits.isdecimal():
            raise ArgumentError("memory", memory, "not a number of bytes", 'Pass 65536, "64K" or "1M"')
        count = int(digits) * scale
    if count < 1024:
        raise ArgumentError("memory", memory, "a stored collector needs at least 1K", 'Pass "4K" or more')
    return count
