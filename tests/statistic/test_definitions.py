"""Statistics computed from exact measurements agree with their definitions, and with other libraries'."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import stablesketch as ss
from stablesketch.statistic import STATISTICS, Array, Derived, Statistic, from_dict

TOTALS = np.random.default_rng(3).zipf(1.5, 400).clip(max=10_000).astype(float)
N = float(TOTALS.sum())
SHARES = TOTALS / N
PRIVACY = ss.Privacy(1.0, 1e-9, 100, max_value=50, relation="replace")
PEOPLE = ss.Privacy(1.0, 1e-9, 100, max_value=50, unit="key", relation="replace")


def exact(measured: Statistic) -> Array:
    """By the definition of what is measured."""
    if isinstance(measured, ss.Shannon):
        return np.array(stats.entropy(SHARES))
    return np.array(np.sum(TOTALS**measured.p))


def value(statistic: Derived, privacy: ss.Privacy = PRIVACY) -> float:
    return float(statistic.of({part: exact(part) for part in statistic.needs(privacy)}, len(TOTALS)))


@pytest.mark.parametrize("order", [0.0, 0.05, 0.25, 0.5, 0.9, 1.0])
def test_diversity_of_every_order_is_what_it_is_defined_to_be(order: float) -> None:
    x = np.sum(SHARES**order)
    hill = math.exp(stats.entropy(SHARES)) if order == 1.0 else x ** (1.0 / (1.0 - order))
    tsallis = stats.entropy(SHARES) if order == 1.0 else (x - 1.0) / (1.0 - order)
    assert value(ss.Hill(order)) == pytest.approx(hill, rel=1e-12)
    assert value(ss.Renyi(order)) == pytest.approx(math.log(hill), rel=1e-12)
    assert value(ss.Tsallis(order)) == pytest.approx(tsallis, rel=1e-12)


def test_diversity_falls_with_the_order_and_ends_at_the_number_of_keys() -> None:
    values = [value(ss.Hill(order)) for order in (0.0, 0.2, 0.5, 0.8, 1.0)]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(len(TOTALS))


def test_inequality_is_what_it_is_defined_to_be() -> None:
    relative = TOTALS / TOTALS.mean()
    for order in (0.1, 0.5, 0.9):
        atkinson = 1.0 - np.mean(relative ** (1.0 - order)) ** (1.0 / (1.0 - order))
        entropy = (1.0 - np.mean(relative**order)) / (order * (1.0 - order))
        assert value(ss.Atkinson(order), PEOPLE) == pytest.approx(atkinson, rel=1e-12)
        assert value(ss.GeneralisedEntropy(order), PEOPLE) == pytest.approx(entropy, rel=1e-12)


def test_equal_totals_have_no_inequality_and_all_of_the_diversity() -> None:
    people = 40
    found: dict[Statistic, Array] = {ss.Moment(0.5): np.array(people * 3.0**0.5), ss.Total(): np.array(people * 3.0)}
    assert ss.Atkinson(0.5).of(found, people) == pytest.approx(0.0, abs=1e-12)
    assert ss.Hill(0.5).of(found, people) == pytest.approx(people)


def test_noise_cannot_lead_out_of_the_range() -> None:
    for moment in (-50.0, 0.0, 1e100):
        found: dict[Statistic, Array] = {ss.Moment(0.5): np.array(moment), ss.Total(): np.array(-3.0)}
        for statistic in (ss.Hill(0.5), ss.Renyi(0.5), ss.Tsallis(0.5), ss.Atkinson(0.5), ss.GeneralisedEntropy(0.5)):
            low, high = statistic.range()
            assert low <= float(statistic.of(found, 10)) <= high


@pytest.mark.parametrize(
    "statistic",
    [
        ss.Moment(0.5), ss.Hill(0.25), ss.Renyi(1), ss.Tsallis(0), ss.Shannon(), ss.Distinct(), ss.Atkinson(0.5),
        ss.GeneralisedEntropy(0.5), ss.Profile([0, 0.5, 1]), ss.Total(),
    ],
)  # fmt: skip
def test_every_statistic_survives_json_and_has_a_name_people_can_read(statistic: Statistic) -> None:
    assert from_dict(statistic.to_dict()) == statistic
    assert STATISTICS[statistic.name] is type(statistic)
    assert str(statistic)
    assert "(" not in str(statistic)


def test_what_is_public_need_not_be_measured() -> None:
    counted = ss.Privacy(1.0, 1e-9, 100, relation="replace")
    assert ss.Hill(0.5).needs(counted) == (ss.Moment(0.5),)
    assert ss.Hill(0.5).needs(PRIVACY) == (ss.Moment(0.5), ss.Total())
    assert ss.Hill(0.5).needs(ss.Privacy(1.0, 1e-9, 100, relation="add_remove")) == (ss.Moment(0.5), ss.Total())
    assert ss.Profile([0, 0.25, 0.5, 1]).needs(PRIVACY) == (
        ss.Distinct(), ss.Moment(0.25), ss.Total(), ss.Moment(0.5), ss.Shannon(),
    )  # fmt: skip


def test_the_noise_of_a_total_reaches_the_orders_that_use_it() -> None:
    """N is no part of the number of keys, nor of the entropy: at order 1 its factor would be infinite."""
    assert ss.Profile([0, 0.25, 0.5, 1]).factor(ss.Total()) == ss.Hill(0.5).factor(ss.Total()) == 1.0


WRONG: dict[str, tuple[object, str]] = {
    "an order above 2": (lambda: ss.plan(ss.Hill(2.5), PRIVACY), "order must be 0, or between 0.05 and 2"),
    "an order too small": (lambda: ss.plan(ss.Renyi(0.01), PRIVACY), "order must be 0, or between 0.05 and 2"),
    "an order of inequality too small": (lambda: ss.GeneralisedEntropy(0.01), "order must be between 0.05 and 1"),
    "an order that is no number": (lambda: ss.Tsallis("half"), "order must be a number"),  # type: ignore[arg-type]
    "an aversion of 1": (lambda: ss.Atkinson(1.0), "aversion must .*got 1.0"),
    "no orders": (lambda: ss.Profile([]), "must have between 1 and 16 orders"),
    "orders out of order": (lambda: ss.Profile([0.5, 0.25]), "must be in increasing order"),
    "orders twice": (lambda: ss.Profile([0.5, 0.5]), "must be in increasing order"),
    "one number for a profile": (lambda: ss.Profile(0.5), "must be a list of orders"),  # type: ignore[arg-type]
    "inequality of pairs": (lambda: ss.Atkinson(0.5).needs(PRIVACY), "must be 'key' for atkinson"),
    "inequality of an unknown number of people": (
        lambda: ss.Atkinson(0.5).needs(ss.Privacy(1.0, 1e-9, 9, relation="add_remove", unit="key")),
        "must be 'replace' for atkinson",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_orders_say_what_is_wrong(name: str) -> None:
    call, says = WRONG[name]
    with pytest.raises(ss.ArgumentError, match=says):
        call()  # type: ignore[operator]
