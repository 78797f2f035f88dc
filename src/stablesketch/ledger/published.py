"""What was released, kept in the ledger with its record: so that a value that was paid for is never lost.

The record and the value are written by one transaction. If a process is killed before it is committed, nothing was paid
and nothing shown; after that, the value is here, whatever became of the process. It is public, as every release is.
"""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

from ..errors import LedgerCorrupt

__all__ = ["keep", "kept"]


def keep(connection: sqlite3.Connection, number: int, text: str) -> None:
    """Within the transaction that records release `number`."""
    raw = text.encode()
    connection.execute("INSERT INTO published VALUES (?, ?, ?)", (number, raw, _checksum(number, raw)))


def kept(connection: sqlite3.Connection, number: int, path: Path) -> str | None:
    """The text of release `number`; None if it has none: something else was recorded, or by an older version."""
    row = connection.execute("SELECT content, checksum FROM published WHERE number = ?", (number,)).fetchone()
    if row is None:
        return None
    content, checksum = row
    if type(content) is not bytes or checksum != _checksum(number, content):
        raise LedgerCorrupt(f"{path}: the value of release {number} is not what was written. Restore it from a backup.")
    return content.decode()


def _checksum(number: int, raw: bytes) -> bytes:
    return sha256(b"stablesketch/ledger/published/%d/" % number + raw).digest()
