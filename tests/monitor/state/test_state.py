"""The folder of a monitor's state, and the file of its records: who may use them, and what a crash leaves."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
from pathlib import Path

import pytest
from monitor_tools import Time, at, rows, run, totals, watch

from stablesketch import ArgumentError, CheckpointError
from stablesketch.monitor import Monitor
from stablesketch.monitor.input.fields import LineFields
from stablesketch.monitor.state import outbox
from stablesketch.monitor.state.outbox import JsonLinesFile
from stablesketch.monitor.state.records import note_record
from stablesketch.monitor.state.state import MonitorState, StoredWindow

ASKED = json.dumps({"source": "a'; drop table facts", "confidence": 0.95})


def test_a_second_monitor_on_one_folder_is_refused(tmp_path: Path) -> None:
    first = MonitorState(tmp_path, ASKED)
    with pytest.raises(CheckpointError, match=r"another monitor uses the folder.*costs its own ε on top"):
        MonitorState(tmp_path, ASKED)
    first.close()
    MonitorState(tmp_path, ASKED).close()


def test_another_question_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    """Another input, too: its rows would be read on from an offset of the first."""
    MonitorState(tmp_path, ASKED).close()
    for changed, said in (
        ({"source": "b"}, "differ in: the input"),
        ({"follow": True, "confidence": 0.9}, "differ in: confidence=, follow="),
    ):
        with pytest.raises(CheckpointError, match=f"{said}.*begins with the next whole window.*spends ε again"):
            MonitorState(tmp_path, json.dumps({**json.loads(ASKED), **changed}))
    MonitorState(tmp_path, ASKED).close()


def test_a_watch_knows_its_input() -> None:
    assert (
        len({watch().to_json(), watch().to_json("/a"), watch().to_json("/b"), watch().to_json("/b", follow=True)}) == 4
    )


@pytest.mark.parametrize("beside", [True, False])
def test_a_copy_of_the_folder_is_refused(tmp_path: Path, beside: bool) -> None:
    """Its secrets may have been used by the original: with other rows under the same noise, ε would be infinite."""
    MonitorState(tmp_path / "state", ASKED).close()
    shutil.copytree(tmp_path / "state", tmp_path / "copy")
    if not beside:
        shutil.rmtree(tmp_path / "state")
        (tmp_path / "copy").rename(tmp_path / "state")
    with pytest.raises(CheckpointError, match=r"is a copy.*Use the original, or name a new folder"):
        MonitorState(tmp_path / ("copy" if beside else "state"), ASKED)


@pytest.mark.parametrize("restored", ["database", "both in place", "folder"])
def test_a_backup_that_is_put_back_is_refused(tmp_path: Path, restored: str) -> None:
    """As `cp` does it, which keeps inodes, or `rm -r` and `cp -a`, which often gets the old ones again."""
    folder, backup = tmp_path / "state", tmp_path / "backup"
    state = MonitorState(folder, ASKED)
    state.commit({}, {7: StoredWindow(b"secret", [b"one"])})
    state.close()
    shutil.copytree(folder, backup)
    state = MonitorState(folder, ASKED)
    state.commit({}, released=[7], records={1: "a record"})
    state.seal()
    state.close()
    if restored == "folder":
        shutil.rmtree(folder)
    source = {"database": f"{backup}/monitor.db", "both in place": f"{backup}/.", "folder": f"{backup}/."}[restored]
    subprocess.run(["cp", "-a", source, folder], check=True)
    with pytest.raises(CheckpointError, match=r"is a copy or was restored from one.*Use the original"):
        MonitorState(folder, ASKED)


@pytest.mark.parametrize("killed", ["before the seal", "before it is written", "before its ctime is stored", "never"])
def test_a_state_goes_on_after_a_crash_around_its_seal(
    tmp_path: Path, killed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def kill(*_: object) -> None:
        raise Killed

    state = MonitorState(tmp_path, ASKED)
    for number in range(3):  # what is not sealed yet is sealed with what comes next
        state.commit({}, {number: StoredWindow(b"secret", [b"one"])})
        state.commit({}, released=[number], records={number + 1: note_record(state.id, number + 1, 0, "a record")})
    with monkeypatch.context() as patched, contextlib.suppress(Killed):
        if killed == "before it is written":
            patched.setattr(os, "pwrite", kill)
        if killed == "before its ctime is stored":
            patched.setattr(state, "commit", kill)
        if killed != "before the seal":
            state.seal()
    state.close()
    for _ in range(2):
        state = MonitorState(tmp_path, ASKED)
        assert list(state.records(0)) == [1, 2, 3]
        state.close()


def test_a_release_is_sealed_before_anybody_sees_it(tmp_path: Path) -> None:
    asked, seen = watch(), []
    state = MonitorState(tmp_path, asked.to_json())

    def look(_: int, text: str) -> None:
        seen.append((json.loads(text)["start"][11:16], int((tmp_path / "lock").read_bytes())))

    blocks = [at(1, rows(0)), at(71), at(131)]
    Monitor(asked, "test", lambda *_: iter(blocks), state, [look], replays=True, clock=Time(-11)).run()
    assert seen == [("12:00", 1), ("12:01", 2)]


def test_a_new_database_beside_an_old_lock_is_newer(tmp_path: Path) -> None:
    """So a backup of the one before stays refused."""
    (tmp_path / "lock").write_bytes(b"17\n")
    MonitorState(tmp_path, ASKED).close()
    assert int((tmp_path / "lock").read_bytes()) == 18
    MonitorState(tmp_path, ASKED).close()


def test_a_folder_that_is_moved_is_the_same(tmp_path: Path) -> None:
    state = MonitorState(tmp_path / "state", ASKED)
    state.close()
    (tmp_path / "state").rename(tmp_path / "moved")
    assert MonitorState(tmp_path / "moved", ASKED).id == state.id


def test_a_full_disk_is_said_as_such(tmp_path: Path) -> None:
    """SQLite is given no more pages than it has."""
    state = MonitorState(tmp_path, ASKED)
    state._base.execute("pragma max_page_count = 1")
    with pytest.raises(
        CheckpointError, match=r"the disk is full. Make room and try again. The last checkpoint is intact"
    ):
        state.commit({"x": "y" * 100_000})
    assert state.fact("x") is None
    assert state._base.execute("pragma synchronous").fetchone() == (3,)  # extra


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    MonitorState(tmp_path / "new" / "folder", ASKED).close()
    assert stat.S_IMODE((tmp_path / "new" / "folder").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new" / "folder" / "monitor.db").stat().st_mode) == 0o600


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="cannot be used: "):
        MonitorState(tmp_path / "file", ASKED)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "monitor.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(CheckpointError, match=r"is damaged .*name a new folder"):
        MonitorState(tmp_path / "broken", ASKED)
    MonitorState(tmp_path / "newer", ASKED).close()
    base = sqlite3.connect(tmp_path / "newer" / "monitor.db")
    base.execute("pragma user_version = 9")
    base.close()
    with pytest.raises(CheckpointError, match="has version 9"):
        MonitorState(tmp_path / "newer", ASKED)


DAMAGE = [
    "update facts set value = '\"noon\"' where name = 'clock'",
    "update facts set value = '999999999999999999999' where name = 'clock'",
    "update facts set value = '99999999999999999999' where name = 'next'",
    "update facts set value = '[]' where name = 'position'",
    'update facts set value = \'{"inode": 1, "offset": 2, "mark": 3, "before": ""}\' where name = \'position\'',
    "update facts set value = '{\"rows\": 1}' where name = 'counters'",
    "update facts set value = '-1' where name = 'delivered'",
    "update facts set value = '7' where name = 'seal'",
    "update facts set value = '7' where name = 'id'",
    "update facts set value = '\"[]\"' where name = 'asked'",
    "update facts set value = '[[[' where name = 'asked'",
    "update facts set value = cast(x'ff' as text) where name = 'clock'",
    "update windows set secret = 'text'",
    "update windows set secret = x'00'",
    "update collectors set state = 'text'",
    "delete from collectors",
    "update people set counted = 'many'",
    "update records set text = 'a record'",
    "update records set text = replace(text, '\"number\": ', '\"number\": 1')",
    "update records set text = replace(text, '\"epsilon\"', '\"price\"')",
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_state_is_refused_with_a_typed_error(tmp_path: Path, damage: str) -> None:
    """Most of these once ended in an untyped error, or in records that nobody wrote."""
    asked = watch(LineFields.of(format="json", key=("k",), time="t", person="k"), protect="person-window")
    state = MonitorState(tmp_path, asked.to_json())
    run(asked, [at(1, rows(0)), at(71, rows(70))], state, ends=False)
    state.commit({"delivered": 0})
    state.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "monitor.db")) as base:
        assert base.execute(damage).rowcount > 0
        base.commit()

    def go_on() -> None:
        run(asked, [at(131, rows(130))], MonitorState(tmp_path, asked.to_json()), replays=True, start=120.0)

    with pytest.raises(CheckpointError, match=r"is damaged|cannot be used"):
        go_on()


def test_a_commit_is_all_or_nothing(tmp_path: Path) -> None:
    state = MonitorState(tmp_path, ASKED)
    state.commit({"x": 1}, {7: StoredWindow(b"secret", [b"one", b"two"], {b"who": 3})})
    state.spill({8: StoredWindow(b"spilled", [b"three"])})
    with pytest.raises(TypeError):
        state.commit({"x": 2, "y": object()}, {7: StoredWindow(b"secret", [b"other"])}, released=[7])
    assert state.fact("x") == 1
    assert state.window(7) == (b"secret", [b"one", b"two"], {b"who": 3})
    assert state.window(8) is None


def test_nothing_is_left_of_the_secret_of_a_released_window(tmp_path: Path) -> None:
    state = MonitorState(tmp_path, ASKED)
    state.commit({}, {7: StoredWindow(b"the bits of a secret", [b"and what it held" * 500], {b"somebody": 1})})
    assert b"the bits of a secret" in (tmp_path / "monitor.db").read_bytes()
    state.commit({}, released=[7], records={1: "a record"})
    state.close()
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"the bits" not in left
    assert b"it held" not in left
    assert b"somebody" not in left
    assert b"a record" in left


def test_a_window_whose_record_cannot_be_stored_is_stored_later_as_it_was_decided() -> None:
    """The disk is full when a window closes: its value is kept, shown once it is stored, and rows go on counting."""
    asked = watch()
    state = MonitorState(None, asked.to_json())
    commit, failures = state.commit, []

    def failing(*arguments: object, **named: object) -> None:
        if arguments[3] and len(failures) < 3:  # there are records
            failures.append(1)
            raise CheckpointError("the state cannot be written (database or disk is full).")
        commit(*arguments, **named)  # type: ignore[arg-type]

    state.commit = failing  # type: ignore[method-assign]
    blocks = [at(1, rows(0)), at(71, rows(70)), at(72, rows(71)), at(73, rows(72)), at(140)]
    records, _ = run(asked, blocks, state, ends=False)
    assert len(failures) == 3
    assert totals(records) == {"12:00:00": 1, "12:01:00": 3}


NOTES = [note_record("one", number, number * 10**9, f"note {number}") for number in range(1, 5)]


def test_records_are_appended_once_whatever_a_crash_left(tmp_path: Path) -> None:
    """The file is cut after every byte, and the records are written again from each that could be the first."""
    whole = "".join(f"{note}\n" for note in NOTES).encode()
    path = tmp_path / "out.jsonl"
    for cut in range(0, len(whole), 3):
        path.write_bytes(whole[:cut])
        had = whole[:cut].count(b"\n")
        for first in range(had + 1):
            path.write_bytes(whole[:cut])
            out = JsonLinesFile(path)
            for number in range(first, 4):
                out(number + 1, NOTES[number])
            assert path.read_bytes() == whole


def test_records_of_another_state_do_not_count_as_these(tmp_path: Path) -> None:
    """Two states write to one file, one after the other or in turns: nothing is left out, nothing comes twice."""
    path = tmp_path / "out.jsonl"
    others = [note_record("two", number, number * 10**9, f"note {number}") for number in range(1, 5)]
    out = JsonLinesFile(path)
    for number in range(4):
        out(number + 1, NOTES[number])
    for number in range(2):
        out(number + 1, others[number])
        for again in range(number + 1):
            out(again + 1, others[again])
            out(again + 1, NOTES[again])
    assert path.read_text().splitlines() == [*NOTES, *others[:2]]


def test_what_others_wrote_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b'{"number": 17}\nsomebody was here')
    JsonLinesFile(path)(1, NOTES[0])
    assert path.read_text().splitlines() == ['{"number": 17}', "somebody was here", NOTES[0]]
    path.rename(tmp_path / "out.jsonl.1")
    out = JsonLinesFile(path)
    out(2, NOTES[1])
    assert [json.loads(line)["number"] for line in path.read_text().splitlines()] == [2]


def test_only_the_first_record_of_a_run_is_looked_for_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a long replay would take quadratic time. After a failure, the file is looked at again."""
    path, looked = tmp_path / "out.jsonl", []
    known = outbox._is_after
    monkeypatch.setattr(outbox, "_is_after", lambda *lines: looked.append(lines) or known(*lines))
    path.write_bytes(b"".join(f"{note}\n".encode() for note in NOTES[:2]))
    out = JsonLinesFile(path)
    for number in (2, 3):
        out(number, NOTES[number - 1])
    before = len(looked)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("no room")))
        with pytest.raises(OSError, match="no room"):
            out(4, NOTES[3])
    assert (before, len(looked)) == (3, 3)
    out(4, NOTES[3])
    assert len(looked) > 3
    assert path.read_text().splitlines() == NOTES


def test_a_file_that_cannot_be_written_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="cannot be written"):
        JsonLinesFile(tmp_path / "none" / "out.jsonl")
    with pytest.raises(OSError, match="No space left"):
        JsonLinesFile(Path("/dev/full"))(1, NOTES[0])
