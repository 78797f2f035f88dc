"""PeopleOfWindow in each window, and the ledger that every window is paid from."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from monitor_tools import NOON, at, run, totals, watch

import stablesketch as ss
from stablesketch import ArgumentError
from stablesketch.ledger import budgets
from stablesketch.ledger.record import PEOPLE
from stablesketch.monitor import Monitor, Watch
from stablesketch.monitor.input.fields import LineFields
from stablesketch.monitor.input.reader import LineReader
from stablesketch.monitor.state.open_windows import OpenWindows, PeopleOfWindow
from stablesketch.monitor.state.state import MonitorState
from stablesketch.monitor.windows import Windows
from stablesketch.reading.duckdb import DuckDB
from stablesketch.secret.paying import until_shown

WHO = LineFields.of(format="json", key=("k",), time="t", person="u")


def lines(*rows: tuple[int, str]) -> bytes:
    """Rows at so many seconds after noon, of these people."""
    return b"".join(json.dumps({"k": "a", "t": NOON + s, "u": u}).encode() + b"\n" for s, u in rows)


def of_people(most: int = 2, **more: Any) -> Any:
    return watch(WHO, protect="person-window", pairs_per_person=most, **more)


def test_of_each_person_the_first_rows_count_in_every_window(tmp_path: Path) -> None:
    """At ε = 50 and two pairs the noise is not 0 with probability 3e-11."""
    asked = of_people()
    state = MonitorState(tmp_path, asked.to_json())
    blocks = [
        at(1, lines((0, "x"), (1, "x"), (2, "x"), (3, "y"))),
        at(30, lines((4, "x"), (5, "y"), (6, "y"), (7, "z"))),
    ]
    records, _ = run(asked, [*blocks, at(61, lines((60, "x"), (61, "x"), (62, "x"))), at(140)], state, ends=False)
    assert totals(records) == {"12:00:00": 5, "12:01:00": 2}
    assert records[0]["protects"] == "person-window"
    assert records[0]["releases"][0]["pairs_per_person"] == 2


def test_what_was_counted_of_people_survives_a_restart_with_the_window(tmp_path: Path) -> None:
    asked, found = of_people(), []
    for block in (at(1, lines((0, "x"), (1, "y"))), at(2, lines((2, "x"), (3, "x"), (4, "y"), (5, "y"), (6, "z")))):
        state = MonitorState(tmp_path, asked.to_json())
        found += run(asked, [block], state, replays=True, ends=False)[0]
        state.close()
    state = MonitorState(tmp_path, asked.to_json())
    found += run(asked, [at(71)], state, replays=True, ends=False)[0]
    assert totals(found) == {"12:00:00": 5}
    state.close()
    assert MonitorState(tmp_path, asked.to_json()).window(NOON // 60) is None


def test_one_person_less_changes_every_window_by_their_rows_at_most() -> None:
    """The rule against a plain loop, and neighbours: whoever is taken out, the rows of others count as before.

    200,000 rows in one block, so that DuckDB's threads have something to mix up.
    """
    draw = random.Random("people")
    rows = [(draw.randrange(4), f"p{int(draw.paretovariate(0.5)) % 5000}", i) for i in range(200_000)]
    asked = of_people(3, mechanism="exact", statistics=[ss.Distinct()])

    def kept(rows: list[tuple[int, str, int]]) -> list[set[int]]:
        """The rows that windows count: each row is a key of its own."""
        found: list[set[int]] = [set() for _ in range(4)]

        class Spy(OpenWindows):
            def add(self, number: int, read: Any, here: Any) -> None:
                window = self._window(number)
                chosen = np.arange(len(read.windows)) if here is None else here
                assert window.people is not None
                chosen = chosen[window.people.within(read.persons.take(pa.array(chosen)))]
                found[number - NOON // 60] |= {int(key) for key in read.keys[0].take(pa.array(chosen)).to_pylist()}

        text = "".join(f'{{"k":"{i}","t":{NOON + 60 * w},"u":"{u}"}}\n' for w, u, i in rows).encode()
        monitor = Monitor(asked, "test", lambda *_: iter([at(200, text)]), MonitorState(None, asked.to_json()),
                          replays=False, clock=lambda: (NOON - 20) * 10**9)  # fmt: skip
        monitor._windows = Spy(asked, monitor._state)
        monitor._next = NOON // 60
        with DuckDB() as duckdb:
            monitor._count(
                replace(at(200), clock=at(0).clock), LineReader(asked.fields, 60, "test", duckdb).rows(at(200, text))
            )
        return found

    whole = kept(rows)
    counts: Counter[tuple[int, str]] = Counter()
    wanted: list[set[int]] = [set() for _ in range(4)]
    for window, person, i in rows:
        counts[window, person] += 1
        if counts[window, person] <= 3:
            wanted[window].add(i)
    assert whole == wanted
    owner = {i: person for _, person, i in rows}
    for person in ("p1", "p2", "p17"):
        less = kept([row for row in rows if row[1] != person])
        for full, without in zip(whole, less, strict=True):
            assert without <= full
            assert len(full - without) <= 3
            assert {owner[i] for i in full - without} <= {person}


def test_people_are_held_as_hashes() -> None:
    people = PeopleOfWindow(2, bytes(32))
    assert people.within(pa.array(["secret", "b", "secret", "secret", "b"])).tolist() == [0, 1, 2, 4]
    assert people.within(pa.array(["c", "secret"])).tolist() == [0]
    assert "secret" not in repr(people.changed)
    assert sorted(people.changed.values()) == [1, 2, 2]


def test_the_price_of_a_day_is_said_in_plain_numbers() -> None:
    fields = LineFields.of(format="json", key=("k",), time="t", person="u")
    said = Watch.of([ss.Shannon()], 0.5, 1e-9, fields, Windows(4), protect="person-window").promise
    assert "1 of their rows counts. Each window spends ε again: up to ε = 10,800 in a day" in said


def test_questions_about_people_that_are_none() -> None:
    for fields, more, said in (
        (WHO, {}, "must be given together"),
        (LineFields.of(format="json", key=("k",)), {"protect": "person-window"}, "protect needs person="),
        (LineFields.of(format="json", key=("k",)), {"pairs_per_person": 2}, "cannot be used without"),
        (LineFields.of(format="json", key=("k",)), {"protect": "people"}, "protect must be"),
    ):
        with pytest.raises(ArgumentError, match=said):
            watch(fields, **more)


# --- the ledger ---


def small(**more: Any) -> Any:
    """Windows at ε = 1."""
    return Watch.of([ss.Shannon()], 1.0, 1e-9, WHO, Windows(60, 10), protect="person-window", **more)


def paid(folder: Path, asked: Any, ledger: ss.Ledger, seconds: list[int], start: int = -11) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    state = MonitorState(folder, asked.to_json())
    blocks = [at(second) for second in seconds]
    monitor = Monitor(asked, "test", lambda *_: iter(blocks), state, [lambda _, text: found.append(json.loads(text))],
                      replays=True, ledger=ledger, clock=lambda: (NOON + start) * 10**9)  # fmt: skip
    monitor.run()
    state.close()
    return found


def test_windows_are_paid_until_the_budget_is_spent_and_it_is_said_when_it_renews(tmp_path: Path) -> None:
    ledger = ss.Ledger(tmp_path / "b.db", epsilon=3.0, delta=1e-6, relation=PEOPLE, per="day")
    found = paid(tmp_path / "s", small(), ledger, [60 * i + 11 for i in range(1, 9)])
    windows = [each for each in found if "releases" in each]
    notes = [each["note"] for each in found if "note" in each]
    assert len(ledger) == len(windows) < 8
    assert [each["epsilon_left"] for each in windows] == sorted(
        (each["epsilon_left"] for each in windows), reverse=True
    )
    assert ledger.spent() <= 3.0
    (said,) = notes
    assert "the budget of the ledger is spent. The window of" in said
    assert f"It renews on {ledger.renews} (UTC)" in said


def test_when_the_budget_renews_windows_are_released_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    day, found = [datetime(2026, 11, 16, 12, tzinfo=UTC)], []
    monkeypatch.setattr(budgets, "now", lambda: day[-1])
    ledger = ss.Ledger(tmp_path / "b.db", epsilon=3.0, delta=1e-6, relation=PEOPLE, per="day")
    state, said = MonitorState(tmp_path / "s", small().to_json()), []

    def sink(_: int, text: str) -> None:
        found.append(json.loads(text))
        if "is spent" in text and len(day) == 1:
            day.append(day[-1] + timedelta(days=1))

    blocks = [at(60 * i + 11) for i in range(1, 9)]
    Monitor(small(), "test", lambda *_: iter(blocks), state, [sink], replays=True, ledger=ledger, say=said.append,
            clock=lambda: (NOON - 11) * 10**9).run()  # fmt: skip
    state.close()
    kinds = ["note" if "note" in each else "window" for each in found]
    spent, again = (place for place, kind in enumerate(kinds[:-1]) if kind == "note")
    assert again == spent + 1  # the windows of a day after a note are those of the next day
    assert "It renews on 2026-11-17 (UTC)" in found[spent]["note"]
    assert f"allows releases again, from the window of {found[again + 1]['start']} on" in found[again]["note"]
    assert said[:2] == [found[spent]["note"], found[again]["note"]]
    assert {each["start"] for each in found if "start" in each} < {f"2026-11-16T12:0{i}:00Z" for i in range(9)}
    assert len(ledger) == kinds.count("window") > spent


def test_windows_of_events_are_parts_of_one_whole(tmp_path: Path) -> None:
    """A row is in one window: all windows cost what one does."""
    ledger = ss.Ledger(tmp_path / "b.db", epsilon=1.5, delta=1e-6)
    asked = watch(statistics=[ss.Shannon()])
    asked = type(asked).of([ss.Shannon()], 1.0, 1e-9, asked.fields, asked.windows)
    found = paid(tmp_path / "s", asked, ledger, [60 * i + 11 for i in range(1, 9)])
    assert len(found) == len(ledger) == 8
    assert ledger.spent() <= 1.01
    assert "note" not in str(found)


def test_a_window_that_has_used_up_the_budget_and_was_not_stored_is_found_in_the_ledger(tmp_path: Path) -> None:
    ledger = ss.Ledger(tmp_path / "b.db", epsilon=1.05, delta=1e-6, relation=PEOPLE)
    state = MonitorState(tmp_path / "s", small().to_json())
    windows = OpenWindows(small(), state, ledger)
    windows.touch(NOON // 60)
    state.commit({"next": NOON // 60}, windows.changed())
    (value,) = windows.release(NOON // 60, "12:00")
    state.close()  # killed: the state does not know that it was paid
    window, note = paid(tmp_path / "s", small(), ledger, [71, 131], start=0)
    assert window["releases"][0]["value"] == value.value
    assert "budget of the ledger is spent. The window of 2026-11-16T12:01:00Z is not released" in note["note"]
    assert len(ledger) == 1


def test_a_window_that_was_paid_and_not_stored_is_found_in_the_ledger(tmp_path: Path, monkeypatch: Any) -> None:
    """Killed after the payment, at every commit in turn: no window is paid twice, and none has two values."""
    for crash in range(1, 9):
        folder = tmp_path / str(crash)
        folder.mkdir()
        ledger = ss.Ledger(folder / "b.db", epsilon=10.0, delta=1e-6, relation=PEOPLE)
        commit, calls = MonitorState.commit, []

        def dying(self: Any, *arguments: Any, commit: Any = commit, calls: Any = calls, crash: int = crash) -> None:
            calls.append(1)
            if len(calls) == crash:
                raise KeyboardInterrupt
            commit(self, *arguments)

        first: list[dict[str, Any]] = []
        state = MonitorState(folder / "s", small().to_json())
        monkeypatch.setattr(MonitorState, "commit", dying)
        blocks = [at(1, lines((0, "x"), (1, "y"))), at(71), at(131)]
        sink = lambda _, text, first=first: first.append(json.loads(text))  # noqa: E731
        with pytest.raises(KeyboardInterrupt):
            Monitor(small(), "test", lambda *_, b=blocks: iter(b), state, [sink], replays=True, ledger=ledger,
                    clock=lambda: (NOON - 11) * 10**9).run()  # fmt: skip
        state.close()
        monkeypatch.setattr(MonitorState, "commit", commit)
        again = paid(folder / "s", small(), ledger, [71, 131])
        found = [each for each in first if each not in again] + again  # a record may be delivered again, as it was
        kept = {number: ss.Release.from_json(ledger.published(number)) for number in range(1, len(ledger) + 1)}
        shown = [each["releases"][0] for each in found if "releases" in each]
        assert len({each["start"] for each in found}) == len(found) == len(ledger) == 2
        assert [each["value"] for each in shown] == [one.value for one in kept.values()]


def test_an_error_after_windows_were_paid_and_shown_does_not_say_that_they_are_lost(tmp_path: Path) -> None:
    """Who shows values later, out of a state, knows better than the command line what was shown."""
    ledger = ss.Ledger(tmp_path / "b.db", epsilon=10.0, delta=1e-6, relation=PEOPLE)
    asked = Watch.of([ss.Shannon()], 1.0, 1e-9, WHO, Windows(60, 10), protect="person-window", on_bad="error")
    state, found = MonitorState(tmp_path / "s", asked.to_json()), []
    blocks = [at(1, lines((0, "x"))), at(71), at(72, b"{}\n")]
    monitor = Monitor(asked, "test", lambda *_: iter(blocks), state, [lambda _, text: found.append(json.loads(text))],
                      replays=True, ledger=ledger, clock=lambda: (NOON - 11) * 10**9)  # fmt: skip
    with pytest.raises(ss.DataError) as refused, until_shown() as payment:
        monitor.run()
    assert len(found) == len(ledger) == 1
    assert payment.paid == []
    assert not hasattr(refused.value, "__notes__")
    state.close()
