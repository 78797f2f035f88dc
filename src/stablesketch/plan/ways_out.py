"""What a refusal suggests instead: only what works if the reader follows it to the letter.

Arguments and statistics are named as in text/wording.py, so that each interface spells them its own way.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..statistic import Statistic
from ..text.wording import arg


def either(ways: Sequence[str]) -> str:
    """One of several.

    >>> either(["size=500", "error=0.1", "a larger ε"])
    'size=500, or error=0.1, or a larger ε'
    """
    return ", or ".join(ways)


def a_larger_error(best: float) -> str:
    """What to ask for if `best` is the smallest error possible; an error of 1 or more cannot be a target."""
    reached = 1.05 * best  # so that two digits are enough
    return f"Pass {arg('error', float(f'{reached:.2g}'))}" if reached < 0.995 else f"Leave out {arg('error')}"


def instead_of(statistic: Statistic, needed: Statistic) -> str:
    """A similar statistic that does not need this impossible measurement, by name; empty if there is none."""
    other = statistic.without(needed)
    return "" if other is None else other.named
