"""What is believed of a function of several measurements, against quantiles of many draws of them or of finer grids."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from stablesketch._native import mixture_below, mixture_passed
from stablesketch.mechanism.shared.belief import Belief, belief, in_order
from stablesketch.sketch.estimators.noisy_interval import noisy_power_law
from stablesketch.statistic import Moment, Total
from stablesketch.statistic.log_hill import log_hill

Floats = np.ndarray
AT = np.array([0.005, 0.025, 0.1, 0.5, 0.9, 0.975, 0.995])


def measured(law: stats.rv_continuous) -> Belief:
    return Belief(float(law.median()), 0.0, 0.0, lambda probability: np.asarray(law.ppf(probability)))


@pytest.mark.parametrize(
    ("first", "second"),
    [(1.0, 1.0), (1.0, 0.3), (0.3, 1.0), (1.0, 1e-9), (1e-9, 1.0), (1.0, 0.0)],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_sum_of_two_normal_ones_is_normal(first: float, second: float, sign: float) -> None:
    """Whatever the ratio of their deviations: to 1e-3 of the distance of the limits."""
    parts = (measured(stats.norm(2.0, first)), measured(stats.norm(1.0, second or 1e-300)))
    found = belief(lambda at: at[0] + sign * at[1], parts, 0.95)
    exact = stats.norm(2.0 + sign, math.hypot(first, second))
    width = exact.ppf(0.975) - exact.ppf(0.025)
    assert np.abs(found.quantiles(AT) - exact.ppf(AT)).max() < 1e-3 * width
    assert (found.low, found.high) == pytest.approx(exact.ppf([0.025, 0.975]), abs=1e-3 * width)
    assert found.value == 2.0 + sign


def test_a_sum_of_two_laplace_ones() -> None:
    """P(X + Y > t) = e^-t (2 + t)/4 for t > 0."""
    found = belief(lambda at: at[0] + at[1], (measured(stats.laplace()), measured(stats.laplace())), 0.95)
    for probability in (0.9, 0.975, 0.995):
        t = float(found.quantiles(np.array([probability]))[0])
        slope = math.exp(-t) * (1.0 + t) / 4.0
        assert abs(math.exp(-t) * (2.0 + t) / 4.0 - (1.0 - probability)) / slope < 1e-3 * (found.high - found.low)


def test_one_alone_and_three_together() -> None:
    normal = measured(stats.norm())
    alone = belief(lambda at: np.exp(at[0]), (normal,), 0.95)
    assert (alone.low, alone.high) == pytest.approx(np.exp([-1.95996, 1.95996]), rel=2e-3)
    three = belief(lambda at: at[0] - 2.0 * at[1] + 3.0 * at[2], (normal, normal, normal), 0.95)
    assert (three.low, three.high) == pytest.approx(math.sqrt(14.0) * np.array([-1.95996, 1.95996]), rel=2e-3)


def drawn(function: Callable[[tuple[Floats, ...]], Floats], parts: tuple[Belief, ...], count: int) -> Floats:
    rng = np.random.default_rng(9)
    return np.sort(function(tuple(part.quantiles(rng.random(count)) for part in parts)))


@pytest.mark.parametrize(("released", "total"), [(10.0, 25.0), (18.0, 25.0), (80.0, 1_000.0), (400.0, 2_000.0)])
def test_a_hill_number_of_short_and_long_streams(released: float, total: float) -> None:
    """It rises and falls with N where N is small. Of 400,000 draws the part below a limit has a deviation of 2.5e-4: it
    is off by 0.004 or more once in 10^50; the grid is for the rest."""
    law = noisy_power_law(0.5, 200)
    parts = (
        Belief(released, 0.0, 0.0, lambda probability: law.quantiles(released, 3.0, probability)),
        measured(stats.laplace(total, 10.0)),
    )

    def hill(at: tuple[Floats, ...]) -> Floats:
        return log_hill(0.5, {Moment(0.5): at[0], Total(): at[1]}, 0)

    values = drawn(hill, parts, 400_000)
    found = belief(hill, parts, 0.95)
    for limit, wanted in ((found.low, 0.025), (found.high, 0.975)):
        below, up_to = (np.searchsorted(values, limit, side) / len(values) for side in ("left", "right"))
        assert below - 0.004 <= wanted <= up_to + 0.004


def test_many_quantiles_of_a_noisy_estimate_are_those_that_are_solved_for() -> None:
    """By a table, or one by one: within 1e-3 of the distance of the limits."""
    many = stats.norm.cdf(np.linspace(-6.5, 6.5, 241))
    for size, released, noise in ((16, 50.0, 5.0), (200, 3.0, 10.0), (600, 1e6, 2.0), (600, -4.0, 2.0)):
        law = noisy_power_law(0.5, size)
        low, high = law.limits(released, noise, 0.95)
        table = law.quantiles(released, noise, np.concatenate([AT, many]))[: len(AT)]
        for probability, found in list(zip(AT.tolist(), table.tolist(), strict=True))[1:-1]:
            alone = float(law.quantiles(released, noise, np.array([probability]))[0])
            assert abs(found - alone) <= 1e-3 * (high - low)


@pytest.mark.parametrize("turns", [False, True])
def test_limits_found_one_by_one_are_those_of_a_table_of_all_places(turns: bool) -> None:
    """By numpy, row by row: where the function rises, where it rises and falls, and where it does neither."""

    def function(at: tuple[Floats, ...]) -> Floats:
        return np.maximum(np.exp(0.3 * at[0]) - (0.5 * at[1] ** 2 if turns else 0.5 * at[1]), 0.2)

    parts = (measured(stats.norm(1.0, 1.0)), measured(stats.laplace(2.0, 0.7)))
    found = belief(function, parts, 0.9)
    many = found.quantiles(np.concatenate([AT, np.linspace(0.001, 0.999, 301)]))[: len(AT)]
    np.testing.assert_allclose([found.quantiles(AT[i : i + 1])[0] for i in range(len(AT))], many, rtol=1e-12)
    np.testing.assert_allclose([found.low, found.high], found.quantiles(np.array([0.05, 0.95])), rtol=0.0)


def test_a_mixture_is_the_sum_that_numpy_has() -> None:
    """Rows of equal values, jumps, and places before, at, between and after all of them."""
    rng = np.random.default_rng(5)
    node = np.linspace(-6.5, 6.5, 241)
    probability = stats.norm.cdf(node)
    values = np.sort(np.round(rng.normal(0.0, 3.0, (50, 241)), 1), axis=1)
    scores = np.stack([node, np.sort(rng.uniform(-6.5, 6.5, 241))])
    kind, weights = rng.integers(0, 2, 50).astype(np.int32), rng.random(50)
    places = np.unique(np.concatenate([rng.normal(0.0, 5.0, 200), values[3], [-99.0, 99.0]]))
    each = [np.interp(places, values[r], scores[kind[r]], left=-6.5, right=6.5) for r in range(50)]
    wanted = weights @ np.interp(np.stack(each), node, probability)
    mixed = (values, scores, kind, weights, probability, 6.5, places)
    np.testing.assert_allclose(mixture_below(*mixed), wanted, rtol=1e-12)
    for target in (0.0, 0.3 * wanted[-1], wanted[100] + 1e-9, 2.0 * wanted[-1]):
        low, at_low, at_next = mixture_passed(*mixed, float(target))
        assert low == min(max(int(np.searchsorted(wanted, target, "right")) - 1, 0), len(places) - 2)
        assert (at_low, at_next) == pytest.approx((wanted[low], wanted[low + 1]), rel=1e-12)


@pytest.mark.parametrize(
    ("given", "range_", "shown"),
    [
        ((1.0, -1.0, 3.0), (0.0, 5.0), (1.0, 0.0, 3.0)),
        ((-1.0, -3.0, 1.0), (0.0, 5.0), (0.0, 0.0, 1.0)),
        ((-4.0, -6.0, -2.0), (0.0, 5.0), (0.0, 0.0, 4.0)),
        ((9.0, 7.0, 10.0), (0.0, 5.0), (5.0, 2.0, 5.0)),
        ((-40.0, -60.0, -20.0), (0.0, 5.0), (0.0, 0.0, 5.0)),
        ((-4.0, -math.inf, -2.0), (0.0, 5.0), (0.0, 0.0, 5.0)),
        ((9.0, 7.0, 10.0), (0.0, 0.0), (0.0, 0.0, 0.0)),
    ],
)
def test_an_interval_outside_the_range_does_not_become_a_point(
    given: tuple[float, float, float], range_: tuple[float, float], shown: tuple[float, float, float]
) -> None:
    """Unless the range is one."""
    assert in_order(*given, *range_) == shown


def test_within_the_range_limits_lose_nothing() -> None:
    """Every truth in the range that is between the limits still is."""
    rng = np.random.default_rng(9)
    for low, width, place, least, span in rng.normal(size=(2_000, 5)).tolist():
        high, most = low + abs(width), least + abs(span)
        value, below, above = in_order(low + abs(width) * abs(math.sin(place)), low, high, least, most)
        assert least <= below <= value <= above <= most
        assert below <= max(low, least)
        assert above >= min(high, most)
