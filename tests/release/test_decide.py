"""What is decided before anything is read is what is charged, and what every release says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.engines.local import run
from stablesketch.ledger.accounting import ComposedCost
from stablesketch.release.decide import asked_of_a_group, decide
from stablesketch.release.shares import in_words
from stablesketch.text.spoken import at_most

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


@pytest.mark.parametrize("statistic", [ss.Distinct(), ss.Hill(0)], ids=str)
def test_a_table_divides_only_what_bare_entries_cost(statistic: ss.Statistic) -> None:
    """`mechanism="bare"` of a number of keys has noise like any other: every group has the whole ε, and no number of
    pairs is needed.
    """
    privacy = ss.Privacy(1.0, 1e-6, pairs_per_person=5)
    table = {"person": "user", "by": "country", "groups": ["FR", "DE"], "groups_per_person": 5}
    tables = [
        decide(ss.question(statistic, privacy, key="app", mechanism=name, **table)) for name in ("sketch", "bare")
    ]
    assert [each.table.times for each in tables if each.table] == [1, 1]
    assert tables[0].plan.noise == tables[1].plan.noise
    assert tables[0].plan.epsilon == tables[1].plan.epsilon == 1.0
    assert tables[0].ask.charge == tables[1].ask.charge
    assert not ss.question(statistic, REPLACE, key="app", mechanism="bare").counts_pairs


def test_groups_share_memory_only_where_something_is_fitted_to_it() -> None:
    for statistic, fitted in ((ss.Moment(0.5), True), (ss.Hill(1), True), (ss.Moment(1.0), False), (ss.Hill(2), False)):
        question = ss.question(statistic, ss.Privacy(1.0, 1e-6), key="app", by="country")
        assert (asked_of_a_group(question) != question.asked) == fitted


@pytest.mark.parametrize("name", ASKED)
def test_the_privacy_of_the_whole_is_what_was_asked_for_with_what_was_found(name: str) -> None:
    """Whatever the plan of a group has: other neighbours, or a part of ε."""
    privacy, what = ASKED[name]
    question = ss.question(ss.Moment(0.5), privacy, key="app", size=20, **what)
    assert decide(question).privacy == privacy
    found = run(question, TABLE)
    assert found.privacy == replace(privacy, max_value=found.privacy.max_value)
    assert found.privacy.max_value == found.plan.privacy.max_value == (found.clipped_to or 1)
    assert (found.privacy.max_value > 1) == ("auto_max_value" in what)


def test_the_privacy_of_the_whole_has_the_pairs_that_were_counted() -> None:
    found = run(ss.question(ss.Moment(0.5), REPLACE, key="app", size=20, mechanism="bare"), TABLE)
    assert found.privacy == found.plan.privacy == replace(REPLACE, pairs=3_000)


@pytest.mark.parametrize("name", ASKED)
def test_shares_never_add_up_to_more_than_was_asked_for(name: str) -> None:
    """The stated ε may be less, because losses compose. But δ is everything that was divided."""
    privacy, what = ASKED[name]
    decision = decide(ss.question(ss.Moment(0.5), privacy, key="app", size=20, **what))
    for part in ("epsilon", "delta"):
        spent = sum(Fraction(getattr(share, part)) for share in decision.shares)
        said = Fraction(getattr(decision.terms, part))
        assert max(spent, said) <= Fraction(getattr(privacy, part))
        assert (said < spent) == (part == "epsilon" and name in COMPOSED)


@pytest.mark.parametrize(
    ("order", "names_and_numbers", "both"), [(1, None, None), (0.5, (0.4941, 0.4881), (1.476, 1.171))]
)
def test_what_composing_losses_saves_on_the_tables_of_the_tutorial(
    order: float, names_and_numbers: tuple[float, float] | None, both: tuple[float, float] | None
) -> None:
    """A release says that it costs less than the sum of its shares where that is so. At order 1 it was said too."""
    page = (Path(__file__).parents[2] / "docs/tutorials/groups.md").read_text()
    listed, private = (
        decide(
            ss.question(
                ss.Hill(order), ss.Privacy(epsilon, 1e-9, pairs_per_person=5), key="app", person="user", by="country",
                groups=groups,
            )
        )
        for epsilon, groups in ((1.0, ["DE", "FR", "IT", "PT", "MT"]), (0.5, None))
    )  # fmt: skip
    said = in_words(private.shares, private.terms.epsilon, grouped=True)
    cost = [ComposedCost.of(each.ask.charge, "add_remove of people", None) for each in (listed, private)]
    spent = (cost[0] + cost[1]).epsilon(1e-6)
    shares = sum(share.epsilon for share in private.shares)
    prices = listed.terms.epsilon + private.terms.epsilon
    if names_and_numbers is None or both is None:
        assert (private.terms.epsilon, spent) == pytest.approx((shares, prices), rel=1e-12)
        assert "less than the sum" not in said
        return
    assert said.endswith("; together they cost ε = 0.4881, less than the sum")
    for what, (added_up, composed), terms, found in (
        ("names and numbers of the second table", names_and_numbers, private.shares, private.terms.epsilon),
        ("both tables, at the budget's δ = 1e-6", both, (listed.terms, private.terms), spent),
    ):
        total = sum(each.epsilon for each in terms)
        assert (at_most(total), at_most(found)) == (f"{added_up}", f"{composed}")
        shown = [at_most(each.epsilon) for each in terms]
        assert f"| {what} | {' + '.join(shown)} = {sum(map(float, shown)):.5g} | {composed} |" in page
