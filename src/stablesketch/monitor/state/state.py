"""The state of a monitor in a folder: one SQLite file with mode 0600. Each step is one transaction. Only one monitor
can use it at a time.

A transaction stores everything about a moment: how far the input was read, the open windows as they were then, and the
records of windows that were released then. After a crash, the file is as one of these transactions left it:

- rows that came after it are read again, into windows that have not seen them: each counts once;
- a window is released by the transaction that stores its record and deletes its secret and its state, before anyone
  sees the record. If killed before that, it is released again, and nobody has seen the first value. If killed after, it
  is gone, and its record is waiting to be delivered;
- `delivered` says how many records are known to have been delivered.

The file contains the secrets of open windows, so it must stay where the data are. SQLite overwrites what is deleted
from it. The journal next to it, which is removed after each transaction, may leave old pages on the disk.

**A copy of the folder is refused**, and so is one that is put back in its place. It has the secrets of windows that the
original may have released since. Released again, under the same noise but with other rows, the difference of the two
values would be exact. The database therefore knows its own inode and file system. It also has a seal: the file `lock`
contains a number, which is raised after each transaction that releases windows and before their records are delivered
(`seal`). The database stores that number and the ctime of `lock`, which programs that copy files cannot set.

- If the database alone is put back, its number is behind. If `lock` is put back too, in place or not, its ctime
  differs.
- If killed between the transaction and the seal, or before the ctime is stored, the transaction has the next number and
  no ctime, and `lock` has that number or the previous one. Nothing was delivered, or no window released since.

Not detected are copies made within such a moment, and disks that are rolled back as a whole (docs/known-limits.md).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import CheckpointError
from ...files.durable import lock
from ...files.sqlite_reasons import kind_of, reason_of
from ...format.checked_json import JsonError, is_count, parsed
from ...text.wording import arg
from .facts import POSSIBLE
from .records import is_record

_VERSION = 4
_KEPT = 10_000  # delivered records
_REMEMBERED = 1_500  # of them after a restart: a day of minutes for the page
_TABLES = """
create table facts (name text primary key, value text not null);
create table windows (number integer primary key, secret blob not null);
create table collectors (window integer, place integer, state blob not null, primary key (window, place));
create table people (window integer, person blob, counted integer not null, primary key (window, person));
create table records (number integer primary key, text text not null);
"""


class StoredWindow(NamedTuple):
    """The bits of a window's secret, the state of each collector, and how many rows each person has, by hash."""

    secret: bytes
    states: Sequence[bytes]
    people: Mapping[bytes, int] = {}


Stored = Mapping[int, StoredWindow]  # with only those people whose counts changed


# What `settings` contains, as messages name it.
_NAMED = {
    "source": "the input", "follow": arg("follow"), "fields": "how lines are read", "windows": "the windows",
    "protect": arg("protect"), "confidence": arg("confidence"), "plans": "statistics, ε, δ or size",
    "ledger": arg("ledger"),
}  # fmt: skip
_FOLDER = f"a new folder ({arg('state')})"
_NEW = (
    "A new folder begins with the next whole window, and counts no row that was counted before. A replay, however, "
    "spends ε again on its rows."
)


