"""The folder of a monitor's state, and the file of its records: who may use them, and what a crash leaves."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path

import pytest
from monitor_tools import at, rows, run, totals, watch

from stablesketch import ArgumentError, CheckpointError
from stablesketch.monitor.outlet import JsonLinesFile
from stablesketch.monitor.records import note_record
from stablesketch.monitor.state import MonitorState


def test_a_second_monitor_on_one_folder_is_refused(tmp_path: Path) -> None:
    first = MonitorState(tmp_path, "a")
    with pytest.raises(CheckpointError, match="another monitor uses the folder"):
        MonitorState(tmp_path, "a")
    first.close()
    MonitorState(tmp_path, "a").close()


def test_other_options_are_refused_and_change_nothing(tmp_path: Path) -> None:
    MonitorState(tmp_path, "a'; drop table facts").close()
    with pytest.raises(CheckpointError, match="was made with other options"):
        MonitorState(tmp_path, "b")
    MonitorState(tmp_path, "a'; drop table facts").close()


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    MonitorState(tmp_path / "new" / "folder", "a").close()
    assert stat.S_IMODE((tmp_path / "new" / "folder").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new" / "folder" / "monitor.db").stat().st_mode) == 0o600


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="cannot be used: "):
        MonitorState(tmp_path / "file", "a")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "monitor.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(CheckpointError, match="cannot be read or written"):
        MonitorState(tmp_path / "broken", "a")
    MonitorState(tmp_path / "newer", "a").close()
    base = sqlite3.connect(tmp_path / "newer" / "monitor.db")
    base.execute("pragma user_version = 9")
    base.close()
    with pytest.raises(CheckpointError, match="is of version 9"):
        MonitorState(tmp_path / "newer", "a")


def test_a_commit_is_all_or_nothing(tmp_path: Path) -> None:
    state = MonitorState(tmp_path, "a")
    state.commit({"x": 1}, {7: (b"secret", [b"one", b"two"])})
    state.spill({8: (b"spilled", [b"three"])})
    with pytest.raises(TypeError):
        state.commit({"x": 2, "y": object()}, {7: (b"secret", [b"other"])}, released=[7])
    assert state.fact("x") == 1
    assert state.window(7) == (b"secret", [b"one", b"two"])
    assert state.window(8) is None


def test_nothing_is_left_of_the_secret_of_a_released_window(tmp_path: Path) -> None:
    state = MonitorState(tmp_path, "a")
    state.commit({}, {7: (b"the bits of a secret", [b"and what it held" * 500])})
    assert b"the bits of a secret" in (tmp_path / "monitor.db").read_bytes()
    state.commit({}, released=[7], records={1: "a record"})
    state.close()
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"the bits" not in left
    assert b"it held" not in left
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


NOTES = [note_record(number, number * 10**9, f"note {number}") for number in range(1, 5)]


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


def test_what_others_wrote_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b'{"number": 17}\nsomebody was here')
    JsonLinesFile(path)(1, NOTES[0])
    assert path.read_text().splitlines() == ['{"number": 17}', "somebody was here", NOTES[0]]
    path.rename(tmp_path / "out.jsonl.1")
    out = JsonLinesFile(path)
    out(2, NOTES[1])
    assert [json.loads(line)["number"] for line in path.read_text().splitlines()] == [2]


def test_a_file_that_cannot_be_written_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="cannot be written"):
        JsonLinesFile(tmp_path / "none" / "out.jsonl")
    with pytest.raises(OSError, match="No space left"):
        JsonLinesFile(Path("/dev/full"))(1, NOTES[0])
