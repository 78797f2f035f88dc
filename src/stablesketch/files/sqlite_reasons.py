"""Why SQLite failed, in words that say what to do about it."""

from __future__ import annotations

import sqlite3

_REASONS = {
    "SQLITE_BUSY": "another process is using it. Try again",
    "SQLITE_LOCKED": "another process is using it. Try again",
    "SQLITE_FULL": "the disk is full. Make room and try again",
    "SQLITE_READONLY": "it, or its folder, cannot be written. Give the process permission to write both",
    "SQLITE_CANTOPEN": "it, or the files beside it, cannot be opened. Make sure that the file and its folder "
    "are writable",
    "SQLITE_PERM": "permission is denied. Give the process permission to write the file and its folder",
    "SQLITE_IOERR": "reading or writing it failed. Check the disk, and try again",
}


def kind_of(error: sqlite3.Error) -> str:
    """The name of the error without details: SQLITE_IOERR for SQLITE_IOERR_WRITE. Empty if it has none."""
    return "_".join((getattr(error, "sqlite_errorname", "") or "").split("_")[:2])


def reason_of(error: sqlite3.Error) -> str:
    """What is wrong, and what to do."""
    return _REASONS.get(kind_of(error), "see the message in brackets")
