"""Budgets that renew: each calendar period has the whole budget once, whatever the clock and other processes do."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from ledger_helpers import released
from test_crashes import child_of, printed_by

import stablesketch as ss
from stablesketch.ledger import budgets, composition
from stablesketch.ledger.period import next_start, period_of
from stablesketch.ledger.rows import Budget


class Clock:
    """The time that the ledger is told."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def set(self, *moment: int) -> None:
        self.time = datetime(*moment, tzinfo=UTC)  # type: ignore[misc, arg-type]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    told = Clock()
    monkeypatch.setattr(budgets, "now", lambda: told.time)
    return told


@pytest.fixture
def monthly(path: Path, clock: Clock) -> ss.Ledger:
    return ss.Ledger(path, epsilon=0.25, delta=1e-6, per="month")  # two releases of 0.1


def spend(ledger: ss.Ledger, plan: ss.Plan, times: int) -> None:
    """Exactly this many fit."""
    for _ in range(times):
        released(plan, ledger)
    with pytest.raises(ss.BudgetExceeded):
        released(plan, ledger)


# --- the calendar ---


@pytest.mark.parametrize(
    ("per", "moment", "period", "renews"),
    [
        ("day", (2024, 2, 29), "2024-02-29", (2024, 3, 1)),
        ("day", (2026, 12, 31), "2026-12-31", (2027, 1, 1)),
        ("week", (2027, 1, 1), "2026-W53", (2027, 1, 4)),
        ("week", (2026, 11, 16), "2026-W47", (2026, 11, 23)),
        ("month", (2026, 11, 30), "2026-11", (2026, 12, 1)),
        ("month", (2026, 12, 1), "2026-12", (2027, 1, 1)),
        ("quarter", (2026, 9, 30), "2026-Q3", (2026, 10, 1)),
        ("quarter", (2026, 10, 1), "2026-Q4", (2027, 1, 1)),
        ("year", (2026, 6, 1), "2026", (2027, 1, 1)),
    ],
)
def test_periods_of_the_calendar(
    per: str, moment: tuple[int, int, int], period: str, renews: tuple[int, int, int]
) -> None:
    assert period_of(per, datetime(*moment, tzinfo=UTC)) == period
    assert next_start(per, period) == date(*renews)


@pytest.mark.parametrize("per", ["day", "week", "month", "quarter", "year"])
def test_names_of_periods_sort_as_they_come(per: str) -> None:
    first = datetime(2019, 12, 25, tzinfo=UTC)
    names = [period_of(per, first + timedelta(days=day)) for day in range(3000)]
    assert names == sorted(names)
    for day, name in enumerate(names):  # every day lies before the next start, and that day is of the next period
        start = next_start(per, name)
        assert (first + timedelta(days=day)).date() < start
        assert period_of(per, datetime(start.year, start.month, start.day, tzinfo=UTC)) > name


# --- renewal ---


def test_each_month_has_the_whole_budget(monthly: ss.Ledger, clock: Clock, exact: ss.Plan) -> None:
    spend(monthly, exact, 2)
    assert (monthly.per, monthly.period, monthly.renews) == ("month", "2026-11", "2026-12-01")
    assert monthly.spent() == pytest.approx(0.2)
    clock.set(2026, 12, 1)
    assert (monthly.spent(), monthly.left()) == (0.0, 0.25)
    assert monthly.preview(exact, times=2).fits
    assert not monthly.preview(exact, times=3).fits
    spend(monthly, exact, 2)
    assert [record.period for record in monthly.records()] == ["2026-11", "2026-11", "2026-12", "2026-12"]
    assert [record.spent_after for record in monthly.records()] == pytest.approx([0.1, 0.2, 0.1, 0.2])
    assert len(monthly) == 4
    assert monthly.spent_in_all(1e-9) == pytest.approx(0.4)
    monthly.verify()


def test_twelve_months_compose(monthly: ss.Ledger, clock: Clock, exact: ss.Plan) -> None:
    """In all at most 12 times the budget, and what the releases really cost by the ledger's composition."""
    for month in range(1, 13):
        clock.set(2027, month, 15)
        spend(monthly, exact, 2)
    once = ss.Ledger(monthly.path.with_name("once.db"), epsilon=30.0, delta=12e-6)
    for _ in range(24):
        released(exact, once)
    assert monthly.spent_in_all() == once.spent()  # no period hides a release from the sum
    assert monthly.spent_in_all() < 24 * 0.1 < 12 * 0.25


