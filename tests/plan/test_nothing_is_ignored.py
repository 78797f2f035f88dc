"""A plan does what it is asked or is refused: no error, size or list of sizes is ignored."""

from __future__ import annotations

from typing import Literal

import pytest

import stablesketch as ss

PRIVACY = ss.Privacy(1.0, 1e-9)


@pytest.mark.parametrize("statistic", [ss.Total(), ss.Moment(1.0)], ids=str)
def test_a_number_without_a_sketch_has_no_size(statistic: ss.Total | ss.Moment) -> None:
    with pytest.raises(ss.ArgumentError, match="size cannot be used for"):
        ss.plan(statistic, PRIVACY, size=64)
    assert ss.plan(statistic, PRIVACY, memory="64K").bytes <= 2**16  # one counter


@pytest.mark.parametrize("mechanism", ["sketch", "bare"])
def test_a_number_of_keys_is_planned_alike_under_every_name(mechanism: Literal["sketch", "bare"]) -> None:
    """There is no bare number of keys: registers with noise are used, which need no promise."""
    plan = ss.plan(ss.Hill(0), PRIVACY, error=0.02, mechanism=mechanism)
    assert (plan.size, plan.error, plan.floor) == (ss.plan(ss.Distinct(), PRIVACY, error=0.02).size, plan.error, 0.0)
    assert plan.error <= 0.02


def test_an_exact_count_keeps_the_error_that_is_asked_for() -> None:
    with pytest.raises(ss.PlanInfeasible, match="whatever distinct keys is, so a relative error cannot be planned"):
        ss.plan(ss.Distinct(), PRIVACY, mechanism="exact", error=0.05)
    with pytest.raises(
        ss.PlanInfeasible, match=r"error of 0.141 at distinct keys = 10; 0.05 was asked for. Pass error=0.15"
    ):
        ss.plan(ss.Distinct(), PRIVACY, mechanism="exact", error=0.05, expected=10)
    assert ss.plan(ss.Distinct(), PRIVACY, mechanism="exact", error=0.15, expected=10).error <= 0.15


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((64, 20, 20, 0), "size cannot be used for total"),
        ((64, 0, 0, 20), "size must be positive"),
        ((64, 20, 0), "must have one number for each of the 4 measurements of Hill numbers of orders 0, 0.5, 0.75"),
    ],
)
def test_sizes_one_by_one_are_those_of_what_is_measured(sizes: tuple[int, ...], said: str) -> None:
    with pytest.raises(ss.ArgumentError, match=said):
        ss.plan(ss.Profile([0, 0.5, 0.75]), PRIVACY, size=sizes)
    assert ss.plan(ss.Profile([0, 0.5, 0.75]), PRIVACY, size=(64, 20, 0, 20)).sizes == (64, 20, 0, 20)


def test_one_sketch_has_one_size_and_one_number_of_entries() -> None:
    with pytest.raises(ss.ArgumentError, match="size must be a single number"):
        ss.plan(ss.Moment(0.5), PRIVACY, size=[256, 256])
    with pytest.raises(
        ss.ArgumentError, match=r"entries_per_key must be a single number, got \(16, 16\): .* one sketch"
    ):
        ss.plan(ss.Moment(0.5), PRIVACY, size=[256], entries_per_key=[16, 16])
