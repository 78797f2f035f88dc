"""A checkpoint: a collector and the position in its source, in one file. Kind 4 of docs/wire-format.md.

State and offset are in one file, replaced by one rename, so whoever resumes has both from the same moment. An ingest
that was killed continues from that offset. The pairs it had counted since then are counted again, into a state that has
not seen them: each counts exactly once.

A checkpoint has a number, one more than that of the checkpoint it replaces. A process replaces only a checkpoint that
it wrote or resumed itself. If two processes resume the same one, the second to write is therefore refused, and a slow
process cannot undo a newer checkpoint.

number (8) | offset: length (4), JSON | collector: length (8), bytes
"""

from __future__ import annotations

import contextlib
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, BlobError, CheckpointError
from ..files.durable import locked, write_new, write_over
from ..format.checked_json import JsonError, parsed
from ..format.framing import Kind, framed, unframed

_HEADER = struct.Struct("<QI")  # number, length of the offset
_LENGTH = struct.Struct("<Q")
_MOST = 2**63  # the largest number of a checkpoint


@dataclass(frozen=True)
class Checkpoint:
    """The content of the file; `collector` is the result of `Collector.to_bytes`."""

    number: int
    offset: Any
    collector: bytes


def offset_json(offset: object) -> str:
    """The offset as JSON, if reading it back gives the same value."""
    try:
        text = json.dumps(offset, allow_nan=False)
        if json.loads(text) == offset:
            return text
    except (TypeError, ValueError, RecursionError):
        pass
    raise ArgumentError(
        "offset", offset, "must survive a round trip through JSON",
        "Pass an integer, a text, or lists and dictionaries (with text keys) of these",
    )  # fmt: skip


def read(path: Path) -> Checkpoint:
    """The checkpoint in this file."""
    try:
        return _decode(path.read_bytes())
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror}.") from None


def write(path: Path, checkpoint: Checkpoint) -> None:
    """Replaces the checkpoint with the previous number; the first one must be a new file."""
    content = _encode(checkpoint)
    try:
        if checkpoint.number == 1:
            write_new(path, content)
            return
        with contextlib.ExitStack() as held:
            try:
                there = _decode(held.enter_context(locked(path)).read()).number
            except BlobError as error:
                raise CheckpointError(f"{path} is no longer a valid checkpoint: {error}") from None
            if there != checkpoint.number - 1:
                raise CheckpointError(
                    f"{path} is checkpoint {there}, but this collector continues from {checkpoint.number - 1}: another "
                    "process uses it. Stop one of the two; Collector.resume reads the file."
                )
            write_over(path, content)
    except CheckpointError:
        raise
    except FileExistsError:
        raise CheckpointError(
            f"{path} already exists, and was not written by this collector. Continue from it with Collector.resume, or "
            "choose another name."
        ) from None
    except FileNotFoundError:
        raise CheckpointError(f"{path} or its folder no longer exists. Restore it, or choose another name.") from None
    except OSError as error:
        raise CheckpointError(
            f"cannot write the checkpoint {path}: {error.strerror}. The previous one is intact."
        ) from None


def _encode(checkpoint: Checkpoint) -> bytes:
    offset = offset_json(checkpoint.offset).encode()
    return framed(
        Kind.CHECKPOINT,
        _HEADER.pack(checkpoint.number, len(offset)),
        offset,
        _LENGTH.pack(len(checkpoint.collector)),
        checkpoint.collector,
    )


def _decode(blob: bytes) -> Checkpoint:
    _, reader = unframed(blob, Kind.CHECKPOINT)
    number, length = reader.unpack(_HEADER)
    if not 1 <= number < _MOST:
        raise BlobError(f"invalid checkpoint number {number}: corrupt data.")
    try:
        offset = parsed(reader.take(length).decode())
        offset_json(offset)
    except (UnicodeDecodeError, JsonError, ArgumentError):
        raise BlobError("unreadable offset in a checkpoint: corrupt data.") from None
    collector = reader.sized(_LENGTH)
    reader.end()
    return Checkpoint(number, offset, collector)
