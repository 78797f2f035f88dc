"""The monitor itself: which rows count where, which windows are released and when, and what a restart leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from monitor_tools import JSON, NOON, Time, at, file_source, rows, run, totals, watch

import stablesketch as ss
from stablesketch import ArgumentError, CheckpointError, DataError
from stablesketch.monitor import Monitor
from stablesketch.monitor.input.blocks import Block, Rows
from stablesketch.monitor.input.fields import LineFields
from stablesketch.monitor.state.state import MonitorState
from stablesketch.monitor.windows import Steady, Windows
from stablesketch.text.wording import in_python


def test_every_row_is_counted_in_the_window_of_its_time() -> None:
    records, _ = run(watch(), [at(55, rows(0, 59.9, 60)), at(61, rows(60, 71, 59)), at(200)])
    assert totals(records)["12:00:00"] == 3
    assert totals(records)["12:01:00"] == 3


def test_quiet_windows_are_released_as_any_other() -> None:
    """Nothing came for minutes; there is no gap, and nothing in a record says that it was quiet."""
    records, _ = run(watch(), [at(1, rows(0)), at(300)])
    assert list(totals(records)) == [f"12:0{i}:00" for i in range(6)]
    assert [each["number"] for each in records] == [1, 2, 3, 4, 5, 6]
    assert len({frozenset(each) for each in records}) == 1


def test_a_window_closes_by_the_clock_not_by_rows() -> None:
    """A row from the future closes nothing, opens nothing, and makes no other row late."""
    records, monitor = run(watch(), [at(1, rows(0, 10**9)), at(2, rows(1, 2)), at(71)], ends=False)
    assert totals(records) == {"12:00:00": 3}
    assert monitor.counters == {"rows": 4, "bad": 0, "late": 0, "early": 1}


def test_one_row_more_changes_one_window_by_one_row() -> None:
    """Neighbours, over everything that a row can be: early, late, in a window of its own, or bad."""
    blocks = [at(second, rows(second, second - 5)) for second in range(0, 240, 7)]
    plain, _ = run(watch(), [*blocks, at(400)])
    for more in (rows(-1), rows(10**9), rows(30), rows(170), b"{\n", b"\xff\n", b'{"k":1}\n', b'{"k":1,"t":-1}\n'):
        for place in (0, 10, 30):
            changed = [*blocks[:place], at(place * 7, more + blocks[place].lines), *blocks[place + 1 :], at(400)]
            found, _ = run(watch(), changed)
            difference = np.array(list(totals(found).values())) - np.array(list(totals(plain).values()))
            assert np.abs(difference).sum() <= 1
            assert [each["start"] for each in found] == [each["start"] for each in plain]


def test_late_rows_are_dropped_and_counted() -> None:
    records, monitor = run(watch(), [at(1, rows(0)), at(69, rows(59)), at(71, rows(58)), at(72, rows(59, 70))])
    assert totals(records)["12:00:00"] == 2
    assert totals(records)["12:01:00"] == 1
    assert monitor.counters["late"] == 2
    assert "late" not in json.dumps(records)


def test_rows_without_a_time_have_that_of_their_arrival() -> None:
    records, _ = run(watch(LineFields.of(format="lines"), Windows(60)), [at(1, b"a\nb\n"), at(61, b"c\n")])
    assert totals(records) == {"12:00:00": 2, "12:01:00": 1}


def test_a_replay_releases_all_windows_of_its_span_when_the_input_ends(tmp_path: Path) -> None:
    """In any order, and more windows than there is memory for."""
    seconds = [60 * (i * 37 % 101) + i % 60 for i in range(500)]
    span = Windows(60, 0, (NOON // 60, NOON // 60 + 100))
    asked = watch(windows=span)
    blocks = [at(10**6, rows(*seconds[i : i + 50])) for i in range(0, 500, 50)]
    records, monitor = run(asked, blocks, MonitorState(tmp_path, asked.to_json()), replays=True)
    counts = np.bincount(np.array(seconds) // 60, minlength=101)
    assert list(totals(records).values()) == counts[:100].tolist()
    assert monitor.counters["early"] == counts[100]


def test_several_statistics_share_the_price_of_a_window() -> None:
    asked = watch(statistics=[ss.Total(), ss.Distinct(), ss.Shannon()])
    assert asked.price[0] <= 50.0
    assert asked.price[1] <= 1e-9
    records, _ = run(asked, [at(1, rows(0, 1, key="a") + rows(2, key="b")), at(71)], ends=False)
    (record,) = records
    assert record["epsilon"] == asked.price[0] <= sum(each["epsilon"] for each in record["releases"]) + 1e-9
    assert [each["statistic"] for each in record["releases"]] == ["total", "distinct keys", "Shannon entropy"]
    assert record["releases"][0]["value"] == 3


def test_the_defaults_give_what_one_collector_gives() -> None:
    """A window at ε = 1 holds the truth as a release by itself does: 95% limits, five windows, each a fresh secret.

    All five miss with probability 3e-7, under any seed.
    """
    asked = watch(statistics=[ss.Shannon()])
    lines = b"".join(rows(60 * i, key=f"k{j}") for i in range(5) for j in range(200))
    records, _ = run(asked, [at(299, lines)], start=0)
    held = [each["releases"][0] for each in records[:5]]
    assert any(each["low"] <= np.log(200) <= each["high"] for each in held)
    assert len({each["value"] for each in held}) > 1


def test_values_and_composite_keys() -> None:
    fields = LineFields.of(format="json", key=("a", "b"), value="n", max_value=10)
    lines = b'{"a":"x","b":"y","n":7}\n{"a":"xy","b":"","n":1}\n{"a":"x","b":"y","n":3}\n'
    records, _ = run(watch(fields, statistics=[ss.Total(), ss.Distinct()], mechanism="exact"), [at(1, lines)])
    total, distinct = (each["value"] for each in records[0]["releases"])
    assert abs(total - 10) <= 6  # at a scale of 0.4: beyond that with probability 3e-7
    assert distinct == 1


def test_bad_lines_stop_it_if_they_are_to_and_nothing_is_shown_of_them() -> None:
    for lines in (b'{"k": "secret"\n', rows(10**9, key="secret")):
        with pytest.raises(DataError, match="on_bad='skip'") as caught:
            run(watch(on_bad="error"), [at(1, lines)])
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("replays", [True, False])
def test_a_bad_line_ends_it_before_its_block_and_the_rest_is_kept(tmp_path: Path, replays: bool) -> None:
    """Then it can be started again with lines skipped; of a pipe, the block with the bad line is lost."""
    strict, lenient = watch(on_bad="error"), watch()
    state = MonitorState(tmp_path, strict.to_json())
    blocks = [at(1, rows(0, 1)), at(2, rows(2) + b"{\n"), at(3, rows(3))]
    with pytest.raises(DataError, match="cannot be used as a row"):
        run(strict, blocks, state, replays=replays)
    state.close()
    found, _ = run(lenient, [*blocks[1:], at(71)] if replays else [at(71)],
                   MonitorState(tmp_path, lenient.to_json()), replays=replays, ends=False)  # fmt: skip
    assert totals(found) == {"12:00:00": 4 if replays else 2}


def test_a_row_that_a_pipe_sends_again_after_a_restart_counts_once(tmp_path: Path) -> None:
    """`tail -F` sends the last lines again. What was open is released as it was; counting begins with a new window."""
    asked = watch()
    state = MonitorState(tmp_path, asked.to_json())
    assert run(asked, [at(1, rows(0, 1))], state, ends=False)[0] == []
    state.close()
    again = MonitorState(tmp_path, asked.to_json())
    blocks = [at(20, rows(0, 1, 2)), at(30, rows(3, 30)), at(61, rows(0, 60, 61)), at(140)]
    records, monitor = run(asked, blocks, again, start=20, ends=False)
    assert totals(records) == {"12:00:00": 2, "12:01:00": 2}
    assert monitor.counters["late"] == 6
    said = records[1]["note"]
    assert "after its last checkpoint at 2026-11-16T12:00:01Z was not counted" in said
    assert "the next one begins at 2026-11-16T12:01:00Z" in said


def test_windows_of_which_a_pipe_saw_nothing_are_not_released_and_that_is_said(tmp_path: Path) -> None:
    asked = watch()
    state = MonitorState(tmp_path, asked.to_json())
    run(asked, [at(1, rows(0, 1))], state, ends=False)
    state.close()
    records, _ = run(asked, [at(3740)], MonitorState(tmp_path, asked.to_json()), start=3600, ends=False)
    assert totals(records) == {"12:00:00": 2, "13:01:00": 0}
    assert "the next one begins at 2026-11-16T13:01:00Z" in records[1]["note"]


def test_rows_with_the_time_of_their_arrival_begin_with_a_new_window_too(tmp_path: Path) -> None:
    asked = watch(LineFields.of(format="lines"), Windows(60))
    state = MonitorState(tmp_path, asked.to_json())
    run(asked, [at(1, b"a\n")], state, ends=False)
    state.close()
    blocks = [at(130, b"a\n"), at(181, b"b\n"), at(240)]
    records, _ = run(asked, blocks, MonitorState(tmp_path, asked.to_json()), start=130, ends=False)
    assert totals(records) == {"12:00:00": 1, "12:03:00": 1}


def test_no_two_monitors_in_a_row_count_the_same_window() -> None:
    """The second knows nothing of the first, gets its rows again, and begins where it cannot have been."""
    for end in (5, 49, 50, 51, 59, 60):
        first, _ = run(watch(), [at(1, rows(0, 1)), at(end, rows(end))])
        second, _ = run(watch(), [at(end, rows(0, 1, end)), at(200)], start=end)
        assert not set(totals(first)) & set(totals(second))
        assert sum(totals(first).values()) == 3


def test_a_replay_of_a_pipe_has_no_state(tmp_path: Path) -> None:
    """Its rows come again from the first, and nobody knows which of them were counted."""
    asked = watch(windows=Windows(60, 0, (NOON // 60, NOON // 60 + 2)))
    with pytest.raises(ArgumentError, match="cannot be used for a replay of a pipe"):
        run(asked, [at(1, rows(0))], MonitorState(tmp_path, asked.to_json()))


def test_who_leaves_a_pipe_of_records_ends_the_run_and_the_rest_is_kept(tmp_path: Path) -> None:
    asked, found = watch(), []

    def sink(number: int, text: str) -> None:
        if number == 3:
            raise BrokenPipeError(32, "Broken pipe")
        found.append(number)

    state = MonitorState(tmp_path, asked.to_json())
    blocks, clock = [at(second) for second in (1, 71, 140, 200, 260)], lambda: (NOON - 20) * 10**9
    with pytest.raises(CheckpointError, match=r"1 record could not be written \(Broken pipe\). A run on the same"):
        Monitor(asked, "test", lambda *_: iter(blocks), state, [sink], replays=True, clock=clock).run()
    state.close()
    again = MonitorState(tmp_path, asked.to_json())
    Monitor(asked, "test", lambda *_: iter(blocks[:0]), again, [lambda n, _: found.append(n)], replays=True,
            clock=clock).run()  # fmt: skip
    assert found[:3] == [1, 2, 3]


def test_a_clock_that_is_set_is_said() -> None:
    now, elapsed = [0], [0]
    steady = Steady(lambda: now[0], 0, lambda: elapsed[0])
    for more, passed, jump in ((5, 5, 0), (3600, 1, 3599), (1, 1, 0), (-50, 1, -51), (1, 1, 0), (9, 1, 0)):
        now[0] += more * 10**9
        elapsed[0] += passed * 10**9
        steady()
        assert steady.jump == jump * 10**9
        steady.jump = 0
    asked, found, times = watch(), [], [NOON * 10**9]
    blocks = [at(1), at(3700)]

    def source(clock: object, *_: object) -> object:
        yield blocks[0]
        times[0] += 3700 * 10**9
        clock()  # type: ignore[operator]
        yield blocks[1]

    Monitor(asked, "test", source, MonitorState(None, asked.to_json()), [lambda _, text: found.append(text)],
            replays=False, clock=lambda: times[0], elapsed=lambda: 0).run()  # type: ignore[arg-type]  # fmt: skip
    assert any("the clock of this machine was set forward by 3700s" in text for text in found)


def test_a_key_that_no_line_has_is_said_once_and_not_in_the_records() -> None:
    for lines, told in ((b'{"q":1}\n' * 1000, True), (b'{"q":1}\n' * 1000 + rows(0), False), (b"", False)):
        said: list[str] = []
        asked = watch()
        blocks = [at(1, lines), at(2, lines)]
        Monitor(asked, "test", lambda *_, b=blocks: iter(b), MonitorState(None, asked.to_json()), replays=False,
                clock=lambda: (NOON - 20) * 10**9, say=said.append).run()  # fmt: skip
        assert sum("could be used as a row" in each for each in said) == told
        assert not told or "none of the first 1,000 lines could be used as a row. Check format=, key=" in in_python(
            said[0]
        )


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize(
    ("second", "told"), [(1000 * NOON, True), (-NOON / 1000, True), (3, False)], ids=["ms", "years ago", "now"]
)
def test_times_in_another_unit_are_said_once_and_not_in_the_records(second: float, told: bool, ends: bool) -> None:
    """Milliseconds that are read as seconds are in the future, all of them."""
    said: list[str] = []
    blocks = [at(60 * i + 5, rows(*[60 * i + second] * 600)) for i in range(4)]
    found, _ = run(watch(), blocks, say=said.append, ends=ends)
    expected = "none of the first 1,800 rows was counted: their times are in the past or in the future. Check time=, "
    if ends and second < 0:  # the end of a pipe of old rows has words of its own
        said = said[:1]
    assert [each.startswith(expected) for each in map(in_python, said)] == [True] * told
    assert all("releases" in each for each in found)


def test_lines_that_a_pipe_sends_again_after_a_restart_are_no_times_in_another_unit(tmp_path: Path) -> None:
    said: list[str] = []
    for first in (5, 65):
        state = MonitorState(tmp_path / "state", watch().to_json())
        run(watch(), [at(first, rows(*[5] * 1000))], state, start=first - 16, ends=False, say=said.append)
        state.close()
    assert said == []


def test_a_file_is_read_on_after_a_stop_and_nothing_is_late(tmp_path: Path) -> None:
    log, asked = tmp_path / "log", watch()
    log.write_bytes(rows(0, 1))  # before the first start: not counted
    found: list[dict[str, object]] = []
    for start, more in ((-20, rows(2, 60, 1800, 3599)), (3700, b"")):
        state = MonitorState(tmp_path / "state", asked.to_json())
        monitor = Monitor(
            asked, "log", file_source(log, follow=True), state, [lambda _, text: found.append(json.loads(text))],
            replays=True, clock=lambda start=start: (NOON + start) * 10**9,
        )  # fmt: skip
        take, quiet = monitor._take, []

        def until_quiet(block: Block, read: Rows, take: Any = take, quiet: Any = quiet, monitor: Any = monitor) -> None:
            take(block, read)
            quiet.append(not block.lines)
            if sum(quiet) == 3:
                monitor.stop()

        monitor._take = until_quiet  # type: ignore[method-assign]
        monitor.run()
        state.close()
        with log.open("ab") as file:
            file.write(more)
    counted = totals(found)
    assert {at: count for at, count in counted.items() if count} == {
        "12:00:00": 1, "12:01:00": 1, "12:30:00": 1, "12:59:00": 1
    }  # fmt: skip
    assert monitor.counters["late"] == 0


def test_a_file_of_which_nothing_was_read_yet_is_begun_anew(tmp_path: Path) -> None:
    """There is no place to read on from. The windows since then would have no rows, and no note would say why."""
    log, folder, hour = tmp_path / "log", tmp_path / "s", 3600
    state = MonitorState(folder, watch().to_json())
    with pytest.raises(DataError, match="cannot be opened"):  # it is not there yet
        Monitor(watch(), "log", file_source(log, follow=True), state, replays=True, clock=Time(-11)).run()
    state.close()
    log.write_bytes(rows(5))
    state, clock, found = MonitorState(folder, watch().to_json()), Time(hour - 11), []
    monitor = Monitor(
        watch(), "log", file_source(log, follow=True), state, [lambda _, text: found.append(json.loads(text))],
        replays=True, clock=clock,
    )  # fmt: skip
    assert monitor.begins == NOON + hour
    take = monitor._take

    def taken(block: Block, read: Rows) -> None:
        take(block, read)
        if clock.now < Time(hour).now:
            log.write_bytes(rows(5, hour, hour + 1))
            clock.now = Time(hour + 71).now
        if found:
            monitor.stop()

    monitor._take = taken  # type: ignore[method-assign]
    monitor.run()
    state.close()
    assert totals(found) == {"13:00:00": 2}


def test_where_a_file_is_begun_is_stored_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is killed within its first second, the next run reads on from there."""
    log = tmp_path / "log"
    log.write_bytes(rows(5))
    state = MonitorState(tmp_path / "s", watch().to_json())
    monkeypatch.setattr("stablesketch.monitor.monitor._CHECKPOINT", 1e9)
    monitor = Monitor(watch(), "log", file_source(log, follow=True), state, replays=True, clock=Time(-11))
    take, stored = monitor._take, []

    def taken(block: Block, read: Rows) -> None:
        take(block, read)
        stored.append(state.fact("position"))
        monitor.stop()

    monkeypatch.setattr(monitor, "_take", taken)
    monitor.run()
    state.close()
    assert stored[0]["offset"] == log.stat().st_size


