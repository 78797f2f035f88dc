"""What a refusal suggests instead: only what leads to a number if it is followed to the letter.

Suggestions are written as a caller writes them in Python: `error=0.1` to pass that, "leave out error=" to pass nothing,
`ss.Renyi(0.9)` for another statistic. The command line translates them into its options (cli/exits.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..statistic import Profile, Shannon, Statistic
from ..statistic.diversity import Diversity

__all__ = ["a_larger_error", "call_of", "either", "instead_of"]

NEAR_ENTROPY = 0.9
"""An order near 1, of which sketches have a floor."""


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


def call_of(statistic: Statistic) -> str:
    """As it is written in Python.

    >>> call_of(Profile([0, 0.5]))
    'ss.Profile([0, 0.5])'
    """
    fields = list(statistic.to_dict().values())[1:]
    return f"ss.{type(statistic).__name__}({', '.join(map(_written, fields))})"


def _written(field: object) -> str:
    return f"[{', '.join(map(_written, field))}]" if isinstance(field, list) else f"{field:g}"


def instead_of(statistic: Statistic, part: Statistic) -> str:
    """A statistic that does without a measurement which cannot be had, as a call; empty if there is none like it."""
    entropy = isinstance(part, Shannon)
    if isinstance(statistic, Profile):
        left = [order for order in statistic.orders if order != part.p]
        return call_of(Profile(left)) if left else call_of(Profile([NEAR_ENTROPY])) if entropy else ""
    if isinstance(statistic, Diversity):
        return call_of(type(statistic)(NEAR_ENTROPY)) if entropy else ""
    return f"ss.Renyi({NEAR_ENTROPY})" if entropy else ""
