"""The privacy loss of one entry, cut into cells of equal width.

The sign of an entry a is a fair coin, independent of |a|, so it reveals nothing. y = ln|a| has the density h(y) under
the narrow law D_{p,1} and h(y - τ) under the wide law D_{p,ρ}, with τ = (1/p) ln ρ. The loss of narrow against wide is

    L(y) = ln h(y) - ln h(y - τ),

which falls from τ to -ln ρ = -pτ, because h is log-concave (docs/math-sensitivity-and-curve.md). So the y whose L(y)
lies between two levels form an interval. The levels here are g_0 < g_1 < ... < g_{2K}, evenly spaced from -ln ρ to τ.
There are twice as many as cells, because upper bounds use the cells between even levels, and lower bounds the cells
around even levels.

Each half-cell between two levels has Gauss nodes y_k with weights w_k = (Gauss weight) · h(y_k). For smooth F, the
integral of F h over the half-cell is Σ w_k F(y_k). Panels are at most 1/4 wide, and wider only in the power tail, where
h is a series in e^{-py}. That is narrow compared with the distance, about π/2, to the nearest singularity of h, so 7
nodes leave (1/12)^14, and the relative error is below QUADRATURE_ERROR. This is the error of the rule for the true h
and L. The errors of their values at the nodes are bounded separately. Every call checks two totals: Σ w and Σ w e^{-L}
must both be 1, because they are the masses of the two laws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...numbers.arrays import Array
from .fine_density import SLOPE_ERROR, VALUE_ERROR, FineLogDensity, fine_log_density

QUADRATURE_ERROR = 1e-12
_NODES = 7
_PANEL = 0.25
# In the power tail h is a series in z = e^{-py}, and a panel may span a factor e^{1/2} of z.
_TAIL_PANEL = 0.5
# Where z is e^{-42} = 6e-19, the loss is -ln ρ to rounding, and everything beyond is one node.
_TAIL_END = 42.0
# Up to this shift the loss is the integral of the slope, which keeps the error proportional to τ.
_SMALL_SHIFT = 0.02
_SHIFT_NODES = 3
_SECANT_STEPS = 7


@dataclass(frozen=True)
class LossCells:
    """The loss of one entry of the pair (D_{p,1}, D_{p,ρ}), on `cells` cells of width `step` from -ln ρ up to τ.

    `weight` and `loss` hold w_k and L(y_k); `half` says in which half-cell, 0 to 2·cells - 1, counted upwards in the
    loss, a node lies. `loss_error` bounds |computed - true| for every loss; `level_error` bounds how far the true loss
    on a half-cell can lie outside the cell's levels.
    """

    shift: float
    cells: int
    lowest: float
    step: float
    weight: Array
    loss: Array
    half: NDArray[np.intp]
    loss_error: float
    level_error: float


def loss_cells(p: float, shift: float, cells: int) -> LossCells:
    """The cells for the shift τ > 0."""
    density = fine_log_density(p)
    loss = _Loss(density, shift)
    width = shift * (1.0 + p)
    levels = -p * shift + width * np.arange(1, 2 * cells) / (2 * cells)
    places = loss.solve(levels)
    reached = loss(places)
    residual = float(np.max(np.abs(reached - levels)))
    end = max(_TAIL_END / p + shift, float(places[0]) + 1.0, density.high + shift)
    inner = np.arange(density.low, density.high + shift + _PANEL, _PANEL)
    outer = np.arange(density.high + shift, end, _TAIL_PANEL / p)
    # The loss falls with y, so the levels run upwards as the places run downwards.
    edges = np.union1d(np.union1d(inner, outer), np.append(places, end))
    edges = edges[(edges >= density.low) & (edges <= end)]
    # A place below `low` is a cell in which h is e^y and L is τ to rounding; it joins the mass below.
    nodes, gauss = np.polynomial.legendre.leggauss(_NODES)
    middle, radius = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    y = (middle[:, None] + radius[:, None] * nodes).ravel()
    weight = (radius[:, None] * gauss).ravel() * np.exp(density.value(y))
    half = np.searchsorted(-places, -np.repeat(middle, _NODES), side="left")
    losses = loss(y)
    below, above = density.mass_below(), density.mass_above(end)
    weight = np.concatenate([[below], weight, [above]])
    losses = np.concatenate([[shift], losses, [-p * shift]])
    half = np.concatenate([[2 * cells - 1], half, [0]])
    totals = float(np.sum(weight)), float(np.sum(weight * np.exp(-losses)))
    if max(abs(total - 1.0) for total in totals) > QUADRATURE_ERROR:
        raise ArithmeticError(f"privacy loss at p = {p}, shift = {shift}: masses {totals} are not 1")
    return LossCells(
        shift=shift,
        cells=cells,
        lowest=-p * shift,
        step=width / cells,
        weight=weight,
        loss=losses,
        half=half,
        loss_error=loss.error,
        level_error=loss.error + residual,
    )


class _Loss:
    """L(y) for one p and τ, and the y at which it takes a value."""

    def __init__(self, density: FineLogDensity, shift: float) -> None:
        self.density = density
        self.shift = shift
        self.small = shift <= _SMALL_SHIFT
        # τ itself, as (1/p) ln ρ, may be off by a few units in the last place; that changes L by as much relative to τ.
        self.error = (SLOPE_ERROR if self.small else 1e-15) * shift + (0.0 if self.small else 2.0 * VALUE_ERROR)

    def __call__(self, y: Array) -> Array:
        if not self.small:
            return self.density.value(y) - self.density.value(y - self.shift)
        nodes, gauss = np.polynomial.legendre.leggauss(_SHIFT_NODES)
        out = np.zeros_like(y)
        for node, share in zip(nodes, gauss, strict=True):
            out += (0.5 * share) * self.density.slope(y - 0.5 * self.shift * (1.0 - node))
        return out * self.shift

    def solve(self, levels: Array) -> Array:
        """The y with L(y) = level, levels rising and strictly between -pτ and τ.

        u = ln((L + pτ)/(τ - L)) is nearly a straight line in both tails (slope -2 on the left, -p on the right), so it
        is u that is interpolated, and then corrected a few times by the secant through the ends of a shrinking
        bracket.
        """
        p, shift, density = self.density.p, self.shift, self.density
        grid = np.concatenate(
            [
                np.arange(density.low, density.high + shift, 0.125),
                np.arange(density.high + shift, _TAIL_END / p + density.high + shift, 0.25 / p),
            ]
        )
        height = self._logit(self(grid))
        # Rounding can leave equal or disordered values at the very ends.
        height = np.minimum.accumulate(height)
        wanted = self._logit(levels)
        after = np.clip(np.searchsorted(-height, -wanted, side="left"), 1, len(grid) - 1)
        left, right = grid[after - 1], grid[after]
        above, below = height[after - 1] - wanted, height[after] - wanted
        y, stayed = left, np.zeros(len(levels))
        for _ in range(_SECANT_STEPS):
            gap = above - below
            share = np.where(gap > 0.0, above / np.where(gap > 0.0, gap, 1.0), 0.5)
            y = left + np.clip(share, 0.0, 1.0) * (right - left)
            here = self._logit(self(y)) - wanted
            higher = here > 0.0
            # The Illinois rule: the value at an end that stays twice running is halved, so that it moves next time.
            below = np.where(higher, np.where(stayed > 0.0, 0.5 * below, below), here)
            above = np.where(higher, here, np.where(stayed < 0.0, 0.5 * above, above))
            left, right = np.where(higher, y, left), np.where(higher, right, y)
            stayed = np.where(higher, 1.0, -1.0)
        out: Array = np.minimum.accumulate(y)
        return out

    def _logit(self, loss: Array) -> Array:
        p, shift = self.density.p, self.shift
        tiny = 1e-18 * shift
        out: Array = np.log(np.maximum(loss + p * shift, tiny)) - np.log(np.maximum(shift - loss, tiny))
        return out
