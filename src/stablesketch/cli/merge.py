"""`stablesketch merge`: merges shards into one sketch, without the secret."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..collector import merge_blobs
from ..collector.wire import decode
from ..errors import BlobError
from .options import of_file
from .screen import write_and_note
from .stored import read_blob


def merge(
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Sketches made with the same plan and secret.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The new file.")],
) -> None:
    blobs = [read_blob(path) for path in files]
    try:
        content = merge_blobs(blobs)
    except BlobError:
        for path, blob in zip(files, blobs, strict=True):
            with of_file(path):
                decode(blob)  # to name the damaged one
        raise
    write_and_note(output, content, f", {len(content):,} bytes, {len(files)} sketches")
