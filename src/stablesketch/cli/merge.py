"""`stablesketch merge`: shards to one sketch, without the secret."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..collector import merge_blobs
from .blobs import read_blob
from .screen import note, write_new

__all__ = ["merge"]


def merge(
    files: Annotated[list[Path], typer.Argument(help="Sketches of the same plan and secret.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The new file.")],
) -> None:
    """Adds up the sketches of several shards. It takes no secret."""
    content = merge_blobs([read_blob(path) for path in files])
    write_new(output, content)
    note(f"written to {output}, {len(content):,} bytes, {len(files)} sketches")
