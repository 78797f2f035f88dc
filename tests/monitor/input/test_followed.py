"""Files that are followed: partial lines, headers, and going on from a position."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from followed_tools import Following, append, start_of
from monitor_tools import Time, rows

from stablesketch import DataError
from stablesketch.monitor.input.blocks import LineCutter
from stablesketch.monitor.input.followed import followed
from stablesketch.reading.lines import LONGEST_LINE


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


def test_going_on_from_a_position(log: Path) -> None:
    reading = Following(log)
    reading.more()
    append(log, b"\n4\n")
    assert Following(log, reading.position).more() == b"3\n4\n"


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
    """What it has may have been counted by an earlier monitor."""
    for text in (b"1\n2\n3", b"1\n2\n", b"", b"x" * 200_000):
        log.write_bytes(text)
        blocks = followed(log, Time(), follow=True)
        assert next(blocks).lines == b""
        append(log, b"4\n5\n")
        assert next(blocks).lines == (b"4\n5\n" if text[-1:] in (b"", b"\n") else b"5\n")


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


def test_nothing_is_early_that_was_written_while_the_file_was_read(log: Path) -> None:
    """A reader that is put to sleep between looking at the clock and reading finds lines from later than the clock
    said. They were dropped as lines from the future; a test of kills on a busy machine found it.
    """

    class Sleeps(Time):
        """The first look at the clock takes a minute; lines are written during it."""

        def __call__(self) -> int:
            before = self.now
            if before == Time(10).now:
                append(log, rows(69))
                self.now = Time(70).now
            return before

    log.write_bytes(b"")
    blocks = followed(log, Sleeps(10), follow=True, position=start_of(log), seen=Time(10).now)
    block = next(each for each in blocks if each.lines)
    assert block.lines == rows(69)
    assert block.now >= Time(69).now
    assert block.clock == Time(10).now
