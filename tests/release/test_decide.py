"""What is decided before anything is read is what is charged, and what every release says."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.engines.local import run
from stablesketch.release.decide import decide

TABLE = pa.table(
    {
        "app": [f"app {i % 40}" for i in range(3_000)],
        "n": [1 + i % 7 for i in range(3_000)],
        "country": [("FR", "DE")[i % 2] for i in range(3_000)],
        "user": [i // 3 for i in range(3_000)],
    }
)
REPLACE = ss.Privacy(1.0, 1e-6, relation="replace")
FOUND = {"value": "n", "auto_max_value": ss.AutoMaxValue()}
ASKED: dict[str, tuple[ss.Privacy, dict[str, Any]]] = {
    "a number": (REPLACE, {}),
    "people": (ss.Privacy(1.0, 1e-6, pairs_per_person=3), {"person": "user"}),
    "a table": (REPLACE, {"by": "country", "groups": ["FR", "DE"]}),
    "a table of chosen names": (ss.Privacy(1.0, 1e-6), {"by": "country"}),
    "a table of people": (
        ss.Privacy(1.0, 1e-6, pairs_per_person=4), {"by": "country", "person": "user", "groups_per_person": 2}
    ),
    "bare, by group": (REPLACE, {"by": "country", "groups": ["FR", "DE"], "mechanism": "bare"}),
    "a number and max_value": (REPLACE, FOUND),
    "a table and max_value": (ss.Privacy(1.0, 1e-6), {**FOUND, "by": "country"}),
}  # fmt: skip
COMPOSED = {"a table of chosen names", "a table of people", "bare, by group"}


@pytest.mark.parametrize("name", ASKED)
def test_releases_say_what_was_decided_and_the_ledger_is_charged_for_it(name: str, tmp_path: Path) -> None:
    privacy, what = ASKED[name]
    question = ss.question(ss.Moment(0.5), privacy, key="app", size=20, **what)
    decision = decide(question)
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=3, delta=1e-4)
    outcome = run(question, TABLE, ledger=ledger)
    terms = decision.terms
    assert outcome.releases
    for one in outcome.releases:
        said = one.release if isinstance(one, ss.GroupRelease) else one
        assert (said.epsilon, said.delta) == (terms.epsilon, terms.delta) == outcome.price
        assert (said.relation, said.pairs_per_person) == (privacy.relation, privacy.pairs_per_person)
        assert said.person == terms.person == ("person" in what)
        assert said.confidence == terms.confidence == 0.95
    (record,) = ledger.records()
    assert (record.epsilon, record.delta) == (terms.epsilon, terms.delta) == (decision.ask.epsilon, decision.ask.delta)
    assert (record.statistic, record.relation) == (decision.ask.statistic, decision.ask.relation)


@pytest.mark.parametrize("name", ASKED)
def test_shares_never_add_up_to_more_than_was_asked_for(name: str) -> None:
    """What is said may be less: losses compose. But δ is all that was divided."""
    privacy, what = ASKED[name]
    decision = decide(ss.question(ss.Moment(0.5), privacy, key="app", size=20, **what))
    for part in ("epsilon", "delta"):
        spent = sum(Fraction(getattr(share, part)) for share in decision.shares)
        said = Fraction(getattr(decision.terms, part))
        assert max(spent, said) <= Fraction(getattr(privacy, part))
        assert (said < spent) == (part == "epsilon" and name in COMPOSED)
