"""What releases would cost and what would fit, asked before anything is recorded."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from ledger_helpers import released

import stablesketch as ss


def test_a_preview_costs_nothing_and_tells_what_a_release_would(
    ledger: ss.Ledger, plan: ss.Plan, exact: ss.Plan
) -> None:
    released(plan, ledger)
    preview = ledger.preview([plan, exact])
    assert preview.fits
    assert preview.releases == 2
    assert preview.asked == ((plan.epsilon, plan.delta), (0.1, 0.0))
    assert preview.spent == ledger.spent()
    assert len(ledger) == 1
    released(plan, ledger)
    released(exact, ledger)
    assert ledger.spent() == pytest.approx(preview.after, rel=2e-3)
    many = ledger.preview(plan, times=500)
    assert not many.fits
    assert many.left == 0.0
    assert "does not fit" in str(many)


def test_a_release_per_hour_for_a_year(path: Path, plan: ss.Plan) -> None:
    ledger = ss.Ledger(path, epsilon=1.0, delta=1e-6)
    schedule = ledger.schedule(plan, every=timedelta(hours=1), lasting=timedelta(days=365))
    assert schedule.releases == 8760
    assert ledger.preview(schedule.plan, times=8760).fits
    assert schedule.after <= 1.0
    assert schedule.after > 0.95
    assert schedule.epsilon == schedule.plan.epsilon > 20 * 1.0 / 8760  # adding ε would give that
    assert ledger.schedule(plan, releases=8760).plan == schedule.plan
    assert schedule.plan.size == plan.size
    assert "8,760" in str(schedule)


def test_a_schedule_is_out_of_what_is_left(ledger: ss.Ledger, plan: ss.Plan, exact: ss.Plan) -> None:
    before = ledger.schedule(exact, releases=10)
    released(plan, ledger)
    after = ledger.schedule(exact, releases=10)
    assert after.plan.mechanism == "exact"
    assert after.epsilon < before.epsilon
    assert ledger.preview(after.plan, times=10).fits
    once = ledger.budget("fresh", epsilon=2.0, delta=1e-9)
    assert once.schedule(exact, releases=1).epsilon > 1.95  # far above the ε of the plan it was asked with
    with pytest.raises(ss.PlanInfeasible, match="too little for"):
        ledger.schedule(plan, releases=10**9)


def test_a_schedule_whose_deltas_do_not_fit(tmp_path: Path) -> None:
    """Twelve tables at δ = 1e-9 do not fit into δ = 1e-8 at any ε, and the message says what else to change."""
    table = ss.plan(ss.Hill(1), ss.Privacy(0.5, 1e-9, pairs_per_person=10), mechanism="exact")
    year = ss.Ledger(tmp_path / "year.db", epsilon=2.0, delta=1e-8)
    with pytest.raises(ss.PlanInfeasible, match="a smaller δ for each"):
        year.schedule(table, releases=12)
    assert "after   no ε is enough: the δ of all releases together is above" in str(year.preview(table, times=12))


def test_wrong_schedules(ledger: ss.Ledger, plan: ss.Plan) -> None:
    hour = timedelta(hours=1)
    for wrong in (
        {}, {"releases": 0}, {"releases": 2, "every": hour}, {"every": hour}, {"every": -hour, "lasting": hour},
        {"every": hour, "lasting": timedelta(minutes=1)}, {"releases": 2.5},
    ):  # fmt: skip
        with pytest.raises(ss.ArgumentError):
            ledger.schedule(plan, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentTypeError):
        ledger.schedule("plan", releases=2)  # type: ignore[arg-type]
