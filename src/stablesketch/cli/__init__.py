"""The command line: `stablesketch release events.csv --key app --p 0.5 --epsilon 1 --delta 1e-9`."""

from __future__ import annotations

import io
import sys

__all__ = ["main"]


def main() -> None:
    """What the command `stablesketch` runs."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        print("The command line needs more libraries. Run: pip install 'stablesketch[cli]'", file=sys.stderr)
        sys.exit(1)
    from .app import run

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # ε on a terminal that has none must not be an error
    sys.exit(run())
