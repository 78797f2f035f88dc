"""What a ledger protects: one unit for all releases, and parts that no person is in twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ledger_helpers import released

import stablesketch as ss

# --- the unit ---


def test_what_protects_different_things_is_not_added_up(ledger: ss.Ledger, plan: ss.Plan, added: ss.Plan) -> None:
    assert ledger.relation is None
    released(plan, ledger)
    assert (ledger.relation, ledger.pairs_per_person) == ("replace", 1)
    people = ss.plan(plan.statistic, replace(plan.privacy, pairs_per_person=3), size=20, mechanism="bare")
    for other in (added, people):
        with pytest.raises(ss.UnitMismatch, match="keep another"):
            released(other, ledger)
        with pytest.raises(ss.UnitMismatch):
            ledger.preview(other)
        with pytest.raises(ss.UnitMismatch):
            ledger.schedule(other, releases=2)
    with pytest.raises(ss.UnitMismatch):
        ledger.charge(epsilon=0.1, statistic="x", relation="add_remove")
    assert len(ledger) == 1


def test_max_value_is_not_part_of_the_unit(ledger: ss.Ledger, plan: ss.Plan) -> None:
    released(plan, ledger)
    released(ss.plan(plan.statistic, replace(plan.privacy, max_value=9), size=20, mechanism="bare"), ledger)
    assert [record.max_value for record in ledger.records()] == [1, 9]


def test_a_ledger_can_be_made_for_a_unit(path: Path, plan: ss.Plan, added: ss.Plan) -> None:
    ledger = ss.Ledger(path, epsilon=3.0, delta=1e-6, relation="add_remove", pairs_per_person=1)
    with pytest.raises(ss.UnitMismatch):
        released(plan, ledger)
    released(added, ledger)


# --- disjoint data ---


def test_parts_compose_in_parallel_when_declared(path: Path, added: ss.Plan) -> None:
    ledger = ss.Ledger(path, epsilon=3.0, delta=1e-6)
    for country in ("FR", "DE", "NO", "IT"):
        released(added, ledger, part=("country", country))
    one = ledger.spent()
    alone = ss.Ledger(path.with_name("alone"), epsilon=3.0, delta=1e-6)
    released(added, alone)
    assert one == pytest.approx(alone.spent(), rel=1e-3)
    released(added, ledger, part=("country", "FR"))  # France a second time
    released(added, alone)
    assert ledger.spent() == pytest.approx(alone.spent(), rel=2e-3)
    released(added, ledger)  # may concern everybody: on top of the worst part
    released(added, alone)
    assert ledger.spent() == pytest.approx(alone.spent(), rel=3e-3)
    released(added, ledger, part=("day", "monday"))  # another partition is not disjoint from the first
    released(added, alone)
    assert ledger.spent() == pytest.approx(alone.spent(), rel=3e-3)
    assert ledger.spent() >= alone.spent() * (1.0 - 1e-6)
    assert [(r.partition, r.part) for r in ledger.records()][4:6] == [("country", "FR"), (None, None)]


def test_undeclared_data_are_not_disjoint(path: Path, added: ss.Plan) -> None:
    ledger = ss.Ledger(path, epsilon=3.0, delta=1e-6)
    for _ in range(4):
        released(added, ledger)
    once = ss.Ledger(path.with_name("once"), epsilon=3.0, delta=1e-6)
    released(added, once)
    assert ledger.spent() > 1.9 * once.spent()


def test_the_worst_part_counts_whatever_the_plans(path: Path, added: ss.Plan) -> None:
    """Parts with different plans: at every δ at least the cost of each part alone, and not much more than the worst."""
    coarse = ss.plan(ss.Moment(0.25), ss.Privacy(0.4, 1e-9, 0, relation="add_remove"), size=50, mechanism="bare")
    ledger = ss.Ledger(path, epsilon=5.0, delta=1e-6)
    alone = []
    for part, plans in {"a": [added], "b": [coarse, coarse], "c": [added, coarse]}.items():
        other = ss.Ledger(path.with_name(part), epsilon=5.0, delta=1e-6)
        for each in plans:
            released(each, ledger, part=("group", part))
            released(each, other)
        alone.append(other)
    for delta in (1e-3, 1e-5, 1e-7):
        worst = max(other.spent(delta) for other in alone)
        assert worst * (1.0 - 1e-6) <= ledger.spent(delta) <= worst * 1.02


def test_under_replace_nothing_is_disjoint(ledger: ss.Ledger, plan: ss.Plan) -> None:
    with pytest.raises(ss.ArgumentError, match="a replaced pair may change its part"):
        released(plan, ledger, part=("country", "FR"))
    assert len(ledger) == 0
