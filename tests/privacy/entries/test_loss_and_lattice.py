"""One entry: its loss on cells, and the two laws on a lattice that hold the true curve between them."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import stablesketch.privacy.entries.loss as loss_module
from stablesketch.law.log_magnitude import log_magnitude
from stablesketch.privacy.entries.fine_density import fine_log_density
from stablesketch.privacy.entries.lattice import LatticeLaw, _make_convex, lower_law, upper_law
from stablesketch.privacy.entries.loss import QUADRATURE_ERROR, loss_cells

Array = NDArray[np.float64]

INDICES = (0.05, 0.3, 0.5, 0.8, 0.999, 1.0)
SHIFTS = (1e-12, 1e-7, 1e-3, 0.019, 0.021, 1.0, 30.0)


def curve(law: LatticeLaw, epsilon: Array) -> Array:
    """Σ w (1 - e^{ε-g})_+ for the pair on the lattice."""
    at = law.lowest + law.step * np.arange(len(law.weight))
    return np.array([np.sum(law.weight * np.maximum(-np.expm1(e - at), 0.0)) for e in epsilon])


@pytest.mark.parametrize("p", INDICES)
@pytest.mark.parametrize("shift", SHIFTS)
def test_cells_hold_their_losses_and_all_the_mass(p: float, shift: float) -> None:
    cells = loss_cells(p, shift, 50)
    assert abs(cells.weight.sum() - 1.0) < QUADRATURE_ERROR / 10
    assert abs(np.sum(cells.weight * np.exp(-cells.loss)) - 1.0) < QUADRATURE_ERROR / 10
    below = cells.lowest + 0.5 * cells.step * cells.half
    assert np.all(cells.loss >= below - 2 * cells.level_error)
    assert np.all(cells.loss <= below + 0.5 * cells.step + 2 * cells.level_error)
    # The errors are small against the cells, however small the shift.
    assert cells.level_error < 1e-5 * cells.step
    assert set(cells.half) == set(range(100))


@pytest.mark.parametrize("p", [0.05, 0.5, 1.0])
def test_a_small_shift_is_the_same_as_a_larger_one_in_miniature(p: float) -> None:
    """The loss over its shift tends to the slope of ln h; both ways of computing it agree where they meet."""
    small, large = (loss_cells(p, shift, 20) for shift in (1e-9, 1e-7))
    np.testing.assert_allclose(small.loss / 1e-9, large.loss / 1e-7, atol=2e-7)
    by_slope, by_value = (loss_cells(p, shift, 20) for shift in (0.02, math.nextafter(0.02, 1)))
    np.testing.assert_allclose(by_slope.loss, by_value.loss, atol=1e-11)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_cell_masses_by_another_rule(p: float) -> None:
    """The masses between the cells' ends, from the distribution function of the law."""
    shift = 0.5
    cells = loss_cells(p, shift, 12)
    density = fine_log_density(p)
    law = log_magnitude(p)
    masses = np.bincount(cells.half, cells.weight, 24)
    # The levels' places, by bisection on the law itself.
    levels = cells.lowest + 0.5 * cells.step * np.arange(1, 24)
    low, high = np.full(23, density.low), np.full(23, 60.0 / p)
    for _ in range(80):
        middle = 0.5 * (low + high)
        above = law.values(middle).density - law.values(middle - shift).density > levels
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    values = law.values(low)
    tail = np.concatenate([[0.0], np.exp(values.sf), [1.0]])
    np.testing.assert_allclose(masses, np.diff(tail), atol=1e-12)


