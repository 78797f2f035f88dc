"""The books of a ledger: its named budgets, and a cache that equals composing from scratch."""

from __future__ import annotations

import math
import os
import sqlite3
from pathlib import Path

import pytest
from ledger_helpers import released

import stablesketch as ss
from stablesketch.ledger.record import Ask, Entry

# --- named budgets ---


def test_named_budgets_hold_beside_the_whole(ledger: ss.Ledger, plan: ss.Plan, exact: ss.Plan) -> None:
    marketing = ledger.budget("marketing", epsilon=0.25, delta=1e-7)
    released(exact, marketing)
    released(exact, marketing)
    with pytest.raises(ss.BudgetExceeded, match="'marketing'"):
        released(exact, marketing)
    released(plan, ledger)
    assert (len(ledger), len(marketing), ledger.budgets()) == (3, 2, ["marketing"])
    assert marketing.spent() == pytest.approx(0.2)
    assert ledger.spent() > marketing.spent()
    assert [record.budget for record in ledger.records()] == ["marketing", "marketing", ""]
    assert len(list(marketing.records())) == 2
    assert ledger.budget("marketing").epsilon == 0.25
    with pytest.raises(ss.LedgerMismatch, match="no budget 'sales'"):
        ledger.budget("sales")
    with pytest.raises(ss.LedgerMismatch, match=r"has epsilon = 0\.25"):
        ledger.budget("marketing", epsilon=0.5, delta=1e-7)


def test_the_whole_holds_for_named_budgets_too(tmp_path: Path, exact: ss.Plan) -> None:
    ledger = ss.Ledger(tmp_path / "b", epsilon=0.3, delta=1e-9)
    rich = ledger.budget("rich", epsilon=100.0, delta=1e-9)
    for _ in range(3):
        released(exact, rich)
    with pytest.raises(ss.BudgetExceeded) as refused:
        released(exact, rich)
    assert refused.value.budget == ""


# --- the cache ---


def composed_from_scratch(path: Path) -> float:
    """The same ledger without its cache: everything is composed again from the records."""
    with sqlite3.connect(path) as connection:
        for table in ("costs", "frontier", "partitions", "covered"):
            connection.execute(f"DELETE FROM {table}")
    connection.close()
    return ss.Ledger(path).spent()


def test_the_cache_is_what_composing_from_scratch_gives(path: Path, added: ss.Plan) -> None:
    ledger = ss.Ledger(path, epsilon=30.0, delta=1e-6)
    other = ss.plan(ss.Moment(0.25), ss.Privacy(0.2, 1e-9, 0, relation="add_remove"), size=30, mechanism="bare")
    named = ledger.budget("named", epsilon=20.0, delta=1e-6)
    for i in range(23):
        ask = Ask.of_plan((added, other)[i % 2])
        part = ("group", f"part {i % 3}") if i % 4 == 0 else None
        (ledger if i % 5 else named).enter([Entry(ask, os.urandom(8), "", part)])
    before = ledger.spent(), named.spent()
    assert composed_from_scratch(path) == before[0]
    assert named.spent() == before[1]
    ledger.verify()
    assert (ledger.spent(), named.spent()) == before


def test_a_damaged_cache_is_rebuilt(ledger: ss.Ledger, path: Path, plan: ss.Plan) -> None:
    for _ in range(3):
        released(plan, ledger)
    spent = ledger.spent()
    damage = (
        "UPDATE costs SET content = cast(substr(content, 1, 60) || x'ff' || substr(content, 62) AS blob)",
        "UPDATE costs SET checksum = x'00'",
        "DELETE FROM costs",
        "DELETE FROM frontier WHERE level = 0",
        "UPDATE frontier SET level = level + 8",
        "UPDATE frontier SET key = x'00'",
        "INSERT INTO frontier SELECT budget, leaf, '', '', 7, x'00' FROM frontier LIMIT 1",
        "UPDATE checksums SET checksum = x'00'",
        "DELETE FROM checksums WHERE node > 256",
    )
    from stablesketch.ledger import composition

    for statement in damage:
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()
        composition._memory.clear()  # as in a new process
        assert ledger.spent() == spent, statement
    released(plan, ledger)
    ledger.verify()


@pytest.mark.slow
def test_a_hundred_thousand_releases_stay_certified(path: Path) -> None:
    """Cached, one batch after another, against the independent integrator: never below, and less than 1% of ε above."""
    import mixtures

    ledger = ss.Ledger(path, epsilon=100.0, delta=1e-6)
    plans = [
        ss.plan(ss.Moment(p), ss.Privacy(epsilon, 1e-9, 0, relation="add_remove"), size=50, mechanism="bare")
        for p in (0.25, 0.5, 1.0)
        for epsilon in (0.01, 0.03)
    ]
    asks = [Ask.of_plan(plan) for plan in plans]
    for start in range(0, 100_000, 2_000):
        ledger.enter([Entry(asks[i % 6], i.to_bytes(8, "little")) for i in range(start, start + 2_000)])
    assert len(ledger) == 100_000
    counts = [len(range(i, 100_000, 6)) for i in range(6)]
    total = math.inf
    for delta in (1e-5, 1e-6):
        spent = ledger.spent(delta)
        worst = 0.0
        for wide in (False, True):
            parts = [
                mixtures.entries(a.charge.p, a.charge.log_rho, a.charge.size * count, wide_first=wide)
                for a, count in zip(asks, counts, strict=True)
            ]
            # What finite precision adds is at infinity: at least 2g and at most 3g for releases this small.
            gaps = sum(a.charge.gap * count for a, count in zip(asks, counts, strict=True))
            assert mixtures.delta(parts, spent) + 2.0 * gaps <= delta
            worst = max(worst, mixtures.delta(parts, 0.99 * spent) + 2.0 * gaps)
        assert worst >= delta
        total = min(total, spent)
    assert composed_from_scratch(path) == ledger.spent()
    released(plans[0], ledger)
    assert len(ledger) == 100_001
    ledger.verify()
