"""One ledger under two names, or another one under the same name: the budget is spent once, or not at all."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
from attack_tools import mounted, race, releases_until_refused

import stablesketch as ss

EPSILON, DELTA = 2.5, 1e-12  # room for 25 releases of the exact plan, ε = 0.1 each


@pytest.fixture
def budget(home: Path) -> Path:
    path = home / "budget.db"
    ss.Ledger(path, epsilon=EPSILON, delta=DELTA)
    return path


def spent_together(exact: ss.Plan, *names: Path) -> int:
    said = race(*(lambda name=name: releases_until_refused(exact, name) for name in names))  # type: ignore[misc]
    return sum(one["done"] for one in said)


def check_books(path: Path, released: int) -> None:
    ledger = ss.Ledger(path)
    assert len(ledger) == released
    assert ledger.spent() <= EPSILON * (1.0 + 1e-9)
    ledger.verify()


def test_a_hard_link(home: Path, budget: Path, exact: ss.Plan) -> None:
    link = home / "link.db"
    os.link(budget, link)
    released = spent_together(exact, budget, link, budget, link)
    link.unlink()
    check_books(budget, released)


def test_a_hard_link_is_refused_with_the_way_out(home: Path, budget: Path) -> None:
    os.link(budget, home / "link.db")
    for name in (budget, home / "link.db"):
        with pytest.raises(ss.LedgerError, match="2 names"):
            ss.Ledger(name)


def test_a_hard_link_made_while_the_ledger_is_open(home: Path, budget: Path, exact: ss.Plan) -> None:
    ledger = ss.Ledger(budget)
    os.link(budget, home / "link.db")
    with pytest.raises(ss.LedgerError, match="2 names"):
        exact.open().release(ledger=ledger)
    (home / "link.db").unlink()
    exact.open().release(ledger=ledger)
    assert len(ledger) == 1


def test_a_bind_mount_of_the_file_alone(tmp_path: Path, budget: Path, exact: ss.Plan) -> None:
    """What a container gets that is given one file."""
    inside = tmp_path / "inside.db"
    inside.touch()
    with mounted("--bind", budget, inside):
        released = spent_together(exact, budget, inside, budget, inside)
        with pytest.raises(ss.LedgerError, match="Mount its folder"):
            ss.Ledger(inside)
    check_books(budget, released)


def test_a_bind_mount_of_the_folder_is_one_ledger(tmp_path: Path, home: Path, budget: Path, exact: ss.Plan) -> None:
    """The files beside the ledger are then the same, too: this works, and is what the error above advises."""
    inside = tmp_path / "inside"
    inside.mkdir()
    with mounted("--bind", home, inside):
        assert spent_together(exact, budget, inside / "budget.db", budget, inside / "budget.db") == 25
    check_books(budget, 25)


def test_an_overlay_as_containers_have_it(tmp_path: Path, home: Path, budget: Path, exact: ss.Plan) -> None:
    """The first write copies the file up into the upper layer: it is one ledger all the while."""
    upper, work, merged = (tmp_path / name for name in ("upper", "work", "merged"))
    for folder in (upper, work, merged):
        folder.mkdir()
    layers = f"lowerdir={home},upperdir={upper},workdir={work}"
    with mounted("-t", "overlay", "-o", layers, "overlay", merged):
        assert spent_together(exact, *[merged / "budget.db"] * 3) == 25
        check_books(merged / "budget.db", 25)


def test_other_ways_to_the_same_name_are_one_ledger(
    tmp_path: Path, home: Path, budget: Path, exact: ss.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symbolic links to the file and to its folder, a relative path, a path with dots, an open file in /proc."""
    monkeypatch.chdir(home)
    (tmp_path / "link.db").symlink_to(budget)
    (tmp_path / "folder").symlink_to(home)
    names = [tmp_path / "link.db", tmp_path / "folder" / "budget.db", Path("budget.db"), home / ".." / "home/budget.db"]
    handle = os.open(budget, os.O_RDONLY)
    try:
        if Path("/proc/self/fd").is_dir():
            names.append(Path(f"/proc/self/fd/{handle}"))
        assert spent_together(exact, *names) == 25
    finally:
        os.close(handle)
    check_books(budget, 25)
    assert {path.name for path in tmp_path.iterdir()} == {"home", "link.db", "folder"}