def test_a_refusal_says_when_it_renews(monthly: ss.Ledger, exact: ss.Plan) -> None:
    spend(monthly, exact, 2)
    with pytest.raises(ss.BudgetExceeded, match=r"The budget renews on 2026-12-01 \(UTC\)\.") as refused:
        released(exact, monthly)
    assert refused.value.renews == "2026-12-01"


def test_named_budgets_renew_with_the_whole(monthly: ss.Ledger, clock: Clock, exact: ss.Plan) -> None:
    team = monthly.budget("team", epsilon=0.1, delta=1e-7)
    for month in (11, 12):
        clock.set(2026, month, 20)
        spend(team, exact, 1)
        spend(monthly, exact, 1)
    assert monthly.budgets() == ["team"]
    assert (len(team), len(monthly)) == (2, 4)
    assert monthly.budget("team").per == "month"
    monthly.verify()


def test_a_year_of_one_that_is_adaptive(path: Path, clock: Clock, exact: ss.Plan) -> None:
    ledger = ss.Ledger(path, epsilon=1.0, delta=1e-6, per="quarter", adaptive=True)
    for month in (2, 5, 8):
        clock.set(2027, month, 1)
        released(exact, ledger)
    assert 0.1 <= ledger.spent() < ledger.spent_in_all() == 1.0 * round(ledger.delta_in_all / 1e-6)
    assert ledger.spent_in_all(1e-9) == math.inf  # nothing is proved below δ of all periods
    ledger.verify()


# --- the clock ---


def test_a_clock_that_was_set_back_gives_nothing_twice(monthly: ss.Ledger, clock: Clock, exact: ss.Plan) -> None:
    spend(monthly, exact, 2)
    clock.set(2026, 12, 5)
    released(exact, monthly)
    clock.set(2026, 10, 5)  # a month that never had a release
    with pytest.raises(ss.ClockWentBackwards):
        released(exact, monthly)
    monthly.accept_clock()
    assert monthly.period == "2026-12"  # the later one stays
    spend(monthly, exact, 1)
    clock.set(2026, 12, 6)
    monthly.accept_clock()
    with pytest.raises(ss.BudgetExceeded):
        released(exact, monthly)
    monthly.verify()


def test_a_step_back_over_midnight(path: Path, clock: Clock, exact: ss.Plan) -> None:
    """Within the ten seconds that are tolerated: the release counts for the day that has begun."""
    ledger = ss.Ledger(path, epsilon=0.1, delta=1e-6, per="day")
    clock.set(2026, 11, 17, 0, 0, 2)
    released(exact, ledger)
    clock.set(2026, 11, 16, 23, 59, 58)
    with pytest.raises(ss.BudgetExceeded):
        released(exact, ledger)


# --- other processes, edited files ---


def test_processes_share_the_budget_of_a_period(path: Path, clock: Clock, exact: ss.Plan) -> None:
    """Four processes race for the first row of a new month, and for its seven releases of 0.1."""
    ledger = ss.Ledger(path, epsilon=0.75, delta=1e-6, per="month")
    released(exact, ledger)
    clock.set(2026, 12, 1)

    def work(pipe: int) -> None:
        mine, done = ss.Ledger(path), 0
        try:
            while True:
                released(exact, mine)
                done += 1
        except ss.BudgetExceeded:
            os.write(pipe, json.dumps({"done": done}).encode())

    children = [child_of(work) for _ in range(4)]
    assert sum(printed_by(*child)["done"] for child in children) == 7
    ledger.verify()


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE budgets SET epsilon = 9.0 WHERE period = '2026-11'",
        "UPDATE budgets SET period = '2026-10' WHERE period = '2026-11'",
        "UPDATE budgets SET per = '' WHERE period = ''",
        "DELETE FROM budgets WHERE period = '2026-11'",
    ],
)
def test_edited_periods_are_noticed(monthly: ss.Ledger, exact: ss.Plan, edit: str) -> None:
    spend(monthly, exact, 2)
    with sqlite3.connect(monthly.path) as connection:
        connection.execute(edit)
    connection.close()
    with pytest.raises(ss.LedgerCorrupt):
        released(exact, monthly)


