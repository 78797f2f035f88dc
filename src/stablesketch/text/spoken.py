"""Numbers as people say them, and prices never rounded down."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context


def short(value: float) -> str:
    """0.1971, 7.72, 10,000, 2 million, 3 billion, 9 trillion; above that, powers of ten. Four digits below 1,000."""
    if abs(value) < 999.95:
        return f"{value:.4g}"
    for unit, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if unit <= abs(value) < 1000 * unit:
            return f"{value / unit:,.3g} {name}"
    return f"{value:,.0f}" if abs(value) < 1e6 else f"{value:.0e}".replace("e+", "e")


def about(value: float) -> str:
    """Three significant digits, as people would say them aloud."""
    return short(float(f"{value:.3g}"))


def with_limits(value: float, low: float, high: float, least: int = 3) -> tuple[str, str, str]:
    """A value and its limits, all to the same place: three or four digits (`least`), or more if the limits are so close
    that these would be the same.

    >>> with_limits(168.74, 168.71, 168.77), with_limits(696.85, 648.68, 743.47)
    (('168.74', '168.71', '168.77'), ('697', '649', '743'))
    >>> with_limits(326_826_827.0, 326_600_000.0, 327_153_654.0, 4)
    ('326,826,827', '326,600,000', '327,153,654')
    """
    largest, apart = max(abs(value), abs(low), abs(high)), high - low
    digits = math.ceil(math.log10(largest / apart)) + 1 if 0.0 < apart < math.inf else least
    say = about if least == 3 else short
    said = say(value), say(low), say(high)
    # Millions have three digits, whatever `least` says.
    if digits <= least and (said[1] != said[2] or not 0.0 < apart < math.inf):
        return said
    places = max(digits - 1 - math.floor(math.log10(largest)), 0)
    return f"{value:,.{places}f}", f"{low:,.{places}f}", f"{high:,.{places}f}"


def percent(part: float) -> str:
    """A part of a whole, or a relative error."""
    return f"{100 * part:,.0f}%" if part >= 1.0 else f"{100 * part:.3g}%"


def relative_error(error: float) -> str:
    """A relative error. If it exceeds the value itself, the exact number no longer matters.

    >>> relative_error(0.0509), relative_error(343.91)
    ('5.09%', 'over 100%')
    """
    return percent(error) if error <= 1.0 else "over 100%"


def at_most(value: float, digits: int = 4) -> str:
    """An upper bound with this many digits, rounded up: the ε shown is never less than the ε spent.

    >>> at_most(0.12341), at_most(1e-9), at_most(1.0)
    ('0.1235', '1e-09', '1')
    """
    return _rounded(value, digits, ROUND_CEILING)


def price_in_words(epsilon: float, delta: float) -> str:
    """What a release costs, or may cost.

    >>> price_in_words(0.98571, 1.0001e-9)
    'ε = 0.9858, δ = 1.01e-09'
    """
    return f"ε = {at_most(epsilon)}, δ = {at_most(delta, 3)}"


def one_in(chance: float) -> str:
    """A small probability for people, rounded up to two digits.

    >>> one_in(1e-9), one_in(3e-6), one_in(0.2)
    ('1 in 1,000,000,000', '1 in 330,000', '20%')
    """
    if chance > 0.01:
        return f"{at_most(100.0 * chance, 2)}%"
    number = (1.0 + 1e-9) / chance  # for 1e-9 this gives a full billion, despite rounding
    digits = 10 ** (math.floor(math.log10(number)) - 1)
    return f"1 in {math.floor(number / digits) * digits:,}"


def at_least(value: float, digits: int = 4) -> str:
    """A lower bound, rounded down: what is left of a budget is never shown as more than it is."""
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    nearest = f"{value:.{digits}g}"
    own = Context(prec=17)  # threads of a free-threaded Python share the current context, and would race on its flags
    exact, near = own.create_decimal(repr(value)), own.create_decimal(nearest)
    if exact == near or (near > exact) == (rounding == ROUND_CEILING):
        return nearest
    return f"{float(Context(prec=digits, rounding=rounding).create_decimal(exact)):.{digits}g}"


def but_rivals(rivals: int, others: int) -> str:
    """The end of a sentence about the largest group: how many others may be as large, judging by their intervals.

    >>> but_rivals(0, 4), but_rivals(1, 1)
    ('', ', but the other may be as large')
    >>> but_rivals(2, 4), but_rivals(4, 4)
    (', but 2 of the other 4 may be as large', ', but the others may be as large')
    """
    if rivals == others:
        return f", but the {'other' if others == 1 else 'others'} may be as large" if others else ""
    return f", but {rivals:,} of the other {others:,} may be as large" if rivals else ""
