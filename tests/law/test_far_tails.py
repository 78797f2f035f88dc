"""The tails of symmetric laws between orders 1 and 2, for all p and x: docs/math-noisy-estimate.md, "The tails between
orders 1 and 2". What its proofs leave are inequalities in p, which ball arithmetic decides on cells that cover (1, 2).
"""

from __future__ import annotations

import math

import pytest
from ball_integrals import AboveOne, Ray, value_of
from ball_laws import UPPER
from flint import arb

from stablesketch.privacy import noisy_norm

CELLS = 200
LAST = 2.0**-52  # no float is nearer to 2
EDGE = 8.0  # from here on the bound of the far tail suffices; below, values on a lattice


def cells(count: int = CELLS) -> list[arb]:
    """Balls of p that cover 1 to 2."""
    return [arb(1) + (arb(i) + arb(0.5, 0.5 + 1e-9)) / count for i in range(count)]


def limit(p: arb) -> arb:
    """c = lim x^p P(|X| > x)."""
    return 2 / arb.pi() * p.gamma() * ((2 - p) / 2).sin_pi()


def excess(p: arb, x: arb, radius: arb, power: int) -> arb:
    """By what part the integral along the negative axis exceeds its limit: of the tail, power 0, or the density, 1."""
    k = -(p / 2).cos_pi()
    order = p + power
    return k * x ** (-p) * (order + p).gamma() / order.gamma() * (1 - k * radius ** (p - 1) / x) ** (-(order + p))


def rest(p: arb, x: arb, radius: arb, power: int) -> arb:
    """What the arc and the ray beyond it come to at most."""
    k, angle = -(p / 2).cos_pi(), arb.pi() / 2 / p
    falls = (-x * radius * angle.sin()).exp()
    arc = (arb.pi() / 2 - angle) * (1 + (k * radius**p).exp()) * falls * radius**power
    ray = 2 * falls / (x * angle.sin() * (radius if power == 0 else 1))
    return 2 / arb.pi() * (abs(arc) + ray)


@pytest.mark.parametrize("power", [0, 1], ids=["tail", "density"])
def test_from_50_on_tail_and_density_are_two_per_cent_above_their_limits_at_most(power: int) -> None:
    """With R = 4: the excess is below 0.0141, and what is left out below 1e-30 of the limit at the last p before 2."""
    x, radius = arb(noisy_norm._FAR), arb(4)
    room = noisy_norm._ABOVE_LIMIT - 1
    largest = max(float(excess(p, x, radius, power).upper()) for p in cells())
    assert 0.003 < largest < 0.0141 < room
    least = 2 / arb.pi() * arb(0.8856) * LAST * x ** (-2 - power)  # c x^-p is no smaller; Γ >= 0.8856, sin(πy/2) >= y
    assert all(rest(p, x, radius, power) < least * 1e-30 for p in cells())
    assert all(p.gamma() > 0.8855 for p in cells())


def test_the_bound_of_the_far_tail_is_right_where_the_tail_is_known() -> None:
    """Not below it, and not far above."""
    for p in (1.05, 1.5, 1.95):
        for x in (10.0, 50.0):
            order, place = arb(p), arb(x)
            bound = limit(order) * (1 + excess(order, place, arb(2), 0)) * place**-order + rest(order, place, arb(2), 0)
            true = AboveOne(p).tail(UPPER, place)
            assert true < bound < 1.3 * true


def test_from_8_on_the_tail_is_below_a_power() -> None:
    """x^p P(|X| > x) <= 0.71: with R = 2, and falling in x."""
    x, radius = arb(EDGE), arb(2)
    bounds = [limit(p) * (1 + excess(p, x, radius, 0)) + rest(p, x, radius, 0) * x**p for p in cells()]
    assert max(float(bound.upper()) for bound in bounds) < 0.71
    assert all(radius * x * (arb.pi() / 2 / p).sin() > p for p in cells())


def moves(x: arb) -> arb:
    """x^p |dP(|X| > x)/dp| is at most this for 1 < p < 2, x >= 1: (2/π) ∫ e^{-u/√2} max(1, u) (|ln u| + ln x + π/4) du,
    by the ray at π/4, with |ln u| <= u - 1 for u >= 1."""
    root = arb(2).sqrt()
    fall = (-1 / root).exp()
    plain = root * (1 - fall) + fall * (root + 2)
    logs = 1 + fall * (2 * root**3 + 2)
    return 2 / arb.pi() * (logs + plain * (x.log() + arb.pi() / 4))


def test_the_tail_is_below_a_power_from_1_to_8() -> None:
    """Values at 40 orders and 32 places, monotone in x, and by less than `moves` apart in p."""
    half, places, checked = 0.0125, 32, 0
    ratio = EDGE ** (1 / places)
    for i in range(40):
        p = arb(1 + half * (2 * i + 1))
        ray = Ray(float(p), one_sided=False, bits=30, terms=6, kept=3, least=0.25)
        for j in range(places):
            x, following = arb(ratio) ** j, arb(ratio) ** (j + 1) * (1 + 1e-12)
            tail = value_of(ray.model(UPPER, x, arb(0)), x) + half * moves(x) * x ** (half - p)
            assert tail < following ** -(p + half)
            checked += 1
    assert checked == 1280
    assert math.isclose(ratio**places, EDGE)


def test_how_far_apart_neighbouring_orders_are() -> None:
    """`moves` against differences of true values: never below, and not a hundred times too large."""
    for x in (1.0, 2.5, 8.0):
        for p in (1.1, 1.5, 1.9):
            place, step = arb(x), 2.0**-8
            slope = abs(AboveOne(p + step).tail(UPPER, place) - AboveOne(p - step).tail(UPPER, place)) / (2 * step)
            assert slope * place**p < moves(place) < 100 * slope * place**p + 10
