"""Detects the compression of files and pipes from their first bytes, whatever the name says.

DuckDB goes by the suffix alone, and unpacks gzip and zstd. It would read a gzipped file without .gz as text, and
silently find no rows in it. A file with a wrong name is therefore linked under the right one in DuckDB's folder, and
what DuckDB cannot unpack is unpacked there.
"""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path
from typing import Any, Protocol

from ..errors import DataError, in_one_line
from .duckdb import DuckDB
from .libraries import need

_BEGINS = {
    "gzip": b"\x1f\x8b",
    "zstd": b"\x28\xb5\x2f\xfd",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "lz4": b"\x04\x22\x4d\x18",
}
_ZIP = b"PK\x03\x04"
_OLD_SHEET = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # .xls
_SHEET_MARKS = (b"xl/w", b"xl/s", b"xl/t", b"xl/_rels", b"opendocument.spreadsheet")  # names in .xlsx; the type of .ods
SUFFIXES = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz", ".lz4": "lz4"}
_BY_DUCKDB = {None: "", "gzip": ".gz", "zstd": ".zst"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
HEAD = 16  # bytes that identify a format
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")


class Readable(Protocol):
    """Something to read bytes from, a given number at a time; none at the end."""

    def read(self, size: int, /) -> bytes: ...


class Rest:
    """A file with the part already read put back in front; another file may follow after its last line."""

    closed = False

    def __init__(self, file: Readable, first: bytes, last: bytes = b"") -> None:
        self._file = file
        self._first = first
        self._last = b"\n" + last + b"\n" if last else b""

    def close(self) -> None:
        """Does nothing: whoever opened the file closes it."""

    def read(self, size: int, /) -> bytes:
        """Exactly this many bytes, and fewer only at the end: Arrow treats a short read as a separate block."""
        parts: list[bytes] = []
        while size > 0:
            found, self._first = self._first[:size], self._first[size:]
            found = found or self._file.read(size)
            if not found:
                self._first, self._last = self._last, b""
                if not self._first:
                    break
            parts.append(found)
            size -= len(found)
        return b"".join(parts)


def compression(head: bytes) -> str | None:
    """The compression of data that begin with these bytes; None if there is none."""
    for kind, magic in _BEGINS.items():
        # "BZh" alone could begin a header; the level and the first block's mark follow it.
        if head.startswith(magic) and (kind != "bzip2" or head[4:10] in (b"1AY&SY", b"\x17rE8P\x90")):
            return kind
    return None


def unpacked(file: Readable, kind: str | None) -> Any:
    """The bytes of a file with this compression; damage raises OSError."""
    if kind is None:
        return file
    if kind == "xz":
        return _Xz(file)  # type: ignore[arg-type]  # it can read, and no more is needed
    pa = need("pyarrow")
    return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "bz2" if kind == "bzip2" else kind)


class _Xz(lzma.LZMAFile):
    """Damage raises OSError, as with Arrow's streams."""

    def read(self, size: int | None = -1) -> bytes:
        try:
            return super().read(size)
        except (lzma.LZMAError, EOFError) as error:
            raise OSError(str(error)) from None


def compression_of(path: Path) -> str | None:
    """How a file is compressed."""
    with path.open("rb") as file:
        return compression(file.read(HEAD))


def opened_text(path: Path) -> Any:
    """The bytes of a file as a stream, uncompressed."""
    kind = compression_of(path)
    if kind == "xz":
        return _Xz(path)
    return need("pyarrow").input_stream(str(path), compression="bz2" if kind == "bzip2" else kind)


def for_duckdb(duckdb: DuckDB, path: Path) -> Path:
    """A file that DuckDB reads correctly: this one, or one in DuckDB's folder with the right name."""
    kind, named = compression_of(path), SUFFIXES.get(path.suffix.lower())
    if kind == named and kind in _BY_DUCKDB:
        return path
    base = path.stem if named is not None else path.name
    place = duckdb.place(path, base + _BY_DUCKDB.get(kind, ""))
    if kind in _BY_DUCKDB:
        place.symlink_to(path.resolve())
        return place
    with opened_text(path) as file:
        copied(file, place, str(path))
    return place


def copied(file: Any, place: Path, name: str) -> None:
    """Writes the rest of a stream into a file in DuckDB's folder."""
    try:
        with place.open("wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
    except OSError as error:
        raise unreadable(name, error) from None


def check_bytes(head: bytes, source: str, *, unpacked: bool = True) -> None:
    """Refuses data that begin like an archive or UTF-16, where only plain text can be read. They were `unpacked` once,
    or are read as they are.
    """
    if head.startswith(_OLD_SHEET) or (head.startswith(_ZIP) and any(mark in head for mark in _SHEET_MARKS)):
        raise _sheet(source, "FILE.xlsx", "FILE.csv")
    if head.startswith(_ZIP):
        raise DataError(source, "zip archives cannot be read", "Unpack it first: unzip FILE.zip")
    kind = compression(head)
    if kind is not None and not unpacked:
        raise DataError(
            source, f"lines cannot be compressed with {kind} here", f"Unpack them first, or in a pipe: {kind} -dc FILE"
        )
    if kind is not None:
        raise DataError(source, f"the file is compressed with {kind} twice", f"Unpack it once first: {kind} -dc FILE")
    if head.startswith(_UTF_16):
        raise DataError(source, "the text is UTF-16, not UTF-8", "Convert it: iconv -f UTF-16 -t UTF-8")


def check_sheet(path: Path) -> None:
    """Refuses spreadsheets, with a command that converts one to text."""
    if path.suffix.lower() in SHEETS:
        raise _sheet(str(path), str(path), str(path.with_suffix(".csv")))


def _sheet(source: str, path: str, to: str) -> DataError:
    return DataError(
        source, "spreadsheets cannot be read",
        f"Save it as CSV, or convert it (pip install pandas openpyxl): python3 -c "
        f"\"import pandas; pandas.read_excel('{path}').to_csv('{to}', index=False)\"",
    )  # fmt: skip


def begun(file: Readable, name: str) -> Readable:
    """The file, if it begins like text."""
    head = file.read(HEAD)
    check_bytes(head, name)
    return Rest(file, head)


def unreadable(source: str, error: Exception) -> DataError:
    """The error about an unreadable file, with the first line of the system's or Arrow's message."""
    said = in_one_line(str(error).split("\n")[0], 200)
    return DataError(source, f"the file cannot be read: {said}", "Correct it, or leave it out")
