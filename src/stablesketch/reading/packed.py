"""Compressed or not: the first bytes of a file say it, and its name must agree.

DuckDB goes by the suffix alone. It would read a gzipped file without .gz as text, find no rows in it and say nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import DataError, in_one_line
from .libraries import need

_PACKED = {  # how such a file begins, and what makes text of it
    "gzip": (b"\x1f\x8b", "gzip -dc"),
    "zstd": (b"\x28\xb5\x2f\xfd", "zstd -dc"),
    "bzip2": (b"BZh", "bzip2 -dc"),
    "xz": (b"\xfd7zXZ\x00", "xz -dc"),
    "zip": (b"PK\x03\x04", "unzip -p"),
    "lz4": (b"\x04\x22\x4d\x18", "lz4 -dc"),
}
_SUFFIX = {".gz": "gzip", ".zst": "zstd"}  # what DuckDB reads
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
HEAD = 16  # bytes that tell


def check_file(path: Path) -> bytes:
    """The first bytes of a file of text. Refuses what is none, or none that is read here.

    Raises:
        DataError: the compression is not one that is read, the suffix says otherwise, or the text is UTF-16.
    """
    try:
        with opened_text(path) as file:
            head: bytes = file.read(HEAD)
            check_bytes(head, str(path))
            return head
    except OSError as error:  # Arrow's, of a damaged archive
        raise unreadable(str(path), error) from None


def unreadable(source: str, error: Exception) -> DataError:
    """A file that cannot be read, in the first line of what the system or Arrow says of it."""
    said = in_one_line(str(error).split("\n")[0], 200)
    return DataError(source, f"the file cannot be read: {said}", "Repair it, or leave it out")


def _compression(path: Path) -> str | None:
    """How a file is compressed: "gzip", "zstd", or None for not at all. Anything else is refused."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    kind, named = _kind(head), _SUFFIX.get(path.suffix.lower())
    if kind is not None and kind not in _SUFFIX.values():
        raise _unread(str(path), kind, path)
    if kind != named and (kind is not None or head):
        suffix = next((suffix for suffix, one in _SUFFIX.items() if one == kind), None)
        raise DataError(
            str(path),
            f"is compressed with {kind}, but its name does not end with {suffix}"
            if kind is not None
            else f"is not compressed with {named}, but its name ends with {path.suffix}",
            f"Rename it: mv {path} {path}{suffix}"
            if kind is not None
            else f"Rename it: mv {path} {path.with_suffix('')}",
        )
    return kind


def check_bytes(head: bytes, source: str) -> None:
    """Refuses text that begins as compressed data or as UTF-16 do, where only plain text can be read."""
    kind = _kind(head)
    if kind is not None:
        raise _unread(source, kind, None)
    if head.startswith(_UTF_16):
        raise DataError(source, "the text is UTF-16, not UTF-8", "Convert it: iconv -f UTF-16 -t UTF-8")


def opened_text(path: Path) -> Any:
    """The bytes of a file of text as a stream of Arrow, uncompressed."""
    return need("pyarrow").input_stream(str(path), compression=_compression(path))


def _kind(head: bytes) -> str | None:
    for kind, (magic, _) in _PACKED.items():
        # "BZh" alone could begin a header; the level and the first block's mark follow it.
        if head.startswith(magic) and (kind != "bzip2" or head[4:10] in (b"1AY&SY", b"\x17rE8P\x90")):
            return kind
    return None


def _unread(source: str, kind: str, path: Path | None) -> DataError:
    command = f"{_PACKED[kind][1]} {path or 'FILE'} | stablesketch release - --format csv ..."
    return DataError(source, f"is compressed with {kind}, which cannot be read here", f"Uncompress it first: {command}")
