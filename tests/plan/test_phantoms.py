"""The floor as phantom keys: whole weights, at least the mass asked for, and exactly the mass stated."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stablesketch as ss
from stablesketch.plan import Phantoms

ORDERS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def true_mass(phantoms: Phantoms, p: float) -> mpmath.mpf:
    """Λ = sum over phantoms of weight^p, in 50 digits."""
    with mpmath.workdps(50):
        return phantoms.count * mpmath.mpf(phantoms.weight) ** mpmath.mpf(p)


def test_no_floor_has_no_phantoms() -> None:
    none = Phantoms.of_mass(0.5, 0.0)
    assert (none.count, none.mass(0.5)) == (0, 0.0)


def test_one_phantom_where_one_will_do() -> None:
    """A mass of 100 at p = 0.5 is one key of weight 100², and one unit more, for rounding is upwards."""
    assert Phantoms.of_mass(0.5, 100.0) == Phantoms(count=1, weight=10_001)


def test_small_orders_take_several() -> None:
    """At p = 0.05 a mass of 100 in one key would take a weight of 10^40. Weights end at 2^40, whose mass is 4."""
    phantoms = Phantoms.of_mass(0.05, 99.0)
    assert phantoms.count == 25
    assert phantoms.weight == pytest.approx((99 / 25) ** 20, rel=1e-6)


@given(st.floats(0.05, 1.0), st.floats(1e-6, 1e6))
@settings(max_examples=300, deadline=None)
def test_the_mass_is_at_least_what_was_asked(p: float, asked: float) -> None:
    phantoms = Phantoms.of_mass(p, asked)
    for whole in (phantoms.count, phantoms.weight):
        assert type(whole) is int
    assert phantoms.count >= 1
    assert 1 <= phantoms.weight <= 2**40
    assert true_mass(phantoms, p) >= asked
    # Not more is wasted than one unit of weight is worth: no phantoms of one unit less would do.
    if phantoms.weight > 1:
        assert true_mass(Phantoms(phantoms.count, phantoms.weight - 1), p) <= asked * (1.0 + 1e-8)
    # And not with fewer keys.
    if phantoms.count > 1:
        assert true_mass(Phantoms(phantoms.count - 1, 2**40), p) <= asked * (1.0 + 1e-8)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("asked", [1e-3, 0.9, 1.0, 7.3, 320.0, 1e5, 1e6])
def test_the_mass_against_mpmath(p: float, asked: float) -> None:
    """To a few units in the last place. The planner takes 1e-12 off before it trusts the mass: far more than this."""
    phantoms = Phantoms.of_mass(p, asked)
    assert abs(phantoms.mass(p) / true_mass(phantoms, p) - 1) < 1e-15 * 4


@pytest.mark.parametrize("p", ORDERS)
def test_the_floor_of_a_plan_is_the_mass_of_its_phantoms(p: float) -> None:
    privacy = ss.Privacy(epsilon=1.0, delta=1e-8, pairs=0, relation="add_remove")
    plan = ss.plan(ss.Moment(p), privacy, size=20, mechanism="bare")
    assert plan.floor == plan.phantoms.mass(p) > 0.0
    assert math.isclose(plan.floor, float(true_mass(plan.phantoms, p)), rel_tol=1e-14)


@pytest.mark.parametrize("count", [-1, 1.0, True, "3", None, 2**41])
def test_phantoms_that_nothing_writes_are_refused(count: object) -> None:
    with pytest.raises(ss.ArgumentError, match=r"phantoms\.count"):
        Phantoms.checked(count, 1)
