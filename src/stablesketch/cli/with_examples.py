"""Help with examples that can be copied."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from typer.core import TyperCommand

from .screen import show


class WithExamples(TyperCommand):
    """A command whose examples are shown as they are typed.

    Typer fills every line with spaces, and a backslash before a space does not continue a command.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help as typer shows it, then the examples."""
        examples, self.epilog = self.epilog, None
        try:
            super().format_help(ctx, formatter)
        finally:
            self.epilog = examples
        if examples:
            show([Text.from_markup(f" {line}" if line else "") for line in ["", *examples.split("\n"), ""]])
