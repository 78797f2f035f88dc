"""What is in a file or a pipe: as stated, or detected from its name, its first bytes and the requested columns.

A stated format or delimiter always wins. Otherwise **no row decides how all rows are read**: a neighbour may have
another row there, and would change every pair. Detection therefore looks only at what is not a row: names of files and
columns, bytes that no text begins with, and the header of CSV. If CSV has no header, nothing is detected. A file that
begins with { or [ is JSON, whatever else its first line contains; a JSON line that begins otherwise is an error in any
case. If invalid rows are skipped, the first line could be one of them: text is then JSON only if its name or the caller
says so.

If the name does not imply what was detected, it is logged (`stablesketch.reading`), and the command line shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, cast, get_args

from ..errors import ArgumentError, DataError, Shown, check_choice
from ..text.wording import arg, either, in_python
from .columns import Columns
from .header import cells_of
from .lines import LONGEST_LINE, MARK
from .packed import (
    HEAD,
    SUFFIXES,
    Readable,
    Rest,
    check_bytes,
    check_sheet,
    compression,
    opened_text,
    unpacked,
    unreadable,
)  # fmt: skip

Format = Literal["parquet", "csv", "tsv", "json", "lines", "arrow", "orc"]
FORMATS: tuple[Format, ...] = get_args(Format)

_BY_SUFFIX: dict[str, Format] = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json",
    ".jsonl": "json", ".ndjson": "json", ".txt": "lines", ".log": "lines", ".arrow": "arrow", ".feather": "arrow",
    ".orc": "orc",
}  # fmt: skip
ARROW_STREAM = b"\xff\xff\xff\xff"  # the first bytes of an Arrow stream, as opposed to a file
_BINARY: dict[bytes, Format] = {b"PAR1": "parquet", b"ARROW1": "arrow", ARROW_STREAM: "arrow", b"ORC": "orc"}
_DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}
_WORDS = {
    "parquet": "Parquet", "csv": "CSV", "tsv": "CSV", "json": "JSON", "lines": "lines", "arrow": "Arrow", "orc": "ORC",
}  # fmt: skip


@dataclass(frozen=True)
class Input:
    """How to read data, where they do not say it themselves: file format, header, query."""

    format: str | None = None
    header: bool = True
    delimiter: str | None = None
    sql: str | None = None
    wide: bool = False
    stdin: BinaryIO | None = None


class Found(NamedTuple):
    """What is in a file: its format, what separates the cells of CSV, how it is compressed."""

    format: Format
    delimiter: str
    packed: str | None


def suffix_format(path: Path) -> tuple[Format | None, str | None]:
    """The format and the compression that the name of a file implies, if any."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = SUFFIXES.get(suffixes.pop()) if suffixes and suffixes[-1] in SUFFIXES else None
    return _BY_SUFFIX.get(suffixes[-1] if suffixes else ""), packed


def stated_format(given: str | None) -> Format | None:
    """The stated format.

    Raises:
        ArgumentError: the format does not exist.
    """
    if given is not None:
        check_choice("format", given, FORMATS)
    return cast("Format | None", given)


def format_by_name(paths: Sequence[Path], given: str | None) -> Format:
    """The stated format, or the one that the suffixes imply: for data whose first bytes cannot be read."""
    if (stated := stated_format(given)) is not None:
        return stated
    kinds = []
    for path in paths:
        kind, _ = suffix_format(path)
        if kind is None:
            raise DataError(
                str(path),
                "the suffix does not say which format this is",
                f"Pass the format: {arg('format')} {'|'.join(FORMATS)}",
            )
        kinds.append(kind)
    return same_format(kinds)


def same_format(kinds: Sequence[Format]) -> Format:
    """The format shared by files that are read together."""
    if len(set(kinds)) > 1:
        raise ArgumentError(
            "data", Shown(" and ".join(sorted(set(kinds)))), "must be in one format",
            f"Read the files of each format by themselves, or use {arg('sql')}",
        )  # fmt: skip
    return kinds[0]


def found_in_file(path: Path, columns: Columns, how: Input, *, skips: bool) -> Found:
    """What is in a file.

    Raises:
        DataError: it is a spreadsheet, an archive of several files, or UTF-16; or it is damaged.
    """
    check_sheet(path)
    stated, (named, packed) = stated_format(how.format), suffix_format(path)
    try:
        with path.open("rb") as raw, opened_text(path) as file:
            kind = compression(raw.read(HEAD))
            head = _head(file)
    except OSError as error:  # from Arrow: a damaged archive
        raise unreadable(str(path), error) from None
    in_path = {part.partition("=")[0] for part in path.parent.parts if "=" in part}
    names = [name for name in columns.names if name not in in_path]
    found = Found(*_found(head, str(path), names, how, stated, named, skips=skips), kind)
    usual = Found(stated or named or "csv", how.delimiter or usual_delimiter(stated or named), packed)
    if found != (usual if stated or named else None):
        _say(str(path), found)
    return found


