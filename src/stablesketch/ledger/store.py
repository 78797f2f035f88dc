"""The SQLite database of a ledger: its tables, its transactions, and what can go wrong with its file.

Every transaction opens the database and closes it again: nothing is shared between threads, or between a process and
its forks. Writing transactions begin IMMEDIATE, so that one process writes while the others wait. The journal is a
write-ahead log, synced at every commit (synchronous = FULL). Once a commit has returned, it survives a power cut; a
process killed before that leaves the database as it was.

Tables:

- `ledger`: one row; the unit of privacy, whether the ledger is adaptive, how many releases there are, the end of
  their chain (rows.py), and in `spent` a checksum of the table `spent`.
- `budgets`: the whole ledger's ("") and the named ones, each with its ε and δ, and θ if adaptive (accounting.py); a
  budget that renews has one more row for each period with releases.
- `kinds`: what releases have in common (statistic, privacy, mechanism), as JSON.
- `releases`: one row each, never changed or deleted. `spent` is the ledger's ε after it; `chain` is SHA-256 of the
  chain so far and of the row.
- `spent`: the fingerprints of all secrets that were released (spent_secrets.py).
- `published`: the released values, by the number of their record.
- `frontier`, `partitions`, `covered`, `costs`: the cost of all releases together; a cache (composition.py).
- `checksums`: of the rows of that cache (checksums.py).

Version 1 had no `spent`, version 2 no `published`. Older versions are upgraded when they are opened (file.py). Up to
version 3, people and pairs were not distinguished; up to version 4, no budget renewed; up to version 5, the cache had
one checksum for each budget.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..errors import LedgerCorrupt, LedgerError
from ..files.durable import Identity, remove, sync_folder
from ..files.sqlite_reasons import kind_of, reason_of
from .lock import lock_of_file

_APPLICATION = 0x53534C47  # "SSLG"
VERSION = 6
_WAIT = 60.0  # seconds for other processes to finish

_TABLES = """
CREATE TABLE ledger (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    relation TEXT, pairs_per_person INTEGER, adaptive INTEGER NOT NULL, releases INTEGER NOT NULL, chain BLOB NOT NULL,
    last_time TEXT, spent BLOB NOT NULL, checksum BLOB NOT NULL
);
CREATE TABLE budgets (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, epsilon REAL NOT NULL, delta REAL NOT NULL, theta REAL,
    releases INTEGER NOT NULL, after INTEGER NOT NULL, cache BLOB NOT NULL, per TEXT NOT NULL, period TEXT NOT NULL,
    checksum BLOB NOT NULL, UNIQUE (name, period)
);
CREATE TABLE kinds (id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE);
CREATE TABLE releases (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, label TEXT NOT NULL, budget INTEGER NOT NULL REFERENCES budgets,
    kind INTEGER NOT NULL REFERENCES kinds, fingerprint BLOB UNIQUE, partition TEXT, part TEXT, spent REAL NOT NULL,
    chain BLOB NOT NULL
);
CREATE TABLE spent (row INTEGER PRIMARY KEY, checksum BLOB NOT NULL, content BLOB NOT NULL);
CREATE TABLE published (number INTEGER PRIMARY KEY, content BLOB NOT NULL, checksum BLOB NOT NULL);
CREATE TABLE frontier (
    budget INTEGER NOT NULL, leaf INTEGER NOT NULL, partition TEXT NOT NULL, part TEXT NOT NULL,
    level INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (budget, leaf, partition, part, level)
) WITHOUT ROWID;
CREATE INDEX frontier_keys ON frontier (key);
CREATE TABLE partitions (
    budget INTEGER NOT NULL, partition TEXT NOT NULL, content BLOB NOT NULL, checksum BLOB NOT NULL,
    PRIMARY KEY (budget, partition)
);
CREATE TABLE covered (
    budget INTEGER NOT NULL, leaf INTEGER NOT NULL, partition TEXT NOT NULL, key BLOB NOT NULL,
    PRIMARY KEY (budget, leaf, partition, key)
) WITHOUT ROWID;
CREATE TABLE checksums (
    budget INTEGER NOT NULL, node INTEGER NOT NULL, checksum BLOB NOT NULL, PRIMARY KEY (budget, node)
) WITHOUT ROWID;
CREATE TABLE costs (key BLOB PRIMARY KEY, content BLOB NOT NULL, checksum BLOB NOT NULL);
"""

_DAMAGE = {"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT"}


@contextlib.contextmanager
def transaction(
    path: Path, *, write: bool, identity: Identity | None = None
) -> Iterator[tuple[sqlite3.Connection, Identity]]:
    """The database at `path`, which must exist, within a transaction: committed at the end, or as it was before.

    `identity` is the identity of the file when it was first opened: another file in its place is refused.
    """
    with _held(path, write=write) as (real, found):
        if identity is not None and found != identity:
            raise LedgerError(
                f"the ledger {path} was replaced after it was opened. Nothing was recorded or released. Put the old "
                "file back; if the new one is right, open the ledger again."
            )
        with _connected(real, write=write) as connection:
            yield connection, found


@contextlib.contextmanager
def _held(path: Path, *, write: bool) -> Iterator[tuple[Path, Identity]]:
    """The file itself, not a link to it, and its identity: SQLite creates its own files next to it."""
    real = Path(os.path.realpath(path))
    with contextlib.ExitStack() as held_file:
        try:
            identity = held_file.enter_context(lock_of_file(real, write=write, wait=_WAIT))
        except OSError as error:
            raise LedgerError(
                f"the ledger {path} cannot be used: {error.strerror}. Nothing was recorded or released."
            ) from None
        yield real, identity


@contextlib.contextmanager
def _connected(path: Path, *, write: bool) -> Iterator[sqlite3.Connection]:
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=_WAIT, isolation_level=None)
    except sqlite3.Error as error:
        raise _translated(path, error) from None
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter if the message of the former quotes damaged text
        raise _translated(path, error) from None
    finally:
        with contextlib.suppress(sqlite3.Error):
            connection.close()


def is_empty(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether it contains no ledger yet. Raises if it contains something else, or a ledger of a newer version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == _APPLICATION:
        if not 1 <= version <= VERSION:
            raise LedgerError(
                f"{path} is a ledger of version {version}, but this version of stablesketch reads only up to "
                f"{VERSION}. Upgrade it."
            )
        return False
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application or tables:
        raise LedgerCorrupt(f"{path} is a database, but not a ledger. Choose another file.")
    return True


def version(connection: sqlite3.Connection) -> int:
    """The version of the ledger."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def create_tables(connection: sqlite3.Connection, *, only: tuple[str, ...] | None = None) -> None:
    """Creates all tables, or some, in the current transaction, so that a ledger exists completely or not at all."""
    for statement in _TABLES.split(";\n"):
        if statement.strip() and (only is None or statement.split()[2] in only):
            connection.execute(statement)
    if only is None:
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        mark_version(connection)


