"""Texts shared by all plans: what is protected, numbers, errors, and what a refusal suggests instead."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..privacy import Privacy
from ..text.wording import arg

if TYPE_CHECKING:
    from ..statistic import Statistic
    from .plan import Plan


NOTHING_USEFUL = "over 100%: nothing useful can be predicted"
"""Shown for a relative error that is larger than the value itself."""


def change(privacy: Privacy, *, person: bool = False, pair: str = "row") -> str:
    """The difference between neighbouring streams, in words; `person` says that people are protected, and `pair` is the
    word for what is used of them: in a wide table, cells.

    >>> change(Privacy(1.0, 1e-9))
    'adding or removing any one pair'
    >>> change(Privacy(1.0, 1e-9, pairs_per_person=3), person=True)
    'adding or removing any one person: all that they did (at most 3 rows are used)'
    >>> change(Privacy(1.0, 1e-9, pairs_per_person=20, max_value=5, relation="replace"))
    'replacing any 20 pairs of one person, values up to 5'
    """
    c, changing = privacy.pairs_per_person, act(privacy.relation)
    if person:
        return f"{changing} any one person: all that they did (at most {used(c, pair)}{values(privacy)})"
    spread = f", in up to {privacy.copies:,} groups" if privacy.copies > 1 else ""
    return f"{changing} any {of_one_person(c, privacy.unit)}{spread}{values(privacy)}"


def act(relation: str) -> str:
    """What makes a neighbour of a stream. A relation may name its unit, as those of a ledger do."""
    return "replacing" if relation.startswith("replace") else "adding or removing"


def of_one_person(count: int, unit: str) -> str:
    """What is protected together."""
    return f"one {unit}" if count == 1 else f"{count:,} {unit}s of one person"


def used(count: int, pair: str) -> str:
    """How many pairs are used, as a clause."""
    return f"1 {pair} is used" if count == 1 else f"{count:,} {pair}s are used"


def promised(privacy: Privacy) -> str:
    """The promised length of a stream."""
    return f"at least {privacy.pairs:,} {privacy.unit}s" if privacy.pairs else f"any number of {privacy.unit}s"


def values(privacy: Privacy) -> str:
    """The largest value allowed, if values vary."""
    if privacy.max_value == 1:
        return ""
    return f", {'totals' if privacy.unit == 'key' else 'values'} up to {privacy.max_value:,}"


def amount(value: float) -> str:
    """Three significant digits, or all digits before the point: 1.87, 0.0125, 3,000."""
    return f"{value:,.0f}" if value >= 1_000.0 else f"{value:.3g}"


def rounded_up(value: float) -> float:
    """A whole number, rounded up to two significant digits."""
    digits = 10.0 ** max(math.floor(math.log10(value)) - 1, 0)
    return math.ceil(value / digits) * digits


def laplace(scale: str) -> str:
    """The noise, given its scale in words.

    >>> laplace("b = 1.98 on F_0.5")
    'Laplace noise of scale b = 1.98 on F_0.5'
    """
    return f"Laplace noise of scale {scale}"


def stored(count: int) -> str:
    """A number of bytes, in the one unit of sizes."""
    return f"{count / 1024:,.1f} KiB"


def both_errors(plan: Plan, whole: str = "") -> str:
    """The error of a sketch; with buckets, also the error if one key holds everything."""
    if plan.statistic.relative and plan.error > 1.0:
        return NOTHING_USEFUL
    error = f"{shown_error(plan.error, plan)}{whole}"
    if plan.worst_error == plan.error:
        return error
    comma, worst = "," if error.endswith("order") else "", shown_error(plan.worst_error, plan, most="")
    if plan.statistic.of_people:
        return f"{error}{comma} if nobody has a large share, {worst} if one person has everything"
    return f"{error}{comma} if every key is rare, {worst} if one key holds everything"


def shown_error(error: float, plan: Plan, most: str = " at most, at each order") -> str:
    """An error in the unit of the statistic. For a statistic of several numbers it is the worst error, and says so."""
    return f"{plan.statistic.error_in_words(error)}{most if plan.statistic.several else ''}"


def a_larger_error(best: float) -> str:
    """What to ask for if `best` is the smallest error possible; an error of 1 or more cannot be a target."""
    reached = 1.05 * best  # so that two digits are enough
    return f"Pass {arg('error', float(f'{reached:.2g}'))}" if reached < 0.995 else f"Leave out {arg('error')}"


def instead_of(statistic: Statistic, needed: Statistic) -> str:
    """A similar statistic that does not need this impossible measurement, by name; empty if there is none."""
    other = statistic.without(needed)
    return "" if other is None else other.named
