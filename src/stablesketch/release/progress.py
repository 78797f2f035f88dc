"""`Progress`: somebody who wants to see how far a reading is."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Progress"]


class Progress(Protocol):
    """Somebody who wants to see how far it is."""

    def begin(self, what: str, total: int | None) -> None:
        """Something begins, of so many steps where that is known."""

    def advance(self, steps: int) -> None:
        """So many more are done."""