@pytest.mark.parametrize("p", [*INDICES, 0.1, 0.75])
@pytest.mark.parametrize("shift", [1e-5, 0.02, 0.5, 20.0])
def test_more_nodes_change_nothing(p: float, shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Gauss rule with 7 nodes and with 20, in every half-cell: for the two masses, and for the share that goes up.

    The loss at a node has an error of its own, which is allowed for elsewhere (`loss_error`).
    """
    sums = []
    for nodes in (7, 20):
        monkeypatch.setattr(loss_module, "_NODES", nodes)
        cells = loss_cells(p, shift, 24)
        above = -np.expm1(cells.lowest + 0.5 * cells.step * cells.half - cells.loss)
        parts = (np.ones_like(above), np.exp(-cells.loss), above)
        sums.append([np.bincount(cells.half, cells.weight * part) for part in parts])
    allowed = cells.loss_error / 5 * sums[1][0]
    for few, many, slack in zip(*sums, (0.0, 0.0, allowed), strict=True):
        assert np.all(np.abs(few - many) <= QUADRATURE_ERROR / 5 * many + slack)


@pytest.mark.parametrize("p", INDICES)
@pytest.mark.parametrize("shift", [1e-7, 0.05, 3.0])
@pytest.mark.parametrize("wide_first", [False, True])
def test_the_true_curve_lies_between(p: float, shift: float, wide_first: bool) -> None:
    """The nodes themselves are a law finer than both lattices; its curve is the true one to the rule's accuracy.

    Coarse laws must hold it between them at every ε, negative ones too (the whole curve counts in composition), and
    the gap must close as the step shrinks: with its square, and with its power 3/2 or 1 at the ends, where the loss
    piles up.
    """
    cells = loss_cells(p, shift, 1024)
    fine_weight = cells.weight * np.exp(-cells.loss) if wide_first else cells.weight
    fine_loss = -cells.loss if wide_first else cells.loss
    top = shift * (p if wide_first else 1.0)
    epsilon = np.linspace(-(shift * (1 + p) - top) * 0.99, top * 0.8, 41)
    true = np.array([np.sum(fine_weight * np.maximum(-np.expm1(e - fine_loss), 0.0)) for e in epsilon])
    gaps = []
    for count in (64, 256):
        coarse = loss_cells(p, shift, count)
        upper, lower = upper_law(coarse, wide_first=wide_first), lower_law(coarse, wide_first=wide_first)
        assert lower is not None
        assert lower.weight.min() >= 0.0
        # The nodes are a fine law, not the true one: their own curve is off by the square of a node's distance.
        slack = 1e-6 * true
        assert np.all(curve(upper, epsilon) >= true - slack)
        assert np.all(curve(lower, epsilon) <= true + slack)
        for law in (upper, lower):
            at = law.lowest + law.step * np.arange(count + 1)
            assert law.weight.sum() == pytest.approx(1.0, abs=1e-11)
            assert np.sum(law.weight * np.exp(-at)) == pytest.approx(1.0, abs=1e-11)
        gaps.append(np.max(curve(upper, epsilon) - curve(lower, epsilon)))
    assert gaps[1] < gaps[0] / 3.5


def test_the_cauchy_pair_in_closed_form() -> None:
    """p = 1, one entry: the best half line is known, and so is the curve, to 30 digits."""
    rho = mpmath.mpf("1.25")
    cells = loss_cells(1.0, math.log(1.25), 400)
    upper, lower = upper_law(cells, wide_first=False), lower_law(cells, wide_first=False)
    assert lower is not None
    for share in (0.0, 0.1, 0.5, 0.9, 0.98):
        epsilon = share * math.log(1.25)
        with mpmath.workdps(30):
            a = mpmath.exp(epsilon)
            x = mpmath.sqrt((rho**2 - a * rho) / (a * rho - 1))
            true = float(2 / mpmath.pi * (mpmath.atan(x) - a * mpmath.atan(x / rho)))
        low, high = curve(lower, np.array([epsilon]))[0], curve(upper, np.array([epsilon]))[0]
        assert low <= true <= high
        assert high - low < 1e-5


def test_a_corner_that_bends_the_wrong_way_is_cut_off() -> None:
    """Random masses with negative ones: what comes out is not negative, keeps total and mean of Q, and lies lower."""
    rng = np.random.default_rng(3)
    step = 0.3
    alpha = np.exp(step * np.arange(12))
    for _ in range(200):
        q = rng.uniform(-0.3, 1.0, 12)
        q[[0, -1]] = 2.0
        mass = q * alpha
        before = mass.copy()
        if not _make_convex(mass, step):
            continue
        assert mass.min() >= 0.0
        assert np.sum(mass / alpha) == pytest.approx(np.sum(before / alpha))
        assert np.sum(mass) == pytest.approx(np.sum(before))
        for a in np.exp(np.linspace(-1.0, 5.0, 60)):
            line = np.maximum(alpha - a, 0.0) / alpha
            assert np.sum(mass * line) <= np.sum(before * line) + 1e-12
    assert not _make_convex(np.array([0.0, -1.0, 2.0]), step)


def test_too_few_cells_give_no_lower_law() -> None:
    assert lower_law(loss_cells(0.5, 1.0, 3), wide_first=False) is None
