"""Whatever is released from data is in the ledger with its record: one value, tables, and where max_value was found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.engines.local import run

TABLE = pa.table(
    {
        "app": [f"app {i % 40}" for i in range(3_000)],
        "n": [1 + i % 7 for i in range(3_000)],
        "country": [("FR", "DE")[i % 2] for i in range(3_000)],
        "user": [i // 3 for i in range(3_000)],
    }
)
ASKED = ss.Privacy(1.0, 1e-6)


@pytest.fixture
def ledger(tmp_path: Path) -> ss.Ledger:
    return ss.Ledger(tmp_path / "budget.db", epsilon=3, delta=1e-4)


def test_one_value(ledger: ss.Ledger) -> None:
    asked = ss.Privacy(1.0, 1e-6, pairs_per_person=3)
    release = ss.release(TABLE, ss.Moment(0.5), asked, key="app", person="user", size=20, ledger=ledger)
    assert isinstance(release, ss.Outcome)
    assert release.person
    assert release.record == 1
    assert ledger.published(1) == release.to_json()


def test_a_table(ledger: ss.Ledger) -> None:
    found = ss.release(TABLE, ss.Hill(0.5), ASKED, key="app", by="country", groups=["FR", "DE"], size=20, ledger=ledger)
    assert isinstance(found, ss.Outcome)
    assert json.loads(ledger.published(1) or "") == [json.loads(one.to_json()) for one in found]
    assert {one.release.record for one in found} == {1}


@pytest.mark.parametrize("by", [None, "country"])
def test_where_max_value_was_found(ledger: ss.Ledger, by: str | None) -> None:
    more: dict[str, Any] = {"by": by, "groups": ["FR", "DE"]} if by else {}
    found = ss.release(
        TABLE, ss.Moment(0.5), ASKED, key="app", value="n", auto_max_value=ss.AutoMaxValue(), size=20, ledger=ledger,
        **more,
    )  # fmt: skip
    texts = [one.to_json() for one in found]
    published = json.loads(ledger.published(1) or "")
    assert (published if by else [published]) == [json.loads(text) for text in texts]
    assert len(ledger) == 1
    assert 0.99 < ledger.spent() <= 1.0


def test_an_error_after_max_value_was_found_is_paid_for(ledger: ss.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says may depend on the value that was found."""

    def fails(*_: object, **__: object) -> None:
        raise ss.PlanInfeasible("values up to 7")

    monkeypatch.setattr(sys.modules["stablesketch.release.run"], "decide", fails)
    with pytest.raises(ss.PlanInfeasible):
        ss.release(TABLE, ss.Moment(0.5), ASKED, key="app", value="n", auto_max_value=ss.AutoMaxValue(), ledger=ledger)
    assert len(ledger) == 1
    assert ledger.published(1) is None


def test_what_does_not_fit_is_refused_before_the_data_are_read_again(tmp_path: Path) -> None:
    small = ss.Ledger(tmp_path / "small.db", epsilon=0.5, delta=1e-4)
    for more in ({"by": "country", "groups": ["FR"]}, {"value": "n", "auto_max_value": ss.AutoMaxValue()}):
        with pytest.raises(ss.BudgetExceeded):
            ss.release(TABLE, ss.Moment(0.5), ASKED, key="app", size=20, ledger=small, **more)  # type: ignore[arg-type]
    assert len(small) == 0


class _Seen:
    """A progress bar that remembers what it was told."""

    def __init__(self) -> None:
        self.totals: dict[str, int | None] = {}

    def begin(self, what: str, total: int | None) -> None:
        self.totals[what] = total

    def advance(self, count: int) -> None:
        pass


@pytest.mark.parametrize("auto", [None, ss.AutoMaxValue()])
def test_how_many_names_were_chosen_is_not_shown_before_it_is_paid_for(
    ledger: ss.Ledger, auto: ss.AutoMaxValue | None
) -> None:
    privacy = ss.Privacy(1.0, 1e-6, max_value=1 if auto else 7)
    question = ss.question(ss.Moment(0.5), privacy, key="app", value="n", by="country", size=20, auto_max_value=auto)
    seen = _Seen()
    outcome = run(question, TABLE, ledger=ledger, progress=seen)
    assert len(outcome.releases) == 2
    assert "releasing" not in seen.totals
