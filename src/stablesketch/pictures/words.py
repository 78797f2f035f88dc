"""Numbers in words: as people would say them, and a price never below what it is."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..published import Release

__all__ = ["at_most", "capital", "price_line", "short", "shortened"]


def short(value: float) -> str:
    """0.1971, 7.72, 10,000, 2 million, 3 billion, 9 trillion; beyond that, powers. Four digits below a thousand."""
    if abs(value) < 999.95:
        return f"{value:.4g}"
    for unit, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if unit <= abs(value) < 1000 * unit:
            return f"{value / unit:,.3g} {name}"
    return f"{value:,.0f}" if abs(value) < 1e6 else f"{value:.0e}".replace("e+", "e")


def at_most(value: float, digits: int = 4) -> str:
    """An upper bound with so many digits, rounded up: an ε that is shown is never less than the ε that is spent.

    >>> at_most(0.12341), at_most(1e-9), at_most(1.0)
    ('0.1235', '1e-09', '1')
    """
    nearest = f"{value:.{digits}g}"
    if Decimal(nearest) >= Decimal(repr(value)):
        return nearest
    return f"{Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(repr(value))):g}".lower()


def price_line(release: Release) -> str:
    """What stands below every picture of releases: how sure its bars are, and what it cost."""
    return (
        f"bars hold the truth in {100 * release.confidence:g} of 100 releases; ε = {at_most(release.epsilon, 3)}, "
        f"δ = {at_most(release.delta, 2)}"
    )


def shortened(name: str) -> str:
    """The name of a group, so long as it fits beside a picture."""
    return name if len(name) <= 28 else f"{name[:27]}…"


def capital(name: str) -> str:
    """As a title begins."""
    return name[:1].upper() + name[1:]
