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
        f"written to {path}, readable only by you. Give it to every shard. It is for one release: "
        "release in one place and delete the copies, because a second release with a copy breaks the guarantee"
    )
