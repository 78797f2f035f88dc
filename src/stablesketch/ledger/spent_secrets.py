"""The secrets that have been released: 256 rows, one for each first byte of a fingerprint, each with a checksum.

The records contain the fingerprints too, and an index finds them. But an index with a damaged page silently misses
existing entries. Here every row always exists and has a checksum, and the head has a checksum of all 256 checksums:
either a fingerprint is certainly absent, or the ledger is known to be damaged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from hashlib import sha256

_ROWS = 256
_LENGTH = 8  # of a fingerprint


class Damaged(Exception):
    """The rows were changed after they were written; never shown to users."""


class SpentSecrets:
    """The set of fingerprints within one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._checksums: list[bytes] = []
        self._read: dict[int, set[bytes]] = {}
        self._changed: set[int] = set()

    @classmethod
    def create(cls, connection: sqlite3.Connection, fingerprints: Iterable[bytes] = ()) -> bytes:
        """Creates all rows, with these fingerprints. Returns the checksum for the head."""
        rows: list[set[bytes]] = [set() for _ in range(_ROWS)]
        for fingerprint in fingerprints:
            rows[fingerprint[0]].add(fingerprint)
        self = cls(connection)
        self._checksums = [b""] * _ROWS
        self._read, self._changed = dict(enumerate(rows)), set(range(_ROWS))
        return self.save()

    def check(self, digest: bytes) -> None:
        """Checks that all rows exist and match the checksum of the head."""
        rows = self._connection.execute("SELECT row, checksum FROM spent ORDER BY row").fetchall()
        self._checksums = [checksum for _, checksum in rows]
        known = [row for row, _ in rows] == list(range(_ROWS)) and all(type(each) is bytes for each in self._checksums)
        if not known or _digest(self._checksums) != digest:
            raise Damaged

    def __contains__(self, fingerprint: bytes) -> bool:
        return fingerprint in self._row(fingerprint[0])

    def add(self, fingerprint: bytes) -> None:
        """Adds it in memory; `save` writes it."""
        self._row(fingerprint[0]).add(fingerprint)
        self._changed.add(fingerprint[0])

    def all(self) -> set[bytes]:
        """All fingerprints."""
        return set().union(*(self._row(row) for row in range(_ROWS)))

    def save(self) -> bytes:
        """Writes what changed. Returns the new checksum for the head."""
        for row in sorted(self._changed):
            content = b"".join(sorted(self._read[row]))
            self._checksums[row] = _checksum(row, content)
            self._connection.execute(
                "INSERT OR REPLACE INTO spent VALUES (?, ?, ?)", (row, self._checksums[row], content)
            )
        self._changed = set()
        return _digest(self._checksums)

    def _row(self, row: int) -> set[bytes]:
        if row not in self._read:
            found = self._connection.execute("SELECT content FROM spent WHERE row = ?", (row,)).fetchone()
            if found is None or type(found[0]) is not bytes or _checksum(row, found[0]) != self._checksums[row]:
                raise Damaged
            self._read[row] = {found[0][at : at + _LENGTH] for at in range(0, len(found[0]), _LENGTH)}
        return self._read[row]


def _checksum(row: int, content: bytes) -> bytes:
    return sha256(b"stablesketch/ledger/spent/%d/" % row + content).digest()


def _digest(checksums: list[bytes]) -> bytes:
    return sha256(b"stablesketch/ledger/spent/" + b"".join(checksums)).digest()
