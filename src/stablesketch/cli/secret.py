"""`stablesketch secret`: files of secrets, which are never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..secret import Secret
from .screen import note
from .with_examples import Group, WithExamples

app = typer.Typer(cls=Group, no_args_is_help=True)


@app.callback()
def _secret() -> None:
    pass


@app.command("new", cls=WithExamples)
def new(path: Annotated[Path, typer.Argument(metavar="FILE", help="The new file; only you can read it.")]) -> None:
    """Draw a secret from the operating system and save it in a new file. Use each secret for one release."""
    Secret.generate().save(path)
    note(
        f"written to {path}, readable only by you. Give it to every shard. It is for one release: "
        "release in one place and delete the copies, because a second release with a copy breaks the guarantee"
    )
