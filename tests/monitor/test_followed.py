"""Files that are followed: partial lines, rotation, truncation, and going on from a position."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from monitor_tools import Time

from stablesketch import DataError
from stablesketch.monitor.block import Block
from stablesketch.monitor.followed import followed
from stablesketch.monitor.lines import LineCutter
from stablesketch.reading.lines import LONGEST_LINE


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was renamed is left at once, but for the test of that."""
    monkeypatch.setattr("stablesketch.monitor.followed._LINGER", 0.0)


class Following:
    """A followed file, of which a test takes what has come; from its start, unless a position is given."""

    def __init__(self, path: Path, position: object = None) -> None:
        self._blocks = followed(path, Time(), follow=True, position=position or start_of(path))
        self.position: object = position
        self.notes: list[str] = []

    def more(self) -> bytes:
        """All up to the next empty block."""
        found = b""
        while True:
            block: Block = next(self._blocks)
            self.position = block.position
            self.notes += [block.note] if block.note else []
            found += block.lines
            if not block.lines:
                return found


def start_of(path: Path) -> dict[str, object]:
    found = path.stat()
    return {"device": found.st_dev, "inode": found.st_ino, "offset": 0, "mark": 0, "before": "", "known": 0, "hash": ""}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "conn.log"
    path.write_bytes(b"1\n2\n3")
    return path


def append(path: Path, text: bytes) -> None:
    with path.open("ab") as file:
        file.write(text)


def test_a_line_is_read_when_it_has_ended(log: Path) -> None:
    reading = Following(log)
    assert reading.more() == b"1\n2\n"
    append(log, b"4")
    assert reading.more() == b""
    append(log, b"5\n6\n")
    assert reading.more() == b"345\n6\n"


def test_without_following_the_last_line_needs_no_end(log: Path) -> None:
    blocks = list(followed(log, Time(), follow=False))
    assert b"".join(block.lines for block in blocks) == b"1\n2\n3"
    assert blocks[0].head == b"1\n2\n3"
    assert blocks[0].begins


def test_a_rotated_file_is_read_to_its_end_and_then_the_new_one(log: Path) -> None:
    reading = Following(log)
    reading.more()
    log.rename(log.with_suffix(".log.1"))
    assert reading.more() == b""
    append(log.with_suffix(".log.1"), b"\nlast")
    log.write_bytes(b"new\n")
    assert reading.more() + reading.more() + reading.more() == b"3\nlastnew\n"
    assert reading.notes == []


def test_a_truncated_file_is_read_from_its_start(log: Path) -> None:
    reading = Following(log)
    reading.more()
    log.write_bytes(b"")
    assert reading.more() == b""
    append(log, b"9\n")
    assert reading.more() == b"9\n"
    assert reading.notes == ["conn.log was truncated. It is read from its start."]


def test_a_truncated_file_that_has_grown_again_is_known_by_its_start(log: Path) -> None:
    reading = Following(log)
    reading.more()
    os.truncate(log, 0)
    append(log, b"8\n8\n8\n8\n")
    assert reading.more() == b"8\n8\n8\n8\n"
    assert len(reading.notes) == 1


def test_going_on_from_a_position(log: Path) -> None:
    reading = Following(log)
    reading.more()
    append(log, b"\n4\n")
    assert Following(log, reading.position).more() == b"3\n4\n"


def test_going_on_after_a_rotation(log: Path) -> None:
    reading = Following(log)
    reading.more()
    append(log, b"\n4\n")
    log.rename(log.with_suffix(".log.1"))
    log.write_bytes(b"new\n")
    again = Following(log, reading.position)
    assert again.more() + again.more() + again.more() == b"3\n4\nnew\n"
    assert again.notes == []


