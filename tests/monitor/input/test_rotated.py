"""Files that are replaced or truncated: each line counts once, and none decides whether others count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from followed_tools import Following, append, start_of
from monitor_tools import Time

from stablesketch import CheckpointError
from stablesketch.monitor.input.followed import followed
from stablesketch.monitor.windows import SECOND

FROM_ITS_END = "It is read on from its end: lines that were written before this was noticed may be lost."


def test_a_rotated_file_is_read_to_its_end_and_then_the_new_one(log: Path) -> None:
    reading = Following(log)
    reading.more()
    log.rename(log.with_suffix(".log.1"))
    assert reading.more() == b""
    append(log.with_suffix(".log.1"), b"\nlast\n")
    log.write_bytes(b"new\n")
    assert reading.more() + reading.more() + reading.more() == b"3\nlast\nnew\n"
    assert reading.notes == []


def test_a_truncated_file_is_read_on_from_its_end(log: Path) -> None:
    reading = Following(log)
    reading.more()
    log.write_bytes(b"")
    assert reading.more() == b""
    append(log, b"9\n")
    assert reading.more() == b"9\n"
    assert reading.notes == [f"conn.log was truncated. {FROM_ITS_END}"]


def test_a_truncated_file_that_has_grown_again_is_known_by_what_was_read_last(log: Path) -> None:
    reading = Following(log)
    reading.more()
    os.truncate(log, 0)
    append(log, b"8\n8\n8\n8\n")
    assert reading.more() == b""
    append(log, b"9\n")
    assert reading.more() == b"9\n"
    assert len(reading.notes) == 1


@pytest.mark.parametrize(
    "name", ["conn.log.1", "conn.log-20261118", "conn.2026-11-18-08-00-00.log", "conn-26-11-18_08.00.00.log"]
)
def test_going_on_after_a_rotation(log: Path, name: str) -> None:
    """Zeek puts the date before the suffix."""
    reading = Following(log)
    reading.more()
    append(log, b"\n4\n")
    log.rename(log.with_name(name))
    log.write_bytes(b"new\n")
    again = Following(log, reading.position)
    assert again.more() + again.more() + again.more() == b"3\n4\nnew\n"
    assert again.notes == []


@pytest.mark.parametrize("names", [("conn.log.2", "conn.log.1"), ("conn-26-11-18_08.log", "conn-26-11-18_09.log")])
def test_files_that_were_rotated_away_unseen_are_said_and_not_read(log: Path, names: tuple[str, str]) -> None:
    """They could be copies, and then rows would count twice. Other logs are not named."""
    reading = Following(log)
    reading.more()
    log.rename(log.with_name(names[0]))
    log.write_bytes(b"unseen\n")
    log.rename(log.with_name(names[1]))
    log.write_bytes(b"new\n")
    log.with_name("conn-summary.log").write_bytes(b"another log\n")
    again = Following(log, reading.position)
    assert again.more() + again.more() + again.more() == b"new\n"
    assert again.notes == [f"{names[1]} may have been conn.log for a while. What is in it was not read."]


def test_a_file_that_is_gone_is_said(log: Path) -> None:
    reading = Following(log)
    reading.more()
    log.rename(log.parent / "elsewhere")
    log.write_bytes(b"new\n")
    again = Following(log, reading.position)
    assert again.more() == b""
    append(log, b"newer\n")
    assert again.more() == b"newer\n"
    assert again.notes == [f"conn.log was replaced or truncated while the monitor was stopped. {FROM_ITS_END}"]


LINES = [b"%d: a line of a log, which has its number\n" % i for i in range(200)]
COPIES = {
    "a copy": LINES[:100], "a longer copy": LINES[:120], "cut in half": LINES[:50], "cut to two lines": LINES[:2],
    "without its first": LINES[30:100], "both": LINES[30:130], "other lines": LINES[100:150], "empty": [],
}  # fmt: skip


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("left", COPIES.values(), ids=COPIES)
def test_nothing_that_is_already_there_is_read_if_the_file_before_is_gone(
    log: Path, left: list[bytes], in_place: bool, live: bool
) -> None:
    """Rewritten in place, or replaced (`sed -i`), while it is read or while the monitor is stopped. Two files are not
    noticed, and need not be: the same file with more lines, of which each counts once."""
    log.write_bytes(b"".join(LINES[:100]))
    reading = Following(log)
    assert reading.more() == b"".join(LINES[:100])
    other = log if in_place else log.with_name("new")
    other.write_bytes(b"".join(left))
    other.rename(log)
    if not live:
        reading = Following(log, reading.position)
    grown = in_place and left[:100] == LINES[:100]
    assert reading.more() + reading.more() + reading.more() == b"".join(left[100:] if grown else [])
    assert len(reading.notes) == (not grown)
    append(log, b"".join(LINES[150:]))
    assert reading.more() == b"".join(LINES[150:])


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("left", COPIES.values(), ids=COPIES)
def test_all_of_a_file_is_read_that_takes_the_name_of_one_that_was_renamed(
    log: Path, left: list[bytes], live: bool
) -> None:
    """Whatever is in it: otherwise a line of it would decide whether the others count."""
    log.write_bytes(b"".join(LINES[:100]))
    reading = Following(log)
    reading.more()
    log.rename(log.with_suffix(".log.1"))
    log.write_bytes(b"".join(left))
    if not live:
        reading = Following(log, reading.position)
    assert reading.more() + reading.more() + reading.more() == b"".join(left)
    assert reading.notes == []


def test_a_new_file_that_is_gone_again_is_waited_for_while_windows_go_on(log: Path) -> None:
    reading = Following(log)
    reading.more()
    log.rename(log.with_suffix(".log.1"))
    log.write_bytes(b"new\n")
    assert reading.more() == b""
    log.unlink()
    for second in (1, 2):
        reading.clock.now = second * SECOND
        block = next(reading._blocks)
        assert (block.lines, block.clock) == (b"", second * SECOND)
    log.write_bytes(b"newer\n")
    assert reading.more() == b"newer\n"


MANY = [b"key %d\n" % i for i in range(5000)]


@pytest.mark.parametrize(
    ("old", "new"),
    [([b"a\n"], [*MANY, b"a\n"]), ([b"a\n", b"b\n"], [*MANY, b"a\n"]), ([b"a\n"] * 600, [b"a\n"] * 600),
     ([b"a\n"] * 600, [b"b\n", *[b"a\n"] * 600])],
)  # fmt: skip
def test_one_line_more_changes_nothing_for_others_at_a_rotation(log: Path, old: list[bytes], new: list[bytes]) -> None:
    log.write_bytes(b"".join(old))
    reading = Following(log)
    reading.more()
    log.rename(log.with_suffix(".log.1"))
    log.write_bytes(b"".join(new))
    assert reading.more() + reading.more() + reading.more() == b"".join(new)


@pytest.mark.parametrize("more", [0, 1, 2, 1000])
def test_one_line_more_changes_nothing_for_others_at_a_truncation(log: Path, more: int) -> None:
    log.write_bytes(b"".join(MANY[:400]))
    reading = Following(log)
    reading.more()
    log.write_bytes(b"a\n" * (254 + more))
    assert reading.more() == b""
    append(log, b"b\n")
    assert reading.more() == b"b\n"


def test_a_file_that_was_renamed_counts_as_such_even_if_it_is_compressed_and_gone_soon(log: Path) -> None:
    reading = Following(log)
    reading.more()
    old = log.rename(log.with_suffix(".log.1"))
    assert reading.more() == b""  # which has seen that it has another name
    old.unlink()
    log.write_bytes(b"new\n")
    assert reading.more() + reading.more() + reading.more() == b"new\n"


def test_a_file_that_gets_its_name_back_is_read_on(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log.write_bytes(b"1\n2\n")
    reading = Following(log)
    reading.more()
    old = log.rename(log.with_suffix(".log.1"))
    log.write_bytes(b"new\n")

    def look(place: object) -> bool:
        if old.exists():
            old.rename(log)
            return True
        return False

    monkeypatch.setattr("stablesketch.monitor.input.followed._Place._replaced", look)
    assert reading.more() == b""
    append(log, b"3\n")
    assert reading.more() + reading.more() == b"3\n"


@pytest.mark.parametrize("kept", [True, False])
def test_a_line_counts_when_it_has_ended_and_never_before(log: Path, kept: bool) -> None:
    """An editor saves a copy, in which the line comes again."""
    log.write_bytes(b"x\ny\nfoo")
    blocks = followed(log, Time(), follow=True, position=start_of(log))
    copy = log.with_name("copy")
    copy.write_bytes(log.read_bytes())
    assert next(blocks).lines == b"x\ny\n"
    if kept:
        log.rename(log.with_suffix(".log.1"))
    copy.rename(log)
    after = [next(blocks) for _ in range(4)]
    append(log, b"bar\nnext\n")
    after += [next(blocks) for _ in range(3)]
    assert b"".join(block.lines for block in after) == (b"x\ny\nfoobar\nnext\n" if kept else b"next\n")
    assert sum(block.too_long for block in after) == 1


def test_reading_that_goes_on_within_a_line_begins_with_the_next(log: Path) -> None:
    """A replay has counted the last line, which had not ended."""
    *_, last = followed(log, Time(), follow=False)
    append(log, b"4\n5\n")
    again = followed(log, Time(), follow=False, position=last.position)
    assert b"".join(block.lines for block in again) == b"5\n"
    log.write_bytes(b"1\n2\n34")
    again = followed(log, Time(), follow=False, position=last.position)
    assert b"".join(block.lines for block in again) == b""


def test_a_replay_of_a_file_that_was_changed_is_refused(log: Path) -> None:
    """Its lines would count twice, or not at all."""
    log.write_bytes(b"".join(LINES))
    first = next(followed(log, Time(), follow=False))
    copy = log.with_name("copy")
    copy.write_bytes(log.read_bytes())
    assert next(followed(copy, Time(), follow=False, position=first.position)).lines == b""
    for changed in (LINES[::-1], LINES[:100], []):
        log.write_bytes(b"".join(changed))
        with pytest.raises(CheckpointError, match=r"changed after part of it was counted.*Restore the file"):
            next(followed(log, Time(), follow=False, position=first.position))


def test_a_replay_of_a_file_that_changes_meanwhile_is_refused(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stablesketch.monitor.input.followed.BLOCK", 1000)
    log.write_bytes(b"".join(LINES))
    blocks = followed(log, Time(), follow=False)
    next(blocks)
    log.write_bytes(b"".join(reversed(LINES)))
    with pytest.raises(CheckpointError, match="changed after"):
        next(blocks)


def test_a_file_that_was_renamed_is_read_for_five_seconds_whatever_is_written(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If lines kept it, one line would decide whether the next counts."""
    monkeypatch.setattr("stablesketch.monitor.input.followed._LINGER", 5 * SECOND)
    reading = Following(log)
    reading.more()
    old = log.rename(log.with_suffix(".log.1"))
    log.write_bytes(b"new\n")
    assert reading.more() == b""
    append(old, b"\nlate\n")
    reading.clock.now += 4 * SECOND
    assert reading.more() == b"3\nlate\n"
    reading.clock.now += SECOND
    assert reading.more() + reading.more() + reading.more() == b"new\n"
