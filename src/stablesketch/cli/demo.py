"""`stablesketch demo`: a real stream, start to finish."""

from __future__ import annotations

import typer


def demo() -> None:
    """The words of Python's own standard library: exactly, by sketch, and as a private release."""
    from ..demo import main

    raise typer.Exit(main())