def test_files_that_were_rotated_away_unseen_are_said_and_not_read(log: Path) -> None:
    """They could be copies, and then rows would count twice."""
    reading = Following(log)
    reading.more()
    log.rename(log.with_suffix(".log.2"))
    log.write_bytes(b"unseen\n")
    log.rename(log.with_suffix(".log.1"))
    log.write_bytes(b"new\n")
    again = Following(log, reading.position)
    assert again.more() + again.more() + again.more() == b"3new\n"
    assert again.notes == ["conn.log.1 may have been conn.log for a while. What is in it was not read."]


def test_a_file_that_is_gone_is_said(log: Path) -> None:
    reading = Following(log)
    reading.more()
    log.rename(log.parent / "elsewhere")
    log.write_bytes(b"new\n")
    again = Following(log, reading.position)
    assert again.more() == b"new\n"
    assert "lines written to it after the last checkpoint are lost" in again.notes[0]


def test_the_header_of_a_file_comes_again_after_a_restart(log: Path) -> None:
    reading = Following(log)
    reading.more()
    append(log, b"\n")
    block = next(followed(log, Time(), follow=True, position=reading.position))
    assert (block.lines, block.head, block.begins) == (b"3\n", b"1\n2\n3\n", False)


def test_windows_close_by_when_the_file_was_last_read_to_its_end(log: Path) -> None:
    """After a restart nothing is late that was written before it."""
    clock = Time(1000)
    blocks = followed(log, clock, follow=True, position=start_of(log), seen=Time(10).now)
    assert [next(blocks).clock for _ in range(3)] == [Time(10).now, Time(1000).now, Time(1000).now]


def test_windows_of_a_file_close_that_is_never_quiet(log: Path) -> None:
    clock = Time(10)
    blocks = followed(log, clock, follow=True, position=start_of(log), seen=clock.now)
    for second in range(11, 15):
        append(log, b"more\n")
        clock.now = Time(second).now
        block = next(blocks)
        assert block.lines
        assert block.clock == (Time(10).now if second == 11 else Time(second - 1).now)


def test_a_file_is_followed_from_its_end_on(log: Path) -> None:
    """What it has may have been counted by an earlier monitor. A line that has not ended has not."""
    for text, rest in ((b"1\n2\n3", b"3"), (b"1\n2\n", b""), (b"", b""), (b"x" * 200_000, b"x" * 200_000)):
        log.write_bytes(text)
        blocks = followed(log, Time(), follow=True)
        assert next(blocks).lines == b""
        append(log, b"4\n")
        assert next(blocks).lines == rest + b"4\n"


LINES = [b"%d: a line of a log, which has its number\n" % i for i in range(200)]


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(
    "left",
    [
        LINES[:100], LINES[:120], LINES[:50], LINES[:2], LINES[30:100], LINES[30:130], []
    ],
    ids=["a copy", "a longer copy", "cut in half", "cut to two lines", "without its first", "both", "empty"],
)  # fmt: skip
def test_no_line_is_read_twice_whatever_takes_the_place_of_a_file(
    log: Path, left: list[bytes], keep: bool, live: bool
) -> None:
    """Replaced by rename, with or without a backup (`sed -i.bak`), while it is read or while the monitor is stopped."""
    log.write_bytes(b"".join(LINES[:100]))
    reading = Following(log)
    assert reading.more() == b"".join(LINES[:100])
    other = log.with_name("new")
    other.write_bytes(b"".join(left))
    if keep and live:
        log.rename(log.with_name("conn.log.bak"))
    other.rename(log)
    if not live:
        reading = Following(log, reading.position)
    found = reading.more() + reading.more() + reading.more()
    append(log, b"".join(LINES[150:]))
    read = (found + reading.more() + reading.more()).splitlines(keepends=True)
    assert read[-50:] == LINES[150:]
    twice = set(read) & set(LINES[:100])
    if left == LINES[:2] and keep and live:
        assert twice == set(LINES[:2])  # a file that is renamed and followed by a short one is a rotation
    else:
        assert not twice
    assert len(set(read)) == len(read)


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(
    ("left", "new"),
    [(LINES[:50], 0), (LINES[:2], 0), (LINES[30:100], 0), (LINES[100:150], 50), ([], 0)],
    ids=["cut in half", "cut to two lines", "without its first", "copytruncate", "empty"],
)
def test_no_line_is_read_twice_of_a_file_that_is_rewritten_in_place(
    log: Path, left: list[bytes], new: int, live: bool
) -> None:
    log.write_bytes(b"".join(LINES[:100]))
    reading = Following(log)
    reading.more()
    log.write_bytes(b"".join(left))
    if not live:
        reading = Following(log, reading.position)
    assert reading.more() == b"".join(left[:new])
    append(log, b"".join(LINES[150:]))
    assert reading.more() == b"".join(LINES[150:])