def test_records_that_could_not_be_written_are_written_later(tmp_path: Path) -> None:
    asked, calls, found, said = watch(), [], [], []

    def sink(number: int, text: str) -> None:
        calls.append(number)
        if len(calls) <= 3:
            raise OSError(28, "No space left on device")
        found.append(number)

    blocks = [at(second) for second in (1, 71, 72, 140, 200)]
    state = MonitorState(None, asked.to_json())
    clock = lambda: (NOON - 20) * 10**9  # noqa: E731
    Monitor(asked, "test", lambda *_: iter(blocks), state, [sink], replays=False, clock=clock, say=said.append).run()
    assert found == [1, 2, 3]
    assert calls[:4] == [1, 1, 1, 1]
    assert len(said) == 1
    assert "No space left" in said[0]


def test_a_clock_that_jumps_by_a_century_stops_it_and_the_state_stays(tmp_path: Path) -> None:
    asked = watch()
    state = MonitorState(tmp_path, asked.to_json())
    with pytest.raises(CheckpointError, match=r"that is 53,333,333 windows.*Correct the clock"):
        run(asked, [at(1, rows(0)), at(30), at(10**9 * 3.2)], state)
    state.close()
    again = MonitorState(tmp_path, asked.to_json())
    assert again.fact("next") == NOON // 60


def test_a_clock_that_goes_back_stands_until_it_is_ahead_again() -> None:
    times = iter([5, 7, 3, 6, 8])
    steady = Steady(lambda: next(times), last=6)
    assert [steady() for _ in range(5)] == [6, 7, 7, 7, 8]


def test_questions_that_a_monitor_cannot_answer() -> None:
    for more, said in (
        ({"statistics": [ss.Atkinson(0.5)]}, "public number of people"),
        ({"statistics": []}, "one or more"),
        ({"statistics": [ss.Total(), ss.Total()]}, "each once"),
        ({"on_bad": "drop"}, "on_bad must be"),
        ({"confidence": 1.0}, "confidence"),
        (
            {"fields": LineFields.of(format="lines"), "windows": Windows(60, 0, (0, 1))},
            "time must be given for a replay",
        ),
    ):
        with pytest.raises(ArgumentError, match=said):
            watch(**{"fields": JSON, **more})
