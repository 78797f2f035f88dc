"""Stored collectors: files that begin like the bytes of `Collector.to_bytes`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import BlobError
from ..format.framing import MAGIC


def is_blob(name: str) -> bool:
    """Whether the file is a stored sketch, judging by its suffix or its first bytes."""
    path = Path(name)
    if path.suffix == ".ssk":
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_blob(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BlobError(f"{path}: cannot read the sketch: {error.strerror}. Check the path.") from None


@contextlib.contextmanager
def of_file(path: Path) -> Iterator[None]:
    """Adds the name of the file to errors about its content."""
    try:
        yield
    except BlobError as error:
        raise type(error)(f"{path}: {error.wording}") from None