def found_in_pipe(file: Readable, name: str, columns: Columns, how: Input, *, skips: bool) -> tuple[Readable, Found]:
    """The bytes of a pipe, unpacked, and what is in it."""
    stated = stated_format(how.format)
    head = file.read(HEAD)
    kind = compression(head)
    file = unpacked(Rest(file, head), kind)
    try:
        head = _head(file)
    except OSError as error:
        raise unreadable(name, error) from None
    found = Found(*_found(head, name, columns.names, how, stated, None, skips=skips), kind)
    if found.packed or stated is None:
        _say(name, found)
    return Rest(file, head), found


def usual_delimiter(format: Format | None) -> str:
    return "\t" if format == "tsv" else ","


def _head(file: Readable) -> bytes:
    """The first line, or enough bytes to know that there are no lines."""
    head = b""
    while b"\n" not in head and len(head) < LONGEST_LINE and not _binary(head):
        more = file.read(1 << 14)
        head += more
        if not more:
            break
    return head


def _check_log(head: bytes, name: str) -> None:
    """Refuses a Zeek log, recognised by its first line: its lines are not keys, and its header is not a TSV header.

    Not checked if rows may be skipped: no row may cause others to be refused.
    """
    if head.startswith(b"#separator "):
        raise DataError(
            name,
            "Zeek logs cannot be read here because of their header",
            f"{either('Cut', 'Use stablesketch monitor --preset zeek, or cut')} out one column (zeek-cut id.orig_h)",
        )


def _binary(head: bytes) -> Format | None:
    text = all(byte > 8 for byte in head[:64])  # PAR1 may begin a header too
    return None if text else next((kind for magic, kind in _BINARY.items() if head.startswith(magic)), None)


def _found(
    head: bytes, source: str, names: Sequence[str], how: Input, stated: Format | None, named: Format | None, *,
    skips: bool,
) -> tuple[Format, str]:  # fmt: skip
    """The format and what separates the cells. `stated` is the format of `how`, `named` that of the file's name."""
    check_bytes(head, source)
    if stated is None and how.header and not skips:
        _check_log(head, source)
    usual = how.delimiter or usual_delimiter(stated or named)
    if stated is None and (binary := _binary(head)) is not None:
        return binary, usual
    if stated not in (None, "csv"):
        return stated, usual
    if stated is None and named in (None, "lines") and list(names) == ["line"]:
        return "lines", usual
    looks = head.removeprefix(MARK).lstrip()[:1] in (b"{", b"[")
    if stated is None and skips:
        if named not in (None, "csv", "tsv", "lines"):
            return named, usual
        if looks and how.header:
            raise ArgumentError(
                "on_bad", "skip", "needs a format",
                f"Pass {arg('format', 'json')} or {arg('format', 'csv')}",
                because="the first line looks like JSON and may be a row to skip",
            )  # fmt: skip
        stated = "csv"
    if stated is None and how.header and looks:
        return "json", usual
    separates = usual if how.delimiter or not how.header else _separates(head, names, usual)
    if stated == "csv" or not how.header:
        return stated or (named if named not in (None, "lines") else "csv"), separates or usual
    if separates is not None:
        return "tsv" if separates == "\t" else "csv", separates
    return named or "csv", usual


def _separates(head: bytes, names: Sequence[str], usual: str) -> str | None:
    """The delimiter that gives the first row all requested columns, or else one of them; None if none does.

    If no column is requested, as in a wide table: tabs if there are any, then the first that gives several columns.
    """
    wanted = {name.encode() for name in names}
    rows = {one: wanted & set(cells_of(head, one)) for one in dict.fromkeys([usual, *_DELIMITERS])}
    if not wanted:
        return next((one for one in dict.fromkeys(["\t", *rows]) if len(cells_of(head, one)) > 1), None)
    best = max(rows, key=lambda one: (rows[one] == wanted, bool(rows[one])))
    return best if rows[best] else None


def _say(name: str, found: Found) -> None:
    between = ""
    if found.format in ("csv", "tsv"):
        between = f" separated by {_DELIMITERS.get(found.delimiter, repr(found.delimiter))}"
    packed = f", compressed with {found.packed}" if found.packed else ""
    said = (
        f"{name}: read as {_WORDS[found.format]}{between}{packed}, by its first bytes. To read it otherwise, pass "
        f"{arg('format')} or {arg('delimiter')}"
    )
    if found.format == "lines":
        said = (
            f"{name}: read as lines{packed}, each of which is a key. To read a column of CSV or JSON, pass {arg('key')}"
        )
    import logging  # slower to import than this module, and most files are what their names say

    logging.getLogger("stablesketch.reading").info("%s", in_python(said), extra={"wording": said})
