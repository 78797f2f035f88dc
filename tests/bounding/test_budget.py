"""Shares of a budget: their exact sum is never above the whole, and what is reported never below what was spent."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablesketch as ss
from stablesketch.bounding.budget import divided, share_of_budget, split, total
from stablesketch.bounding.groups import GroupBudget

wholes = st.floats(min_value=1e-12, max_value=1e3)


@given(wholes, st.floats(min_value=1e-6, max_value=1 - 1e-6))
def test_two_shares_are_at_most_the_whole(whole: float, share: float) -> None:
    part, rest = split(whole, share)
    assert Fraction(part) + Fraction(rest) <= Fraction(whole)
    assert part + rest >= whole * (1 - 1e-12)


@given(wholes, st.integers(min_value=1, max_value=1000))
def test_equal_shares_are_at_most_the_whole(whole: float, times: int) -> None:
    each = divided(whole, times)
    assert Fraction(each) * times <= Fraction(whole)
    assert each * times >= whole * (1 - 1e-12)


@given(st.lists(st.tuples(wholes, st.integers(min_value=1, max_value=9)), min_size=1, max_size=5))
def test_a_total_is_rounded_up(parts: list[tuple[float, int]]) -> None:
    exact = sum(Fraction(value) * times for value, times in parts)
    assert exact <= Fraction(total(parts)) <= exact * Fraction(1 + 1e-15)


@given(
    st.floats(min_value=1e-3, max_value=20),
    st.floats(min_value=1e-12, max_value=1e-3),
    st.integers(min_value=1, max_value=20),
    st.floats(min_value=0.01, max_value=0.99),
    st.booleans(),
)
def test_a_table_costs_at_most_what_was_asked(
    epsilon: float, delta: float, touched: int, share: float, bare: bool
) -> None:
    chosen, left = split(epsilon, share)
    chosen_delta, left_delta = split(delta, share)
    asked = ss.Privacy(left, left_delta, 0, relation="add_remove")
    budget = GroupBudget.of(asked, touched, (chosen, chosen_delta), bare=bare)
    spent = budget.added_up(budget.privacy.epsilon, budget.privacy.delta)
    assert Fraction(spent[0]) <= Fraction(epsilon)
    assert Fraction(spent[1]) <= Fraction(delta)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, True, "0.1", float("nan")])
def test_a_share_lies_between_nought_and_one(share: object) -> None:
    with pytest.raises(ss.ArgumentError, match="between 0 and 1"):
        share_of_budget("share", share)  # type: ignore[arg-type]
