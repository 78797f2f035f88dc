"""What a refusal suggests instead: only what leads to a number if it is followed to the letter.

Arguments and statistics are named as wording.py says, so that each interface spells them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..statistic import Statistic
from ..wording import arg


def either(ways: Sequence[str]) -> str:
    """One of several.

    >>> either(["size=500", "error=0.1", "a larger ε"])
    'size=500, or error=0.1, or a larger ε'
    """
    return ", or ".join(ways)


def a_larger_error(best: float) -> str:
    """What to ask for where `best` is the least error there is; of 1 and more none can be aimed at."""
    reached = 1.05 * best  # so that two digits are enough
    return f"Pass {arg('error', float(f'{reached:.2g}'))}" if reached < 0.995 else f"Leave out {arg('error')}"


def instead_of(statistic: Statistic, part: Statistic) -> str:
    """A statistic that does without a measurement which cannot be had, to be named; empty if there is none like it."""
    other = statistic.without(part)
    return "" if other is None else other.named
