"""Numbers as people say them, and a price never below what it is."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


def short(value: float) -> str:
    """0.1971, 7.72, 10,000, 2 million, 3 billion, 9 trillion; beyond that, powers. Four digits below a thousand."""
    if abs(value) < 999.95:
        return f"{value:.4g}"
    for unit, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if unit <= abs(value) < 1000 * unit:
            return f"{value / unit:,.3g} {name}"
    return f"{value:,.0f}" if abs(value) < 1e6 else f"{value:.0e}".replace("e+", "e")


def about(value: float) -> str:
    """Three digits that count, as somebody would say them aloud."""
    return short(float(f"{value:.3g}"))


def percent(part: float) -> str:
    """A part of a whole, or a relative error."""
    return f"{100 * part:,.0f}%" if part >= 1.0 else f"{100 * part:.3g}%"


def at_most(value: float, digits: int = 4) -> str:
    """An upper bound with so many digits, rounded up: an ε that is shown is never less than the ε that is spent.

    >>> at_most(0.12341), at_most(1e-9), at_most(1.0)
    ('0.1235', '1e-09', '1')
    """
    return _rounded(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 4) -> str:
    """A lower bound, rounded down: what is left of a budget is never shown as more than it is."""
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    nearest, exact = f"{value:.{digits}g}", Decimal(repr(value))
    if exact == Decimal(nearest) or (Decimal(nearest) > exact) == (rounding == ROUND_CEILING):
        return nearest
    return f"{Context(prec=digits, rounding=rounding).create_decimal(exact):g}".lower()
