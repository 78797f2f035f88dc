"""Simpson's index and HHI: their forms, ranges and what they are computed from."""

from __future__ import annotations

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.statistic import Known, Statistic, from_dict

FOUND: dict[Statistic, np.ndarray] = {ss.Moment(2.0): np.array([30.0, 100.0, 10.0]), ss.Total(): np.array(10.0)}
ADDED = ss.Privacy(1.0, 1e-9)
REPLACED = ss.Privacy(1.0, 1e-9, relation="replace")


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        (ss.Simpson(), [0.3, 1.0, 0.1]),
        (ss.Simpson("gini"), [0.7, 0.0, 0.9]),
        (ss.Simpson("inverse"), [10 / 3, 1.0, 10.0]),
        (ss.HHI(), [0.3, 1.0, 0.1]),
        (ss.HHI(10_000), [3_000.0, 10_000.0, 1_000.0]),
        (ss.Hill(2), [10 / 3, 1.0, 10.0]),
        (ss.Renyi(2), np.log([10 / 3, 1.0, 10.0])),
        (ss.Tsallis(2), [0.7, 0.0, 0.9]),
    ],
    ids=str,
)
def test_all_of_order_two_are_one_measurement(statistic: ss.Hill, expected: list[float]) -> None:
    assert np.allclose(statistic.of(FOUND, 10), expected, rtol=1e-12)
    assert statistic.needs(ADDED) == (ss.Moment(2.0), ss.Total())
    assert statistic.needs(REPLACED) == (ss.Moment(2.0),)
    low, high = statistic.range(Known(most_pairs=10.0))
    assert (low, high) == pytest.approx((min(expected[1:]), max(expected[1:])))
    assert from_dict(statistic.to_dict()) == statistic


def test_noise_leads_to_no_more_keys_than_pairs_and_no_less_than_one() -> None:
    """F_2 by chance: below 0, and above N². Of order 1/2 likewise."""
    wild: dict[Statistic, np.ndarray] = {ss.Moment(2.0): np.array([-5.0, 1e9]), ss.Total(): np.array(10.0)}
    assert np.allclose(ss.Hill(2).of(wild, 10), [10_000.0, 1.0])
    assert ss.Hill(2).likely(10_000.0, {ss.Total(): 10.0}) == pytest.approx(10.0)
    assert ss.Simpson().likely(1e-4, {ss.Total(): 10.0}) == pytest.approx(0.1)
    assert ss.Simpson("gini").likely(1.0 - 1e-4, {ss.Total(): 10.0}) == pytest.approx(0.9)
    half: dict[Statistic, np.ndarray] = {ss.Moment(0.5): np.array([-5.0, 1e9]), ss.Total(): np.array(10.0)}
    assert np.allclose(ss.Hill(0.5).of(half, 10), [1.0, 10_000.0])
    assert ss.Hill(0.5).likely(10_000.0, {ss.Total(): 10.0}) == pytest.approx(10.0)


@pytest.mark.parametrize(("p", "low", "high"), [(0.5, 100.0**0.5, 100.0), (1.0, 100.0, 100.0), (2.0, 100.0, 1e4)])
def test_the_range_of_a_moment_on_both_sides_of_one(p: float, low: float, high: float) -> None:
    known = Known(least_pairs=100, most_pairs=100.0, max_value=1.0)
    assert ss.Moment(p).range(known) == pytest.approx((low, high))


def test_bad_arguments_say_what_to_do() -> None:
    with pytest.raises(ss.ArgumentError, match="form") as form:
        ss.Simpson("reciprocal")  # type: ignore[arg-type]
    assert '"inverse"' in str(form.value)
    with pytest.raises(ss.ArgumentError, match="scale"):
        ss.HHI(100)
    for p in (0.0, 2.0001, -1.0, float("nan")):
        with pytest.raises(ss.ArgumentError, match=r"p must .*got "):
            ss.Moment(p)
    for order in (-0.1, float("nan"), 10**400):
        with pytest.raises(ss.ArgumentError, match="order"):
            ss.Hill(order)
