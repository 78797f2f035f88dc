"""Stored collectors: files that begin as `Collector.to_bytes` begins."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import BlobError
from ..framing import MAGIC


def is_blob(name: str) -> bool:
    """Whether the file is a stored sketch, by its suffix or by how it begins."""
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
        raise BlobError(f"{path}: the sketch cannot be read ({error.strerror}).") from None


@contextlib.contextmanager
def of_file(path: Path) -> Iterator[None]:
    """What is wrong with the content of a file is said with its name."""
    try:
        yield
    except BlobError as error:
        raise type(error)(f"{path}: {error.wording}") from None
