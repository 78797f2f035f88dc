"""`stablesketch demo`: a real stream, start to finish."""

from __future__ import annotations

import typer


def demo() -> None:
    """The words of Python's own standard library: a private release, its report, sketches, exact numbers."""
    from ..demo import main

    raise typer.Exit(main())