def test_what_is_still_written_to_a_file_that_was_renamed_is_read(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stablesketch.monitor.followed._LINGER", 5.0)
    reading = Following(log)
    reading.more()
    old = log.with_suffix(".log.1")
    log.rename(old)
    log.write_bytes(b"new\n")
    assert reading.more() == b""
    append(old, b"\nlate\n")
    assert reading.more() == b"3\nlate\n"
    os.utime(old, (0, 0))  # long ago
    assert reading.more() + reading.more() + reading.more() == b"new\n"


def test_the_last_header_of_zeek_comes_again_after_a_restart(log: Path) -> None:
    log.write_bytes(b"#separator x\n#fields\ta\tb\n1\t2\n#fields\tb\ta\n3\t4\n")
    reading = Following(log)
    reading.more()
    append(log, b"5\t6\n")
    for blocks in (followed(log, Time(), follow=True, position=reading.position),):
        block = next(blocks)
        assert block.head is not None
        assert block.head.startswith(b"#fields\tb\ta\n")
        assert (block.lines, block.begins) == (b"5\t6\n", False)


def test_a_mark_of_byte_order_is_whole_however_it_comes(log: Path) -> None:
    log.write_bytes(b"\xef")
    reading = Following(log)
    assert reading.more() == b""
    append(log, b"\xbb\xbfa\n")
    block = next(reading._blocks)
    assert (block.lines, block.begins) == (b"\xef\xbb\xbfa\n", True)


def test_a_named_pipe_is_not_followed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(DataError, match=r"not a regular file.*stablesketch monitor - <"):
        next(followed(tmp_path / "fifo", Time(), follow=True))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be opened \(No such file"):
        next(followed(tmp_path / "none", Time(), follow=True))
    packed = tmp_path / "a.json"
    packed.write_bytes(b"\x1f\x8b\x08 and so on\n")
    with pytest.raises(DataError, match="compressed with gzip"):
        next(followed(packed, Time(), follow=True))


def test_a_line_that_is_too_long_is_left_out_and_counted_wherever_it_is_cut() -> None:
    long = b"x" * LONGEST_LINE
    text = b"a\n" + long + b"\nb\n" + b"y" * (LONGEST_LINE - 1) + b"\nc\n" + long + long
    for size in (1 << 16, 1_999_999, 1 << 22, 1 << 23):
        lines, found = LineCutter(), b""
        for start in range(0, len(text), size):
            found += lines.take(text[start : start + size])
        found += lines.last()
        assert found == b"a\nb\n" + b"y" * (LONGEST_LINE - 1) + b"\nc\n"
        assert lines.too_long() == 2
        assert lines.too_long() == 0


def test_nothing_is_late_in_the_file_that_came_after_the_one_that_was_read(log: Path) -> None:
    """The old one is read to its end long after the new one was begun: windows wait until that is read too."""
    reading = Following(log)
    reading.more()
    log.rename(log.with_suffix(".log.1"))
    log.write_bytes(b"new\n")
    blocks = followed(log, Time(1000), follow=True, position=reading.position, seen=Time(10).now)
    for block in blocks:
        assert block.clock == Time(10).now
        if block.lines == b"new\n":
            break
