"""What the accounting knows about ξ: certified for every y, at p = 1/2, the default's order, by closed forms.

X is Lévy's law there: X = 1/(2 N²), λ = -2, Y = 1/X = 2 N², so that P(Y <= y) = erf(√y/2), E e^{-sY} = (1 + 4s)^{-1/2},
and S is twice a χ² variable: c = E (S/r)^{-1/2} = (√r/2) Γ((r-1)/2)/Γ(r/2). What is computed
(sketch/estimators/power_lattice.py, sketch/estimators/power_sum.py) is compared with these in ball arithmetic: it is
off by less than it is raised by (privacy/noisy_estimate.py).

In a cell of the table the difference of its polynomial and ln erf(e^{t/2}/2) is a power series in the place of t, with
balls as coefficients. What its first terms lack is by Lagrange at most the next coefficient somewhere in the cell, and
a series about the whole cell encloses it. Far out, for t < -48, 1 - x²/3 <= erf(x) √π/(2x) <= 1 leaves t/2 - ln(π)/2 to
within 1e-21.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from ball_laws import ball
from flint import arb, arb_poly, arb_series
from table_certificate import ULP, above, by_order, largest
from xi_certificate import ENOUGH, certified_below, certified_in, pieces

from stablesketch.privacy.noisy_estimate import RAISED, RAISED_XI
from stablesketch.sketch.estimators import power_lattice
from stablesketch.sketch.estimators.power_lattice import LogBelow
from stablesketch.sketch.estimators.power_sum import PowerSum, best_one_sided_power

TERMS = 14
Cell = tuple[list[float], arb, arb, bool]  # coefficients, its middle and its width in t or, far out, ln(-t)


def cells(table: LogBelow) -> Iterator[Cell]:
    near = (table._powers, power_lattice._LOW, power_lattice._WIDTH, table._cells, False)
    beyond = (table._far_powers, math.log(-power_lattice._LOW), power_lattice._FAR_WIDTH, table._far_cells, True)
    for powers, low, width, count, far in (near, beyond):
        for cell in range(count):
            yield powers[:, cell].tolist(), arb(low) + arb(width) * (cell + arb(0.5)), arb(width), far


def true(place: arb, width: arb, far: bool, terms: int) -> list[arb]:
    """ln P(Y <= e^t) about a place, as a series in s: t, or ln(-t), is place + width s."""
    t = arb_series([place, width], prec=terms)
    found = (t.exp() / -2 - arb.pi().log() / 2 if far else ((t / 2).exp() / 2).erf().log()).coeffs()
    found[0] += ball(arb(1e-21)) if far else 0
    return [*found, *[arb(0)] * (terms - len(found))]


def off_in(cell: Cell) -> float:
    """How far the table is off in this cell at most, rounding included: a few operations for each of six terms."""
    coefficients, middle, width, far = cell
    held = arb_poly([arb(c) for c in coefficients])(arb_poly([arb(0.5), 1])).coeffs()
    known = true(middle, width, far, TERMS)
    following = true(middle + ball(width / 2), width, far, TERMS + 1)[TERMS]
    rounding = 16 * ULP * sum((abs(arb(c)) for c in coefficients), arb(0))
    return above(largest((arb_poly(known) - arb_poly(held)).coeffs()) + abs(following) / 2**TERMS + rounding)


@pytest.mark.parametrize(
    ("p", "every"),
    [(0.05, 101), (0.25, 101), (0.75, 101), *(pytest.param(p, 1, marks=pytest.mark.slow) for p in (0.05, 0.25, 0.75))],
)
def test_the_law_of_y_at_other_orders(p: float, every: int) -> None:
    """By models of the tail of X (xi_certificate.py): to 1e-10, a twentieth of what it is raised by."""
    assert 1e-14 < certified_below(p, every) <= ENOUGH <= RAISED / 20


def test_a_table_of_another_order_is_noticed() -> None:
    tails, power = by_order(0.25 + 2.0**-20, one_sided=True), best_one_sided_power(0.25)
    piece = list(pieces(LogBelow(0.25, power)))[800]
    assert certified_in(tails, 0.25, 1 / (arb(power) * 0.25), piece, ENOUGH, depth=2) > 100 * ENOUGH


def test_the_power_is_that_of_the_closed_forms() -> None:
    assert best_one_sided_power(0.5) == -2.0
    assert PowerSum(0.5, 16).theta == 0.5


def test_the_law_of_y_is_known_for_every_y() -> None:
    """To 2e-11, a hundredth of what it is raised by; down to where P(Y <= y) is e^-46, and up to e^16."""
    found = list(cells(LogBelow(0.5, -2.0)))
    assert 1e-14 < max(map(off_in, found)) < RAISED / 100
    lowest = -(found[-1][1] + found[-1][2] / 2).exp()
    assert ((lowest / 2).exp() / 2).erf().log() < -45.9
    assert -((arb(power_lattice._HIGH) / 2).exp() / 2).erf().log() < 1e-300  # beyond, the table is constant


def test_a_cell_that_is_off_is_noticed() -> None:
    coefficients, *where = list(cells(LogBelow(0.5, -2.0)))[100]
    for power in range(6):
        wrong = list(coefficients)
        wrong[power] += 1e-8
        assert off_in((wrong, *where)) > 1e-9  # type: ignore[arg-type]


def test_the_constant_is_known_at_every_size() -> None:
    """And at powers of two beyond."""
    for size in (*range(2, 4_097), *(2**k for k in range(13, 21))):
        r = arb(size)
        log_c = r.sqrt().log() - arb(2).log() + ((r - 1) / 2).lgamma() - (r / 2).lgamma()
        assert abs(arb(PowerSum(0.5, size).log_constant) - log_c) < (RAISED_XI - 1.0) / 20


def test_the_transform_is_known_where_it_is_used() -> None:
    """Chernoff's bound takes ln φ at these points alone; any of them will do."""
    points, values = PowerSum(0.5, 16).transform
    for tau, log_phi in zip(points.tolist(), values.tolist(), strict=True):
        assert abs(arb(log_phi) + (1 + 4 * arb(tau).exp()).log() / 2) < RAISED / 4
