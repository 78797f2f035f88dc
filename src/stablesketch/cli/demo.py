"""`stablesketch demo`: a real stream, start to finish."""

from __future__ import annotations

import typer


def demo() -> None:
    """Try it on the words of Python's standard library: a private release, its report, and exact numbers."""
    from .words_demo import main

    raise typer.Exit(main())
