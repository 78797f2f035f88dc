"""The sizes, errors and memory that a plan can be asked for, checked one by one."""

from __future__ import annotations

import math
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError, shortened
from ..privacy.sampling import Sampling
from ..text.wording import arg

LEAST_SIZE = 5  # with fewer entries the error exceeds the prediction by over 10%; with two it is unbounded
LARGEST_SIZE = 10_000  # entries that one key may touch: the certified curve is tested up to here
LARGEST_IN_ALL = 1 << 22  # entries in all buckets together
_MOST_DIGITS = 15  # in a number of bytes


def checked_sampling(sampling: object) -> Sampling:
    """A Sampling, or a rate for sampling per pair."""
    if isinstance(sampling, Sampling):
        return sampling
    if isinstance(sampling, bool) or not isinstance(sampling, int | float):
        raise ArgumentTypeError(
            "sampling",
            sampling,
            "must be a rate between 0 and 1",
            'Pass 0.02, or ss.Sampling(0.02, per="entry"), or leave it out',
        )
    return Sampling(sampling)


def checked_expected(expected: float | None) -> float | None:
    """An expected value, if there is one."""
    if expected is None:
        return None
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        raise ArgumentTypeError("expected", expected, "must be a number", "Pass the value you expect, or leave it out")
    if not (expected > 0 and math.isfinite(expected)):
        raise ArgumentError("expected", expected, "must be positive", "Pass the value you expect, or leave it out")
    return float(expected)


def checked_error(error: float) -> float:
    """An error to aim at."""
    if isinstance(error, bool) or not isinstance(error, int | float):
        raise ArgumentTypeError("error", error, "must be a number", "Pass 0.05, for example")
    if not 0.0 < error < 1.0:
        raise ArgumentError("error", error, "must be between 0 and 1", f"Pass {arg('error', 0.05)} for 5%")
    return float(error)


def checked_size(size: Any, least: int = LEAST_SIZE) -> int:
    """The number of entries of a measurement."""
    if isinstance(size, bool) or not isinstance(size, int):
        raise ArgumentTypeError("size", size, "must be a whole number of entries", "Pass 500, for example")
    if not least <= size <= LARGEST_IN_ALL:
        way_out = f"Pass {arg('size', 200)}, for example, or leave it out"
        raise ArgumentError("size", size, f"must be between {LEAST_SIZE} and {LARGEST_IN_ALL:,}", way_out)
    return size


def checked_per_key(entries: Any, least: int = LEAST_SIZE) -> int:
    """The number of entries that a key touches: even, because the kernels make two at a time."""
    if isinstance(entries, bool) or not isinstance(entries, int):
        raise ArgumentTypeError(
            "entries_per_key", entries, "must be a whole number of entries", "Pass an even one, such as 16"
        )
    if not least <= entries <= LARGEST_SIZE or entries % 2:
        raise ArgumentError(
            "entries_per_key", entries, f"must be even, between {LEAST_SIZE + 1} and {LARGEST_SIZE:,}",
            "Pass 16 for speed, or 64 for accuracy",
        )  # fmt: skip
    return entries


def checked_memory(memory: str | int) -> int:
    """A number of bytes: 65536, "64K" or "1M"."""
    if isinstance(memory, int) and not isinstance(memory, bool):
        count = memory
    else:
        text = str(memory).strip().upper().removesuffix("B").removesuffix("I")
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
