"""The data that a command reads, and the options that say how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from ..reading.found import Input, suffix_format
from ..release.arguments import DEFAULTS
from . import options
from .in_place_of import in_place_of


@dataclass(frozen=True)
class Data:
    """What was typed: files or a query, and what files do not say themselves."""

    files: list[str] | None
    sql: str | None
    format: str | None
    header: bool
    delimiter: str | None

    def as_input(self, *, wide: bool = False) -> Input:
        """How to read them; refuses a call that names nothing to read."""
        self.must_be_named()
        return Input(**self.ways, wide=wide)

    def must_be_named(self) -> None:
        """Refuses a call that names nothing to read."""
        if not self.files and self.sql is None:
            raise typer.BadParameter("nothing to read. Name files, - for standard input, or --sql.")

    def must_have_key(self, key: str | None, *, wide: bool) -> None:
        """Refuses data that have columns without the one to measure. Plain lines are keys themselves."""
        if key is not None or wide or self.format == "lines":
            return
        first = self.files[0] if self.files and self.format is None else ""
        if first == "-" or suffix_format(Path(first))[0] == "lines":
            return
        raise typer.BadParameter(
            "--key is required: the column to measure. If every key has a column of its own, pass --wide; if every "
            "line is a key, --format lines."
        )

    @property
    def ways(self) -> dict[str, Any]:
        """All of it but the files, by the names that arguments have in Python."""
        return {name: value for name, value in asdict(self).items() if name != "files"}


_FILES = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILES",
        help="Parquet, CSV or JSON files, quoted patterns, - for standard input, or a database with --sql.",
        show_default=False,
    ),
]
_SQL = Annotated[
    str | None,
    options.in_data(metavar="QUERY", help="Read the result of a query: select app, n from 'events/*.parquet'."),
]
_FORMAT = Annotated[
    str | None,
    options.in_data(
        metavar="NAME", help="parquet, csv, tsv, json, lines, arrow or orc (default: recognised from the first bytes)."
    ),
]
_HEADER = Annotated[bool, options.in_data("--header/--no-header", help="Whether the CSV has a header line.")]


def with_data(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with files and these options in the place of its parameter `read`, which is a `Data`."""
    typed = (
        ("files", _FILES),
        ("sql", _SQL),
        ("format", _FORMAT),
        ("header", _HEADER),
        ("delimiter", options.Delimiter),
    )
    own = [Parameter(name, Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=kind) for name, kind in typed]
    return in_place_of("read", own, lambda given: Data(**given), command)
