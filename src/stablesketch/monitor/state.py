"""The state of a monitor in a folder: one SQLite file of mode 0600, each step one transaction; one monitor at a time.

A transaction holds all of a moment: how far the source was read, the open windows as they were then, and the records of
windows that were released then. After a crash the file is as one of these transactions left it:

- rows that came after it are read again, into windows that have not seen them: each counts once;
- a window is released by the transaction that stores its record and deletes its secret and its state, before anybody
  sees the record. Killed before that, it is released again, and nobody has seen the first value. Killed after, it is
  gone, and its record is there to be delivered;
- `delivered` says how many records are known to have been delivered.

Secrets of open windows are in the file, so it must stay where the data are. SQLite overwrites what is deleted.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..checked_json import JsonError, parsed
from ..durable import lock
from ..errors import CheckpointError
from ..reading.duckdb import text_literal

_VERSION = 1
_KEPT = 10_000  # delivered records
_REMEMBERED = 1_500  # of them, after a restart: a day of minutes for the page
_TABLES = """
create table facts (name text primary key, value text not null);
create table windows (number integer primary key, secret blob not null);
create table collectors (window integer, place integer, state blob not null, primary key (window, place));
create table records (number integer primary key, text text not null);
"""


Stored = Mapping[int, tuple[bytes, Sequence[bytes]]]  # windows: the bits of the secret, and what each collector holds


class MonitorState:
    """The file `monitor.db` in a folder, which is made if it is missing; without a folder it is in memory alone."""

    def __init__(self, folder: Path | None, asked: str) -> None:
        self._lock: int | None = None
        self._folder = folder
        try:
            if folder is not None:
                self._hold(folder)
            self._open(asked)
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
                f"another monitor uses the folder {folder}. Stop it first, or name another folder (--state)."
            ) from None
        except OSError as error:
            raise CheckpointError(f"the folder {folder} cannot be used: {error.strerror}. Name another one.") from None

    def _open(self, asked: str) -> None:
        name = ":memory:" if self._folder is None else str(self._folder / "monitor.db")
        self._base = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
        with self._told():
            self._base.execute("pragma secure_delete = on")
            self._base.execute("pragma synchronous = full")
            version = self._base.execute("pragma user_version").fetchone()[0]
            if not version:
                made = f"insert into facts values ('asked', {text_literal(json.dumps(asked))});"
                self._base.executescript(f"begin; {_TABLES} {made} pragma user_version = {_VERSION}; commit;")
            elif version != _VERSION:
                raise CheckpointError(
                    f"the state in {self._folder} is of version {version}, and this one reads {_VERSION}. Use the "
                    "stablesketch that wrote it, or name another folder."
                )
            elif self.fact("asked") != asked:
                raise CheckpointError(
                    f"the state in {self._folder} was made with other options, and its open windows cannot go on with "
                    "these. Use the same options, or name another folder (--state)."
                )

    def fact(self, name: str, default: Any = None) -> Any:
        """Something that was stored by its name."""
        with self._told():
            found = self._base.execute("select value from facts where name = ?", (name,)).fetchone()
            return default if found is None else parsed(found[0])

    def windows(self) -> list[int]:
        """The numbers of the windows that are open and have rows."""
        with self._told():
            return [number for (number,) in self._base.execute("select number from windows order by number")]

    def window(self, number: int) -> tuple[bytes, list[bytes]] | None:
        """The bits of the secret of a window and its collectors, if it is stored."""
        with self._told():
            found = self._base.execute("select secret from windows where number = ?", (number,)).fetchone()
            if found is None:
                return None
            states = self._base.execute("select state from collectors where window = ? order by place", (number,))
            return found[0], [state for (state,) in states]

    def spill(self, windows: Stored) -> None:
        """Writes windows for which the memory has no room. They are part of the next `commit`, or of nothing."""
        with self._told():
            if not self._base.in_transaction:
                self._base.execute("begin immediate")
            for number, (secret, states) in windows.items():
                self._base.execute("insert or replace into windows values (?, ?)", (number, secret))
                for place, state in enumerate(states):
                    self._base.execute("insert or replace into collectors values (?, ?, ?)", (number, place, state))

    def commit(
        self, facts: Mapping[str, Any], windows: Stored | None = None, released: Sequence[int] = (),
        records: Mapping[int, str] | None = None,
    ) -> None:  # fmt: skip
        """All of it, or none: facts, windows that changed, windows that end here, and records by their numbers."""
        try:
            self.spill(windows or {})
            with self._told():
                for name, value in facts.items():
                    self._base.execute("insert or replace into facts values (?, ?)", (name, json.dumps(value)))
                for number in released:
                    self._base.execute("delete from windows where number = ?", (number,))
                    self._base.execute("delete from collectors where window = ?", (number,))
                if records:
                    self._base.executemany("insert into records values (?, ?)", records.items())
                    old = max(records) - _KEPT, self.fact("delivered", 0)
                    self._base.execute("delete from records where number <= ?", (min(old),))
                self._base.execute("commit")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("rollback")
            raise

    def records(self, after: int) -> dict[int, str]:
        """The records that were stored after this number, in their order."""
        with self._told():
            found = self._base.execute("select number, text from records where number > ? order by number", (after,))
            return dict(found.fetchall())

    def delivered(self) -> dict[int, str]:
        """The last records that are known to have been delivered."""
        last = self.fact("delivered", 0)
        return {number: text for number, text in self.records(last - _REMEMBERED).items() if number <= last}

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, JsonError) as error:
            raise CheckpointError(
                f"the state in {self._folder or 'memory'} cannot be read or written ({error}). Nothing was lost: free "
                "space or repair the folder; the last checkpoint is whole."
            ) from None

    def close(self) -> None:
        """Ends it; another monitor may have the folder then."""
        if hasattr(self, "_base"):
            self._base.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
