"""The words that stand on several pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..spoken import at_most

if TYPE_CHECKING:
    from ..published import Release

__all__ = ["capital", "price_line", "shortened"]


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