class MonitorState:
    """The file `monitor.db` in a folder, which is created if it is missing; without a folder, the state is in memory.

    `settings` is what is monitored and how, as JSON; different settings are refused. Its records have its `id`, drawn
    at random.
    """

    def __init__(self, folder: Path | None, settings: str) -> None:
        self._lock: int | None = None
        self._seal: tuple[int, int | None] = (0, None)  # the number in `lock`, and its ctime; None until it is known
        self.folder = folder
        try:
            if folder is not None:
                self._hold(folder)
            self._open(settings)
            self.id: str = self.fact("id")
        except BaseException:
            self.close()
            raise

    def _hold(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            os.close(os.open(folder / "monitor.db", os.O_RDWR | os.O_CREAT, 0o600))
            lock(self._lock, wait=0.0)
        except TimeoutError:
            raise CheckpointError(
                f"another monitor uses the folder {folder}. Stop it first. A second monitor of the same rows needs a "
                f"folder of its own ({arg('state')}), and costs its own ε on top."
            ) from None
        except OSError as error:
            raise _unusable(folder, error) from None

    def _open(self, settings: str) -> None:
        name = ":memory:" if self.folder is None else str(self.folder / "monitor.db")
        self._base = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
        with self._typed_errors():
            self._base.execute("pragma secure_delete = on")
            self._base.execute("pragma synchronous = extra")
            version = self._base.execute("pragma user_version").fetchone()[0]
            if not version:
                self._base.execute("begin immediate")
                for statement in _TABLES.split(";"):
                    self._base.execute(statement)
                self._base.execute(f"pragma user_version = {_VERSION}")
                self._seal = self._sealed() + 1, None
                facts = {"asked": settings, "id": secrets.token_hex(8), "place": self._place(), "seal": self._seal}
                self.commit(facts)
                self.seal()
            elif version != _VERSION:
                raise CheckpointError(
                    f"the state in {self.folder} has version {version}, but this program reads {_VERSION}. Use the "
                    f"stablesketch that wrote it, or name {_FOLDER}. {_NEW}"
                )
            elif not self._is_original():
                raise CheckpointError(
                    f"the state in {self.folder} is a copy or was restored from one (or its file lock was changed, as "
                    "chmod and chown do). The original may have released its windows, and a secret must not be used "
                    f"twice. Use the original, or name {_FOLDER}. {_NEW}"
                )
            else:
                self._check(json.loads(self.fact("asked")), json.loads(settings))
                self.seal()

    def _place(self) -> list[int]:
        """What distinguishes this file from copies: inodes and file system. Device numbers change at a boot."""
        if self.folder is None or self._lock is None:
            return []
        path = self.folder / "monitor.db"
        return [os.stat(path).st_ino, os.fstat(self._lock).st_ino, os.statvfs(path).f_fsid]

    def _sealed(self) -> int:
        """The number in `lock`; -1 if there is none."""
        text = b"" if self._lock is None else os.pread(self._lock, 99, 0).strip()
        return int(text) if text.isdigit() else -1

    def _is_original(self) -> bool:
        if self.fact("place") != self._place():
            return False
        number, ctime = self._seal = tuple(self.fact("seal"))
        behind = number - self._sealed()
        if ctime is None:
            return behind in (0, 1)
        return behind == 0 and (self._lock is None or os.fstat(self._lock).st_ctime_ns == ctime)

    def seal(self) -> None:
        """Outdates copies made before the last `commit` that released windows, if there was one since the last seal.

        Must be called right after a `commit`, before anyone sees what was released.
        """
        number, ctime = self._seal
        if self._lock is None or ctime is not None:
            return
        try:
            os.pwrite(self._lock, b"%020d\n" % number, 0)
            os.fsync(self._lock)
        except OSError as error:
            raise _unusable(self.folder, error) from None
        self.commit({"seal": (number, os.fstat(self._lock).st_ctime_ns)})

    def _check(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        other = [_NAMED.get(name, name) for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
        if other:
            raise CheckpointError(
                f"the state in {self.folder} was made with other settings, which differ in: {', '.join(other)}. Its "
                f"open windows cannot continue with these. Use the same settings, or name {_FOLDER}. {_NEW}"
            )

    def fact(self, name: str, default: Any = None) -> Any:
        """The stored value of this name, which must be possible (facts.py)."""
        with self._typed_errors():
            found = self._base.execute("select value from facts where name = ?", (name,)).fetchone()
            value = default if found is None else parsed(found[0])
        if name in POSSIBLE and not POSSIBLE[name](value):
            raise self.damaged()
        return value

    def windows(self) -> list[int]:
        """The numbers of the open windows that have rows."""
        with self._typed_errors():
            return [number for (number,) in self._base.execute("select number from windows order by number")]

    def window(self, number: int) -> StoredWindow | None:
        """A window, if it is stored."""
        with self._typed_errors():
            found = self._base.execute("select secret from windows where number = ?", (number,)).fetchone()
            if found is None:
                return None
            states = self._base.execute("select state from collectors where window = ? order by place", (number,))
            people = self._base.execute("select person, counted from people where window = ?", (number,))
            window = StoredWindow(found[0], [state for (state,) in states], dict(people.fetchall()))
        if not _is_window(window):
            raise self.damaged()
        return window

    def spill(self, windows: Stored) -> None:
        """Writes windows that do not fit into memory. They become part of the next `commit`, or are lost."""
        with self._typed_errors():
            if not self._base.in_transaction:
                self._base.execute("begin immediate")
            for number, (secret, states, people) in windows.items():
                self._base.execute("insert or replace into windows values (?, ?)", (number, secret))
                for place, state in enumerate(states):
                    self._base.execute("insert or replace into collectors values (?, ?, ?)", (number, place, state))
                counted = ((number, person, count) for person, count in people.items())
                self._base.executemany("insert or replace into people values (?, ?, ?)", counted)

    def commit(
        self, facts: Mapping[str, Any], windows: Stored | None = None, released: Sequence[int] = (),
        records: Mapping[int, str] | None = None,
    ) -> None:  # fmt: skip
        """Stores all of it, or nothing: facts, changed windows, windows that end here, and records by number."""
        number, ctime = self._seal
        seal = (number if ctime is None else number + 1, None) if released else self._seal
        try:
            self.spill(windows or {})
            facts = {"seal": seal, **facts}
            with self._typed_errors():
                for name, value in facts.items():
                    self._base.execute("insert or replace into facts values (?, ?)", (name, json.dumps(value)))
                for number in released:
                    for table, column in (("windows", "number"), ("collectors", "window"), ("people", "window")):
                        self._base.execute(f"delete from {table} where {column} = ?", (number,))
                if records:
                    self._base.executemany("insert into records values (?, ?)", records.items())
                    old = max(records) - _KEPT, self.fact("delivered", 0)
                    self._base.execute("delete from records where number <= ?", (min(old),))
                self._base.execute("commit")
            self._seal = facts["seal"]
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("rollback")
            raise

    def records(self, after: int) -> dict[int, str]:
        """The records stored after this number, in order."""
        with self._typed_errors():
            rows = self._base.execute("select number, text from records where number > ? order by number", (after,))
            found: dict[int, str] = dict(rows.fetchall())
        if not all(is_record(number, text, self.id) for number, text in found.items()):
            raise self.damaged()
        return found

    def delivered(self) -> dict[int, str]:
        """The last records that are known to have been delivered."""
        last = self.fact("delivered", 0)
        return {number: text for number, text in self.records(last - _REMEMBERED).items() if number <= last}

    @contextlib.contextmanager
    def _typed_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            where = self.folder or "memory"
            if kind_of(error) in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
                raise CheckpointError(
                    f"the state in {where} is damaged ({error}). What is in it cannot be used: name {_FOLDER}. {_NEW}"
                ) from None
            raise CheckpointError(
                f"the state in {where} cannot be used ({error}): {reason_of(error)}. The last checkpoint is intact."
            ) from None
        except (JsonError, UnicodeDecodeError):
            raise self.damaged() from None

    def damaged(self) -> CheckpointError:
        """The error about content that no monitor wrote."""
        return CheckpointError(f"the state in {self.folder or 'memory'} is damaged. Name {_FOLDER}. {_NEW}")

    def close(self) -> None:
        """Closes it, so that another monitor can use the folder."""
        if hasattr(self, "_base"):
            self._base.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _is_window(window: StoredWindow) -> bool:
    """The secret and the states are checked where they are used."""
    blobs = (window.secret, *window.states, *window.people)
    return all(type(each) is bytes for each in blobs) and all(map(is_count, window.people.values()))


def _unusable(folder: Path | None, error: OSError) -> CheckpointError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    is_file = isinstance(error, FileExistsError | NotADirectoryError)
    way_out = "Make room on the disk" if full else "Give this process the right to write there"
    if is_file:
        way_out = "Name a folder, which is created if it does not exist"
    return CheckpointError(f"the folder {folder} cannot be used: {error.strerror}. {way_out}.")
