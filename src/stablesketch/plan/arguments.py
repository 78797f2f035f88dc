"""The sizes, errors and memory that a plan can be asked for, checked one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError, shortened
from ..numbers.checked import checked_real, checked_whole, is_whole
from ..privacy.sampling import Sampling
from ..text.wording import arg

LEAST_SIZE = 5  # with fewer entries the error exceeds the prediction by over 10%; with two it is unbounded
LARGEST_SIZE = 10_000  # entries that one key may touch: the certified curve is tested up to here
LARGEST_IN_ALL = 1 << 22  # entries in all buckets together
_MOST_DIGITS = 15  # in a number of bytes
_MOST_MEASUREMENTS = 64  # that can have individual sizes


def checked_sampling(sampling: object) -> Sampling:
    """A Sampling, or a rate for sampling per pair."""
    if isinstance(sampling, Sampling):
        return sampling
    way_out = 'Pass 0.02, or ss.Sampling(0.02, per="entry"), or leave it out'
    return Sampling(checked_real("sampling", sampling, way_out, must="must be a rate between 0 and 1"))


def checked_expected(expected: float | None) -> float | None:
    """An expected value, if there is one."""
    if expected is None:
        return None
    way_out = "Pass the value you expect, or leave it out"
    number = checked_real("expected", expected, way_out)
    if not (number > 0 and math.isfinite(number)):
        raise ArgumentError("expected", expected, "must be positive", way_out)
    return number


def checked_plan_size(size: Any, least: int = LEAST_SIZE) -> int:
    """The number of entries of a measurement."""
    count = checked_whole("size", size, "Pass 500, for example", must="must be a whole number of entries")
    if not least <= count <= LARGEST_IN_ALL:
        way_out = f"Pass {arg('size', 200)}, for example, or leave it out"
        raise ArgumentError("size", size, f"must be between {LEAST_SIZE} and {LARGEST_IN_ALL:,}", way_out)
    return count


def checked_per_key(entries: Any, least: int = LEAST_SIZE) -> int:
    """The number of entries that a key touches: even, because the kernels make two at a time."""
    way_out = "Pass an even one, such as 16"
    count = checked_whole("entries_per_key", entries, way_out, must="must be a whole number of entries")
    if not least <= count <= LARGEST_SIZE or count % 2:
        raise ArgumentError(
            "entries_per_key", entries, f"must be even, between {LEAST_SIZE + 1} and {LARGEST_SIZE:,}",
            "Pass 16 for speed, or 64 for accuracy",
        )  # fmt: skip
    return count


def checked_memory(memory: str | int) -> int:
    """A number of bytes: 65536, "64K" or "1M"."""
    if is_whole(memory):
        count = int(memory)
    elif not isinstance(memory, str):
        raise ArgumentTypeError("memory", memory, "must be a number of bytes", 'Pass 65536, "64K" or "1M"')
    else:
        text = memory.strip().upper().removesuffix("B").removesuffix("I")
        scale = {"K": 1024, "M": 1024**2, "G": 1024**3}.get(text[-1:], 1)
        digits = text[:-1] if scale > 1 else text
        if not digits.isdecimal() or len(digits) > _MOST_DIGITS:
            raise ArgumentError("memory", memory, "must be a number of bytes", 'Pass 65536, "64K" or "1M"')
        count = int(digits) * scale
    if count >= 10**_MOST_DIGITS:
        raise ArgumentError(
            "memory", shortened(memory), "must be a size that a machine can have", 'Pass "1M", for example'
        )
    if count < 1024:
        raise ArgumentError("memory", memory, "must be at least 1K", 'Pass "4K" or more')
    return count


def check_one_by_one(size: object, entries_per_key: object) -> None:
    """Refuses more numbers than a statistic has measurements, and several numbers of entries for one size."""
    for name, given in (("size", size), ("entries_per_key", entries_per_key)):
        if isinstance(given, Sequence) and len(given) > _MOST_MEASUREMENTS:
            raise ArgumentError(
                f"len({name})", len(given), "must be the number of measurements of the statistic",
                "Pass one number for each measurement",
            )  # fmt: skip
    if _is_one_by_one(entries_per_key) and not _is_one_by_one(size):
        raise ArgumentError(
            "entries_per_key", entries_per_key, "must be a single number unless each measurement has its own size",
            "Pass one number, or one size for each measurement",
        )  # fmt: skip


def each_checked(given: Any, check: Callable[..., int]) -> int | tuple[int, ...] | None:
    """One checked number; or one for each measurement, of which some may have none."""
    if given is None:
        return None
    return tuple(check(own, least=0) for own in given) if _is_one_by_one(given) else check(given)


def _is_one_by_one(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)
