"""Help as it is read: values by what they are, flags without one, examples that can be copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from .screen import show

_VALUES = {float: "NUMBER", int: "N", Path: "FILE", str: "TEXT"}


def _shown(parameters: list[Any]) -> list[Any]:
    """The parameters, with a word for what is typed after each: nothing for flags, where typer would show <bool>.

    An argument is its own word, such as FILES; typer would add its type, such as <list[str]>.
    """
    for one in parameters:
        if one.param_type_name == "argument":
            one.display_type_rich = lambda ctx: None
        elif one.metavar is None:
            kind: Any = getattr(getattr(one, "type_descriptor", None), "annotation", None)
            one.metavar = "" if one.is_flag else _VALUES.get(kind)
    return parameters


class Group(TyperGroup):
    """A command with commands of its own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """As typer has them, with words for their values."""
        return _shown(super().get_params(ctx))


class WithExamples(TyperCommand):
    """A command whose examples are shown as they are typed.

    Typer fills every line with spaces, and a backslash before a space does not continue a command.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """As typer has them, with words for their values."""
        return _shown(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help as typer shows it, then the examples."""
        examples, self.epilog = self.epilog, None
        try:
            super().format_help(ctx, formatter)
        finally:
            self.epilog = examples
        if examples:
            show([Text.from_markup(f" {line}" if line else "") for line in ["", *examples.split("\n"), ""]])
