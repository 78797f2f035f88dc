"""What a refusal suggests instead: only what leads to a number if it is followed to the letter.

Suggestions are written as a caller writes them in Python: `error=0.1` to pass that, "leave out error=" to pass nothing,
`ss.Renyi(0.9)` for another statistic. The command line translates them into its options (cli/exits.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..statistic import Statistic


def either(ways: Sequence[str]) -> str:
    """One of several.

    >>> either(["size=500", "error=0.1", "a larger ε"])
    'size=500, or error=0.1, or a larger ε'
    """
    return ", or ".join(ways)


def a_larger_error(best: float) -> str:
    """What to ask for where `best` is the least error there is; of 1 and more none can be aimed at."""
    asked = 1.05 * best  # so that two digits are enough
    return f"Pass error={asked:.2g}" if asked < 0.995 else "Leave out error="


def instead_of(statistic: Statistic, part: Statistic) -> str:
    """A statistic that does without a measurement which cannot be had, as a call; empty if there is none like it."""
    other = statistic.without(part)
    return "" if other is None else other.call
