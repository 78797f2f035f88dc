"""From the loss of one entry to two laws on a lattice: one certainly worse for privacy, one certainly better.

A pair of measures (P, Q) has the hockey-stick curve H(α) = sup_S P(S) - αQ(S). Three facts are used. They hold for
measures of any total, and docs/math-sensitivity-and-curve.md proves them:

(a) *Composition keeps order.* If H'(α) >= H(α) for all α >= 0, then the same holds for the r-fold products.
(b) *Splitting raises H, merging lowers it.* Merging outcomes is post-processing.
(c) *Half lines lie below.* For every y and α, P(Y < y) - αQ(Y < y) <= H(α).

**Worse** (`upper_law`): each outcome of a cell has a likelihood ratio between e^{g_i} and e^{g_{i+1}}. It is split into
two outcomes with exactly these ratios, such that its P mass and its Q mass stay the same: the share (1 - e^{g_i -
L})/(1 - e^{-step}) goes to the upper one.

**Better** (`lower_law`): in each cell c, take the half line of (c) whose line T_c touches H in the middle of the cell.
On the first cell or cells, take T_0 = P - αQ with the whole of P and Q, and on the last take 0. At the lattice point
α_j = e^{g_j} between cells j-1 and j, put v_j = min(T_{j-1}, T_j). The polygon through the points (α_j, v_j) lies below
T_c on cell c, and so below H. A convex polygon with corners at the α_j is the curve of a pair on the lattice: its Q
mass at α_j is the change of slope there. If the polygon is not convex, take its lower convex hull, which lies lower
still.

Both errors are of second order in the step, and neither changes E_Q[e^L] = 1. So there is no drift that would add up
over r entries. Only the variance is too large or too small, by a share of order (step/deviation of the loss)².
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...numbers.arrays import Array
from .fine_density import VALUE_ERROR
from .loss import QUADRATURE_ERROR, LossCells

# Computed densities and cell masses of the narrow law are within this of the true ones, in logarithms; those of the
# wide law are computed as e^{-L} times as much, which adds the error of L.
_SCALE_ERROR = VALUE_ERROR + 2.0 * QUADRATURE_ERROR
# Wider cells than this would overflow, and bound nothing.
_MOST_STEP = 300.0


@dataclass(frozen=True)
class LatticeLaw:
    """Mass `weight[j]` at the loss lowest + j·step, and how far the curve of r entries may be off.

    With H the curve of (weight, weight·e^{-loss}) composed r times, the true δ(ε) lies on the stated side of
    e^{±r·scale_error} H(e^{ε ∓ r·shift_error}).
    """

    lowest: float
    step: float
    weight: Array
    scale_error: float
    shift_error: float


def upper_law(cells: LossCells, *, wide_first: bool) -> LatticeLaw:
    """A law on the lattice whose curve lies above that of (narrow, wide), or of (wide, narrow) if `wide_first`.

    The shift error allows for a true loss that differs from the computed one and may lie outside its cell. Lowering all
    losses by it puts them inside; those that fall below the cell may be raised to its lower level, which is the safe
    side; and the result is at most the computed loss.
    """
    weight, loss, half, lowest = _directed(cells, wide_first)
    cell = half // 2
    share = -np.expm1(np.minimum(lowest + cells.step * cell - loss, 0.0)) / -math.expm1(-cells.step)
    upwards = np.bincount(cell, weight * np.minimum(share * (1.0 + 2.0 * QUADRATURE_ERROR), 1.0), cells.cells)
    total = np.bincount(cell, weight, cells.cells)
    out = np.zeros(cells.cells + 1)
    out[1:] = upwards
    out[:-1] += np.maximum(total - upwards, 0.0)
    return LatticeLaw(lowest, cells.step, out, _SCALE_ERROR + cells.loss_error, cells.level_error)


def lower_law(cells: LossCells, *, wide_first: bool) -> LatticeLaw | None:
    """A law on the lattice whose curve lies below; None if the cells are too few or too wide for one.

    All masses are those of P: with e_j = T_{j-1}(α_j) - T_j(α_j) = p_j - α_j q_j, where p_j and q_j are the masses
    between the middles of cells j-1 and j, v_j is T_{j-1}(α_j) - e⁺_j and T_j(α_j) - e⁻_j, and the law has at α_j the
    mass

        α_j q_j - (e⁺_{j+1} - e⁻_j)/(e^step - 1) + (e⁺_j - e⁻_{j-1})/(1 - e^{-step}).

    Rounding and quadrature change T_c(α_j) by less than QUADRATURE_ERROR times (T_c + step · p_j). Four times the
    second part is taken off every v_j; the first part is in the scale error.
    """
    count = cells.cells
    if count < 4 or cells.step > _MOST_STEP:
        return None
    weight, loss, half, lowest = _directed(cells, wide_first)
    first, last = 1, count - 1
    while True:
        # Half-cells 2j-1 and 2j belong to lattice point j; what is beyond the first and last points belongs to these.
        point = np.clip((half + 1) // 2, first, last)
        excess = -np.expm1(lowest + cells.step * point - loss)
        gap = np.bincount(point, weight * excess, count + 1)
        merged: Array = np.bincount(point, weight * (1.0 - excess), count + 1).astype(np.float64)
        slack = 4.0 * QUADRATURE_ERROR * -math.expm1(-cells.step) * merged
        # v_first must be T_0 and v_last must be 0, so that the polygon ends where H does; otherwise move inwards.
        if gap[first] > -slack[first]:
            first += 1
        elif gap[last] < slack[last]:
            last -= 1
        else:
            break
        if last - first < 2:
            return None
    over, under = np.maximum(gap, 0.0) + slack, np.maximum(-gap, 0.0) + slack
    over[first] = under[last] = 0.0
    bend = over[1:] - under[:-1]
    out = merged
    out[:-1] -= bend / math.expm1(cells.step)
    out[1:] += bend / -math.expm1(-cells.step)
    if not _make_convex(out, cells.step):
        return None
    return LatticeLaw(lowest, cells.step, out, _SCALE_ERROR + cells.loss_error, cells.loss_error)


def _directed(cells: LossCells, wide_first: bool) -> tuple[Array, Array, NDArray[np.intp], float]:
    """Weights under the first law of the pair, losses against the second, half-cells counted upwards, lowest loss."""
    if not wide_first:
        return cells.weight, cells.loss, cells.half, cells.lowest
    # Q has the density e^{-L} with respect to P; its loss is -L, and the cells are counted from the other end.
    return cells.weight * np.exp(-cells.loss), -cells.loss, 2 * cells.cells - 1 - cells.half, -cells.shift


def _make_convex(mass: Array, step: float) -> bool:
    """Removes negative masses by the convex hull from below: each goes to its neighbours by the lever rule.

    A negative Q mass is a corner that bends the wrong way. The chord between the next corners on either side lies below
    it; taking the chord moves the mass there, preserving the total and the mean of Q on the scale of α. False if a
    negative mass has no corner beside it to go to.
    """
    while (mass < 0.0).any():
        j = int(np.argmin(mass))
        below, above = np.flatnonzero(mass[:j]), np.flatnonzero(mass[j + 1 :])
        if not len(below) or not len(above):
            return False
        left, right = int(below[-1]), j + 1 + int(above[0])
        # With α_j = 1: the distances on the scale of α, and the shares of the Q mass; P mass is α times Q mass.
        to_left, to_right = -math.expm1(step * (left - j)), math.expm1(step * (right - j))
        mass[left] += mass[j] * to_right / (to_left + to_right) * (1.0 - to_left)
        mass[right] += mass[j] * to_left / (to_left + to_right) * (1.0 + to_right)
        mass[j] = 0.0
    return True