def renamed(rows: list[Budget], connection: sqlite3.Connection) -> None:
    """November becomes September, so that November has not had its budget yet."""
    for row in rows:
        if not row.name and row.period == "2026-11":
            row.period = "2026-09"
            row.write(connection)


def larger(rows: list[Budget], connection: sqlite3.Connection) -> None:
    for row in rows:
        row.epsilon *= 9
        row.write(connection)


def moved(rows: list[Budget], connection: sqlite3.Connection) -> None:
    for row in rows:
        if not row.name and row.period == "2026-11":
            row.after += 1
            row.write(connection)


def dropped(rows: list[Budget], connection: sqlite3.Connection) -> None:
    """The whole's own row of the month, to which the records of a named budget do not refer."""
    connection.execute("DELETE FROM budgets WHERE name = '' AND period = '2026-11'")


@pytest.mark.parametrize("change", [renamed, larger, moved, dropped])
def test_periods_that_were_edited_with_care_are_noticed_on_opening(
    monthly: ss.Ledger, clock: Clock, exact: ss.Plan, change: Callable[[list[Budget], sqlite3.Connection], None]
) -> None:
    """The checksum of each row is right; the chain is not. Further releases hide where the period began."""
    named, path = monthly.budget("marketing", epsilon=0.25, delta=1e-6), monthly.path
    clock.set(2026, 10, 16)
    spend(named, exact, 2)
    clock.set(2026, 11, 16)
    spend(named, exact, 2)
    for _ in range(2):
        named.charge(epsilon=1e-9, statistic="x", relation=f"{monthly.relation} of pairs")
    with sqlite3.connect(path) as connection:
        change(Budget.read_all(connection, path), connection)
    connection.close()
    with pytest.raises(ss.LedgerCorrupt, match=r"recorded|counted"):
        ss.Ledger(path)
    with pytest.raises(ss.LedgerCorrupt):
        released(exact, monthly)


def test_a_damaged_cache_is_rebuilt_for_every_period(monthly: ss.Ledger, clock: Clock, exact: ss.Plan) -> None:
    spend(monthly, exact, 2)
    clock.set(2026, 12, 1)
    released(exact, monthly)
    before = monthly.spent(), monthly.spent_in_all()
    with sqlite3.connect(monthly.path) as connection:
        for table in ("costs", "frontier"):
            connection.execute(f"DELETE FROM {table}")
    connection.close()
    composition.forget()
    assert (monthly.spent(), monthly.spent_in_all()) == before
    spend(monthly, exact, 1)


# --- terms, export, forecast ---


def test_the_period_is_a_term_of_the_ledger(monthly: ss.Ledger, path: Path) -> None:
    assert ss.Ledger(path, per="month").per == "month"
    with pytest.raises(ss.LedgerMismatch, match="has per = 'month', but 'week' was given"):
        ss.Ledger(path, per="week")
    with pytest.raises(ss.ArgumentError, match="per must be one of day, week, month, quarter, year"):
        ss.Ledger(path.with_name("other.db"), epsilon=1.0, delta=1e-6, per="decade")  # type: ignore[arg-type]
    content = json.loads(monthly.to_json())
    assert (content["per"], content["period"]) == ("month", "2026-11")


def test_the_forecast_is_what_fits(path: Path, clock: Clock, plan: ss.Plan, exact: ss.Plan) -> None:
    ledger = ss.Ledger(path, epsilon=3.0, delta=1e-6, per="month")
    assert ledger.forecast() is None
    left = ledger.forecast(exact)
    assert left is not None
    assert left >= 30
    released(plan, ledger)
    for like in (exact, plan, None):
        count = ledger.forecast(like)
        assert count is not None
        assert ledger.preview(like or plan, times=count).fits
        assert not ledger.preview(like or plan, times=count + 1).fits
    clock.set(2026, 12, 1)
    assert ledger.forecast(exact) == left
    tiny = ss.plan(ss.Moment(0.5), ss.Privacy(1e-9, 1e-30, 0, relation="replace"), mechanism="exact")
    assert ledger.forecast(tiny) == 1_000_000
    with pytest.raises(ss.ArgumentTypeError):
        ledger.forecast("plan")  # type: ignore[arg-type]
