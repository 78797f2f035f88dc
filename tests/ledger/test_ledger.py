"""Ledgers, as a tutorial: one budget, every release recorded before its value is there, and none beyond the budget."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from ledger_helpers import released

import stablesketch as ss

# --- the one way through ---


def test_a_release_is_recorded_with_all_that_matters(ledger: ss.Ledger, plan: ss.Plan) -> None:
    secret = ss.Secret.generate()
    collector = plan.open(secret)
    collector.update(range(50))
    fingerprint = secret.fingerprint.hex()
    release = collector.release(ledger=ledger, label="weekly apps")
    (record,) = ledger.records()
    assert (record.number, record.label, record.budget) == (1, "weekly apps", "")
    assert (record.statistic, record.mechanism, record.p, record.size) == ("F_0.5", "bare", 0.5, 20)
    assert (record.epsilon, record.delta) == (release.epsilon, release.delta)
    assert (record.relation, record.pairs_per_person, record.max_value) == ("replace", 1, 1)
    assert record.fingerprint == fingerprint
    assert record.time.endswith("+00:00")
    assert record.spent_after == ledger.spent()
    assert len(ledger) == 1


def test_what_is_spent_is_less_than_the_sum(ledger: ss.Ledger, plan: ss.Plan) -> None:
    for _ in range(6):
        released(plan, ledger)
    assert ledger.spent() < 0.4 * 6 * plan.epsilon
    assert ledger.left() == ledger.epsilon - ledger.spent()
    assert ledger.spent_delta() <= 1e-6
    spent = [epsilon for _, epsilon in ledger.curve([1e-8, 1e-6, 1e-4])]
    assert spent == sorted(spent, reverse=True)
    assert ledger.spent(1e-4) == spent[2]


def test_one_release_of_the_whole_budget_fits(tmp_path: Path, plan: ss.Plan, exact: ss.Plan) -> None:
    released(plan, ss.Ledger(tmp_path / "one", epsilon=plan.epsilon, delta=plan.delta))
    three = ss.Ledger(tmp_path / "three", epsilon=0.3, delta=1e-9)
    for _ in range(3):
        released(exact, three)  # 0.1 three times, whose floats add up to more than 0.3
    with pytest.raises(ss.BudgetExceeded):
        released(exact, three)


def test_beyond_the_budget_nothing_is_released(tmp_path: Path, plan: ss.Plan) -> None:
    ledger = ss.Ledger(tmp_path / "small", epsilon=1.2, delta=1e-8)
    released(plan, ledger)
    secret = ss.Secret.generate()
    collector = plan.open(secret)
    collector.update(range(50))
    before = collector.to_bytes()
    with pytest.raises(ss.BudgetExceeded) as refused:
        collector.release(ledger=ledger)
    error = refused.value
    assert error.asked == (plan.epsilon, plan.delta)
    assert error.spent == ledger.spent()
    assert error.left == 1.2 - error.spent
    assert error.after > 1.2
    assert "would fit" in str(error)
    assert len(ledger) == 1
    # Nothing is lost: the collector and its secret are as they were, and a smaller ask fits.
    assert not secret.spent
    assert collector.to_bytes() == before
    assert error.fits is not None
    smaller = ss.plan(plan.statistic, replace(plan.privacy, epsilon=error.fits), size=plan.size, mechanism="bare")
    assert ledger.preview(smaller).fits
    larger = ss.plan(plan.statistic, replace(plan.privacy, epsilon=error.fits * 1.03), size=plan.size, mechanism="bare")
    assert not ledger.preview(larger).fits
    released(smaller, ledger)


def test_when_nothing_fits_any_more(tmp_path: Path, exact: ss.Plan) -> None:
    ledger = ss.Ledger(tmp_path / "small", epsilon=0.1, delta=1e-9)
    released(exact, ledger)
    with pytest.raises(ss.BudgetExceeded, match="No release of this kind fits any more") as refused:
        released(exact, ledger)
    assert refused.value.fits is None


def test_estimates_with_noise_are_paid_like_all_else(ledger: ss.Ledger, exact: ss.Plan) -> None:
    noisy = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, relation="replace"), size=20)
    released(noisy, ledger)
    released(exact, ledger)
    assert [record.mechanism for record in ledger.records()] == ["sketch", "exact"]
    assert next(iter(ledger.records())).epsilon == 1.0
    assert exact.epsilon < ledger.spent() <= 1.0 + exact.epsilon + 1e-9
    assert ledger.schedule(noisy, releases=3).plan.size == 20


def test_mechanisms_of_all_kinds_in_one_ledger(ledger: ss.Ledger, plan: ss.Plan, exact: ss.Plan) -> None:
    released(plan, ledger)
    released(exact, ledger)
    ledger.charge(epsilon=0.2, delta=1e-9, statistic="median", relation="replace of pairs", label="by hand")
    kinds = [record.mechanism for record in ledger.records()]
    assert kinds == ["bare", "exact", "other"]
    last = list(ledger.records())[-1]
    assert (last.statistic, last.label, last.fingerprint, last.p) == ("median", "by hand", None, None)
    assert plan.epsilon * 0.5 < ledger.spent() < plan.epsilon + 0.3


# --- one secret, one release ---


def test_a_copy_of_the_secret_is_known_by_its_fingerprint(ledger: ss.Ledger, plan: ss.Plan) -> None:
    """Out of reach of any mark in a file: the same bits twice. The ledger knows them."""
    bits = bytes(range(32))
    first = plan.open(ss.Secret.from_bytes(bits))
    first.update(range(50))
    first.release(ledger=ledger)
    copy = plan.open(ss.Secret.from_bytes(bits))
    copy.update(range(49))
    with pytest.raises(ss.SecretSpent, match="number 1 of the ledger"):
        copy.release(ledger=ledger)
    assert len(ledger) == 1
    assert bits.hex() not in ledger.to_json()
    assert bits not in ledger.path.read_bytes()


# --- many at once ---


def test_groups_are_released_together_or_not_at_all(path: Path, added: ss.Plan) -> None:
    ledger = ss.Ledger(path, epsilon=1.0, delta=1e-6)
    secret = ss.Secret.generate()
    names = [f"group {i}" for i in range(300)]
    collectors = [added.open(secret.child(name)) for name in names]
    for i, collector in enumerate(collectors):
        collector.update(range(i))
    releases = ss.release_all(collectors, ledger=ledger, parts=[("group", name) for name in names], labels=names)
    assert len(releases) == len(ledger) == 300
    assert ledger.spent() <= 0.51
    assert secret.spent
    late = added.open(ss.Secret.generate())
    again = [added.open(ss.Secret.generate()) for _ in range(40)]
    with pytest.raises(ss.BudgetExceeded):
        ss.release_all([late, *again], ledger=ledger)
    assert len(ledger) == 300
    assert not late.secret.spent
    with pytest.raises(ss.SecretSpent):
        added.open(secret.child("group 301"))


# --- after a look ---


def test_an_adaptive_ledger_composes_by_moments(path: Path, plan: ss.Plan) -> None:
    ledger = ss.Ledger(path, epsilon=3.0, delta=1e-6, adaptive=True)
    plain = ss.Ledger(path.with_name("plain"), epsilon=3.0, delta=1e-6)
    assert ledger.adaptive
    assert not plain.adaptive
    for _ in range(5):
        released(plan, ledger)
        released(plan, plain)
    assert plain.spent() < ledger.spent() < 1.6 * plain.spent()
    with contextlib.suppress(ss.BudgetExceeded):
        for _ in range(20):
            released(plan, ledger)
    assert ledger.spent() <= 3.0
    assert len(ledger) < 13  # as many as the distributions would allow


# --- opening ---


def test_opening_again(ledger: ss.Ledger, path: Path, plan: ss.Plan) -> None:
    released(plan, ledger)
    for again in (ss.Ledger(path), ss.Ledger(str(path), epsilon=3.0, delta=1e-6)):
        assert (again.epsilon, again.delta, len(again)) == (3.0, 1e-6, 1)
        assert again.spent() == ledger.spent()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert bool(ledger)
    assert repr(ledger) == "<Ledger budget.db, ε = 3 at δ = 1e-06>"


WRONG: dict[str, tuple[Callable[[Path], object], type[Exception], str]] = {
    "another ε": (lambda p: ss.Ledger(p, epsilon=4.0), ss.LedgerMismatch, "has epsilon = 3.0, but 4.0"),
    "another δ": (lambda p: ss.Ledger(p, delta=1e-7), ss.LedgerMismatch, "has delta"),
    "another relation": (lambda p: ss.Ledger(p, relation="add_remove"), ss.LedgerMismatch, "has relation"),
    "another unit": (lambda p: ss.Ledger(p, pairs_per_person=2), ss.LedgerMismatch, "has pairs_per_person"),
    "adaptive": (lambda p: ss.Ledger(p, adaptive=True), ss.LedgerMismatch, "has adaptive = False"),
    "no such relation": (lambda p: ss.Ledger(p, relation="swap"), ss.ArgumentError, "relation must .*got 'swap'"),  # type: ignore[arg-type]
    "no people": (lambda p: ss.Ledger(p, pairs_per_person=0), ss.ArgumentError, "pairs_per_person must .*got 0"),
    "no budget": (lambda p: ss.Ledger(p.with_name("new")), ss.LedgerMismatch, "Pass epsilon= and delta="),
    "half a budget": (lambda p: ss.Ledger(p.with_name("new"), epsilon=1.0), ss.LedgerMismatch, "Pass epsilon="),
    "no ε": (lambda p: ss.Ledger(p.with_name("new"), epsilon=0.0, delta=1e-6), ss.ArgumentError,
    "epsilon must .*got 0.0"),
    "δ of 1": (lambda p: ss.Ledger(p.with_name("new"), epsilon=1.0, delta=1.0), ss.ArgumentError,
    "delta must .*got 1.0"),
    "no folder": (lambda p: ss.Ledger(p / "x" / "y", epsilon=1.0, delta=1e-6), ss.LedgerError, "cannot create"),
    "no such δ": (lambda p: ss.Ledger(p).spent(0.0), ss.ArgumentError, "delta must .*got 0.0"),
    "no such ε": (lambda p: ss.Ledger(p).spent_delta(-1.0), ss.ArgumentError, "epsilon must .*got -1.0"),
    "not a number": (lambda p: ss.Ledger(p).spent_delta("1"), ss.ArgumentError, "epsilon must .*got '1'"),  # type: ignore[arg-type]
    "preview of nothing": (lambda p: ss.Ledger(p).preview("plan"), ss.ArgumentTypeError,
    "must be a Plan or a list of them"),  # type: ignore[arg-type]
    "negative times": (lambda p: ss.Ledger(p).preview([], times=-1), ss.ArgumentError, "times must .*got -1"),
    "budget without a name": (lambda p: ss.Ledger(p).budget(""), ss.ArgumentError, "must be a non-empty text"),
    "export to what": (lambda p: ss.Ledger(p).export(p.with_name("x.xml")), ss.ArgumentError, ".json or .csv"),
    "export to nowhere": (lambda p: ss.Ledger(p).export(p / "x" / "y.csv"), ss.LedgerError, "cannot export"),
    "charge of nothing": (
        lambda p: ss.Ledger(p).charge(epsilon=1.0, statistic="", relation="replace of pairs"),
        ss.ArgumentError, "say what"),
    "charge of no ε": (
        lambda p: ss.Ledger(p).charge(epsilon=-1.0, statistic="x", relation="replace of pairs"),
        ss.ArgumentError, "epsilon"),
    "label": (
        lambda p: ss.Ledger(p).charge(epsilon=1.0, statistic="x", relation="replace of pairs", label=7),  # type: ignore[arg-type]
        ss.ArgumentTypeError, "label must .*got 7"),
    "part": (
        lambda p: ss.Ledger(p).charge(epsilon=1.0, statistic="x", relation="replace of pairs", part=("a",)),  # type: ignore[arg-type]
        ss.ArgumentError, "must be the names of a partition and of a part"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls_say_what_to_do_and_change_nothing(ledger: ss.Ledger, path: Path, name: str) -> None:
    call, kind, says = WRONG[name]
    with pytest.raises(kind, match=says.replace("(", r"\(")) as refused:
        call(path)
    assert isinstance(refused.value, ss.StablesketchError)
    assert len(ledger) == 0
    assert not path.with_name("new").exists()


def test_a_ledger_is_needed_where_one_is_passed(plan: ss.Plan, path: Path) -> None:
    collector = plan.open()
    with pytest.raises(ss.ArgumentTypeError, match=r"ss\.Ledger\(path\)"):
        collector.release(ledger=str(path))  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentError, match="needs a ledger to record it"):
        collector.release(part=("country", "FR"))
    with pytest.raises(ss.ArgumentError, match="needs a ledger to record it"):
        collector.release(label="weekly")
    collector.release()


# --- what can be read from it ---


def test_exports(ledger: ss.Ledger, plan: ss.Plan, tmp_path: Path) -> None:
    released(plan, ledger, label='with "quotes", and a\nline')
    ledger.charge(epsilon=0.1, statistic="median", relation="replace of pairs")
    content = json.loads(ledger.to_json())
    assert (content["format"], content["epsilon"], content["spent"]) == ("stablesketch-ledger/1", 3.0, ledger.spent())
    assert [release["statistic"] for release in content["releases"]] == ["F_0.5", "median"]
    rows = list(csv.DictReader(io.StringIO(ledger.to_csv())))
    assert [row["label"] for row in rows] == ['with "quotes", and a\nline', ""]
    assert float(rows[1]["spent_after"]) == ledger.spent()
    for name in ("out.json", "out.csv"):
        ledger.export(tmp_path / name)
    assert (tmp_path / "out.json").read_text() == ledger.to_json()
    assert (tmp_path / "out.csv").read_text() == ledger.to_csv()
    assert json.loads(ledger.budget("b", epsilon=1.0, delta=1e-6).to_json())["releases"] == []


def test_spent_after_each_release_is_the_curve_over_time(ledger: ss.Ledger, plan: ss.Plan) -> None:
    spent = []
    for _ in range(4):
        released(plan, ledger)
        spent.append(ledger.spent())
    assert [record.spent_after for record in ledger.records()] == spent == sorted(spent)


def test_a_backup_is_a_ledger(ledger: ss.Ledger, plan: ss.Plan, tmp_path: Path) -> None:
    released(plan, ledger)
    ledger.backup(tmp_path / "copy.db")
    copy = ss.Ledger(tmp_path / "copy.db")
    assert copy.to_csv() == ledger.to_csv()
    assert copy.spent() == ledger.spent()
    with pytest.raises(ss.LedgerError, match="already exists"):
        ledger.backup(tmp_path / "copy.db")
    with pytest.raises(ss.LedgerError, match="cannot back up"):
        ledger.backup(tmp_path / "no" / "copy.db")