def test_a_fork_in_the_middle_of_a_transaction(budget: Path, exact: ss.Plan) -> None:
    """It inherits the open file and the lock, leaves the block of its parent, and may use the ledger itself."""
    ledger = ss.Ledger(budget)

    def both() -> int:
        with ledger._file.transaction(write=True):
            child = os.fork()
        if child == 0:
            ss.Ledger(budget).charge(epsilon=0.1, statistic="child", relation="replace of pairs")
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert race(both)[0]["done"] == 0
    exact.open().release(ledger=ledger)
    assert [record.statistic for record in ledger.records()] == ["child", "F_0.5"]
    ledger.verify()


def test_threads_of_one_process_share_a_ledger(budget: Path, exact: ss.Plan) -> None:
    """Some write while others read: a closed handle must not take the locks of another thread away."""
    ledger, stop = ss.Ledger(budget), threading.Event()
    done: list[int] = []

    def read() -> None:
        while not stop.is_set():
            assert ledger.spent() <= EPSILON * (1.0 + 1e-9)

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=lambda: done.append(releases_until_refused(exact, budget))) for _ in range(3)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert sum(done) == len(ledger) == 25
    ledger.verify()


def test_a_ledger_that_is_replaced_while_open(home: Path, budget: Path, exact: ss.Plan) -> None:
    ledger = ss.Ledger(budget)
    ledger.backup(home / "copy.db")
    exact.open().release(ledger=ledger)
    os.replace(home / "copy.db", budget)
    with pytest.raises(ss.LedgerError, match="was replaced after it was opened"):
        exact.open().release(ledger=ledger)
    with pytest.raises(ss.LedgerError, match="was replaced after it was opened"):
        ledger.spent()


def test_a_ledger_that_is_rolled_back_while_open(home: Path, budget: Path, exact: ss.Plan) -> None:
    """The old bytes are written over the new ones: the same file, with less in it."""
    ledger = ss.Ledger(budget)
    exact.open().release(ledger=ledger)
    ledger.backup(home / "copy.db")
    exact.open().release(ledger=ledger)
    budget.write_bytes((home / "copy.db").read_bytes())
    for beside in home.glob("budget.db-*"):
        beside.unlink()
    with pytest.raises(ss.LedgerCorrupt, match="rolled back"):
        exact.open().release(ledger=ledger)


def test_a_ledger_of_another_history_while_open(home: Path, budget: Path, exact: ss.Plan) -> None:
    """As long as the old one, so that counting is not enough."""
    ledger = ss.Ledger(budget)
    ledger.backup(home / "copy.db")
    exact.open().release(ledger=ledger)
    other = ss.Ledger(home / "copy.db")
    for _ in range(2):
        exact.open().release(ledger=other)
    del other
    budget.write_bytes((home / "copy.db").read_bytes())
    for beside in home.glob("budget.db-*"):
        beside.unlink()
    with pytest.raises(ss.LedgerCorrupt, match="rolled back"):
        exact.open().release(ledger=ledger)


def test_a_copy_is_told_from_the_ledger_by_its_head(home: Path, budget: Path, exact: ss.Plan) -> None:
    """A copy from earlier says what it always said. Who keeps the head elsewhere can tell."""
    ledger = ss.Ledger(budget)
    exact.open().release(ledger=ledger)
    shutil.copy(budget, home / "copy.db")
    early = ledger.head
    exact.open().release(ledger=ledger)
    late = ledger.head
    assert early != late
    ledger.verify(since=early)
    ledger.verify(since=late)
    copy = ss.Ledger(home / "copy.db")
    copy.verify(since=early)
    with pytest.raises(ss.LedgerCorrupt, match="rolled back"):
        copy.verify(since=late)
