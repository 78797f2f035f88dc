"""What a ledger protects: one unit for all releases, and parts that no person is in twice."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from ledger_helpers import released

import stablesketch as ss
from stablesketch.cli.in_options import in_options

# --- the unit ---


def test_what_protects_different_things_is_not_added_up(ledger: ss.Ledger, plan: ss.Plan, added: ss.Plan) -> None:
    assert ledger.relation is None
    released(plan, ledger)
    assert (ledger.relation, ledger.pairs_per_person) == ("replace", 1)
    people = ss.plan(plan.statistic, replace(plan.privacy, pairs_per_person=3), size=20, mechanism="bare")
    for other in (added, people):
        with pytest.raises(ss.UnitMismatch, match="use another ledger"):
            released(other, ledger)
        with pytest.raises(ss.UnitMismatch):
            ledger.preview(other)
        with pytest.raises(ss.UnitMismatch):
            ledger.schedule(other, releases=2)
    with pytest.raises(ss.UnitMismatch):
        ledger.charge(epsilon=0.1, statistic="x", relation="add_remove of pairs")
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


# --- a release that was made without a ledger ---


@pytest.mark.parametrize("unit", ["pair", "key", "individual"])
def test_a_release_is_charged_for_what_it_protects(tmp_path: Path, unit: str) -> None:
    """Its relation is add_remove for all three: by that alone individuals would be added up with pairs."""
    plan = ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-6, unit=unit), mechanism="exact")  # type: ignore[arg-type]
    collector = plan.open()
    collector.update(["a", "b"])
    release = collector.release()
    pairs = ss.Ledger(tmp_path / "pairs.db", epsilon=3.0, delta=1e-5, relation="add_remove")
    if unit == "pair":
        pairs.charge(release=release)
    else:
        with pytest.raises(ss.UnitMismatch, match="cannot be added up"):
            pairs.charge(release=release)
        assert len(pairs) == 0
    own = ss.Ledger(tmp_path / "own.db", epsilon=3.0, delta=1e-5)
    record = own.charge(release=release, label="before")
    assert (record.relation, record.epsilon, record.delta) == (release.protects, release.epsilon, release.delta)
    assert (record.statistic, record.label, own.relation) == (release.statistic, "before", release.protects)
    assert own.published(record.number) == replace(release, record=record.number).to_json()


@pytest.mark.parametrize("unit", ["pair", "key", "individual"])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_relation_alone_does_not_say_what_is_protected(ledger: ss.Ledger, relation: str, unit: str) -> None:
    """`release.relation` and `privacy.relation` are the same words whatever is protected: no charge may guess it."""
    if (relation, unit) == ("replace", "individual"):
        return  # which cannot be asked for
    privacy = ss.Privacy(0.1, 1e-9, unit=unit, relation=relation)  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentError, match=f"^relation must also say what is protected, got '{relation}'") as found:
        ledger.charge(epsilon=0.1, statistic="x", relation=privacy.relation)
    assert f"Pass '{relation} of pairs', '{relation} of keys'" in str(found.value).replace(" or ", ", ")
    assert "or the release itself (release=)" in str(found.value)
    assert len(ledger) == 0
    record = ledger.charge(epsilon=0.1, statistic="x", relation=f"{relation} of {unit}s")
    assert record.relation == ledger.relation == privacy.protects


def test_people_are_charged_as_people(tmp_path: Path) -> None:
    rows = pa.table({"app": ["a", "b", "a"], "user": ["x", "y", "z"]})
    release = ss.release(rows, ss.Hill(0.5), ss.Privacy(1.0, 1e-6), key="app", person="user").release
    ledger = ss.Ledger(tmp_path / "l.db", epsilon=3.0, delta=1e-5, relation="add_remove of people")
    assert ledger.charge(release=release).relation == "add_remove of people"


def test_a_release_is_charged_once_and_alone(ledger: ss.Ledger, plan: ss.Plan) -> None:
    paid = released(plan, ledger)
    other = replace(paid, record=None)
    with pytest.raises(ss.ArgumentError, match="release must not be in a ledger yet, but is record 1 of one"):
        ledger.charge(release=paid)
    for more in ({"relation": "replace"}, {"epsilon": 0.1}, {"delta": 1e-9}, {"pairs_per_person": 2}):
        with pytest.raises(ss.ArgumentError, match=f"release cannot be used with {next(iter(more))}="):
            ledger.charge(release=other, **more)  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentError, match=r"must say what it protects.*relation='add_remove of pairs'"):
        ledger.charge(release=replace(other, unit=None))
    with pytest.raises(ss.ArgumentTypeError, match="release must be a Release"):
        ledger.charge(release=0.5)  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentError, match="relation must be given"):
        ledger.charge(epsilon=0.1, statistic="x")
    assert len(ledger) == 1


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
    with pytest.raises(ss.ArgumentError, match="a replaced pair may move to another part"):
        released(plan, ledger, part=("country", "FR"))
    assert len(ledger) == 0


def test_people_and_pairs_are_told_apart_in_plain_words(path: Path) -> None:
    """Each way round, with the ledger to create."""
    frame = pd.DataFrame({"app": ["a", "b"] * 50, "who": [str(i) for i in range(100)]})
    rows = ss.Ledger(path, epsilon=3.0, delta=1e-6, relation="add_remove", pairs_per_person=1)
    ask = (ss.Distinct(), ss.Privacy(1.0, 1e-9))
    with pytest.raises(ss.UnitMismatch) as refused:
        ss.release(frame, *ask, key="app", person="who", mechanism="exact", ledger=rows)
    assert str(refused.value).startswith("this ledger is for pairs, but the release protects people. ")
    assert "relation='add_remove of people')" in str(refused.value)
    assert "stablesketch ledger new FILE --epsilon 3 --people" in in_options(refused.value.wording)
    people = ss.Ledger(path.with_name("people.db"), epsilon=3.0, delta=1e-6, relation="add_remove of people")
    with pytest.raises(ss.UnitMismatch, match=r"this ledger is for people, but the release protects pairs\. .*person="):
        ss.release(frame, *ask, key="app", mechanism="exact", ledger=people)
    assert len(rows) == len(people) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": -1.0}, {"epsilon": math.nan}, {"epsilon": math.inf}, {"epsilon": "1"}, {"delta": -1e-6},
        {"delta": math.nan}, {"delta": 1.0}, {"statistic": ""}, {"relation": "none"}, {"unit": "none"},
        {"relation": "replace", "person": True}, {"pairs_per_person": 0},
    ],
    ids=str,
)  # fmt: skip
def test_no_release_that_is_made_up_adds_to_a_budget(tmp_path: Path, plan: ss.Plan, wrong: dict[str, Any]) -> None:
    """A negative ε would raise what is left, and a unit that nobody knows would become that of the ledger."""
    ledger = ss.Ledger(tmp_path / "l.db", epsilon=3.0, delta=1e-5)
    release = replace(released(plan, ss.Ledger(tmp_path / "other.db", epsilon=3.0, delta=1e-5)), record=None)
    with pytest.raises(ss.ArgumentError):
        ledger.charge(release=replace(release, **wrong))
    assert len(ledger) == 0
    assert ledger.relation is None
    ledger.charge(release=replace(release, epsilon=0.0, delta=0.0))
    assert ledger.left() == 3.0
