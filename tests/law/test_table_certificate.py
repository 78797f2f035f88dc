"""The certificate of the tables, against what the proofs of η take them to be; and that it notices what is wrong.

Some bins here, all of them in the slow tests (some five minutes) and by `python tests/law/table_certificate.py`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from ball_integrals import AboveOne, BelowOne, NearZero, near_zero, value_of
from ball_laws import LOWER, Cauchy, Entropy, Normal, Stable
from flint import arb
from table_certificate import (
    OF_ENTROPY,
    ULP,
    Errors,
    bins,
    certified,
    errors_in,
    laws_of_night,
    power_is_off,
    suffices,
    tails_of,
)

from stablesketch._native import table
from stablesketch.privacy.estimate_precision import ERROR
from stablesketch.sketch.entry_law import EntryLaw

ENTROPY = EntryLaw("entropy", 1.0)
ONE_SIDED = [EntryLaw("one-sided", p) for p in (0.25, 0.5, 0.75)]
NEAR_ONE = EntryLaw("one-sided", 0.9)  # three minutes
SYMMETRIC = [EntryLaw("symmetric", p) for p in (0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.01, 1.25, 1.5, 1.75, 1.99, 2.0)]
ALL = pytest.mark.parametrize("every", [499, pytest.param(1, marks=pytest.mark.slow)])
OF_REST = 360 * ULP  # docs/math-noisy-estimate.md, "Everything else": what is left for the rest


@pytest.mark.parametrize(
    ("law", "every"),
    [
        *((law, 499) for law in ONE_SIDED),
        *(pytest.param(law, 1, marks=pytest.mark.slow) for law in [*ONE_SIDED, NEAR_ONE]),
    ],
    ids=str,
)
def test_one_sided_tables_leave_eta_room(law: EntryLaw, every: int) -> None:
    """And an η of a quarter of its size would be refused."""
    found = certified(law, every)
    needed = power_is_off(law, found)
    assert suffices(law, found)
    assert needed + OF_REST <= ERROR
    assert not needed + OF_REST <= ERROR / 4


@pytest.mark.parametrize("p", [0.05, 0.1, *(law.p for law in ONE_SIDED), 0.9, 0.95, 0.999])
def test_rounding_to_the_resolution_costs_a_power_2_to_the_minus_49_at_most(p: float) -> None:
    """Every X that is drawn but for a chance of 2^-96 is at least p 2^(48 - q), and 2^-q its unit. P(X <= x) is at most
    exp(-a(0) x^{-p/(1-p)}), a(0) = p^{p/(1-p)} (1-p): law/one_sided.py."""
    least, power = arb(p) * arb(2) ** (48 - table(EntryLaw("one-sided", p))[2]), arb(p) / (1 - arb(p))
    assert (arb(p) / least) ** power * (1 - arb(p)) > 96 * arb(2).log()


@ALL
@pytest.mark.parametrize("law", SYMMETRIC, ids=str)
def test_symmetric_tables(law: EntryLaw, every: int) -> None:
    found = certified(law, every)
    assert found.relative > ULP
    assert suffices(law, found)


@ALL
def test_the_table_of_entropy(every: int) -> None:
    found = certified(ENTROPY, every)
    assert found.drawn > found.mixed > ULP
    assert suffices(ENTROPY, found)


def test_a_t_of_62_bits_would_not_do_for_large_r() -> None:
    """Where m is not continued, t is off by 2^-63: at t = 2^-25 by 2^-38 of itself."""
    found = errors_in(tails_of(ENTROPY), next(b for b in bins(ENTROPY) if (b.side, b.octave) == (LOWER, 38)))
    assert found.drawn < 3.0 * ULP
    assert found.mixed_sensitivity * 2.0**-38 > 10.0 * OF_ENTROPY


def test_what_the_proofs_do_not_take_does_not_suffice() -> None:
    for law in (*ONE_SIDED, *SYMMETRIC, ENTROPY):
        assert suffices(law, Errors(9e-16, 9e-16, 3.0, 1.0))
        assert not suffices(law, Errors(5e-14, 5e-14, 3.0, 1.0))
    assert not suffices(ENTROPY, Errors(9e-16, 9e-16, 3.0, 1.0, drawn=2.6e-15))
    for p, most in ((0.1, 8e-15), (0.12, 4e-15), (0.15, 1e-15), (1.0, 1e-15)):
        assert suffices(EntryLaw("symmetric", p), Errors(0.99 * most, most, 16.0, 16.0))
        assert not suffices(EntryLaw("symmetric", p), Errors(1.01 * most, most, 16.0, 16.0))


def test_every_night_has_orders_of_its_own() -> None:
    found = [laws_of_night(number) for number in range(400)]
    assert len({each.p for laws in found for each in laws if each.kind == "one-sided"}) > 390
    for below, symmetric, over in found:
        assert 0.05 <= below.p <= 0.8
        assert 0.05 <= symmetric.p <= 0.8
        assert 1.0 < over.p < 2.0


@pytest.mark.parametrize("law", [*ONE_SIDED, *SYMMETRIC, ENTROPY], ids=str)
@pytest.mark.parametrize("power", [0, 3, 7])
def test_a_coefficient_that_is_off_is_noticed(law: EntryLaw, power: int) -> None:
    """By 2^-45 of x at the end of the bin: thirty times what is declared."""
    tails = tails_of(law)
    for where in list(bins(law, 1511))[1:-1]:
        if where.width == 0 or all(c == 0 for c in where.coefficients):
            continue
        wrong = list(where.coefficients)
        wrong[power] += abs(wrong[0]) * arb(2) ** (power - 45)
        found, good = errors_in(tails, replace(where, coefficients=wrong)), errors_in(tails, where)
        assert found.mixed > 5 * good.mixed


def test_a_table_of_another_order_is_refused() -> None:
    law = EntryLaw("one-sided", 0.5)
    with pytest.raises(ArithmeticError, match="nothing is certified"):
        errors_in(Stable(0.5 + 2.0**-20, one_sided=True), next(bins(law)))


def test_models_agree_where_two_know_the_tail() -> None:
    """Balls of one number overlap: closed forms, both series of the symmetric law, both integrals of entropy."""
    x = arb(0.3)
    levy = Stable(0.5, one_sided=True)  # P(X <= x) = erfc(1/(2 √x))
    assert levy.tail(LOWER, x).overlaps((1 / (2 * x.sqrt())).erfc())
    half = Stable(0.5, one_sided=False)
    near = half._near_zero(arb(0.002), 1)
    assert near is not None
    assert near[0].overlaps(1 - half._in_zeta(arb(0.002) ** -0.5, 1)[0])
    # Near 0, small p: both series, and a model that takes the one at 0.
    small, place = NearZero(0.1, one_sided=False), arb(1e-20)
    assert value_of(small.model(LOWER, place, place / 2**20), place).overlaps(
        Stable(0.1, one_sided=False).tail(LOWER, place)
    )
    # The ray against both series, below and above order 1.
    assert BelowOne(0.8, one_sided=True).tail(LOWER, x).overlaps(Stable(0.8, one_sided=True).tail(LOWER, x))
    above = AboveOne(1.5)
    assert value_of(above.ray.model(LOWER, x, arb(0)), x).overlaps(value_of(near_zero(above, x, arb(0)), x))
    for tails in (levy, half, Cauchy(), Normal(), Entropy(), above):
        for place in (0.7, 1.4, 3.0):
            both = tails.tail(0, arb(place)) + tails.tail(1, arb(place))
            assert both.overlaps(arb(1))
            assert both.rad() < 1e-15