def mark_version(connection: sqlite3.Connection) -> None:
    """Marks it as a ledger in the current format."""
    connection.execute(f"PRAGMA user_version = {VERSION}")


def backup(path: Path, target: Path) -> None:
    """A consistent copy under a new name, whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    os.close(handle)
    try:
        with (
            _held(path, write=False),
            contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_WAIT)) as source,
            contextlib.closing(sqlite3.connect(name)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()
        with open(name, "rb") as file:
            os.fsync(file.fileno())
        os.link(name, target)
        sync_folder(target.parent)
    except sqlite3.Error as error:
        raise _translated(path, error) from None
    finally:
        remove(name)


def touch(path: Path) -> bool:
    """Creates an empty file that only its owner can read or write. SQLite gives its own files the same mode.

    Returns True if there was none.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return True
    except FileExistsError:
        return False
    except OSError as error:
        raise LedgerError(f"cannot create the ledger {path}: {error.strerror}. Choose another folder.") from None


def discard_empty(path: Path) -> None:
    """Removes a ledger file that was created but is still empty. A file that another process has filled stays."""
    with contextlib.suppress(LedgerError, OSError), transaction(path, write=True) as (connection, _):
        if is_empty(connection, path):
            os.unlink(path)
    if not path.exists():
        for end in ("-wal", "-shm"):
            remove(f"{path}{end}")


def _is_database(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return True  # unknown


def _translated(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> LedgerError:
    if isinstance(error, UnicodeDecodeError):
        error = sqlite3.DatabaseError("malformed text")
    base = kind_of(error)
    if base == "SQLITE_NOTADB" and not _is_database(path):
        return LedgerCorrupt(
            f"{path} is not a ledger: it is not an SQLite database. Nothing was recorded or released. Name the file "
            "of a ledger; if this was one, restore it from a backup."
        )
    if base in _DAMAGE or any(sign in str(error) for sign in ("malformed", "no such", "UTF-8")):
        return LedgerCorrupt(
            f"the ledger {path} is damaged ({error}). Nothing was recorded or released. Restore it from a backup, and "
            "record what was released since then with Ledger.charge."
        )
    return LedgerError(
        f"the ledger {path} cannot be used ({error}): {reason_of(error)}. Nothing was recorded or released."
    )
