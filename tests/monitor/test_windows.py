"""Windows of time, and what is refused as one."""

from __future__ import annotations

import pytest

from stablesketch import ArgumentError
from stablesketch.monitor.windows import SECOND, Windows, second_of, seconds, shown

NOON = 1_794_830_400


def test_windows_are_half_open_and_aligned_to_utc() -> None:
    windows = Windows.of("5m")
    assert windows.index(NOON) == windows.index(NOON + 299) == windows.index(NOON - 1) + 1
    assert shown(windows.start(windows.index(NOON + 299))) == "2026-11-16T12:00:00Z"
    assert shown(Windows.of("1d").start(Windows.of("1d").index(NOON))) == "2026-11-16T00:00:00Z"


def test_a_window_closes_after_its_end_and_the_lateness_by_the_clock() -> None:
    windows = Windows.of("1m", "10s")
    first = windows.index(NOON)
    assert windows.first_open(int((NOON + 69.999) * SECOND)) == first
    assert windows.first_open((NOON + 70) * SECOND) == first + 1
    assert windows.last_open((NOON + 49) * SECOND) == first
    assert windows.last_open((NOON + 50) * SECOND) == first + 1


def test_a_replay_has_the_windows_of_its_span_whatever_the_clock() -> None:
    windows = Windows.of("1h", since="2026-11-16T00:00:00Z", until="2026-11-17T02:00:00+02:00")
    assert windows.last_open(0) - windows.first_open(10**30) + 1 == 24


@pytest.mark.parametrize("text", ["", "5", "m", "-5m", "1.5m", "1w", "5 m", "9" * 12 + "s", None])
def test_lengths_that_are_none(text: str) -> None:
    with pytest.raises(ArgumentError, match=r"every must be a number and s, m, h or d"):
        seconds("every", text)


@pytest.mark.parametrize("text", ["7m", "0s", "36500d", "25h", "36h"])
def test_windows_that_cannot_be_aligned(text: str) -> None:
    with pytest.raises(ArgumentError, match="divide a day or be 1 to 31 whole days"):
        Windows.of(text)


@pytest.mark.parametrize("text", ["yesterday", "2026-11-16", "2026-11-16T00:00:00", "2026-11-16T00:00:00.5Z", "1e9"])
def test_times_that_are_none(text: str) -> None:
    with pytest.raises(ArgumentError, match="with its offset from UTC"):
        second_of("from", text)


def test_spans_that_are_none() -> None:
    day = {"since": "2026-11-16T00:00:00Z", "until": "2026-11-17T00:00:00Z"}
    for changes, said in (
        ({"until": None}, "must be given for a replay"),
        ({"since": "2026-11-16T00:00:30Z"}, "Pass 2026-11-16T00:00:00Z"),
        ({"until": day["since"]}, "not 0"),
        ({"until": "2126-11-17T00:00:00Z"}, "not 52,"),
    ):
        with pytest.raises(ArgumentError, match=said):
            Windows.of("1m", **{**day, **changes})
    with pytest.raises(ArgumentError, match="from 0s to 7d"):
        Windows.of("1d", "8d")
    with pytest.raises(ArgumentError, match="lateness must be from 0s to 1000s for windows of 1s, got '1h'"):
        Windows.of("1s", "1h")
