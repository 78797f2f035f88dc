"""`stablesketch secret`: files of secrets, which are never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..secret import Secret
from .screen import note

app = typer.Typer(no_args_is_help=True, help="Make a secret that shards share.")


@app.callback()
def _secret() -> None:
    pass


@app.command("new")
def new(path: Annotated[Path, typer.Argument(help="The new file; only you may read it.")]) -> None:
    """Draws a secret from the operating system into a new file of mode 0600. One secret, one release."""
    Secret.generate().save(path)
    note(
        f"written to {path}, readable by you alone. Give it to every shard. It serves for one release: "
        "release in one place and delete the copies, since a second release by a copy breaks the guarantee"
    )
