"""What goes wrong with files and clocks: a clear error, nothing released, nothing lost."""

from __future__ import annotations

import contextlib
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.ledger import budgets, composition, store

BITS = bytes(range(32))


def in_a_child(work: Callable[[], None], *, user: int | None = None) -> None:
    """Does it in a forked process, as another user if root would not notice the difference; an error fails the test."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if user is not None:
                os.setgid(user)
                os.setuid(user)
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


NOBODY = 65534 if os.geteuid() == 0 else None


def hand_over(folder: Path) -> None:
    """Gives a whole folder to the user that the child will be."""
    if NOBODY is not None:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        for parent in folder.parents:
            if parent.stat().st_uid == 0 and parent != Path("/") and str(parent).startswith("/tmp/"):
                parent.chmod(parent.stat().st_mode | 0o011)


@pytest.fixture
def folder(tmp_path: Path, plan: ss.Plan) -> Path:
    """A ledger with one release, a secret, and a collector stored under it."""
    home = tmp_path / "home"
    home.mkdir()
    ledger = ss.Ledger(home / "budget.db", epsilon=3.0, delta=1e-6)
    ledger.charge(epsilon=0.1, statistic="before", relation="replace of pairs")
    secret = ss.Secret.from_bytes(BITS)
    secret.save(home / "secret.key")
    collector = plan.open(secret)
    collector.update(range(50))
    (home / "collector.ssk").write_bytes(collector.to_bytes())
    plan.open().release()  # the quantiles of its limits are computed once, here, for all children
    return home


def opened(home: Path) -> tuple[ss.Ledger, ss.Collector]:
    secret = ss.Secret.load(home / "secret.key")
    return ss.Ledger(home / "budget.db"), ss.Collector.from_bytes((home / "collector.ssk").read_bytes(), secret)


def check_untouched(home: Path) -> None:
    """One record, a fresh secret, and a release that works as soon as the trouble is over."""
    composition._memory.clear()
    ledger, collector = opened(home)
    assert [record.statistic for record in ledger.records()] == ["before"]
    ledger.verify()
    assert not ss.Secret.inspect(home / "secret.key").spent
    collector.release(ledger=ledger)
    assert len(ledger) == 2
    assert ss.Secret.inspect(home / "secret.key").spent


# --- disk full ---


@contextlib.contextmanager
def small_disk(at: Path, kilobytes: int) -> Iterator[Path]:
    """A real file system of this many kilobytes, or a skip if mounting is not allowed."""
    at.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(at)]
    if os.geteuid() != 0 or subprocess.run(options, capture_output=True).returncode != 0:
        pytest.skip("mounting a file system takes rights that this process lacks")
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True, capture_output=True)


def copied(source: Path, target: Path) -> None:
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
        (target / path.name).chmod(0o600)


@pytest.mark.parametrize("free", [0, 4, 8, 16, 24, 32, 48, 64])
def test_a_full_disk(folder: Path, tmp_path: Path, free: int) -> None:
    """From no space at all to nearly enough: the release is refused completely, or made completely."""
    with small_disk(tmp_path / "disk", 2048) as disk:
        copied(folder, disk)
        ledger, collector = opened(disk)
        ledger.spent()
        filler = disk / "filler"
        with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        os.truncate(filler, filler.stat().st_size - 1024 * free)
        try:
            release = collector.release(ledger=ledger)
        except (ss.LedgerError, ss.SecretFileError) as error:
            said, release = str(error), None
        filler.unlink()
        if release is None:
            assert re.search("full|space|disk", said)
            check_untouched(disk)
            assert collector.shards  # the collector in memory is still open
        else:
            assert len(ledger) == 2
            assert ss.Secret.inspect(disk / "secret.key").spent


def test_files_that_may_not_grow(folder: Path) -> None:
    """A limit on the size of files, which needs no rights: writing fails half way."""

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        ledger, collector = opened(folder)
        for limit in (0, 1, 100, 4096, 8192):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            try:
                collector.release(ledger=ledger)
            except (ss.LedgerError, ss.SecretFileError):
                continue
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            raise AssertionError(f"released with files limited to {limit} bytes")

    in_a_child(limited)
    check_untouched(folder)


def test_checkpoints_on_a_full_disk_keep_the_last_one(tmp_path: Path, plan: ss.Plan) -> None:
    with small_disk(tmp_path / "disk", 64) as disk:
        secret = ss.Secret.generate()
        collector = plan.open(secret)
        collector.update(range(10))
        collector.checkpoint(disk / "state", offset=10)
        with contextlib.suppress(OSError), open(disk / "filler", "wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        collector.update(range(10))
        with pytest.raises(ss.CheckpointError, match="The previous one is intact"):
            collector.checkpoint(disk / "state", offset=20)
        assert ss.Collector.resume(disk / "state", secret).offset == 10
        assert collector.offset == 10
        assert sorted(path.name for path in disk.iterdir()) == ["filler", "state"]
        (disk / "filler").unlink()
        collector.checkpoint(disk / "state", offset=20)
        assert ss.Collector.resume(disk / "state", secret).offset == 20


# --- folders that cannot be written ---


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    hand_over(folder)

    def without_rights() -> None:
        ledger, collector = opened(folder)
        folder.chmod(0o500)
        with pytest.raises((ss.LedgerError, ss.SecretFileError), match=r"writ|opened"):
            collector.release(ledger=ledger)
        with pytest.raises(ss.SecretFileError, match="folder is writable"):
            collector.release()  # the secret cannot be marked, so it is not released without a ledger either
        folder.chmod(0o700)

    in_a_child(without_rights, user=NOBODY)
    check_untouched(folder)


def test_a_ledger_that_cannot_be_written(folder: Path) -> None:
    hand_over(folder)

    def without_rights() -> None:
        ledger, collector = opened(folder)
        (folder / "budget.db").chmod(0o400)
        with pytest.raises(ss.LedgerError, match="cannot be"):
            collector.release(ledger=ledger)
        (folder / "budget.db").chmod(0o600)

    in_a_child(without_rights, user=NOBODY)
    check_untouched(folder)


# --- the clock ---


def test_a_clock_that_goes_backwards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, collector = opened(folder)
    true = datetime.now(UTC)
    monkeypatch.setattr(budgets, "now", lambda: true - timedelta(hours=1))
    with pytest.raises(ss.ClockWentBackwards, match=r"Correct the clock.*ledger\.accept_clock\(\)"):
        collector.release(ledger=ledger)
    monkeypatch.undo()
    check_untouched(folder)


def test_a_clock_that_was_ahead_can_be_accepted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, collector = opened(folder)
    monkeypatch.setattr(budgets, "now", lambda: datetime.now(UTC) + timedelta(days=400))
    ledger.charge(epsilon=0.1, statistic="ahead", relation="replace of pairs")
    monkeypatch.undo()
    with pytest.raises(ss.ClockWentBackwards):
        collector.release(ledger=ledger)
    ledger.accept_clock()
    collector.release(ledger=ledger)
    assert len(ledger) == 3
    ledger.verify()


def test_a_small_step_back_is_no_question(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, _ = opened(folder)
    monkeypatch.setattr(budgets, "now", lambda: datetime.now(UTC) - timedelta(seconds=5))
    ledger.charge(epsilon=0.1, statistic="a little earlier", relation="replace of pairs")


# --- damaged files ---


def test_what_is_no_ledger(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("not a database at all, but long enough to be looked at as one" * 20)
    with pytest.raises(ss.LedgerCorrupt, match="is not a ledger: it is not an SQLite database") as told:
        ss.Ledger(text)
    assert "damaged" not in str(told.value)
    other = tmp_path / "other"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(ss.LedgerCorrupt, match="not a ledger"):
        ss.Ledger(other, epsilon=1.0, delta=1e-6)
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(ss.LedgerMismatch, match="is empty"):
        ss.Ledger(empty)
    ss.Ledger(empty, epsilon=1.0, delta=1e-6)  # as a crash before the first commit leaves it


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_call_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adaptive: bool) -> None:
    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(store, "create_tables", fails)
    with pytest.raises(MemoryError):
        ss.Ledger(tmp_path / "b.db", epsilon=1.0, delta=1e-6, adaptive=adaptive)
    with pytest.raises(ss.ArgumentError):
        ss.Ledger(tmp_path / "b.db", epsilon=1.0, delta=1e-6, pairs_per_person=0)
    assert not list(tmp_path.iterdir())


def test_an_empty_file_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "b.db").touch()
    with pytest.raises(ss.LedgerMismatch):
        ss.Ledger(tmp_path / "b.db")
    assert (tmp_path / "b.db").exists()


def test_a_ledger_that_went_away(folder: Path) -> None:
    ledger, collector = opened(folder)
    (folder / "budget.db").rename(folder / "elsewhere.db")
    with pytest.raises(ss.LedgerError, match="no longer exists"):
        collector.release(ledger=ledger)
    assert not (folder / "budget.db").exists()  # no new, empty one in its place
    (folder / "elsewhere.db").rename(folder / "budget.db")
    check_untouched(folder)


CHANGES = {
    "a larger budget": "UPDATE budgets SET epsilon = 300.0",
    "a larger δ": "UPDATE budgets SET delta = 0.1",
    "another unit": "UPDATE ledger SET relation = 'add_remove'",
    "fewer releases": "UPDATE ledger SET releases = 0",
    "a budget that forgets": "UPDATE budgets SET releases = 0",
    "no budget": "DELETE FROM budgets",
    "no head": "DELETE FROM ledger",
    "no table": "DROP TABLE budgets",
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_the_budget_depends_on_has_checksums(folder: Path, name: str) -> None:
    ledger, collector = opened(folder)
    with sqlite3.connect(folder / "budget.db") as connection:
        connection.execute(CHANGES[name])
    connection.close()
    with pytest.raises(ss.LedgerError, match=r"[Nn]othing was recorded or released|Restore"):
        collector.release(ledger=ledger)
    assert not ss.Secret.inspect(folder / "secret.key").spent


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE releases SET label = 'other' WHERE number = 2",
        "UPDATE releases SET spent = 0.01 WHERE number = 1",
        "UPDATE kinds SET content = replace(content, '0.1', '0.01')",
        "DELETE FROM releases WHERE number = 3",
        "DELETE FROM releases WHERE number = 1",
        "UPDATE releases SET fingerprint = x'0011223344556677' WHERE number = 3",
    ],
)
def test_records_are_held_together_by_a_chain(folder: Path, change: str) -> None:
    ledger, _ = opened(folder)
    for i in range(2):
        ledger.charge(epsilon=0.1, statistic=f"more {i}", relation="replace of pairs")
    ledger.verify()
    with sqlite3.connect(folder / "budget.db") as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(ss.LedgerCorrupt, match="Restore"):
        ledger.verify()


def test_bytes_changed_anywhere(folder: Path) -> None:
    """80 times some bytes of the file are overwritten (seed 7): what can still be read says what it said, or an error.

    Nothing is ever released by a ledger that says less has been spent than there was.
    """
    ledger, _ = opened(folder)
    for i in range(20):
        ledger.charge(epsilon=0.05, statistic=f"more {i}", relation="replace of pairs", label="x" * 50)
    spent, good = ledger.spent(), (folder / "budget.db").read_bytes()
    rng = random.Random(7)
    seen = {"error": 0, "same": 0}
    for _ in range(80):
        bad = bytearray(good)
        at = rng.randrange(len(bad))
        for i in range(at, min(len(bad), at + rng.choice([1, 1, 16, 600, 5000]))):
            bad[i] = rng.randrange(256)
        for beside in folder.glob("budget.db-*"):
            beside.unlink()
        (folder / "budget.db").write_bytes(bytes(bad))
        composition._memory.clear()
        try:
            again = ss.Ledger(folder / "budget.db")
            found, count, whole = again.spent(), len(again), again.epsilon
            again.charge(epsilon=0.05, statistic="next", relation="replace of pairs")
            after = again.spent()
        except ss.LedgerError:
            seen["error"] += 1
        else:
            assert (found, count, whole) == (spent, 21, 3.0)
            assert after > spent
            seen["same"] += 1
    assert min(seen.values()) > 5
